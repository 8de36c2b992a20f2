"""Whether a receipt fits together: its hash, its spans, its tiers and what it shows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from grounded_rag.decision import compose
from grounded_rag.errors import ReceiptError
from grounded_rag.receipts.findings import IntegrityProblem
from grounded_rag.receipts.make import ID_DIGITS, content_hash
from grounded_rag.receipts.support import COMPUTED
from grounded_rag.types import (
    AnswerStatus,
    Chunk,
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Located,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
    Tier,
)
from grounded_rag.verification.evidence import stated_at
from grounded_rag.verification.passages import Passage


def check_form(receipt: Receipt, passages: Mapping[str, Passage]) -> tuple[IntegrityProblem, ...]:
    """Return what in a receipt does not fit together, without judging support.

    Args:
        receipt: The receipt.
        passages: Each source by chunk id, as far as its text is known.
    """
    return (
        *_check_hash(receipt),
        *_check_sources(receipt, passages),
        *_check_claims(receipt, passages),
    )


def check_statements(
    receipt: Receipt, passages: Mapping[str, Passage]
) -> tuple[IntegrityProblem, ...]:
    """Return where what is shown with a quote is not the statement that the quote stands in.

    Args:
        receipt: A receipt whose quotes stand where it says.
        passages: See `check_form`.
    """
    return tuple(
        IntegrityProblem(
            kind="sentence",
            path=f"claims[{index}].citations[{number}]",
            detail="The statement shown is not the one that the quote stands in.",
        )
        for index, claim in enumerate(receipt.claims)
        for number, citation in enumerate(claim.citations)
        if (passage := passages.get(citation.chunk_id)) is not None
        and not _shows(claim, citation, passage)
    )


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


def _check_hash(receipt: Receipt) -> Iterator[IntegrityProblem]:
    try:
        digest = content_hash(receipt)
    except ReceiptError as error:
        yield IntegrityProblem(kind="hash", detail=error.message)
        return
    if receipt.content_hash != digest:
        yield IntegrityProblem(
            kind="hash",
            path="content_hash",
            detail="The content does not give the hash that the receipt states.",
        )
    elif receipt.id != digest[:ID_DIGITS]:
        yield IntegrityProblem(
            kind="id", path="id", detail="The id is not the beginning of the hash."
        )


def _check_sources(receipt: Receipt, passages: Mapping[str, Passage]) -> Iterator[IntegrityProblem]:
    seen: set[str] = set()
    for index, source in enumerate(receipt.sources):
        path = f"sources[{index}]"
        if source.chunk_id in seen:
            yield IntegrityProblem(kind="source", path=path, detail="The chunk is there twice.")
        seen.add(source.chunk_id)
        passage = passages.get(source.chunk_id)
        if passage is not None and sha256(passage.text) != source.content_hash:
            yield IntegrityProblem(
                kind="source", path=path, detail="The chunk's text does not give its hash."
            )


def _check_claims(receipt: Receipt, passages: Mapping[str, Passage]) -> Iterator[IntegrityProblem]:
    refused = receipt.status is AnswerStatus.REFUSED
    if refused == bool(receipt.claims) or refused == (receipt.refusal is None):
        yield IntegrityProblem(
            kind="status", path="status", detail="Status, claims and refusal do not fit together."
        )
    sources = {source.chunk_id: source for source in receipt.sources}
    for index, claim in enumerate(receipt.claims):
        misfit = _tier_misfit(claim, receipt)
        if misfit:
            yield IntegrityProblem(kind="tier", path=f"claims[{index}]", detail=misfit)
        for number, citation in enumerate(claim.citations):
            path = f"claims[{index}].citations[{number}]"
            source = sources.get(citation.chunk_id)
            if source is None:
                yield IntegrityProblem(
                    kind="source", path=path, detail="The cited chunk is not in the receipt."
                )
                continue
            yield from _check_citation(citation, source, passages.get(citation.chunk_id), path)
    if receipt.claims and compose([shown_verdict(claim) for claim in receipt.claims]) != (
        receipt.text
    ):
        yield IntegrityProblem(
            kind="text", path="text", detail="The text is not what the claims amount to."
        )


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


def _check_citation(
    citation: ReceiptCitation, source: ReceiptSource, passage: Passage | None, path: str
) -> Iterator[IntegrityProblem]:
    if citation.doc_id != source.doc_id:
        yield IntegrityProblem(
            kind="source", path=path, detail="The quote's document is not that of its chunk."
        )
    if citation.document_span != citation.chunk_span.shift(source.span.start):
        yield IntegrityProblem(
            kind="span", path=path, detail="The spans in chunk and document do not fit together."
        )
    if passage is None:
        if len(citation.quote) != len(citation.chunk_span):
            yield IntegrityProblem(
                kind="span", path=path, detail="The span is not as long as the quote."
            )
        return
    if citation.chunk_span.of(passage.text) != citation.quote:
        yield IntegrityProblem(
            kind="quote", path=path, detail="The chunk's text does not read so at that place."
        )


def sha256(text: str) -> str:
    """Return the SHA-256, hexadecimal, of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
