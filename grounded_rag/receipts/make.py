"""From an answer to its receipt."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING

from grounded_rag.receipts.canonical import seal
from grounded_rag.types import (
    ClaimVerdict,
    Located,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
)
from grounded_rag.verification.evidence import stated_at
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.verdict import confirmed_by
from grounded_rag.version import __version__

if TYPE_CHECKING:
    from grounded_rag.types import Answer


def make_receipt(
    answer: Answer, *, include_text: bool = True, created_at: dt.datetime | None = None
) -> Receipt:
    """Return the receipt of an answer.

    Args:
        answer: The answer.
        include_text: Whether the texts of the cited chunks travel with it. Without them the
            verifier needs an index or folder that still has the document version.
        created_at: Aware moment of creation; now by default.

    Raises:
        ReceiptError: The answer holds text that JSON cannot carry.
    """
    passages = {retrieved.chunk.id: Passage(retrieved) for retrieved in answer.evidence}
    return seal(
        Receipt(
            created_at=created_at or dt.datetime.now(dt.UTC),
            question=answer.question,
            status=answer.status,
            text=answer.text,
            refusal=answer.refusal,
            claims=tuple(_claim(verdict, passages) for verdict in answer.claims),
            unanswered=answer.unanswered,
            sources=tuple(_source(item, include_text=include_text) for item in answer.evidence),
            flags=answer.flags,
            generator=answer.generator,
            policy=answer.policy,
            fingerprint=answer.fingerprint,
            as_of=answer.as_of,
            package_version=__version__,
        )
    )


def _claim(verdict: ClaimVerdict, passages: dict[str, Passage]) -> ReceiptClaim:
    return ReceiptClaim(
        text=verdict.text,
        citations=tuple(_citation(place, passages[place.chunk_id]) for place in verdict.located),
        arithmetic=verdict.claim.arithmetic,
        tier=verdict.tier,
        restated=verdict.restated,
        decided_by=confirmed_by(verdict),
        checks=tuple(dict.fromkeys(signal.check for signal in verdict.signals)),
    )


def _citation(place: Located, passage: Passage) -> ReceiptCitation:
    return ReceiptCitation(
        chunk_id=place.chunk_id,
        doc_id=place.doc_id,
        quote=place.quote,
        chunk_span=place.chunk_span,
        document_span=place.document_span,
        page=place.page,
        folds=place.folds,
        sentence=stated_at(passage, place.chunk_span).text,
    )


def _source(retrieved: RetrievedChunk, *, include_text: bool) -> ReceiptSource:
    chunk = retrieved.chunk
    return ReceiptSource(
        chunk_id=chunk.id,
        doc_id=chunk.doc_id,
        span=chunk.span,
        text=chunk.text if include_text else None,
        # Worked out again: another stack may fill the field with something of its own.
        content_hash=hashlib.sha256(chunk.text.encode("utf-8", "surrogatepass")).hexdigest(),
        document_hash=retrieved.document_hash,
        headings=chunk.headings,
        heading_spans=chunk.heading_spans,
        page=chunk.page,
        page_spans=retrieved.page_spans,
        title=retrieved.title,
        source=retrieved.source,
        trust=retrieved.trust,
        validity=retrieved.validity,
    )
