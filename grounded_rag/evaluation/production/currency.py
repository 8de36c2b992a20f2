"""The currency monitor: which documents of an index no longer hold, or soon will not.

`index_currency` reads the metadata of an index and no answers.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from grounded_rag.types import FlagKind, Frozen, Instant, Validity
from grounded_rag.validity import parse_instant, staleness, today_utc


class CurrencyState(StrEnum):
    """State of one document, the most pressing first after `CURRENT`."""

    CURRENT = "current"
    EXPIRED = "expired"
    PAST_REVIEW = "past_review"
    SUPERSEDED = "superseded"
    SUCCESSOR_MISSING = "successor_missing"
    NOT_YET_EFFECTIVE = "not_yet_effective"
    EXPIRES_SOON = "expires_soon"
    UNDATED = "undated"


_STATES = {
    FlagKind.EXPIRED: CurrencyState.EXPIRED,
    FlagKind.TOO_OLD: CurrencyState.PAST_REVIEW,
    FlagKind.SUPERSEDED: CurrencyState.SUPERSEDED,
    FlagKind.NOT_YET_EFFECTIVE: CurrencyState.NOT_YET_EFFECTIVE,
    FlagKind.UNDATED: CurrencyState.UNDATED,
}
OVERDUE = frozenset(
    {CurrencyState.EXPIRED, CurrencyState.PAST_REVIEW, CurrencyState.SUCCESSOR_MISSING}
)
"""States that somebody has to act on."""


class DocumentCurrency(Frozen):
    """One document that is not simply current."""

    doc_id: str
    title: str
    states: tuple[CurrencyState, ...] = Field(description="Its states, the most pressing first.")
    details: tuple[str, ...] = Field(description="One sentence for each state.")


class CurrencyReport(Frozen):
    """How current the documents of an index are."""

    as_of: Instant
    documents: int = Field(description="Live documents.")
    counts: dict[CurrencyState, int] = Field(description="By state; a document may have several.")
    found: tuple[DocumentCurrency, ...] = Field(description="Not simply current, by id.")

    @property
    def overdue(self) -> tuple[DocumentCurrency, ...]:
        """Documents that somebody has to act on."""
        return tuple(entry for entry in self.found if OVERDUE.intersection(entry.states))


def index_currency(
    path: Path | str,
    *,
    as_of: Instant | str | None = None,
    max_age: dt.timedelta | None = None,
    soon: dt.timedelta = dt.timedelta(days=30),
) -> CurrencyReport:
    """Return how current the documents of an index are, from its ledger alone.

    Args:
        path: Folder of the index.
        as_of: Moment for which to decide; today in UTC by default.
        max_age: Age since review, change or start beyond which a document is past review; None
            sets no limit.
        soon: A document that expires within this time is reported, too.

    Raises:
        IndexNotFoundError: There is no index.
    """
    from grounded_rag.index.store import Index

    moment = parse_instant(as_of) or today_utc()
    index = Index.open(Path(path))
    try:
        with index.view() as view:
            documents = {
                doc_id: DatedDocument(
                    title=entry.title, validity=view.catalogue.validity_at(doc_id, moment)
                )
                for doc_id, entry in view.catalogue.entries.items()
            }
    finally:
        index.close()
    return judge_currency(documents, as_of=moment, max_age=max_age, soon=soon)


class DatedDocument(Frozen):
    """What the monitor reads of a document."""

    title: str
    validity: Validity


def judge_currency(
    documents: Mapping[str, DatedDocument],
    *,
    as_of: Instant,
    max_age: dt.timedelta | None = None,
    soon: dt.timedelta = dt.timedelta(days=30),
) -> CurrencyReport:
    """Return how current the given documents (by id) are; see `index_currency`."""
    counts = dict.fromkeys(CurrencyState, 0)
    found: list[DocumentCurrency] = []
    for doc_id, document in sorted(documents.items()):
        details = _details(document.validity, documents, as_of=as_of, max_age=max_age, soon=soon)
        for state in details or (CurrencyState.CURRENT,):
            counts[state] += 1
        if details:
            states = sorted(details, key=list(CurrencyState).index)
            found.append(
                DocumentCurrency(
                    doc_id=doc_id,
                    title=document.title,
                    states=tuple(states),
                    details=tuple(details[state] for state in states),
                )
            )
    return CurrencyReport(as_of=as_of, documents=len(documents), counts=counts, found=tuple(found))


def _details(
    validity: Validity,
    documents: Mapping[str, DatedDocument],
    *,
    as_of: Instant,
    max_age: dt.timedelta | None,
    soon: dt.timedelta,
) -> dict[CurrencyState, str]:
    details = {
        _STATES[finding.kind]: finding.detail
        for finding in staleness(validity, as_of=as_of, max_age=max_age)
    }
    successor = validity.superseded_by
    if successor is not None and successor not in documents:
        details[CurrencyState.SUCCESSOR_MISSING] = (
            f"It names {successor}, which is not in the index."
        )
    if CurrencyState.NOT_YET_EFFECTIVE in details:
        # It will be reviewed when it comes into force.
        details.pop(CurrencyState.UNDATED, None)
    if CurrencyState.SUPERSEDED in details:
        # Nobody renews a document that another one has replaced.
        for settled in (CurrencyState.PAST_REVIEW, CurrencyState.EXPIRED, CurrencyState.UNDATED):
            details.pop(settled, None)
    elif CurrencyState.EXPIRED not in details and validity.valid_until is not None:
        later = staleness(Validity(valid_until=validity.valid_until), as_of=as_of + soon)
        if later:
            details[CurrencyState.EXPIRES_SOON] = f"It is valid until {validity.valid_until}."
    return details
