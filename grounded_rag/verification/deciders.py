"""What entailment models and judges say, as signals: pure, so that any stage can run them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from grounded_rag.protocols import (
    ClaimCase,
    EntailmentModel,
    EntailmentScores,
    Grade,
    Judge,
    JudgeItem,
    JudgeRequest,
    Opinion,
    SupportCheck,
    TextPair,
    TokenLogprob,
    max_nli,
)
from grounded_rag.text.words import content_words
from grounded_rag.types import Reason, RetrievedChunk, Signal
from grounded_rag.verification.examination import Examination
from grounded_rag.verification.flags import CONFIDENCE_CHECK
from grounded_rag.verification.locate import Match, Quote, Source, locate
from grounded_rag.verification.verdict import is_open, run_checks

Role = Literal["veto", "decider", "filter", "info"]
"""What a verdict makes of a check's signals; see `Signal.role`."""


class Staged:
    """A check with the role that all its signals get, whatever they say themselves.

    A decider runs in a second stage, for claims that the others left open, because deciders are
    what costs time or money; when it passes a claim, that is a confirmation under its name.
    """

    __slots__ = ("__name__", "check", "decided_by", "only_open", "role")

    def __init__(
        self,
        check: SupportCheck,
        *,
        role: Role,
        name: str | None = None,
        only_open: bool | None = None,
    ) -> None:
        """Give `check` a role.

        Args:
            check: One function from a `ClaimCase` to a `Signal`, or to None where it has nothing
                to say.
            role: `veto` can only reject, `decider` can also confirm, `filter` sends a claim on
                to the deciders, `info` is shown and decides nothing.
            name: What verdicts and fingerprints call it; by default the function's own name.
            only_open: Whether it runs only for claims that are still open; by default deciders.
        """
        self.check = check
        self.role = role
        self.__name__ = name or check_name(check)
        self.only_open = role == "decider" if only_open is None else only_open
        self.decided_by = self.__name__ if role == "decider" else ""

    def __call__(self, case: ClaimCase) -> Signal | None:
        """Run the check and put its role on what it found."""
        signal = self.check(case)
        if not isinstance(signal, Signal):
            return signal
        by = signal.decided_by or self.decided_by
        return signal.model_copy(update={"role": self.role, "decided_by": by})


def role(check: SupportCheck, plays: Role, *, name: str | None = None) -> Staged:
    """Give a check a role.

    Example: `checks=[*default_checks(), role(my_check, "filter")]`.

    Args:
        check: One function from a `ClaimCase` to a `Signal` or None.
        plays: See `role` of `Staged`.
        name: What verdicts and fingerprints call it.
    """
    return Staged(check, role=plays, name=name)


class Stages(NamedTuple):
    """Checks by when they run: at once, or only for claims that are still open."""

    first: tuple[SupportCheck, ...]
    later: tuple[SupportCheck, ...]


def stages(checks: Sequence[SupportCheck] | None) -> Stages:
    """Divide checks into their stages; None means the built-in ones, which all run at once."""
    if checks is None:
        # The built-in checks are the larger half of the verifier: only who uses them loads them.
        from grounded_rag.verification.support import default_checks

        return Stages(default_checks(), ())
    later = tuple(check for check in checks if _waits(check))
    return Stages(tuple(check for check in checks if not _waits(check)), later)


def _waits(check: SupportCheck) -> bool:
    return bool(getattr(check, "only_open", False))


def check_name(check: Callable[..., object]) -> str:
    """Return the name of a check: its function's, or its class's."""
    return getattr(check, "__name__", None) or type(check).__name__


def stack_names(
    checks: Sequence[SupportCheck] | None,
    *,
    entailment: EntailmentModel | None = None,
    judge: Judge | None = None,
) -> tuple[str, ...]:
    """Return what a stack is made of, in order, for a fingerprint; () for the built-in one.

    Args:
        checks: Checks; None means the built-in ones.
        entailment: Entailment model, if any.
        judge: Judge, if any.
    """
    names = [] if checks is None else [f"checks:{len(checks)}", *map(_identity, checks)]
    if entailment is not None:
        names.append(f"entailment:{entailment.name}")
    if judge is not None:
        names.append(f"judge:{judge.name}")
    return tuple(names)


def _identity(check: SupportCheck) -> str:
    if isinstance(check, Staged):
        return f"{check.role}:{check.__name__}{_version(check.check)}"
    module = getattr(check, "__module__", "")
    return f"{module}.{getattr(check, '__qualname__', check_name(check))}{_version(check)}"


def _version(check: SupportCheck) -> str:
    """Return what a check says of its version, by `fingerprint` or `version`, if it does."""
    said = getattr(check, "fingerprint", None) or getattr(check, "version", None)
    return f"@{said}" if isinstance(said, str) else ""


UNSURE = 0.5
"""Probability below which a token counts as unsure: another one was then as likely."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'’\-][^\W_]+)*")


class Unsure(NamedTuple):
    """The least sure name or number of a claim."""

    word: str
    probability: float


def confidence_signals(
    examination: Examination, tokens: Sequence[TokenLogprob], *, threshold: float = UNSURE
) -> dict[int, tuple[Signal, ...]]:
    """Return a filter's signal for each claim that can be found among the tokens.

    Args:
        examination: The claims.
        tokens: The tokens of the whole output, in order, as the provider returned them.
        threshold: Least probability of every token of a name or number.
    """
    if not tokens:
        return {}
    output = _Output(tokens)
    added: dict[int, tuple[Signal, ...]] = {}
    for index, (verdict, case) in enumerate(
        zip(examination.verification.claims, examination.cases, strict=True)
    ):
        if case is None:
            continue
        least = output.least_sure(verdict.text)
        if least is not None:
            added[index] = (_signal(least, threshold),)
    return added


def _signal(least: Unsure, threshold: float) -> Signal:
    unsure = least.probability < threshold
    word = f"“{least.word}” ({least.probability:.0%})"
    return Signal(
        check=CONFIDENCE_CHECK,
        passed=not unsure,
        score=least.probability,
        detail=f"The model was unsure of {word}."
        if unsure
        else f"The model was sure of its names and numbers; least of {word}.",
        role="filter",
    )


class _Output:
    """The output's text, with the probability of every character's token."""

    def __init__(self, tokens: Sequence[TokenLogprob]) -> None:
        self._text = "".join(token.text for token in tokens)
        self._probabilities: list[float] = []
        for token in tokens:
            # NaN is no probability: such a token counts as one that nobody was sure of.
            sure = math.exp(min(token.logprob, 0.0)) if token.logprob == token.logprob else 0.0
            self._probabilities += [sure] * len(token.text)

    def least_sure(self, claim: str) -> Unsure | None:
        """Return the least sure name or number of a claim; None where it cannot be found.

        A copied sentence stands there as claim and as quote: wherever the model doubted, it counts.
        """
        found = [
            Unsure(word[0], min(self._probabilities[start + word.start() : start + word.end()]))
            for start, written in self._places(claim)
            for word in _WORD.finditer(written)
            if _tells(word[0], first=word.start() == 0)
        ]
        return min(found, key=lambda each: each.probability, default=None)

    def _places(self, claim: str) -> Iterator[tuple[int, str]]:
        """Yield where a claim stands; in a tool call it is JSON, escaped one way or the other."""
        for written in dict.fromkeys(
            (claim, json.dumps(claim, ensure_ascii=False)[1:-1], json.dumps(claim)[1:-1])
        ):
            start = self._text.find(written) if written else -1
            while start >= 0:
                yield start, written
                start = self._text.find(written, start + len(written))


def _tells(word: str, *, first: bool) -> bool:
    """Whether a word is a number or a name; the first word's capital tells nothing."""
    return any(character.isdigit() for character in word) or (word[0].isupper() and not first)


Added = Mapping[int, tuple[Signal, ...]]
"""Further signals by 0-based index of the claim."""

ENTAILED = 0.5
"""Least entailment, and least contradiction, that counts as said."""

_SHOWN = 160


class OpenClaim(NamedTuple):
    """A claim that deciders may still say something about."""

    position: int
    case: ClaimCase


def open_claims(examination: Examination) -> tuple[OpenClaim, ...]:
    """Return the claims that nothing rejected and nothing has confirmed yet."""
    return tuple(
        OpenClaim(index, case)
        for index, (verdict, case) in enumerate(
            zip(examination.verification.claims, examination.cases, strict=True)
        )
        if case is not None and is_open(verdict)
    )


def check_open(claims: Sequence[OpenClaim], checks: Sequence[SupportCheck]) -> Added:
    """Run the checks that wait for open claims on each of them."""
    return {claim.position: run_checks(claim.case, checks) for claim in claims}


def premises(case: ClaimCase) -> tuple[str, ...]:
    """Return what a claim may follow from: the statements of each quote, and all of them together.

    Titles, headings and the question are context; they are left out.
    """
    pieces = tuple(dict.fromkeys(piece.sentence for piece in case.evidence))
    return pieces if len(pieces) == 1 else (*pieces, "\n".join(pieces))


def entailment_pairs(claims: Sequence[OpenClaim]) -> tuple[TextPair, ...]:
    """Return the pairs of all claims, in one batch."""
    return tuple(
        TextPair(premise=premise, hypothesis=claim.case.claim.text)
        for claim in claims
        for premise in premises(claim.case)
    )


def entailment_signals(
    claims: Sequence[OpenClaim],
    scores: Sequence[EntailmentScores],
    *,
    model: str,
    threshold: float = ENTAILED,
    judge_follows: bool = False,
) -> Added:
    """Return the signals of an entailment model.

    A clear entailment confirms a claim and a clear contradiction rejects it. What is neither is
    rejected too, or, where a judge follows, left to the judge.

    Args:
        claims: The claims, as given to `entailment_pairs`.
        scores: One score a pair, in order.
        model: Name of the model.
        threshold: Least entailment, and least contradiction, that counts.
        judge_follows: Whether a judge sees what is not clear.

    Raises:
        ValueError: The model returned another number of scores than there are pairs.
    """
    added: dict[int, tuple[Signal, ...]] = {}
    remaining = list(scores)
    if len(remaining) != len(entailment_pairs(claims)):
        raise ValueError(f"{len(remaining)} scores for {len(entailment_pairs(claims))} pairs")
    for claim in claims:
        count = len(premises(claim.case))
        best = max_nli(remaining[:count])
        del remaining[:count]
        against = Signal(
            check="contradiction",
            passed=None,
            score=best.contradiction,
            detail=f"Most contradiction by any cited sentence: {best.contradiction:.0%}.",
            role="info",
            decided_by=model,
        )
        added[claim.position] = (_entailed(best, model, threshold, judge_follows), against)
    return added


def _entailed(best: EntailmentScores, model: str, threshold: float, judge_follows: bool) -> Signal:
    found = Signal(
        check="entailment", passed=False, score=best.entailment, role="decider", decided_by=model
    )
    if best.contradiction >= threshold and best.contradiction > best.entailment:
        return found.model_copy(
            update={
                "reason": Reason.CONTRADICTED,
                "detail": f"The entailment model finds that the cited text says the opposite "
                f"({best.contradiction:.0%}).",
            }
        )
    if best.entailment >= threshold:
        detail = f"The entailment model finds that the cited text says this ({best.entailment:.0%})"
        return found.model_copy(update={"passed": True, "detail": f"{detail}."})
    return found.model_copy(
        update={
            "reason": Reason.NOT_ENTAILED,
            "detail": f"The entailment model does not find that the cited text says this "
            f"({best.entailment:.0%}).",
            "role": "filter" if judge_follows else "decider",
        }
    )


def judge_request(claims: Sequence[OpenClaim], *, question: str | None) -> JudgeRequest:
    """Return what a judge is asked about all open claims at once."""
    chunks = {
        piece.chunk.chunk.id: _with_headings(piece.chunk)
        for claim in claims
        for piece in claim.case.evidence
    }
    return JudgeRequest(
        items=tuple(
            JudgeItem(
                claim=claim.case.claim.text,
                evidence=tuple(dict.fromkeys(piece.sentence for piece in claim.case.evidence)),
            )
            for claim in claims
        ),
        context=tuple(chunks.values()),
        question=question,
    )


def _with_headings(retrieved: RetrievedChunk) -> str:
    """Return a passage under its title and headings: names may stand there alone."""
    path = dict.fromkeys(part for part in (retrieved.title, *retrieved.chunk.headings) if part)
    return "\n".join((" › ".join(path), retrieved.chunk.text)) if path else retrieved.chunk.text


def judge_signals(claims: Sequence[OpenClaim], opinions: Sequence[Opinion], *, judge: str) -> Added:
    """Return the signals of a judge; an opinion that rests on words that are not there is void.

    Args:
        claims: The claims, as given to `judge_request`.
        opinions: One opinion a claim, in order.
        judge: Name of the judge.

    Raises:
        ValueError: The judge returned another number of opinions than there are claims.
    """
    if len(opinions) != len(claims):
        raise ValueError(f"{len(opinions)} opinions for {len(claims)} claims")
    return {
        claim.position: (_judged(claim.case, opinion, judge),)
        for claim, opinion in zip(claims, opinions, strict=True)
    }


def _judged(case: ClaimCase, opinion: Opinion, judge: str) -> Signal:
    found = Signal(check="judge", passed=None, role="decider", decided_by=judge)
    if opinion.grade is None:
        detail = opinion.detail or "The judge could not say."
        return found.model_copy(update={"reason": Reason.COULD_NOT_CHECK, "detail": detail})
    if opinion.grade is Grade.NOT_MENTIONED:
        detail = "The judge finds that the cited text does not say this."
        update = {"passed": False, "reason": Reason.NOT_ENTAILED, "detail": detail}
        return found.model_copy(update=update)
    missing = unfounded([piece.sentence for piece in case.evidence], opinion.rests_on)
    if missing is not None:
        return found.model_copy(
            update={
                "reason": Reason.COULD_NOT_CHECK,
                "detail": f"The judge's verdict is void: {missing}.",
            }
        )
    words = _short(opinion.rests_on[0])
    if opinion.grade is Grade.SUPPORTED:
        detail = f"The judge finds that the cited text says this: “{words}”."
        return found.model_copy(update={"passed": True, "detail": detail})
    detail = f"The judge finds that the cited text says the opposite: “{words}”."
    update = {"passed": False, "reason": Reason.CONTRADICTED, "detail": detail}
    return found.model_copy(update=update)


def unfounded(evidence: Sequence[str], rests_on: Sequence[str]) -> str | None:
    """Return why a verdict rests on nothing; None where all its words stand in the evidence.

    Args:
        evidence: The statements that the claim cites.
        rests_on: The words that the judge named.
    """
    if not rests_on:
        return "it names no words that it rests on"
    sources = [Source(text) for text in evidence]
    for words in rests_on:
        if not content_words(words):
            return f"it rests on “{_short(words)}”, which says nothing"
        quote = Quote(words)
        if not any(isinstance(locate(source, quote), Match) for source in sources):
            return f"it rests on “{_short(words)}”, which does not stand in the cited text"
    return None


def could_not(claims: Sequence[OpenClaim], *, check: str, by: str, detail: str) -> Added:
    """Return the signals of a decider that could not work: never support, never a "no"."""
    signal = Signal(
        check=check,
        passed=None,
        reason=Reason.COULD_NOT_CHECK,
        detail=detail,
        role="decider",
        decided_by=by,
    )
    return {claim.position: (signal,) for claim in claims}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
