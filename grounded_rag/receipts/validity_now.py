"""What the metadata says today against the documents that a claim cites."""

from __future__ import annotations

import datetime as dt

from grounded_rag.receipts.findings import CitationStanding, NearestPassage, StaleSource
from grounded_rag.receipts.library import Held, Library
from grounded_rag.types import FlagKind, Receipt, ReceiptCitation, ReceiptSource, Validity
from grounded_rag.validity import resolve, staleness


def stale_source(
    citation: ReceiptCitation,
    source: ReceiptSource,
    standing: CitationStanding,
    library: Library,
    *,
    max_age: dt.timedelta | None,
) -> tuple[StaleSource, ...]:
    """Return what speaks today against the document of a quote; unknown age is no finding.

    Args:
        citation: The quote.
        source: Its chunk; its validity counts where the document is gone.
        standing: Where the quote stands now.
        library: Today's documents.
        max_age: Oldest acceptable age, or None.
    """
    validity = library.validity(standing.found_in or citation.doc_id) or _recorded(source, library)
    return tuple(
        StaleSource(
            kind=finding.kind,
            doc_id=citation.doc_id,
            detail=finding.detail,
            since=finding.since,
            successor=next(iter(finding.related), None),
            successor_says=_says(next(iter(finding.related), None), citation, library),
        )
        for finding in staleness(validity, as_of=library.as_of, max_age=max_age)
        if finding.kind is not FlagKind.UNDATED
    )


def known_then(stale: StaleSource, receipt: Receipt) -> StaleSource:
    """Return a finding with whether the answer already carried a flag of its kind."""
    known = any(flag.kind is stale.kind and flag.doc_id == stale.doc_id for flag in receipt.flags)
    return stale.model_copy(update={"known_then": known})


def _recorded(source: ReceiptSource, library: Library) -> Validity:
    following = source.validity.superseded_by
    successor = None if following is None else library.validity(following)
    return resolve(source.validity, successor=successor)


def _says(
    successor: str | None, citation: ReceiptCitation, library: Library
) -> NearestPassage | None:
    held = None if successor is None else library.get(successor)
    if not isinstance(held, Held) or held.document.id == citation.doc_id:
        return None
    return held.nearest(citation.quote, citation.sentence)
