"""A draft examined: what `verify` finds, kept so that slower checks can settle it again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from grounded_rag.protocols import ClaimCase, EvidencePiece, SupportCheck
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
    RetrievedChunk,
    Signal,
    Verification,
)
from grounded_rag.validity import parse_instant
from grounded_rag.verification.chunk_inputs import read_chunks
from grounded_rag.verification.citations import check_citation
from grounded_rag.verification.context import evidence_piece
from grounded_rag.verification.drafts import parse_draft
from grounded_rag.verification.flags import (
    conflict_flags,
    place_flags,
    staleness_flags,
    wording_flags,
)
from grounded_rag.verification.folding import FoldedText, fold
from grounded_rag.verification.passages import Passages
from grounded_rag.verification.prose import uncited_sentences
from grounded_rag.verification.refusals import is_refusal
from grounded_rag.verification.verdict import judge_claim, run_checks


def examine(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    refusal: str | None = None,
    quote_match: Literal["repair", "exact"] = "repair",
    checks: Sequence[SupportCheck],
    max_age: dt.timedelta | None = None,
) -> Examination:
    """Do what `verify` does with checks that run at once, and keep what claims were judged on.

    Arguments and errors are those of `verify`.
    """
    retrieved = read_chunks(chunks)
    parsed = parse_draft(draft)
    if parsed.draft is None:
        invalid = Verification(outcome=Outcome.INVALID_OUTPUT, problems=parsed.problems)
        return Examination(verification=invalid)
    run = _Run(
        passages=Passages(retrieved),
        question=question,
        folded_question=fold(question) if question else None,
        as_of=parse_instant(as_of),
        repair=quote_match == "repair",
        checks=tuple(checks),
        max_age=max_age,
        conflicts=bool(checks),
    )
    declined = bool(parsed.draft.prose) and is_refusal(
        parsed.draft.prose, default_refusal() if refusal is None else refusal
    )
    return _examined(parsed.draft, run, declined=declined)


class Examination:
    """A verified draft with what its claims were judged on, so that more can be said about them.

    Attributes:
        verification: What is found so far.
        cases: One case a claim; None where a citation has no place, or the draft refuses.
    """

    __slots__ = ("_draft", "_run", "cases", "verification")

    def __init__(
        self,
        *,
        verification: Verification,
        cases: tuple[ClaimCase | None, ...] = (),
        draft: Draft | None = None,
        run: _Run | None = None,
    ) -> None:
        self.verification = verification
        self.cases = cases
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
                judge_claim(
                    verdict.claim,
                    verdict.citations,
                    (*verdict.signals, *added.get(index, ())),
                    repaired=self._draft.repaired,
                ),
                case,
            )
            for index, (verdict, case) in enumerate(
                zip(self.verification.claims, self.cases, strict=True)
            )
        ]
        return _settled(self._draft, self._run, checked)


class _Run(NamedTuple):
    """What stays the same for all claims of one verification."""

    passages: Passages
    question: str | None
    folded_question: FoldedText | None
    as_of: Instant | None
    repair: bool
    checks: tuple[SupportCheck, ...]
    max_age: dt.timedelta | None
    conflicts: bool


class _Checked(NamedTuple):
    """A verdict and the case it was given on, where every citation has its place."""

    verdict: ClaimVerdict
    case: ClaimCase | None


def _examined(draft: Draft, run: _Run, *, declined: bool) -> Examination:
    if not draft.claims:
        return Examination(verification=_without_claims(draft, run, declined=declined))
    checked = [_check_claim(claim, draft.repaired, run) for claim in draft.claims]
    if not declined:
        return _settled(draft, run, checked)
    unanswered, problems = _unanswered(draft, run.question)
    problems.append(
        Problem(
            reason="beside_refusal",
            path="answer",
            detail="The output refuses and makes claims; it can only do one of the two.",
        )
    )
    refused = Verification(
        claims=tuple(_beside_refusal(each.verdict) for each in checked),
        outcome=Outcome.REFUSED,
        problems=tuple(problems),
        unanswered=unanswered,
    )
    return Examination(verification=refused, cases=(None,) * len(checked))


def _without_claims(draft: Draft, run: _Run, *, declined: bool) -> Verification:
    unanswered, problems = _unanswered(draft, run.question)
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


def _settled(draft: Draft, run: _Run, checked: Sequence[_Checked]) -> Examination:
    """Return what the verdicts amount to, with the flags of the supported ones."""
    unanswered, problems = _unanswered(draft, run.question)
    problems += uncited_sentences(draft.prose, [claim.text for claim in draft.claims])
    flags: list[Flag] = []
    for index, (verdict, case) in enumerate(checked):
        if verdict.supported and case is not None:
            flags += dict.fromkeys(_flags(index, verdict, case, run))
    supported = sum(each.verdict.supported for each in checked)
    whole = supported == len(checked) and not problems and not unanswered
    verification = Verification(
        claims=tuple(each.verdict for each in checked),
        outcome=Outcome.ACCEPTED if whole else Outcome.PARTIAL if supported else Outcome.REJECTED,
        flags=tuple(flags),
        problems=tuple(problems),
        unanswered=unanswered,
    )
    return Examination(
        verification=verification,
        cases=tuple(each.case for each in checked),
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
            repair=run.repair,
        )
        for citation in claim.citations
    )
    pieces: list[EvidencePiece] = []
    for check in citations:
        if check.located is not None and check.problem is None:
            passage = run.passages.get(check.located.chunk_id)[0]
            pieces.append(evidence_piece(check.citation, check.located, passage))
    case = None
    if pieces and len(pieces) == len(citations):
        case = ClaimCase(claim=claim, evidence=tuple(pieces), question=run.question)
    signals = run_checks(case, run.checks) if case is not None else ()
    return _Checked(judge_claim(claim, citations, signals, repaired=repaired), case)


def _flags(index: int, verdict: ClaimVerdict, case: ClaimCase, run: _Run) -> list[Flag]:
    found: list[Flag] = []
    for piece in case.evidence:
        passage = run.passages.get(piece.located.chunk_id)[0]
        found += place_flags(index, piece.located, passage)
        if run.as_of is not None:
            found += staleness_flags(index, piece.chunk, as_of=run.as_of, max_age=run.max_age)
    found += wording_flags(index, case, verdict.signals)
    if run.conflicts:
        chunks: list[RetrievedChunk] = [passage.retrieved for passage in run.passages]
        found += conflict_flags(index, case, chunks, as_of=run.as_of)
    return found


def _beside_refusal(verdict: ClaimVerdict) -> ClaimVerdict:
    return verdict.model_copy(
        update={
            "status": ClaimStatus.UNSUPPORTED,
            "reason": Reason.BESIDE_REFUSAL,
            "why": "The output also refuses; a refusal carries no claims.",
        }
    )


def _unanswered(draft: Draft, question: str | None) -> tuple[tuple[str, ...], list[Problem]]:
    """Return the open parts that really stand in the question, and a problem for each other."""
    kept: list[str] = []
    problems: list[Problem] = []
    for index, part in enumerate(draft.unanswered):
        if not part.strip():
            continue
        if question is not None and part in question:
            kept.append(part)
            continue
        problems.append(
            Problem(
                reason="unanswered_not_in_question",
                path=f"unanswered[{index}]",
                detail="The part said to be open does not stand in the question.",
            )
        )
    return tuple(kept), problems
