"""Whether the documents of an index still hold: a monitor apart from the answers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from grounded_rag.types import FlagKind, Frozen, Instant, Validity
from grounded_rag.validity import parse_instant, staleness, today_utc


class CurrencyState(StrEnum):
    """What is to be said about the age of one document."""

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
"""States that somebody has to do something about."""


class DocumentCurrency(Frozen):
    """One document that is not simply current.

    Attributes:
        doc_id: The document.
        title: Its title.
        states: What is to be said, the most pressing first.
        details: One sentence a state.
    """

    doc_id: str
    title: str
    states: tuple[CurrencyState, ...]
    details: tuple[str, ...]


class CurrencyReport(Frozen):
    """How current the documents of an index are.

    Attributes:
        as_of: Moment of the look.
        documents: Number of live documents.
        counts: Documents by state; one with several states counts under each.
        found: Those that are not simply current, in order of their ids.
    """

    as_of: Instant
    documents: int
    counts: dict[CurrencyState, int]
    found: tuple[DocumentCurrency, ...]

    @property
    def overdue(self) -> tuple[DocumentCurrency, ...]:
        """Documents that somebody has to do something about."""
        return tuple(entry for entry in self.found if OVERDUE.intersection(entry.states))


class Dated(Frozen):
    """What the monitor needs to know of a document."""

    title: str
    validity: Validity


def judge_currency(
    documents: Mapping[str, Dated],
    *,
    as_of: Instant,
    max_age: dt.timedelta | None = None,
    soon: dt.timedelta = dt.timedelta(days=30),
) -> CurrencyReport:
    """Return how current documents are; pure.

    Args:
        documents: Documents by id.
        as_of: Moment of the look.
        max_age: Age since review, change or start beyond which a document is past review; None
            sets no limit.
        soon: A document that expires within this time is announced.
    """
    counts = dict.fromkeys(CurrencyState, 0)
    found: list[DocumentCurrency] = []
    for doc_id, document in sorted(documents.items()):
        told = _told(document.validity, documents, as_of=as_of, max_age=max_age, soon=soon)
        for state in told or (CurrencyState.CURRENT,):
            counts[state] += 1
        if told:
            states = sorted(told, key=list(CurrencyState).index)
            found.append(
                DocumentCurrency(
                    doc_id=doc_id,
                    title=document.title,
                    states=tuple(states),
                    details=tuple(told[state] for state in states),
                )
            )
    return CurrencyReport(as_of=as_of, documents=len(documents), counts=counts, found=tuple(found))


def _told(
    validity: Validity,
    documents: Mapping[str, Dated],
    *,
    as_of: Instant,
    max_age: dt.timedelta | None,
    soon: dt.timedelta,
) -> dict[CurrencyState, str]:
    told = {
        _STATES[finding.kind]: finding.detail
        for finding in staleness(validity, as_of=as_of, max_age=max_age)
    }
    successor = validity.superseded_by
    if successor is not None and successor not in documents:
        told[CurrencyState.SUCCESSOR_MISSING] = f"It names {successor}, which is not in the index."
    if CurrencyState.NOT_YET_EFFECTIVE in told:
        # Its review is still to come.
        told.pop(CurrencyState.UNDATED, None)
    if CurrencyState.SUPERSEDED in told:
        # Nobody renews a document that another one has replaced.
        for settled in (CurrencyState.PAST_REVIEW, CurrencyState.EXPIRED, CurrencyState.UNDATED):
            told.pop(settled, None)
    elif CurrencyState.EXPIRED not in told and validity.valid_until is not None:
        later = staleness(Validity(valid_until=validity.valid_until), as_of=as_of + soon)
        if later:
            told[CurrencyState.EXPIRES_SOON] = f"It is valid until {validity.valid_until}."
    return told


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
        as_of: Moment of the look; today in UTC by default.
        max_age: Age beyond which a document is past review.
        soon: A document that expires within this time is announced.

    Raises:
        IndexNotFoundError: There is no index.
    """
    from grounded_rag.index.store import Index

    moment = parse_instant(as_of) or today_utc()
    index = Index.open(Path(path))
    try:
        with index.view() as view:
            documents = {
                doc_id: Dated(
                    title=entry.title, validity=view.catalogue.validity_at(doc_id, moment)
                )
                for doc_id, entry in view.catalogue.entries.items()
            }
    finally:
        index.close()
    return judge_currency(documents, as_of=moment, max_age=max_age, soon=soon)
