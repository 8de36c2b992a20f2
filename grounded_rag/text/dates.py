"""Dates and times of day by value; where a notation has two readings, both are kept.

"03/04/2025" is the third of April or the fourth of March. A hint settles it: a language or country
that writes the day first ("de", "en-GB") or the month ("en-US"), or another date of the same text
that has only one reading, such as "13/04/2025".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grounded_rag.resources import read_table
from grounded_rag.text.literals import Token, word_at
from grounded_rag.text.quantities import DateValue, TimeValue

_TABLE = read_table("months")
MONTHS = {name: int(number) for number, row in _TABLE["months"].items() for name in row.split()}
_ALONE_NEEDS_CONTEXT = frozenset("may march august mai".split())
_NEVER_ALONE = frozenset(_TABLE["never_alone"]["words"].split())
_ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "bst": 60, "cet": 60, "mez": 60, "cest": 120, "mesz": 120,
    "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480,
    "pdt": -420, "jst": 540,
}  # fmt: skip
"""Offset from UTC in minutes, by abbreviation."""
_SPELLED = "one two three four five six seven eight nine ten eleven twelve"
_HOURS = {word: number for number, word in enumerate(_SPELLED.split(), 1)}
TIMES = frozenset("noon midday midnight mittag mitternacht half quarter".split())
"""Words with which a time of day can begin."""


_BEFORE_MONTH = frozenset(_TABLE["before"]["words"].split())
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_ISO_TIME = re.compile(r"T(\d{2}):(\d{2})(?::[\d.]+)?(Z|[+-]\d{2}:?\d{2})?")
_NUMERIC = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{2,4})")
_DAY_AND_MONTH = re.compile(r"(?<![\w./-])(\d{1,2})([/-])(\d{1,2})\2\d{4}(?![\w/-])")
_DAY_FIRST = frozenset(
    "de fr es it pt nl pl sv da nb no fi cs ru tr en-gb en-au en-nz en-ie".split()
)
_MONTH_FIRST = frozenset(("en-us",))
_BEFORE_CHRIST = frozenset(("bc", "bce", "vchr"))
_ANNO_DOMINI = frozenset(("ad", "ce", "nchr"))

DateOrder = Literal["day-first", "month-first"]
"""How a text writes day and month in digits."""
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})(?::\d{2})?")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or time that was read, and how many tokens it took."""

    length: int
    dates: tuple[DateValue, ...] = ()
    times: tuple[TimeValue, ...] = ()


def date_order(text: str, language: str | None = None) -> DateOrder | None:
    """Return how a text or document writes day and month, or None where nothing shows it.

    `language` is a language, or one with its country ("en-US").
    """
    found: set[DateOrder] = set()
    for match in _DAY_AND_MONTH.finditer(text):
        first, second = int(match[1]), int(match[3])
        if first > 12 >= second:
            found.add("day-first")
        elif second > 12 >= first:
            found.add("month-first")
    if found:
        return found.pop() if len(found) == 1 else None
    name = (language or "").lower().replace("_", "-")
    if name in _MONTH_FIRST:
        return "month-first"
    return "day-first" if name in _DAY_FIRST or name.split("-")[0] in _DAY_FIRST else None


def read_date(tokens: Sequence[Token], index: int, order: DateOrder | None = None) -> Moment | None:
    """Read the date that begins at `index`, or return None."""
    token = tokens[index]
    if token.kind == "iso":
        return _iso(token) or _numeric(token, order)
    if token.kind == "num":
        return (
            _numeric(token, order)
            or _year_of_era(tokens, index)
            or _cjk(tokens, index)
            or _day_first(tokens, index)
        )
    if token.kind == "word":
        # Eras are written in capitals; "a" is a word far more often than the A of "A.D.".
        era = _after_era(tokens, index) if token.text.isupper() else None
        return era or _month_first(tokens, index)
    return None


def read_time(tokens: Sequence[Token], index: int) -> Moment | None:
    """Read the time of day that begins at `index`, or return None."""
    token = tokens[index]
    if token.lower in ("noon", "midday", "midnight", "mittag", "mitternacht"):
        minutes = 720 if token.lower in ("noon", "midday", "mittag") else 0
        return Moment(1, times=(TimeValue(minutes),))
    if token.lower in ("half", "quarter") and word_at(tokens, index + 1) in ("past", "to"):
        return _spoken(tokens, index)
    if token.kind != "num":
        return None
    clock = _CLOCK.fullmatch(token.text)
    hour = int(token.text) if token.text.isdecimal() and len(token.text) <= 2 else None
    if clock and int(clock[1]) <= 24 and int(clock[2]) < 60:
        return _clock_time(tokens, index, int(clock[1]), int(clock[2]), ":" in token.text)
    if hour is not None and hour <= 24:
        return _clock_time(tokens, index, hour, 0, False)
    return None


def era_sign(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Return -1 for "BC" or 1 for "AD" at `index`, with the tokens that it took."""
    token = _get(tokens, index)
    if (
        token is None
        or token.kind != "word"
        or not (token.text.isupper() or token.text in ("v", "n"))
    ):
        return None
    word, length = token.lower, 1
    if len(word) == 1 and word_at(tokens, index + 1) == "." and tokens[index + 1].glued:
        word += word_at(tokens, index + 2)
        length = 3 + (word_at(tokens, index + 3) == ".")
    if word in _BEFORE_CHRIST:
        return -1, length
    return (1, length) if word in _ANNO_DOMINI else None


def _year_of_era(tokens: Sequence[Token], index: int) -> Moment | None:
    """Read "44 BC"."""
    token = tokens[index]
    digits = (
        token.text.replace(",", "") if re.fullmatch(r"\d{1,2},\d{3}", token.text) else token.text
    )
    era = era_sign(tokens, index + 1)
    if era is None or not digits.isdecimal() or len(digits) > 5:
        return None
    return Moment(1 + era[1], dates=(DateValue(era[0] * int(digits)),))


def _after_era(tokens: Sequence[Token], index: int) -> Moment | None:
    """Read "AD 44"."""
    era = era_sign(tokens, index)
    year = _get(tokens, index + era[1]) if era else None
    if era is None or era[0] < 0 or year is None or not year.text.isdecimal():
        return None
    return Moment(1 + era[1], dates=(DateValue(int(year.text[:5])),))


def _iso(token: Token) -> Moment | None:
    match = _ISO.match(token.text)
    if not match:
        return None
    date = _date(int(match[1]), int(match[2]), int(match[3]))
    if date is None:
        return None
    clock = _ISO_TIME.search(token.text)
    if not clock:
        return Moment(1, dates=(date,))
    minutes = int(clock[1]) * 60 + int(clock[2])
    return Moment(1, dates=(date,), times=(TimeValue(minutes, _offset(clock[3])),))


def _offset(zone: str | None) -> int | None:
    if not zone:
        return None
    if zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return -minutes if zone[0] == "-" else minutes


def _date(year: int | None, month: int, day: int | None) -> DateValue | None:
    if not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    return DateValue(year, month, day)


def _year(token: Token | None) -> int | None:
    if token is None or token.kind != "num" or not token.text.isdecimal():
        return None
    return int(token.text) if len(token.text) == 4 and "1000" <= token.text <= "2999" else None


def _numeric(token: Token, order: DateOrder | None) -> Moment | None:
    match = _NUMERIC.fullmatch(token.text)
    if not match:
        return None
    first, second, third = int(match[1]), int(match[3]), int(match[4])
    if len(match[1]) == 4:
        found = [_date(first, second, third)]
    elif len(match[1]) > 2 or len(match[4]) == 3:
        return None
    else:
        year = third if len(match[4]) == 4 else 2000 + third if third < 70 else 1900 + third
        found = [_date(year, second, first)]
        if match[2] != ".":
            found.append(_date(year, first, second))
            if order and None not in found:
                found = found[:1] if order == "day-first" else found[1:]
    dates = tuple(dict.fromkeys(filter(None, found)))
    return Moment(1, dates=dates) if dates else None


def _cjk(tokens: Sequence[Token], index: int) -> Moment | None:
    parts: dict[str, int] = {}
    position = index
    while position + 1 < len(tokens) and tokens[position].kind == "num":
        unit = tokens[position + 1]
        sign = unit.text[:1]
        if not unit.glued or sign not in "年月日년월일" or not tokens[position].text.isdecimal():
            break
        if len(tokens[position].text) > 4:
            break
        parts[sign] = int(tokens[position].text)
        position += 2
        if len(unit.text) > 1:
            break
    year = parts.get("年", parts.get("년"))
    month = parts.get("月", parts.get("월"))
    day = parts.get("日", parts.get("일"))
    if month is None:
        return None
    date = _date(year, month, day)
    return Moment(position - index, dates=(date,)) if date else None


def _month(token: Token | None) -> int | None:
    return MONTHS.get(token.lower) if token is not None and token.kind == "word" else None


def _get(tokens: Sequence[Token], index: int) -> Token | None:
    return tokens[index] if 0 <= index < len(tokens) else None


def _day(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Return the day at `index` and the tokens it took ("5", "5th", "5.")."""
    token = _get(tokens, index)
    if token is None or token.kind != "num" or not token.text.isdecimal() or len(token.text) > 2:
        return None
    day = int(token.text)
    if not 1 <= day <= 31:
        return None
    after = _get(tokens, index + 1)
    if after is not None and after.glued and after.lower in ("st", "nd", "rd", "th", "er", "."):
        return day, 2
    if after is not None and after.glued and after.kind in ("word", "num", "frac", "sup"):
        return None
    return day, 1


def _day_first(tokens: Sequence[Token], index: int) -> Moment | None:
    day = _day(tokens, index)
    if day is None:
        return None
    position = index + day[1]
    if word_at(tokens, position) in ("of", "day", "de"):
        position += 1
    month_token = _get(tokens, position)
    month = _month(month_token)
    if month is None or month_token is None:
        return None
    if month_token.lower in ("may", "march", "mar") and not month_token.text[0].isupper():
        return None
    position += 1
    if word_at(tokens, position) == ".":
        position += 1
    comma = word_at(tokens, position) in (",", "de")
    year = _year(_get(tokens, position + comma))
    position += 1 + comma if year else 0
    date = _date(year, month, day[0])
    if date is None:
        return None
    length = position - index
    while length > 1 and tokens[index + length - 1].text == "." and not year:
        length -= 1
    return Moment(length, dates=(date,))


def _month_first(tokens: Sequence[Token], index: int) -> Moment | None:
    token = tokens[index]
    month = _month(token)
    if month is None:
        return None
    upper = token.text[0].isupper()
    dot = word_at(tokens, index + 1) == "." and len(token.text) <= 4
    position = index + 1 + dot
    day = _day(tokens, position)
    year = None
    if day is not None and (upper or token.lower not in _ALONE_NEEDS_CONTEXT | _NEVER_ALONE):
        position += day[1]
        comma = word_at(tokens, position) == ","
        year = _year(_get(tokens, position + comma))
        position += 1 + comma if year else 0
    else:
        day = None
        of = word_at(tokens, position) in (",", "of", "de")
        year = _year(_get(tokens, position + of))
        if year:
            position += 1 + of
        elif token.lower in _NEVER_ALONE or (
            token.lower in _ALONE_NEEDS_CONTEXT
            and not (upper and word_at(tokens, index - 1) in _BEFORE_MONTH)
        ):
            return None
        else:
            position = index + 1
    date = _date(year, month, day[0] if day else None)
    return Moment(position - index, dates=(date,)) if date else None


def _spoken(tokens: Sequence[Token], index: int) -> Moment | None:
    token = _get(tokens, index + 2)
    if token is None or (token.lower not in _HOURS and not token.text.isdecimal()):
        return None
    hour = _HOURS.get(token.lower) or int(token.text[:3])
    shift = {"halfpast": 30, "quarterpast": 15, "quarterto": -15}.get(
        tokens[index].lower + tokens[index + 1].lower
    )
    if shift is None or hour > 24:
        return None
    return _suffixed(tokens, index, index + 3, hour * 60 + shift, both=hour <= 12)


def _clock_time(
    tokens: Sequence[Token], index: int, hour: int, minute: int, plain: bool
) -> Moment | None:
    following = word_at(tokens, index + 1)
    total = hour * 60 + minute
    half = _meridiem(tokens, index + 1)
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        total = (hour % 12 + (12 if half[0] == "p" else 0)) * 60 + minute
        return _suffixed(tokens, index, index + 1 + half[1], total, both=False)
    if following in ("uhr", "h", "heures", "heure", "hrs", "o'clock", "時", "시") or (
        following[:1] in ("時", "시") and following
    ):
        return _named_hour(tokens, index, hour, minute)
    if plain:
        return _suffixed(tokens, index, index + 1, total, both=False)
    return None


def _named_hour(tokens: Sequence[Token], index: int, hour: int, minute: int) -> Moment | None:
    following = tokens[index + 1]
    after = _get(tokens, index + 2)
    if following.lower in ("h", "hrs") and not (
        following.lower == "h" and after is not None and after.kind == "num" and after.glued
    ):
        return None  # "3 h" is a duration, "22h30" a time
    position = index + 2
    if (
        after is not None
        and after.kind == "num"
        and after.text.isdecimal()
        and len(after.text) == 2
        and int(after.text) < 60
        and (after.glued or following.lower == "uhr")
    ):
        minute = int(after.text)
        position += 1
    both = following.lower == "o'clock" and 1 <= hour <= 12
    return _suffixed(tokens, index, position, hour * 60 + minute, both=both)


def _meridiem(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    word = word_at(tokens, index)
    if word in ("am", "pm"):
        return word[0], 1
    if word in ("a", "p") and word_at(tokens, index + 1) == "." and (
        word_at(tokens, index + 2) == "m"
    ):  # fmt: skip
        return word, 4 if word_at(tokens, index + 3) == "." else 3
    return None


def _suffixed(
    tokens: Sequence[Token], index: int, position: int, minutes: int, *, both: bool
) -> Moment:
    offset = _ZONES.get(word_at(tokens, position))
    if offset is not None and tokens[position].text.isupper():
        position += 1
    else:
        offset = None
    hours = (minutes, minutes + 720) if both else (minutes,)
    times = [TimeValue(at, offset) for at in hours]
    return Moment(position - index, times=tuple(times))
