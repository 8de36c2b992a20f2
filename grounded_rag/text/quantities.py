"""What a number in a text says: its value, its unit and its bound, and when two say the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.types import Span

# A pound is money or mass; the other text says which.
_ALIKE = ({"GBP", "pound"}, {"lb", "pound"})
_MINOR = {"cent": {"EUR", "USD", "AUD", "CAD", "INR"}, "penny": {"GBP"}}


QuantityKind = Literal["number", "fraction", "ordinal", "date", "time", "era", "label"]
"""An `era` is a decade or century: its value is the first year, its unit the length. A `label`
stands for an identifier, which counts nothing (a section, a version)."""


class Bound(StrEnum):
    """How a text limits a value."""

    EXACT = "exact"
    ABOUT = "about"
    AT_LEAST = "at least"
    MORE_THAN = "more than"
    AT_MOST = "at most"
    LESS_THAN = "less than"


LOWER_BOUNDS = frozenset({Bound.AT_LEAST, Bound.MORE_THAN})
UPPER_BOUNDS = frozenset({Bound.AT_MOST, Bound.LESS_THAN})


@dataclass(frozen=True, slots=True)
class DateValue:
    """A calendar date of which parts may be unknown (None)."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def covers(self, other: DateValue) -> bool:
        """Whether `other` says nothing that this date does not say as well."""
        return (
            other.year in (None, self.year)
            and other.month in (None, self.month)
            and other.day in (None, self.day)
        )


@dataclass(frozen=True, slots=True)
class TimeValue:
    """A time of day in minutes after midnight, with its offset from UTC where one is named."""

    minutes: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number, date or time of a text, each with all its readings."""

    text: str  # unit included
    start: int
    end: int
    kind: QuantityKind
    values: tuple[Fraction, ...] = ()  # in base units
    unit: str = ""  # base unit after lossless conversion ("g", "EUR", "%"); "" for a mere count
    written_unit: str = ""
    per: str = ""  # base unit after "per"
    bound: Bound = Bound.EXACT
    range_end: Literal["", "from", "to"] = ""  # the lower or upper end of a range
    dates: tuple[DateValue, ...] = ()
    times: tuple[TimeValue, ...] = ()
    spelled: bool = False  # written in words
    soft: bool = False  # its words often count nothing ("one", "a", "second")
    parts: tuple[Quantity, ...] = ()  # what was summed into this one ("1 h 30 min")
    key: str = ""  # normal form of an identifier, by which two labels are compared

    @property
    def span(self) -> Span:
        """Place in the text."""
        return Span(start=self.start, end=self.end)


class Agreement(StrEnum):
    """How a quantity of a claim relates to one of its evidence."""

    SAME = "same"
    WEAKER = "weaker"
    OTHER_UNIT = "other unit"
    UNIT_ADDED = "unit added"
    DIFFERENT = "different"


def compare(claim: Quantity, evidence: Quantity) -> Agreement:
    """Say whether what `claim` says follows from `evidence`.

    Bounds are left to the caller, except that a claim "more than 1,000" follows from 1,200 and
    one "about 1,500" from 1,487: it is `WEAKER`.
    """
    if claim.kind == "era" or evidence.kind == "era":
        return _compare_eras(claim, evidence)
    if claim.kind == "date" or evidence.kind == "date":
        return _compare_dates(claim, evidence)
    if claim.kind == "time" or evidence.kind == "time":
        return _compare_times(claim, evidence)
    if claim.kind == "label" or evidence.kind == "label":
        return Agreement.SAME if _same_label(claim, evidence) else Agreement.DIFFERENT
    if (claim.kind == "ordinal") != (evidence.kind == "ordinal"):
        return Agreement.DIFFERENT
    return _compare_values(claim, evidence)


@lru_cache(maxsize=4096)
def lookup(name: str) -> tuple[str, Fraction] | None:
    """Return base unit and factor of a unit name or sign, or None.

    The case of a symbol counts: "MB" and "Mb" are two units. In a case that is nobody's symbol it
    is read only where its letters mean one unit in every case: "KWH" is kWh, "mb" is neither MB
    nor Mb. Words such as "Days" fold; a pair such as "working days" has a hyphen between.
    """
    table = _table()
    found = table.exact.get(name)
    if found is not None:
        return found
    lower = name.lower()
    if len(lower) == 1 and lower.isalpha() and lower.isascii():
        return None  # "A" and "a" are words, "K" and "k" are different
    return table.words.get(lower) or table.folded.get(lower)


def pair(first: str, second: str) -> str | None:
    """Return the name of a unit of two words, or None."""
    return _table().pairs.get((first, second))


def in_pair(word: str) -> bool:
    """Whether a lower-case word is part of a unit of two words."""
    return any(word in names for names in _table().pairs)


def factor(name: str) -> Fraction:
    """Return the factor of a unit name to its base unit, 1 for unknown names."""
    found = lookup(name)
    return found[1] if found else Fraction(1)


def is_currency(base: str) -> bool:
    """Whether a base unit is money."""
    return base in _table().currencies


def _compare_values(claim: Quantity, evidence: Quantity) -> Agreement:
    if not set(claim.values).isdisjoint(evidence.values):
        return _compare_units(claim, evidence)
    if _minor_unit(claim, evidence):
        return Agreement.SAME
    if claim.unit and evidence.unit and claim.unit != evidence.unit:
        return Agreement.OTHER_UNIT if _bare_equal(claim, evidence) else Agreement.DIFFERENT
    if claim.written_unit != evidence.written_unit and _bare_equal(claim, evidence):
        return Agreement.OTHER_UNIT
    return Agreement.WEAKER if _implied(claim, evidence) else Agreement.DIFFERENT


def _compare_units(claim: Quantity, evidence: Quantity) -> Agreement:
    if claim.unit == evidence.unit:
        if claim.per and evidence.per and claim.per != evidence.per:
            return Agreement.OTHER_UNIT
        return Agreement.SAME
    share = {claim.unit, evidence.unit} == {"%", ""} and "fraction" in (claim.kind, evidence.kind)
    if not claim.unit or share or {claim.unit, evidence.unit} in _ALIKE:
        return Agreement.SAME
    if {claim.unit, evidence.unit} <= {"deg", "°C", "°F"} and "deg" in (claim.unit, evidence.unit):
        return Agreement.SAME if claim.unit == "deg" else Agreement.UNIT_ADDED
    return Agreement.OTHER_UNIT if evidence.unit else Agreement.UNIT_ADDED


def _minor_unit(claim: Quantity, evidence: Quantity) -> bool:
    for minor, major in ((claim, evidence), (evidence, claim)):
        if major.unit in _MINOR.get(minor.unit, ()):
            return any(value / 100 in major.values for value in minor.values)
    return False


def _bare_equal(claim: Quantity, evidence: Quantity) -> bool:
    """Whether both are written with the same digits, whatever their units."""
    ours, theirs = (
        {value / factor(each.written_unit) for value in each.values} for each in (claim, evidence)
    )
    return not ours.isdisjoint(theirs)


def _implied(claim: Quantity, evidence: Quantity) -> bool:
    if claim.unit != evidence.unit or evidence.bound is Bound.ABOUT or not claim.values:
        return False
    for ours in claim.values:
        for theirs in evidence.values:
            if ours <= 0 or theirs <= 0 or not Fraction(1, 2) <= ours / theirs <= 2:
                continue
            if claim.bound is Bound.ABOUT and evidence.bound is Bound.EXACT:
                if abs(ours - theirs) <= theirs / 20:
                    return True
            elif claim.bound in LOWER_BOUNDS and ours < theirs:
                if evidence.bound is Bound.EXACT or evidence.bound in LOWER_BOUNDS:
                    return True
            elif (
                claim.bound in UPPER_BOUNDS
                and ours > theirs
                and (evidence.bound is Bound.EXACT or evidence.bound in UPPER_BOUNDS)
            ):
                return True
    return False


def _compare_dates(claim: Quantity, evidence: Quantity) -> Agreement:
    if claim.kind == "date" and evidence.kind == "date":
        # What can be read in two ways says neither for sure.
        same = set(claim.dates) == set(evidence.dates) or all(
            theirs.covers(ours) for ours in claim.dates for theirs in evidence.dates
        )
        return Agreement.SAME if same else Agreement.DIFFERENT
    if claim.kind == "date":
        return Agreement.DIFFERENT
    if claim.kind not in ("number", "ordinal") or claim.unit:
        return Agreement.DIFFERENT
    dates = evidence.dates
    parts = {date.day for date in dates} if claim.kind == "ordinal" else {d.year for d in dates}
    return Agreement.SAME if parts.intersection(claim.values) else Agreement.DIFFERENT


def _compare_times(claim: Quantity, evidence: Quantity) -> Agreement:
    for ours in claim.times:
        for theirs in evidence.times:
            if ours.offset is None or ours.offset == theirs.offset:
                if ours.minutes % 1440 == theirs.minutes % 1440:
                    return Agreement.SAME
            elif theirs.offset is not None:
                shift = ours.minutes - ours.offset - theirs.minutes + theirs.offset
                if shift % 1440 == 0:
                    return Agreement.SAME
            elif ours.minutes % 1440 == theirs.minutes % 1440:
                return Agreement.UNIT_ADDED
    # "opens at 9" names no hour format: a bare number may be the hour of a time.
    for timed, plain in ((claim, evidence), (evidence, claim)):
        if timed.kind == "time" and plain.kind == "number" and not plain.unit:
            hours = {time.minutes // 60 for time in timed.times if time.minutes % 60 == 0}
            hours |= {hour - 12 for hour in hours if hour > 12}
            if hours.intersection(plain.values):
                return Agreement.SAME
    return Agreement.DIFFERENT


def _compare_eras(claim: Quantity, evidence: Quantity) -> Agreement:
    if claim.kind != "era":
        return Agreement.DIFFERENT
    if evidence.kind == "era":
        same = claim.values == evidence.values and claim.unit == evidence.unit
        return Agreement.SAME if same else Agreement.DIFFERENT
    years = {Fraction(date.year) for date in evidence.dates if date.year is not None}
    if evidence.kind == "number" and not evidence.unit:
        years.update(evidence.values)
    first, length = claim.values[0], int(claim.unit)
    inside = any(first <= year < first + length for year in years)
    return Agreement.WEAKER if inside else Agreement.DIFFERENT


def _same_label(claim: Quantity, evidence: Quantity) -> bool:
    for name, other in ((claim, evidence), (evidence, claim)):
        # "In this chapter four methods" names no chapter: a plain number may be counted elsewhere.
        if name.key.isdecimal() and other.kind == "number" and not other.unit:
            return int(name.key) in other.values
    return _label(claim) == _label(evidence)


def _label(quantity: Quantity) -> str:
    return quantity.key or quantity.text.strip().rstrip(".")


_Unit = tuple[str, Fraction]


class _Table(NamedTuple):
    """What the data file says."""

    exact: Mapping[str, _Unit]  # symbols in their own case, and words in lower case
    words: Mapping[str, _Unit]  # names that fold case
    folded: Mapping[str, _Unit]  # symbols in lower case, where all of these letters mean one unit
    pairs: Mapping[tuple[str, str], str]  # units of two words
    currencies: frozenset[str]  # base units that are money


@lru_cache(maxsize=1)
def _table() -> _Table:
    data = read_table("units")
    symbols, words = (dict(_named(data[part])) for part in ("symbols", "words"))
    readings: dict[str, set[_Unit]] = {}
    for name, unit in symbols.items():
        readings.setdefault(name.lower(), set()).add(unit)
    folded = {
        name: next(iter(found))
        for name, found in readings.items()
        if len(found) == 1 and (len(name) > 1 or not name.isascii())
    }
    pairs = {tuple(name.split()): unit for name, unit in data["pairs"].items()}
    return _Table(
        {**words, **symbols}, words, folded, pairs, frozenset(data["currencies"]["codes"].split())
    )


def _named(rows: Mapping[str, list[str]]) -> list[tuple[str, _Unit]]:
    found: list[tuple[str, _Unit]] = []
    for base, groups in rows.items():
        for group in groups:
            factor_text, *names = group.split()
            found += [(name, (base, Fraction(factor_text))) for name in names]
    return found
