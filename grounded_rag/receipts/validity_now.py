"""What the metadata says today against the documents that a claim cites."""

from __future__ import annotations

import datetime as dt

from grounded_rag.receipts.findings import CitationStanding, NearestPassage, StaleSource
from grounded_rag.receipts.library import Held, Library
from grounded_rag.types import FlagKind, Receipt, ReceiptCitation, ReceiptSource, Validity
from grounded_rag.validity import resolve, staleness


def stale_source(
    claim: str,
    citation: ReceiptCitation,
    source: ReceiptSource,
    standing: CitationStanding,
    library: Library,
    *,
    before: str,
    max_age: dt.timedelta | None,
) -> tuple[StaleSource, ...]:
    """Return what speaks today against the document of a quote; unknown age is no finding.

    Args:
        claim: Text of the claim.
        citation: The quote.
        source: Its chunk; its validity counts where the document is gone.
        standing: Where the quote stands now.
        library: Today's documents.
        before: The sentence(s) around the quote, as its source wrote them then.
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
            successor_says=_in_force(finding.related, claim, citation, before, library),
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


def _in_force(
    related: tuple[str, ...],
    claim: str,
    citation: ReceiptCitation,
    before: str,
    library: Library,
) -> NearestPassage | None:
    """Return what the document in force says instead: successors are followed to the last one."""
    following = next(iter(related), None)
    seen = {citation.doc_id}
    held: Held | None = None
    while following is not None and following not in seen:
        seen.add(following)
        found = library.get(following)
        if not isinstance(found, Held):
            return None
        held = found
        following = next(
            (
                finding.related[0]
                for finding in staleness(found.validity, as_of=library.as_of)
                if finding.kind is FlagKind.SUPERSEDED and finding.related
            ),
            None,
        )
    if held is None:
        return None
    return held.counterpart(claim, citation.quote, before)
