"""The values of a text in one notation, for comparing two texts word by word.

Two texts may say "2 weeks" and "14 days", "$987M" and "USD 987,000,000", "Chapter IV" and "Chapter
4". A value is a span of the text with a key; equal keys say the same. Only what has one reading,
beyond doubt, is a value: everything else stays words, which must then be the same words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from grounded_rag.text.dates import MONTHS, TIMES, DateOrder
from grounded_rag.text.identifiers import Identifier, find_identifiers, naming
from grounded_rag.text.number_words import FIRST_WORDS, SCALES, is_foreign, may_begin
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import DateValue, Quantity, factor, in_pair, lookup
from grounded_rag.text.words import guess_language

Key = tuple[str, ...]


_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d|[½¼¾⅐-⅞]")
_BRACKETED = re.compile(r"\[[\d\s,;–-]{1,40}\]|【[^】\n]{1,40}】")
_SIGN = re.compile(r"(?:(?<!\w)minus\s|(?<![\w)\]%])[-−–])\s?\Z", re.IGNORECASE)
_COMPARED = re.compile(r"(?:&lt;|&gt;|[<>≤≥~≈±])=?\s?\Z")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,50}>\Z")
_BETWEEN = re.compile(r"(?<!\w)(?:between|zwischen|entre)\s\Z", re.IGNORECASE)
_THE = re.compile(r"(?<!\w)the\s\Z", re.IGNORECASE)
# Words that a value takes in beside numbers, units and months.
_INSIDE = frozenset(
    "minus between zwischen entre and und et to bis through à of de der des the per pro par je "
    "a an each every annum am pm m p uhr bc bce ad ce chr utc gmt cet cest k bn mn mln tn st nd "
    "rd th b c d ch v n lt gt past o'clock hrs heures".split()
)
_SPELLED = frozenset("de fr es it pt nl".split())
_AND = frozenset("and und et".split())
_DASHES = frozenset("-–—")
_THROUGH = _DASHES | {"to", "bis", "through", "à"}
_RAISED = re.compile(r"</?su[pb]|\^|\$")
_MERIDIEM = re.compile(r"\d\s?[ap]\.?m\b", re.IGNORECASE)
_OF = re.compile(r"\s(?:of|der|des|de)\b")
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})")
_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}[.,]\d{3}(?![\d.,]\d|\d)")
_COMMA_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})+")
_BEHIND = re.compile(r"\w|['’]\w|[-‐‑]\w|[.,:/]\d")


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """A value of a text, with its sign, "between", unit and "per"."""

    start: int
    end: int
    key: Key  # two spans say the same if and only if their keys are equal


@lru_cache(maxsize=1024)
def canonical_values(
    text: str, *, language: str | None = None, order: DateOrder | None = None
) -> tuple[ValueSpan, ...]:
    """Return the values of `text` in order; none overlaps another.

    Without a language ("en", "de", "en-US") it is guessed from the text, and without an order of
    day and month (`date_order` of the whole document) text and language are asked.
    """
    if not _may_hold_values(text):
        return ()
    language = language or guess_language(text)
    identifiers = find_identifiers(text)
    spans = [ValueSpan(one.start, one.end, _identifier_key(one)) for one in identifiers]
    closed = [match.span() for match in _BRACKETED.finditer(text)]
    closed += [(one.start, one.end) for one in identifiers]
    quantities = find_quantities(text, language=language, order=order)
    spans += _Values(text, language, sorted(closed)).read(quantities)
    return tuple(sorted(spans, key=lambda span: span.start))


@lru_cache(maxsize=65536)
def may_be_value(word: str) -> bool:
    """Whether a lower-case word can stand in a value: false for nearly all words of a text."""
    return (
        word in _INSIDE
        or word in MONTHS
        or word in TIMES
        or word in SCALES
        or may_begin(word)
        or any(map(str.isdigit, word))
        or lookup(word) is not None
        or in_pair(word)
        or not set(word) - set("ivxlc")
    )


def _may_hold_values(text: str) -> bool:
    if _DIGIT.search(text) or naming().gate.search(text):
        return True
    return not _first_words().isdisjoint(_WORD.findall(text.lower()))


@lru_cache(maxsize=1)
def _first_words() -> frozenset[str]:
    """Words with which a value without digits begins, or that follow its article."""
    return (FIRST_WORDS | MONTHS.keys() | TIMES | SCALES.keys()) - {"a", "an", "may"}


def _identifier_key(one: Identifier) -> Key:
    # "this chapter four methods" and "this chapter 4 methods" must be the same.
    return ("number", one.key) if one.key.isdecimal() else ("identifier", one.key)


class _Values:
    """Turns the quantities of one text into spans."""

    def __init__(self, text: str, language: str | None, closed: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.language = (language or "").split("-")[0].lower()
        self.closed = closed
        self.half_days = bool(_MERIDIEM.search(text))

    def read(self, quantities: Sequence[Quantity]) -> list[ValueSpan]:
        """Return the spans of quantities that have one reading."""
        spans: list[ValueSpan] = []
        open_ones = self._open(quantities)
        index = 0
        while index < len(open_ones):
            one = open_ones[index]
            following = open_ones[index + 1] if index + 1 < len(open_ones) else None
            if following is not None and following.start == one.start:
                index += 2  # the date and the time of "2024-09-03T10:00"
                span = self._both(one, following)
            else:
                span = self._range(one, following) if following is not None else None
                index += 2 if span else 1
                span = span or self._single(one)
            if span is not None and (not spans or spans[-1].end <= span.start):
                spans.append(span)
        return spans

    def _open(self, quantities: Sequence[Quantity]) -> list[Quantity]:
        """Leave out what stands in an identifier or a citation mark."""
        kept: list[Quantity] = []
        at = 0
        for one in quantities:
            while at < len(self.closed) and self.closed[at][1] <= one.start:
                at += 1
            if at < len(self.closed) and self.closed[at][0] < one.end:
                continue
            kept.append(one)
        return kept

    def _both(self, date: Quantity, time: Quantity) -> ValueSpan | None:
        keys = self._key(date), self._key(time)
        if keys[0] is None or keys[1] is None:
            return None
        return ValueSpan(date.start, max(date.end, time.end), keys[0] + keys[1])

    def _single(self, one: Quantity) -> ValueSpan | None:
        return self._whole(self._signed(one), one.end, self._key(one))

    def _whole(self, start: int, end: int, key: Key | None) -> ValueSpan | None:
        """Take in "<" and "+", unless the span is cut out of a longer word."""
        if key is None or not self._begins(start) or not self._ends(end):
            return None
        compared = _COMPARED.search(self.text, max(0, start - 6), start)
        if compared and not _TAG.search(self.text, max(0, start - 60), start):
            sign = compared.group().strip().replace("&lt;", "<").replace("&gt;", ">")
            start, key = compared.start(), (sign, *key)
        if self.text[end : end + 1] == "+":
            end, key = end + 1, ("+", *key)
        return ValueSpan(start, end, key)

    def _signed(self, one: Quantity) -> int:
        """Return where a number begins with its minus sign."""
        if one.values and all(value < 0 for value in one.values):
            sign = _SIGN.search(self.text, max(0, one.start - 8), one.start)
            return sign.start() if sign else one.start
        return one.start

    def _begins(self, start: int) -> bool:
        """Whether what begins here is cut out of no longer word or number."""
        before = self.text[max(0, start - 2) : start]
        if before and (before[-1].isalnum() or before[-1] in "_-−–"):
            return False  # a dash that is no sign of the value, as in "mid-2024" or "y=-3"
        return not (len(before) == 2 and before[1] in "‐‑'’.,/" and before[0].isalnum())

    def _ends(self, end: int) -> bool:
        """Whether what ends here goes on neither as a word nor as a formula."""
        return not (_BEHIND.match(self.text, end) or _RAISED.match(self.text, end))

    def _range(self, first: Quantity, last: Quantity) -> ValueSpan | None:
        """Read "between 5 and 10 days", "5 to 10 days", "5-10 days" or "3–9 May" as one."""
        start, stop = self._signed(first), self._signed(last)
        joint = self.text[first.end : stop].strip().lower()
        between = _BETWEEN.search(self.text, max(0, start - 9), start)
        if joint in _AND and between:
            start = between.start()
        elif joint not in _THROUGH:
            return None
        if last.kind == "date" and first.kind == "number":
            first = _completed(first, last)
        if first.kind != last.kind or first.kind not in ("number", "date", "time"):
            return None
        keys = self._key(first), self._key(last)
        if keys[0] is None or keys[1] is None:
            return None
        if first.kind == "number":
            falling = first.values[0] >= last.values[0]
            if first.unit != last.unit or (falling and joint in _DASHES):
                return None  # "5-3" is a result or a code
        return self._whole(start, last.end, ("range", *keys[0], *keys[1]))

    def _key(self, one: Quantity) -> Key | None:
        if one.soft and not self._article(one):
            return None
        if one.kind == "date":
            return _date_key(one)
        if one.kind == "time":
            return self._time_key(one)
        if one.spelled and is_foreign(one.text.lower()) and self.language not in _SPELLED:
            return None  # "null", "elf"
        value = self._value(one)
        if value is None:
            return None
        if one.kind == "era":
            full = one.spelled or one.unit == "100" or len(_digits(one.text)) == 4
            plain = one.unit == "10" or not one.text[:4].isdecimal()
            return ("era", str(value), one.unit) if full and plain else None
        if one.kind == "ordinal":
            return ("ordinal", str(value))
        if one.kind == "fraction" and not one.unit:
            return ("%", str(value)) if _OF.match(self.text, one.end) else None
        if one.unit in ("%", "pp") and not one.per:
            return (one.unit, str(value))
        if one.unit:
            return ("quantity", str(value), one.unit, one.per)
        if one.per:
            return ("number", _written(one, value), one.per)
        return ("number", _written(one, value)) if one.kind == "number" else None

    def _article(self, one: Quantity) -> bool:
        """Whether a soft number is one all the same: "a dozen", "a third of", "the second"."""
        words = one.text.lower().split()
        if len(words) > 1 and words[0] in ("a", "an"):
            return one.kind == "number" or _OF.match(self.text, one.end) is not None
        if one.kind != "ordinal":
            return words == ["half"] and _OF.match(self.text, one.end) is not None
        return words == ["first"] or bool(_THE.search(self.text, max(0, one.start - 5), one.start))

    def _value(self, one: Quantity) -> Fraction | None:
        if len(one.values) == 1:
            return None if one.unit and _may_be_grouped(one) else one.values[0]
        # Without a known language, "1,500" is grouped; "1.500" may be either.
        if len(one.values) == 2 and not self.language and _COMMA_GROUPS.search(one.text):
            return one.values[0]
        return None

    def _time_key(self, one: Quantity) -> Key | None:
        if len(one.times) != 1:
            return None
        time = one.times[0]
        zone, minutes = "", time.minutes
        if time.offset is not None:
            zone, minutes = "UTC", time.minutes - time.offset
        clock = _CLOCK.match(one.text)
        # "9:00" may be in the evening; "09:00" is not, unless the text counts in half days.
        halved = clock and 1 <= int(clock[1]) <= 12 and not _MERIDIEM.search(one.text)
        if clock and halved and (self.half_days or len(clock[1]) == 1):
            return ("clock", str(minutes), zone)
        return ("time", str(minutes % 1440), zone)


def _may_be_grouped(one: Quantity) -> bool:
    """Whether a decimal looks like thousands: €14.000 may be 14,000 euros in any language."""
    literal = _THOUSANDS.search(one.text)
    if literal is None:
        return False
    return abs(one.values[0]) != int(_digits(literal.group())) * factor(one.written_unit)


def _digits(text: str) -> str:
    return "".join(str(int(character)) for character in text if character.isdecimal())


def _written(one: Quantity, value: Fraction) -> str:
    """Return the digits of a plain number without grouping: 2.10 is not 2.1."""
    digits = "" if one.spelled else _digits(one.text)
    if digits and re.search(r"(?<!\d)\.\d", one.text):  # ".5"
        digits = "0" + digits
    if digits and len(digits) <= 40:
        size = abs(value)
        for places in range(len(digits)):
            if Fraction(int(digits), 10**places) == size and (size or places == 0):
                sign = "-" if value < 0 else ""
                whole = digits[: len(digits) - places]
                return sign + whole + ("." + digits[-places:] if places else "")
    return str(value)


def _completed(first: Quantity, last: Quantity) -> Quantity:
    """Give a bare day the month and year of the date that ends its range: "3 to 9 May 2024"."""
    dates = [date for date in last.dates if date.day is not None]
    day = first.values[0] if len(first.values) == 1 and not first.unit else Fraction(0)
    if len(dates) != 1 or day.denominator != 1 or not 1 <= day < (dates[0].day or 0):
        return first
    whole = DateValue(dates[0].year, dates[0].month, int(day))
    return Quantity(first.text, first.start, first.end, kind="date", dates=(whole,))


def _date_key(one: Quantity) -> Key | None:
    if len(one.dates) != 1:
        return None
    date = one.dates[0]
    known = [part for part in (date.year, date.month, date.day) if part is not None]
    short_year = re.fullmatch(r"\d{1,2}([./-])\d{1,2}\1\d{2}", one.text)
    if short_year or (len(known) < 2 and date.month is not None):
        return None  # "May" stays a word
    return ("date", str(date.year or ""), str(date.month or ""), str(date.day or ""))
