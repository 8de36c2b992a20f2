"""Whether a receipt fits together: its hash, its spans, and its claims under the real verifier."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pydantic import TypeAdapter, ValidationError

from grounded_rag.compose import compose
from grounded_rag.errors import ReceiptError
from grounded_rag.protocols import SupportCheck
from grounded_rag.receipts.canonical import ID_DIGITS, content_hash
from grounded_rag.receipts.findings import IntegrityProblem
from grounded_rag.text.sentences import enclosing_sentences
from grounded_rag.types import (
    AnswerStatus,
    Chunk,
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Draft,
    Located,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
    Verification,
)
from grounded_rag.verification import verify

_DURATION: TypeAdapter[dt.timedelta] = TypeAdapter(dt.timedelta)


class Rules(NamedTuple):
    """What of a receipt's policy the verifier needs.

    Attributes:
        quote_match: Whether differences of presentation are bridged.
        checks: Support checks, or None for the built-in ones.
        max_age: Oldest acceptable age, or None.
    """

    quote_match: Literal["repair", "exact"]
    checks: Sequence[SupportCheck] | None
    max_age: dt.timedelta | None


def rules_of(receipt: Receipt, checks: Sequence[SupportCheck] | None) -> Rules:
    """Read the rules from a receipt's policy, whatever version of the package wrote it.

    Args:
        receipt: The receipt.
        checks: Support checks in place of the built-in ones, or None.
    """
    policy = receipt.policy
    if checks is None and policy.get("support") == "spans-only":
        checks = ()
    max_age: dt.timedelta | None = None
    if policy.get("max_age") is not None:
        try:
            max_age = _DURATION.validate_python(policy["max_age"])
        except ValidationError:
            max_age = None
    return Rules("exact" if policy.get("quote_match") == "exact" else "repair", checks, max_age)


def check_form(receipt: Receipt, texts: Mapping[str, str]) -> tuple[IntegrityProblem, ...]:
    """Return what in a receipt does not fit together, without judging support.

    Args:
        receipt: The receipt.
        texts: Text of each source by chunk id, as far as it is known.
    """
    return (*_check_hash(receipt), *_check_sources(receipt, texts), *_check_claims(receipt, texts))


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


def _check_sources(receipt: Receipt, texts: Mapping[str, str]) -> Iterator[IntegrityProblem]:
    seen: set[str] = set()
    for index, source in enumerate(receipt.sources):
        path = f"sources[{index}]"
        if source.chunk_id in seen:
            yield IntegrityProblem(kind="source", path=path, detail="The chunk is there twice.")
        seen.add(source.chunk_id)
        text = texts.get(source.chunk_id)
        if text is None:
            continue
        if sha256(text) != source.content_hash:
            yield IntegrityProblem(
                kind="source", path=path, detail="The chunk's text does not give its hash."
            )


def _check_claims(receipt: Receipt, texts: Mapping[str, str]) -> Iterator[IntegrityProblem]:
    refused = receipt.status is AnswerStatus.REFUSED
    if refused == bool(receipt.claims) or refused == (receipt.refusal is None):
        yield IntegrityProblem(
            kind="status", path="status", detail="Status, claims and refusal do not fit together."
        )
    sources = {source.chunk_id: source for source in receipt.sources}
    for index, claim in enumerate(receipt.claims):
        for number, citation in enumerate(claim.citations):
            path = f"claims[{index}].citations[{number}]"
            source = sources.get(citation.chunk_id)
            if source is None:
                yield IntegrityProblem(
                    kind="source", path=path, detail="The cited chunk is not in the receipt."
                )
                continue
            yield from _check_citation(citation, source, texts.get(citation.chunk_id), path)
    if receipt.claims and compose([shown_verdict(claim) for claim in receipt.claims]) != (
        receipt.text
    ):
        yield IntegrityProblem(
            kind="text", path="text", detail="The text is not what the claims amount to."
        )


def _check_citation(
    citation: ReceiptCitation, source: ReceiptSource, text: str | None, path: str
) -> Iterator[IntegrityProblem]:
    if citation.doc_id != source.doc_id:
        yield IntegrityProblem(
            kind="source", path=path, detail="The quote's document is not that of its chunk."
        )
    if citation.document_span != citation.chunk_span.shift(source.span.start):
        yield IntegrityProblem(
            kind="span", path=path, detail="The spans in chunk and document do not fit together."
        )
    if text is None:
        if len(citation.quote) != len(citation.chunk_span):
            yield IntegrityProblem(
                kind="span", path=path, detail="The span is not as long as the quote."
            )
        return
    if citation.chunk_span.of(text) != citation.quote:
        yield IntegrityProblem(
            kind="quote", path=path, detail="The chunk's text does not read so at that place."
        )
    elif enclosing_sentences(text, citation.chunk_span).of(text) != citation.sentence:
        yield IntegrityProblem(
            kind="sentence",
            path=path,
            detail="The sentence shown is not the one that encloses the quote.",
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
        tier=claim.tier,
    )


def run_verifier(
    claims: Sequence[Claim], chunks: Sequence[RetrievedChunk], question: str, rules: Rules
) -> Verification:
    """Run the public verifier under a receipt's rules; staleness is judged elsewhere."""
    return verify(
        Draft(claims=tuple(claims)),
        chunks,
        question=question,
        quote_match=rules.quote_match,
        checks=rules.checks,
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
