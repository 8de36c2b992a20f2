"""Whether a receipt fits together, and whether its claims have the support that it states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from pydantic import ValidationError

from grounded_rag.config import Policy
from grounded_rag.decision import compose
from grounded_rag.errors import ConfigError, ReceiptError
from grounded_rag.receipts.findings import IntegrityProblem, SignatureState
from grounded_rag.receipts.make import ID_DIGITS, content_hash, text_hash, verify_signature
from grounded_rag.types import (
    AnswerStatus,
    Chunk,
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Located,
    Reason,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
    Tier,
)
from grounded_rag.verification.evidence import stated_at
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verdict import confirmed_by, doubted

COMPUTED = "arithmetic"
"""The decider that is part of the verifier: what it confirmed is worked out again, not believed."""


def check_form(receipt: Receipt, passages: Mapping[str, Passage]) -> list[IntegrityProblem]:
    """Return what in a receipt does not fit together, without judging support.

    `passages` holds each source by chunk id, as far as its text is known.
    """
    misfits = (
        *_hash_misfits(receipt),
        *_source_misfits(receipt, passages),
        *_claim_misfits(receipt, passages),
    )
    return [IntegrityProblem(kind=kind, path=path, detail=detail) for kind, path, detail in misfits]


_Misfit = tuple[str, str, str]
"""Kind, path and detail of a problem."""


def _hash_misfits(receipt: Receipt) -> Iterator[_Misfit]:
    try:
        digest = content_hash(receipt)
    except ReceiptError as error:
        yield "hash", "", error.message
        return
    if receipt.content_hash != digest:
        detail = "The content does not give the hash that the receipt states."
        yield "hash", "content_hash", detail
    elif receipt.id != digest[:ID_DIGITS]:
        yield "id", "id", "The id is not the beginning of the hash."


def _source_misfits(receipt: Receipt, passages: Mapping[str, Passage]) -> Iterator[_Misfit]:
    seen: set[str] = set()
    for index, source in enumerate(receipt.sources):
        path = f"sources[{index}]"
        if source.chunk_id in seen:
            yield "source", path, "The chunk is there twice."
        seen.add(source.chunk_id)
        passage = passages.get(source.chunk_id)
        if passage is not None and text_hash(passage.text) != source.content_hash:
            yield "source", path, "The chunk's text does not give its hash."


def _claim_misfits(receipt: Receipt, passages: Mapping[str, Passage]) -> Iterator[_Misfit]:
    refused = receipt.status is AnswerStatus.REFUSED
    if refused == bool(receipt.claims) or refused == (receipt.refusal is None):
        yield "status", "status", "Status, claims and refusal do not fit together."
    sources = {source.chunk_id: source for source in receipt.sources}
    for index, claim in enumerate(receipt.claims):
        path = f"claims[{index}]"
        if detail := _tier_misfit(claim, receipt):
            yield "tier", path, detail
        for number, citation in enumerate(claim.citations):
            source, passage = sources.get(citation.chunk_id), passages.get(citation.chunk_id)
            for kind, detail in _citation_misfits(citation, source, passage):
                yield kind, f"{path}.citations[{number}]", detail
    if not receipt.claims:
        return
    if compose([shown_verdict(claim) for claim in receipt.claims]) != receipt.text:
        yield "text", "text", "The text is not what the claims amount to."


def _tier_misfit(claim: ReceiptClaim, receipt: Receipt) -> str:
    """Return how tier, restatement, decider and policy contradict each other, or ""."""
    if claim.is_old:
        named = claim.restated or claim.decided_by
        return (
            "A tier of version 0.1 stands beside what that version did not know." if named else ""
        )
    if (claim.tier is Tier.CONFIRMED) != bool(claim.decided_by):
        return "A confirmed claim names what confirmed it, and no other claim does."
    if claim.decided_by == COMPUTED and not claim.arithmetic:
        return "The claim is said to be computed and carries no computation."
    if claim.restated and claim.tier is not Tier.VERBATIM:
        return "A restated claim is in the words of its source; this one is not verbatim."
    if claim.restated and receipt.policy.get("unproven", "restate") != "restate":
        return "The claim is restated under a policy that restates nothing."
    if claim.tier is Tier.NONE and receipt.policy.get("support") != "spans-only":
        return "Nothing has shown the claim, and the policy ships no such claim."
    return ""


def _citation_misfits(
    citation: ReceiptCitation, source: ReceiptSource | None, passage: Passage | None
) -> Iterator[tuple[str, str]]:
    if source is None:
        yield "source", "The cited chunk is not in the receipt."
        return
    if citation.doc_id != source.doc_id:
        yield "source", "The quote's document is not that of its chunk."
    if citation.document_span != citation.chunk_span.shift(source.span.start):
        yield "span", "The spans in chunk and document do not fit together."
    if passage is not None:
        if citation.chunk_span.of(passage.text) != citation.quote:
            yield "quote", "The chunk's text does not read so at that place."
    elif len(citation.quote) != len(citation.chunk_span):
        yield "span", "The span is not as long as the quote."


def check_statements(
    receipt: Receipt, passages: Mapping[str, Passage]
) -> Iterator[tuple[IntegrityProblem, bool]]:
    """Yield where what is shown with a quote is not the statement that the quote stands in.

    The quotes of the receipt must stand where it says. With each problem comes whether it holds
    whatever the rules are: version 0.1 showed text as it stands in the source.
    """
    for index, claim in enumerate(receipt.claims):
        for number, citation in enumerate(claim.citations):
            passage = passages.get(citation.chunk_id)
            if passage is not None and not _shows(claim, citation, passage):
                problem = IntegrityProblem(
                    kind="sentence",
                    path=f"claims[{index}].citations[{number}]",
                    detail="The statement shown is not the one that the quote stands in.",
                )
                yield problem, claim.is_old


def _shows(claim: ReceiptClaim, citation: ReceiptCitation, passage: Passage) -> bool:
    if not claim.is_old:
        return stated_at(passage, citation.chunk_span).text == citation.sentence
    # Version 0.1 showed the text around the quote as it stands in the source.
    at = citation.sentence.find(citation.quote)
    while at >= 0:
        begin = citation.chunk_span.start - at
        if begin >= 0 and passage.text.startswith(citation.sentence, begin):
            return True
        at = citation.sentence.find(citation.quote, at + 1)
    return False


def check_signature(receipt: Receipt, public_key: bytes | None) -> SignatureState:
    """Return what a key says of a receipt's signature; None where nobody asks."""
    if public_key is None:
        return "none" if receipt.signature is None else "not_checked"
    if receipt.signature is None:
        return "missing"
    return "valid" if verify_signature(receipt, public_key) else "invalid"


def signature_problems(state: SignatureState) -> Iterator[IntegrityProblem]:
    """Yield what speaks against a receipt for the sake of its signature."""
    details = {
        "missing": "The signature is missing.",
        "invalid": "The signature is not by the given key, or the content changed.",
    }
    if state in details:
        yield IntegrityProblem(kind="signature", path="signature", detail=details[state])


def shown_verdict(claim: ReceiptClaim) -> ClaimVerdict:
    """Return the verdict that a claim of a receipt was shipped with, as far as it says so."""
    checks = tuple(
        CitationCheck(
            citation=Citation(chunk_id=citation.chunk_id, quote=citation.quote),
            located=Located(
                chunk_id=citation.chunk_id,
                doc_id=citation.doc_id,
                chunk_span=citation.chunk_span,
                document_span=citation.document_span,
                quote=citation.quote,
                page=citation.page,
            ),
        )
        for citation in claim.citations
    )
    return ClaimVerdict(
        claim=Claim(
            text=claim.text,
            citations=tuple(check.citation for check in checks),
            arithmetic=claim.arithmetic,
        ),
        citations=checks,
        status=ClaimStatus.SUPPORTED,
        tier=claim.rests_on,
        restated=claim.restated,
    )


def retrieved_chunk(source: ReceiptSource, text: str) -> RetrievedChunk:
    """Return a source as the retriever had handed it over."""
    return RetrievedChunk(
        chunk=Chunk(
            id=source.chunk_id,
            doc_id=source.doc_id,
            span=source.span,
            text=text,
            content_hash=source.content_hash,
            headings=source.headings,
            heading_spans=source.heading_spans,
            page=source.page,
        ),
        source=source.source,
        title=source.title,
        validity=source.validity,
        trust=source.trust,
        document_hash=source.document_hash,
        page_spans=source.page_spans,
    )


def rules_of(receipt: Receipt, rules: Rules | None = None) -> Rules:
    """Return the rules that a receipt's claims were shipped under, as far as its policy says.

    What another version of the package wrote and this one cannot read counts as the default. What a
    policy cannot hold comes from `rules`: checks, deciders, refusal string and timeout.
    """
    given = rules or Rules()
    known: dict[str, object] = {}
    for name in Policy.model_fields.keys() & receipt.policy.keys():
        try:
            Policy.model_validate({name: receipt.policy[name]})
        except (ValidationError, ConfigError):
            continue
        known[name] = receipt.policy[name]
    own = Rules.of(Policy.model_validate(known))
    return replace(
        own,
        refusal=given.refusal,
        checks=given.checks,
        entailment=given.entailment,
        judge=given.judge,
        timeout=given.timeout,
    )


class Recheck(NamedTuple):
    """What the verifier says now of the support that a claim was shipped with."""

    why: str = ""  # why it is not there; "" where it is
    note: str = ""  # what was confirmed again, or is taken on trust
    reason: Reason | None = None
    proves: bool = False  # rules alone say that it is not there: they do whenever asked
    trusted: bool = False  # it rests on a decider that was not asked again


def recheck(claim: ReceiptClaim, verdict: ClaimVerdict, rules: Rules) -> Recheck:
    """Compare what a receipt says of a claim's support with a verdict of today.

    Verbatim must be verbatim again. What a decider confirmed must pass every rule; the decider's
    word counts anew where one is named, and is taken on trust otherwise.
    """
    if verdict.supported:
        demoted = claim.rests_on is Tier.VERBATIM and verdict.tier is not Tier.VERBATIM
        if demoted and doubted(verdict.signals) is None:
            why = (
                "The claim is called verbatim, and it is no statement of its source word for word."
            )
            return Recheck(why, reason=Reason.UNPROVEN, proves=True)
        name = confirmed_by(verdict)
        return Recheck(note=f"Confirmed again by {name}." if name else "")
    believed = claim.rests_on is Tier.CONFIRMED and claim.decided_by != COMPUTED
    if verdict.status is ClaimStatus.OPEN and believed:
        if not rules.has_deciders:
            return on_trust(claim)
        why = f"What decides now did not confirm it. {verdict.why}"
        return Recheck(why, reason=verdict.reason)
    why = verdict.why
    if verdict.status is ClaimStatus.OPEN and claim.is_old:
        why = f"Version 0.1 called it “{claim.tier}” by rules that do not hold any more. {why}"
    return Recheck(why, reason=verdict.reason, proves=_by_rules(verdict))


def on_trust(claim: ReceiptClaim) -> Recheck:
    """Return what is said of a confirmed claim whose decider is not asked again."""
    name = claim.decided_by or "a model, a judge or a check that the receipt does not name"
    return Recheck(note=f"Confirmed then by {name}; not asked again.", trusted=True)


def _by_rules(verdict: ClaimVerdict) -> bool:
    """Whether rules decided a verdict, and not a decider or a check that could not work."""
    if verdict.status is ClaimStatus.UNCHECKED:
        return False
    rejecting = (s for s in verdict.signals if s.passed is False and s.role in ("veto", "decider"))
    first = next(rejecting, None)
    return first is None or first.role == "veto"
