"""Whether a source still holds, decided in Python from index metadata against a given moment.

A date without a time counts as the whole day in UTC; a naive datetime is taken as UTC. A source
is out of its window only when no moment of `as_of` lies inside the window.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import NamedTuple

from grounded_rag.errors import ManifestError
from grounded_rag.types import FlagKind, Frozen, Instant, Validity

_DAY = dt.timedelta(days=1)
_FIRST = dt.datetime.min.replace(tzinfo=dt.UTC)
_LAST = dt.datetime.max.replace(tzinfo=dt.UTC)
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            ("january", "jan"),
            ("february", "feb"),
            ("march", "mar"),
            ("april", "apr"),
            ("may",),
            ("june", "jun"),
            ("july", "jul"),
            ("august", "aug"),
            ("september", "sep", "sept"),
            ("october", "oct"),
            ("november", "nov"),
            ("december", "dec"),
        ),
        start=1,
    )
    for name in names
}
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})")
_DAY_MONTH = re.compile(r"(\d{1,2})\.? ([A-Za-z]{3,9})\.?,? (\d{4})")
_MONTH_DAY = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})")


class StalenessFinding(Frozen):
    """One thing that the metadata says against a source at a given moment.

    Attributes:
        kind: Superseded, expired, not yet effective, too old or undated.
        detail: One sentence for a person.
        related: Id of the successor, where there is one.
        since: When the state began (for `not_yet_effective`: when it ends).
    """

    kind: FlagKind
    detail: str
    related: tuple[str, ...] = ()
    since: Instant | None = None


class _Window(NamedTuple):
    """Moments from `first` up to, not including, `end`."""

    first: dt.datetime
    end: dt.datetime


def parse_instant(value: object) -> Instant | None:
    """Read a date or an aware datetime; "" and None mean unknown.

    Args:
        value: A date, a datetime (naive ones count as UTC), or text such as `2026-06-30`,
            `2026-06-30T23:30:00-05:00`, `30 June 2026` or `June 30, 2026`.

    Raises:
        ManifestError: It is no date, or one that can be read in two ways, such as 03/04/2026.
    """
    if value is None:
        return None
    if isinstance(value, dt.datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)
    if isinstance(value, dt.date):
        return value
    if not isinstance(value, str):
        raise ManifestError(f"{value!r} is no date.", hint="Write it as 2026-04-30.")
    text = " ".join(value.split())
    if not text:
        return None
    try:
        return _parse_text(text)
    except ValueError as error:
        if isinstance(error, ManifestError):
            raise
        raise ManifestError(
            f"{value[:60]!r} is no date.", hint="Write it as 2026-04-30."
        ) from error


def _parse_text(text: str) -> Instant:
    if match := _YEAR_FIRST.fullmatch(text):
        year, month, day = map(int, match.groups())
        return dt.date(year, month, day)
    if match := _YEAR_LAST.fullmatch(text):
        first, second, year = map(int, match.groups())
        if first <= 12 and second <= 12 and first != second:
            raise ManifestError(
                f"{text!r} can be read as two dates.",
                hint=f"Write {year}-{first:02}-{second:02} or {year}-{second:02}-{first:02}.",
            )
        return dt.date(year, second, first) if first > 12 else dt.date(year, first, second)
    if match := _DAY_MONTH.fullmatch(text):
        return dt.date(int(match[3]), _month(match[2]), int(match[1]))
    if match := _MONTH_DAY.fullmatch(text):
        return dt.date(int(match[3]), _month(match[1]), int(match[2]))
    if "T" not in text and " " not in text:
        # fromisoformat also reads forms nobody means, such as 20260430 or 2026-W18.
        raise ManifestError(f"{text[:60]!r} is no date.", hint="Write it as 2026-04-30.")
    moment = dt.datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=dt.UTC)


def _month(name: str) -> int:
    number = _MONTHS.get(name.lower())
    if number is None:
        raise ManifestError(f"{name!r} is no month.", hint="Write the date as 2026-04-30.")
    return number


def _window(instant: Instant) -> _Window:
    if isinstance(instant, dt.datetime):
        try:
            moment = instant.astimezone(dt.UTC)
            return _Window(moment, moment + dt.timedelta(microseconds=1))
        except OverflowError:
            # "Never" is often written as the last moment that a calendar holds.
            edge = _LAST if instant.year > 1 else _FIRST
            return _Window(edge, edge)
    start = dt.datetime(instant.year, instant.month, instant.day, tzinfo=dt.UTC)
    return _Window(start, start + _DAY if instant < dt.date.max else start)


def resolve(validity: Validity, *, successor: Validity | None) -> Validity:
    """Fill `superseded_on` from the start of the successor where the metadata leaves it open.

    Args:
        validity: Validity of a document that names a successor.
        successor: Validity of that successor, or None where it is not known.
    """
    if (
        validity.superseded_by is None
        or validity.superseded_on is not None
        or successor is None
        or successor.effective_from is None
    ):
        return validity
    return validity.model_copy(update={"superseded_on": successor.effective_from})


def staleness(
    validity: Validity, *, as_of: Instant, max_age: dt.timedelta | None = None
) -> tuple[StalenessFinding, ...]:
    """Return what the metadata says against a source at `as_of`; empty means current.

    Args:
        validity: The source's validity.
        as_of: Moment for which the answer should hold.
        max_age: Oldest acceptable age, counted from the latest of review, update and start.
    """
    if validity.undated:
        return (
            StalenessFinding(
                kind=FlagKind.UNDATED, detail="The source carries no date; its age is unknown."
            ),
        )
    now = _window(as_of)
    findings: list[StalenessFinding] = []
    if validity.superseded_by is not None and (
        validity.superseded_on is None or _window(validity.superseded_on).first < now.end
    ):
        when = f" on {validity.superseded_on}" if validity.superseded_on else ""
        findings.append(
            StalenessFinding(
                kind=FlagKind.SUPERSEDED,
                detail=f"The source was superseded{when} by {validity.superseded_by}.",
                related=(validity.superseded_by,),
                since=validity.superseded_on,
            )
        )
    if validity.valid_until is not None and _window(validity.valid_until).end <= now.first:
        findings.append(
            StalenessFinding(
                kind=FlagKind.EXPIRED,
                detail=f"The source was valid until {validity.valid_until}.",
                since=validity.valid_until,
            )
        )
    if validity.effective_from is not None and _window(validity.effective_from).first >= now.end:
        findings.append(
            StalenessFinding(
                kind=FlagKind.NOT_YET_EFFECTIVE,
                detail=f"The source takes effect on {validity.effective_from}.",
                since=validity.effective_from,
            )
        )
    if max_age is not None:
        findings.extend(_age(validity, now=now, max_age=max_age))
    return tuple(findings)


def _age(
    validity: Validity, *, now: _Window, max_age: dt.timedelta
) -> tuple[StalenessFinding, ...]:
    known = [
        instant
        for instant in (validity.reviewed_on, validity.updated_at, validity.effective_from)
        if instant is not None and _window(instant).first < now.end
    ]
    if not known:
        return (
            StalenessFinding(
                kind=FlagKind.UNDATED,
                detail="The source does not say when it was last reviewed or changed.",
            ),
        )
    latest = max(known, key=lambda instant: _window(instant).first)
    if now.first - _window(latest).first <= max_age:
        return ()
    return (
        StalenessFinding(
            kind=FlagKind.TOO_OLD,
            detail=f"The source was last confirmed on {latest}, over {max_age.days} days before.",
            since=latest,
        ),
    )


def current(validity: Validity, *, as_of: Instant) -> bool:
    """Whether a source is neither superseded, expired nor not yet effective; undated counts."""
    return all(finding.kind is FlagKind.UNDATED for finding in staleness(validity, as_of=as_of))


def today_utc() -> dt.date:
    """Return today's date in UTC."""
    return dt.datetime.now(dt.UTC).date()
