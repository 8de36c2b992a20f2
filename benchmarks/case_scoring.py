"""Scores the public `verify` on cases in the format of `verifier_cases.jsonl`.

Where a case says verified, repaired or flagged, the quote must be located at the expected
characters and the claim be supported or open (its statement ships in its place), with the named
flag. Where it says rejected, the claim must not be supported, and a quote that is not literal must
not be located. The outcome of the whole counts for refusals and unusable outputs. Another verdict
that a case would also accept counts only for re-pointed citations, oversized quotes and uncertain
places.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounded_rag import ClaimStatus, ClaimVerdict, FlagKind, Outcome, Reason, Verification, verify

Case = Mapping[str, Any]

REASONS: Mapping[str, frozenset[Reason]] = {
    "near_miss": frozenset({Reason.NEAR_MISS}),
    "unreadable_source": frozenset({Reason.UNREADABLE_SOURCE}),
    "ellipsis_join": frozenset({Reason.ELLIPSIS_JOIN}),
    "cut_context": frozenset({Reason.CUT_CONTEXT, Reason.UNPROVEN}),
    "stitched": frozenset({Reason.STITCHED}),
    "paraphrase": frozenset({Reason.QUOTE_NOT_FOUND, Reason.NEAR_MISS}),
    "translation": frozenset({Reason.QUOTE_NOT_FOUND}),
    "wrong_chunk": frozenset({Reason.WRONG_CHUNK, Reason.UNPROVEN}),
    "unknown_chunk_id": frozenset({Reason.UNKNOWN_CHUNK}),
    "ambiguous_chunk_id": frozenset({Reason.AMBIGUOUS_CHUNK}),
    "empty_quote": frozenset({Reason.EMPTY_QUOTE}),
    "empty_chunk": frozenset({Reason.EMPTY_CHUNK}),
    "too_short": frozenset({Reason.QUOTE_TOO_SHORT}),
    "spans_two_chunks": frozenset({Reason.BEYOND_CHUNK}),
    "contradicts": frozenset({Reason.UNPROVEN, Reason.CONTRADICTED}),
    "wrong_entity": frozenset({Reason.UNPROVEN, Reason.IDENTIFIER_MISMATCH}),
    "number_mismatch": frozenset({Reason.NUMBER_MISMATCH, Reason.WRONG_CELL, Reason.UNPROVEN}),
    "unit_mismatch": frozenset({Reason.UNIT_MISMATCH}),
    "stronger_than_quote": frozenset({Reason.UNPROVEN}),
    "unsupported_tail": frozenset({Reason.UNPROVEN}),
    "from_prompt": frozenset({Reason.FROM_QUESTION}),
    "from_metadata": frozenset({Reason.FROM_METADATA}),
    "injected_instruction": frozenset({Reason.INJECTED_INSTRUCTION}),
    "inconsistent_with_refusal": frozenset({Reason.BESIDE_REFUSAL}),
    "layout_gap": frozenset({Reason.STITCHED, Reason.NEAR_MISS}),
}
"""Reasons of the cases under our names. They are compared, and do not decide the score."""

_LENIENT = frozenset(
    {"misattributed_chunk", "chunk_overlap_boundary", "oversized_quote", "repeated_text_location"}
)


@dataclass(frozen=True)
class Score:
    """How one case went.

    Attributes:
        id: Id of the case.
        kind: Its kind.
        ok: Whether everything that decides the score is as expected.
        misses: What differed.
        remarks: Reasons other than the expected ones; they do not decide.
        plain: Whether `quote in chunk` gets the case right.
    """

    id: str
    kind: str
    ok: bool
    misses: tuple[str, ...]
    remarks: tuple[str, ...]
    plain: bool


def load_cases(path: Path) -> list[Case]:
    """Read cases, one JSON object a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def run_case(case: Case) -> Verification:
    """Verify the model output of a case with default settings."""
    config = case.get("config", {})
    return verify(
        case["model_output"],
        case["chunks"],
        question=case.get("question"),
        as_of=config.get("now"),
        refusal=config.get("refusal_string"),
    )


def score_case(case: Case) -> Score:
    """Score one case."""
    verification = run_case(case)
    expected = case["expected"]
    misses: list[str] = []
    remarks: list[str] = []
    claims = expected["claims"]
    unread = verification.outcome in (Outcome.REFUSED, Outcome.INVALID_OUTPUT)
    if len(claims) != len(verification.claims) and not unread:
        misses.append(f"{len(verification.claims)} claims instead of {len(claims)}")
    for index, (want, verdict) in enumerate(zip(claims, verification.claims, strict=False)):
        found = _claim_misses(case, want, verdict, verification, index)
        misses.extend(f"claim {index + 1}: {miss}" for miss in found)
        reason = want.get("reason")
        known = REASONS.get(reason or "")
        if known is not None and not verdict.supported and verdict.reason not in known:
            remarks.append(f"claim {index + 1}: {verdict.reason} for {reason}")
    if not _outcome_fits(case, verification):
        misses.append(f"outcome {verification.outcome} for {expected['verdict']}")
    return Score(
        id=case["id"],
        kind=case["kind"],
        ok=not misses,
        misses=tuple(misses),
        remarks=tuple(remarks),
        plain=plain_in(case),
    )


def _accepted(case: Case, want: Mapping[str, Any]) -> set[str]:
    accepted = {want["verdict"]}
    if case["kind"] in _LENIENT:
        accepted.update(want.get("accept", ()))
    return accepted


def _claim_misses(
    case: Case,
    want: Mapping[str, Any],
    verdict: ClaimVerdict,
    verification: Verification,
    index: int,
) -> list[str]:
    accepted = _accepted(case, want)
    stands = verdict.supported or (
        verdict.status is ClaimStatus.OPEN and bool(verdict.restatements)
    )
    if not stands:
        if "rejected" not in accepted:
            return [f"{verdict.status} ({verdict.reason}: {verdict.why}) for {want['verdict']}"]
        literal = want.get("literal", True)
        return [] if literal or not verdict.located else ["a quote that is not literal is located"]
    if accepted == {"rejected"}:
        return [] if not verdict.supported else [f"supported ({verdict.tier}) for rejected"]
    misses: list[str] = []
    if "flagged" in accepted and want["verdict"] == "flagged":
        flag = FlagKind(want["reason"])
        kinds = {flag.kind for flag in verification.flags if flag.claim == index}
        if flag not in kinds and "verified" not in accepted:
            misses.append(f"no flag {flag}")
        if "conflicts_with" in want:
            related = {to for flag in verification.flags for to in flag.related}
            if not related.issuperset(want["conflicts_with"]):
                misses.append("the conflicting chunk is not named")
    return misses + _place_misses(case, want, verdict)


def _place_misses(case: Case, want: Mapping[str, Any], verdict: ClaimVerdict) -> list[str]:
    if "start" not in want or not verdict.located:
        return [] if "start" not in want else ["no place"]
    located = verdict.located[0]
    text = next(c["text"] for c in case["chunks"] if c["id"] == want["chunk_id"])
    misses: list[str] = []
    span = (located.chunk_span.start, located.chunk_span.end)
    if located.chunk_id != want["chunk_id"]:
        misses.append(f"chunk {located.chunk_id}")
    if span != (want["start"], want["end"]):
        misses.append(f"span {span} for {(want['start'], want['end'])}")
    if located.quote != want.get("exact_quote", text[want["start"] : want["end"]]):
        misses.append(f"quote {located.quote!r}")
    if "start_utf16" in want:
        units = located.utf16_span
        if (units.start, units.end) != (want["start_utf16"], want["end_utf16"]):
            misses.append("UTF-16 units")
    if "doc_start" in want:
        document = (located.doc_id, located.document_span.start, located.document_span.end)
        if document != (want["doc_id"], want["doc_start"], want["doc_end"]):
            misses.append(f"document place {document}")
        full = case.get("documents", {}).get(located.doc_id)
        if full is not None and located.document_span.of(full) != located.quote:
            misses.append("the document does not read the quote there")
    return misses


def _outcome_fits(case: Case, verification: Verification) -> bool:
    if case["kind"] in ("refusal_language", "empty_claims"):
        return verification.outcome in (Outcome.REFUSED, Outcome.REJECTED)
    expected = case["expected"]["verdict"]
    if expected == "refused":
        return verification.outcome is Outcome.REFUSED
    if expected == "invalid_output":
        return verification.outcome is Outcome.INVALID_OUTPUT
    return verification.outcome not in (Outcome.REFUSED, Outcome.INVALID_OUTPUT)


def plain_in(case: Case) -> bool:
    """Whether `quote in chunk`, with `str.find` for the place, gets a case right."""
    expected = case["expected"]
    output = case["model_output"]
    claims = output["claims"] if isinstance(output, Mapping) else None
    if not isinstance(claims, list):
        return False
    if not claims:
        return expected["verdict"] == "refused" or case["kind"] == "empty_claims"
    texts = {chunk["id"]: chunk["text"] for chunk in case["chunks"]}
    verdicts = []
    for claim, want in zip(claims, expected["claims"], strict=True):
        text = texts.get(claim["chunk_id"], "")
        found = claim["quote"] in text
        got = "verified" if found else "rejected"
        verdicts.append(got)
        if got not in _accepted(case, want):
            return False
        if found and text.find(claim["quote"]) != want.get("start"):
            return False
    overall = "verified" if set(verdicts) == {"verified"} else "rejected"
    overall = "partial" if len(set(verdicts)) == 2 else overall
    return overall == expected["verdict"] or case["kind"] in _LENIENT
