"""Deciders: checks, an entailment model and a judge look at the claims that are still open.

`confirm` asks them in order of their cost; each sees what those before it left open. The functions
below it turn what they say into signals, and are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from grounded_rag.errors import GroundedRAGError
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
    max_nli,
)
from grounded_rag.text.words import content_words
from grounded_rag.types import Reason, RetrievedChunk, Signal, Usage, Verification
from grounded_rag.verification.checks import run_checks
from grounded_rag.verification.examination import Examination
from grounded_rag.verification.locate import Match, Quote, Source, locate
from grounded_rag.verification.verdict import is_open

_T = TypeVar("_T")

Added = Mapping[int, tuple[Signal, ...]]
"""Further signals by 0-based index of the claim."""

ENTAILED = 0.5
"""Least entailment, and least contradiction, that counts as said."""

_SHOWN = 160


class OpenClaim(NamedTuple):
    """A claim that deciders may still say something about."""

    position: int
    case: ClaimCase


@dataclass(frozen=True, kw_only=True)
class Deciders:
    """What looks at open claims, in this order; each sees what those before it left open.

    Attributes:
        checks: Checks that wait for open claims; they run in a worker thread.
        entailment: Entailment model, or None; one batch for all claims, in a worker thread.
        judge: Judge, or None; one request for all claims.
    """

    checks: tuple[SupportCheck, ...] = ()
    entailment: EntailmentModel | None = None
    judge: Judge | None = None


class Confirmed(NamedTuple):
    """What the stage found, and what it cost."""

    verification: Verification
    usage: Usage


async def confirm(
    examination: Examination,
    deciders: Deciders,
    *,
    question: str | None = None,
    timeout: float | None = None,
    may_judge: bool = True,
) -> Confirmed:
    """Let the configured deciders speak on open claims, and settle the verdicts again.

    Whatever a decider raises, and whatever does not end within `timeout` seconds for the whole
    stage, is "could not check": it never supports a claim and never raises here. A judge that may
    not be asked, since no tokens are left, could not check either.
    """
    import anyio

    ends = None if timeout is None else anyio.current_time() + timeout
    usage = Usage()
    if deciders.checks and (claims := open_claims(examination)):
        added = await _checks(claims, deciders.checks, ends)
        examination = examination.with_signals(added)
    if deciders.entailment is not None and (claims := open_claims(examination)):
        added = await _entailment(claims, deciders.entailment, deciders.judge is not None, ends)
        examination = examination.with_signals(added)
    if deciders.judge is not None and (claims := open_claims(examination)):
        spoken = await _judge(claims, deciders.judge, question, ends, may_judge)
        examination = examination.with_signals(spoken.added)
        usage = spoken.usage
    return Confirmed(examination.verification, usage)


class _Spoken(NamedTuple):
    added: Added
    usage: Usage = Usage()


async def _checks(
    claims: Sequence[OpenClaim], checks: Sequence[SupportCheck], ends: float | None
) -> Added:
    names = ", ".join(getattr(check, "__name__", type(check).__name__) for check in checks)
    added = await _in_thread(partial(check_open, claims, checks), ends)
    if isinstance(added, _Failure):
        return could_not(claims, check=names, by="", detail=f"The check {names} {added.why}")
    return added


async def _entailment(
    claims: Sequence[OpenClaim], model: EntailmentModel, judge_follows: bool, ends: float | None
) -> Added:
    def decide(some: Sequence[OpenClaim]) -> Added:
        scores = model.score(entailment_pairs(some))
        return entailment_signals(some, scores, model=model.name, judge_follows=judge_follows)

    added = await _in_thread(partial(decide, claims), ends)
    if not isinstance(added, _Failure):
        return added
    if len(claims) == 1:
        detail = f"The entailment model {added.why}"
        return could_not(claims, check="entailment", by=_name(model), detail=detail)
    # One claim that the model cannot read must not cost the others their verdict.
    alone = [await _entailment([claim], model, judge_follows, ends) for claim in claims]
    return {position: signals for each in alone for position, signals in each.items()}


async def _judge(
    claims: Sequence[OpenClaim],
    judge: Judge,
    question: str | None,
    ends: float | None,
    may_judge: bool,
) -> _Spoken:
    import anyio

    if not may_judge:
        detail = "The budget of tokens is used up, so the judge was not asked."
        return _Spoken(could_not(claims, check="judge", by=_name(judge), detail=detail))

    async def decide() -> _Spoken:
        judgement = await judge.judge(judge_request(claims, question=question))
        try:
            added = judge_signals(claims, judgement.opinions, judge=judge.name)
        except ValueError as error:
            detail = f"The judge's answer cannot be used: {error}."
            added = could_not(claims, check="judge", by=_name(judge), detail=detail)
        return _Spoken(added, judgement.usage)

    spoken: _Spoken | _Failure = _Failure("did not answer in time.")
    try:
        with anyio.move_on_after(_left(ends)):
            spoken = await decide()
    except Exception as error:  # noqa: BLE001 - a judge is foreign code: whatever it raises
        spoken = _Failure(_words(error))
    if isinstance(spoken, _Failure):
        detail = f"The judge {spoken.why}"
        return _Spoken(could_not(claims, check="judge", by=_name(judge), detail=detail))
    return spoken


class _Failure(NamedTuple):
    """Why a decider gave nothing, as the end of a sentence."""

    why: str


async def _in_thread(work: Callable[[], _T], ends: float | None) -> _T | _Failure:
    import anyio
    from anyio import to_thread

    try:
        with anyio.move_on_after(_left(ends)):
            return await to_thread.run_sync(work, abandon_on_cancel=True)
    except Exception as error:  # noqa: BLE001 - a model is foreign code: whatever it raises
        return _Failure(_words(error))
    return _Failure("did not answer in time.")


def _left(ends: float | None) -> float | None:
    import anyio

    return None if ends is None else max(0.0, ends - anyio.current_time())


def _words(error: Exception) -> str:
    if isinstance(error, GroundedRAGError):
        # Our own errors say what to do next; foreign messages may hold anything.
        return f"failed: {error}"
    return f"failed: {type(error).__name__}."


def _name(part: EntailmentModel | Judge) -> str:
    try:
        return str(part.name)
    except Exception:  # noqa: BLE001 - a broken name must not hide what went wrong
        return type(part).__name__


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
    """Return the signals of an entailment model, which gave one score for each of the pairs.

    A clear entailment confirms a claim and a clear contradiction rejects it. What is neither is
    rejected too, or, where a judge follows, left to the judge.

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
    """Return why a verdict rests on nothing; None where all its words stand in the evidence."""
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
