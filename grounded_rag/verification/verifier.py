"""The public `verify`: one pure function from a draft and its chunks to a verification."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
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
    Verification,
)
from grounded_rag.validity import parse_instant
from grounded_rag.verification.chunk_inputs import read_chunks
from grounded_rag.verification.citations import check_citation
from grounded_rag.verification.context import evidence_piece
from grounded_rag.verification.drafts import parse_draft
from grounded_rag.verification.flags import conflict_flags, place_flags, staleness_flags
from grounded_rag.verification.folding import FoldedText, fold
from grounded_rag.verification.passages import Passages
from grounded_rag.verification.prose import uncited_sentences
from grounded_rag.verification.refusals import is_refusal
from grounded_rag.verification.verdict import judge_claim, run_checks


def verify(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    refusal: str | None = None,
    quote_match: Literal["repair", "exact"] = "repair",
    checks: Sequence[SupportCheck] | None = None,
    max_age: dt.timedelta | None = None,
) -> Verification:
    """Verify a draft against the chunks that were retrieved for it.

    Every quote is looked up in the chunk that its citation names; then the support checks judge
    the claim on the quote and its enclosing sentence(s). The order of the chunks means nothing,
    and no model output raises: output that cannot be read is the outcome `invalid_output`.

    Args:
        draft: A `Draft`; a mapping `{"claims": [{"text", "chunk_id", "quote"}]}` or with nested
            `citations`; the same as a JSON string; or the model's raw text.
        chunks: `RetrievedChunk`s, mappings `{"id", "text", "metadata"}` or LlamaIndex nodes.
        question: The question. It is never evidence; it explains quotes taken from it, and parts
            that the draft leaves open must stand in it.
        as_of: Moment for which the answer should hold; without it no staleness is judged.
        refusal: The refusal string in force; None means the built-in one.
        quote_match: `repair` bridges differences of presentation and records them; `exact` never.
        checks: Support checks; None means the built-in ones, `()` judges quotes only.
        max_age: Evidence older than this is flagged; needs `as_of`.

    Returns:
        One verdict a claim, flags on supported claims, and what the whole draft amounts to.

    Raises:
        DraftError: `draft` or `chunks` is of a Python type that can be neither.
        ManifestError: `as_of` is text that is no date.
    """
    retrieved = read_chunks(chunks)
    parsed = parse_draft(draft)
    if parsed.draft is None:
        return Verification(outcome=Outcome.INVALID_OUTPUT, problems=parsed.problems)
    if checks is None:
        # The built-in checks are the larger half of the verifier: only who uses them loads them.
        from grounded_rag.verification.support import default_checks

        checks = default_checks()
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
    return _verify(parsed.draft, run, declined=declined)


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
    """A verdict and the remarks on it."""

    verdict: ClaimVerdict
    flags: tuple[Flag, ...]


def _verify(draft: Draft, run: _Run, *, declined: bool) -> Verification:
    unanswered, problems = _unanswered(draft, run.question)
    if not draft.claims:
        if declined or not draft.prose.strip():
            return Verification(
                outcome=Outcome.REFUSED, unanswered=unanswered, problems=tuple(problems)
            )
        problems.append(
            Problem(
                reason="uncited",
                path="claims",
                detail="The output has text but no claims, so nothing in it can be checked.",
            )
        )
        return Verification(
            outcome=Outcome.REJECTED, unanswered=unanswered, problems=tuple(problems)
        )
    checked = [_check_claim(i, claim, draft.repaired, run) for i, claim in enumerate(draft.claims)]
    verdicts = tuple(each.verdict for each in checked)
    if declined:
        problems.append(
            Problem(
                reason="beside_refusal",
                path="answer",
                detail="The output refuses and makes claims; it can only do one of the two.",
            )
        )
        return Verification(
            claims=tuple(_beside_refusal(verdict) for verdict in verdicts),
            outcome=Outcome.REFUSED,
            problems=tuple(problems),
            unanswered=unanswered,
        )
    problems += uncited_sentences(draft.prose, [claim.text for claim in draft.claims])
    supported = sum(verdict.supported for verdict in verdicts)
    whole = supported == len(verdicts) and not problems and not unanswered
    outcome = Outcome.ACCEPTED if whole else Outcome.PARTIAL if supported else Outcome.REJECTED
    return Verification(
        claims=verdicts,
        outcome=outcome,
        flags=tuple(flag for each in checked for flag in each.flags),
        problems=tuple(problems),
        unanswered=unanswered,
    )


def _check_claim(index: int, claim: Claim, repaired: bool, run: _Run) -> _Checked:
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
    verdict = judge_claim(claim, citations, signals, repaired=repaired)
    if case is None or not verdict.supported:
        return _Checked(verdict, ())
    return _Checked(verdict, tuple(dict.fromkeys(_flags(index, case, run))))


def _flags(index: int, case: ClaimCase, run: _Run) -> list[Flag]:
    found: list[Flag] = []
    for piece in case.evidence:
        passage = run.passages.get(piece.located.chunk_id)[0]
        found += place_flags(index, piece.located, passage)
        if run.as_of is not None:
            found += staleness_flags(index, piece.chunk, as_of=run.as_of, max_age=run.max_age)
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
