"""A draft examined: what `verify` finds, kept so that slower checks can settle it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase, SupportCheck
from grounded_rag.resources import default_refusal
from grounded_rag.types import (
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Draft,
    Flag,
    Instant,
    Outcome,
    Problem,
    Reason,
    Signal,
    Verification,
)
from grounded_rag.validity import parse_instant
from grounded_rag.verification.checks import run_checks
from grounded_rag.verification.citations import check_citation
from grounded_rag.verification.drafts import is_refusal, open_parts, parse_draft, uncited_sentences
from grounded_rag.verification.evidence import Ground, ground_of
from grounded_rag.verification.flags import (
    conflict_flags,
    place_flags,
    staleness_flags,
    unconfirmed_flag,
    wording_flags,
)
from grounded_rag.verification.folding import FoldedText, fold
from grounded_rag.verification.passages import Passages, read_chunks
from grounded_rag.verification.restating import with_restatements, without_the_unasked
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verbatim import apart
from grounded_rag.verification.verdict import judge_claim

# A claim that does not begin like the refusal string is not folded to compare it.
_SIEVE = 6


def examine(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    rules: Rules,
    checks: Sequence[SupportCheck],
) -> Examination:
    """Do what `verify` does with checks that run at once, and keep what claims were judged on.

    Of the checks in `rules`, only those of `checks` run; the other arguments are those of `verify`.
    """
    passages = Passages(read_chunks(chunks))
    parsed = parse_draft(draft)
    if parsed.draft is None:
        invalid = Verification(outcome=Outcome.INVALID_OUTPUT, problems=parsed.problems)
        return Examination(verification=invalid)
    run = _Run(
        passages=passages,
        question=question,
        folded_question=fold(question) if question else None,
        as_of=None if as_of is None else parse_instant(as_of),
        rules=rules,
        refusal=default_refusal() if rules.refusal is None else rules.refusal,
        checks=tuple(checks),
    )
    found = parsed.draft
    declined = bool(found.prose) and is_refusal(found.prose, run.refusal)
    if not found.claims:
        return Examination(verification=_without_claims(found, run, declined=declined))
    checked = [_check_claim(claim, found.repaired, run) for claim in found.claims]
    if not declined:
        return _settled(found, run, checked)
    refused = _refusal_with_claims(found, run, [each.verdict for each in checked])
    return Examination(verification=refused, grounds=(None,) * len(checked))


class Examination:
    """A verified draft with what its claims were judged on, so that more can be said about them.

    Attributes:
        verification: What is found so far.
        cases: One case a claim; None where a citation has no place, or the draft refuses.
    """

    __slots__ = ("_draft", "_grounds", "_run", "cases", "verification")

    def __init__(
        self,
        *,
        verification: Verification,
        grounds: tuple[Ground | None, ...] = (),
        draft: Draft | None = None,
        run: _Run | None = None,
    ) -> None:
        self.verification = verification
        self.cases = tuple(None if ground is None else ground.case for ground in grounds)
        self._grounds = grounds
        self._draft = draft
        self._run = run

    def with_signals(self, added: Mapping[int, Sequence[Signal]]) -> Examination:
        """Return the examination settled again with further signals.

        Args:
            added: Signals by 0-based index of the claim; only claims with a case may have any.
        """
        if self._draft is None or self._run is None or not any(added.values()):
            return self
        checked = [
            _Checked(
                _judged(
                    verdict.claim,
                    verdict,
                    (*verdict.signals, *added.get(index, ())),
                    ground,
                    self._run,
                    repaired=self._draft.repaired,
                ),
                ground,
            )
            for index, (verdict, ground) in enumerate(
                zip(self.verification.claims, self._grounds, strict=True)
            )
        ]
        return _settled(self._draft, self._run, checked)


class _Run(NamedTuple):
    """What stays the same for all claims of one verification."""

    passages: Passages
    question: str | None
    folded_question: FoldedText | None
    as_of: Instant | None
    rules: Rules
    refusal: str
    checks: tuple[SupportCheck, ...]


class _Checked(NamedTuple):
    """A verdict and what it was given on, where every citation has its place."""

    verdict: ClaimVerdict
    ground: Ground | None


def outcome_of(
    claims: Sequence[ClaimVerdict], *, problems: Sequence[Problem], unanswered: Sequence[str]
) -> Outcome:
    """Return what verdicts amount to; there is at least one."""
    supported = sum(verdict.supported for verdict in claims)
    if supported == len(claims) and not problems and not unanswered:
        return Outcome.ACCEPTED
    return Outcome.PARTIAL if supported else Outcome.REJECTED


def _without_claims(draft: Draft, run: _Run, *, declined: bool) -> Verification:
    unanswered, problems = open_parts(draft, run.question)
    refused = declined or not draft.prose.strip()
    if not refused:
        problems.append(
            Problem(
                reason="uncited",
                path="claims",
                detail="The output has text but no claims, so nothing in it can be checked.",
            )
        )
    return Verification(
        outcome=Outcome.REFUSED if refused else Outcome.REJECTED,
        unanswered=unanswered,
        problems=tuple(problems),
    )


def _refusal_with_claims(draft: Draft, run: _Run, verdicts: Sequence[ClaimVerdict]) -> Verification:
    unanswered, problems = open_parts(draft, run.question)
    problems.append(
        Problem(
            reason="beside_refusal",
            path="answer",
            detail="The output refuses and makes claims; it can only do one of the two.",
        )
    )
    return Verification(
        claims=tuple(map(_beside_refusal, verdicts)),
        outcome=Outcome.REFUSED,
        problems=tuple(problems),
        unanswered=unanswered,
    )


def _settled(draft: Draft, run: _Run, checked: Sequence[_Checked]) -> Examination:
    """Return what the verdicts amount to, with the flags of what may ship."""
    unanswered, problems = open_parts(draft, run.question)
    if draft.prose:
        problems += uncited_sentences(draft.prose, [claim.text for claim in draft.claims])
    flags: list[Flag] = []
    told: list[tuple[int, ClaimCase]] = []
    for index, (verdict, ground) in enumerate(checked):
        if ground is not None and (verdict.supported or verdict.restatements):
            flags += dict.fromkeys(_flags(index, verdict, ground, run))
            told.append((index, _as_told(ground.case, verdict)))
    if run.checks and len(run.passages) > 1:
        flags += conflict_flags(told, run.passages, as_of=run.as_of)
    claims = tuple(each.verdict for each in checked)
    verification = Verification.trusted(
        claims=claims,
        outcome=outcome_of(claims, problems=problems, unanswered=unanswered),
        flags=tuple(flags),
        problems=tuple(problems),
        unanswered=unanswered,
    )
    return Examination(
        verification=verification,
        grounds=tuple(each.ground for each in checked),
        draft=draft,
        run=run,
    )


def _check_claim(claim: Claim, repaired: bool, run: _Run) -> _Checked:
    citations = tuple(
        check_citation(
            citation,
            claim.text,
            run.passages,
            question=run.folded_question,
            repair=run.rules.quote_match == "repair",
        )
        for citation in claim.citations
    )
    found = ClaimVerdict.trusted(claim=claim, citations=citations, status=ClaimStatus.UNSUPPORTED)
    if _may_refuse(claim.text, run.refusal) and is_refusal(claim.text, run.refusal):
        return _Checked(_beside_refusal(found), None)
    ground = ground_of(claim, citations, run.passages, question=run.question)
    signals: tuple[Signal, ...] = ()
    if ground is not None:
        signals = run_checks(ground.case, run.checks)
    return _Checked(_judged(claim, found, signals, ground, run, repaired=repaired), ground)


def _may_refuse(text: str, refusal: str) -> bool:
    """Whether a claim begins like the refusal string, marks around it aside: a cheap sieve."""
    return refusal.strip()[:_SIEVE].casefold() in text[: 4 * _SIEVE].casefold()


def _judged(
    claim: Claim,
    found: ClaimVerdict,
    signals: tuple[Signal, ...],
    ground: Ground | None,
    run: _Run,
    *,
    repaired: bool,
) -> ClaimVerdict:
    differs: tuple[str, ...] = ()
    if ground is not None and not ground.verbatim.same:
        added, missing = apart(claim.text, ground.evidence)
        differs = (*added, *missing)
    verdict = judge_claim(
        claim,
        found.citations,
        signals,
        statements=() if ground is None else ground.statements,
        verbatim=None if ground is None else ground.verbatim,
        apart=differs,
        spans_only=run.rules.spans_only,
        repaired=repaired,
    )
    if ground is None:
        return verdict
    if verdict.supported and not ground.verbatim.bare:
        return without_the_unasked(verdict, ground, run.passages, question=run.question)
    # A sentence with a pronoun is what stands there; shown, it brings the one before it along.
    return with_restatements(
        verdict,
        ground,
        run.passages,
        question=run.question,
        longest=run.rules.longest_restatement,
        checks=run.checks,
    )


def _flags(index: int, verdict: ClaimVerdict, ground: Ground, run: _Run) -> list[Flag]:
    found: list[Flag] = []
    case = ground.case
    for piece in case.evidence:
        passage = run.passages.get(piece.located.chunk_id)[0]
        found += place_flags(index, piece.located, passage)
        if run.as_of is not None:
            found += staleness_flags(index, piece.chunk, as_of=run.as_of, max_age=run.rules.max_age)
    found += wording_flags(index, case, verdict)
    found += unconfirmed_flag(index, verdict)
    return found


def _as_told(case: ClaimCase, verdict: ClaimVerdict) -> ClaimCase:
    """Return a claim as the reader is told it: a rival of its restatement is the one to name."""
    if verdict.restatement is None:
        return case
    claim = case.claim.model_copy(update={"text": verdict.restatement})
    return case.model_copy(update={"claim": claim})


def _beside_refusal(verdict: ClaimVerdict) -> ClaimVerdict:
    return verdict.model_copy(
        update={
            "status": ClaimStatus.UNSUPPORTED,
            "reason": Reason.BESIDE_REFUSAL,
            "why": "The output also refuses; a refusal carries no claims.",
        }
    )
