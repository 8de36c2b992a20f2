"""Every number, date and time of a text, by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from grounded_rag.resources import read_table
from grounded_rag.text import quantities
from grounded_rag.text.dates import (
    MONTHS,
    TIMES,
    DateOrder,
    date_order,
    era_sign,
    read_date,
    read_time,
)
from grounded_rag.text.identifiers import Identifier, find_identifiers
from grounded_rag.text.literals import Token, read_digits, scan, word_at
from grounded_rag.text.number_words import SCALES, may_begin, read_spelled
from grounded_rag.text.quantities import Bound, Quantity, QuantityKind

_BEFORE, _AFTER = (
    {
        tuple(words.split()): Bound(bound)
        for bound, row in read_table("bounds")[side].items()
        for words in row.split("|")
    }
    for side in ("before", "after")
)
_FILLERS = frozenset("a an the only just".split())
_SHORT_SCALES = {"k": 1000, "bn": 10**9, "mn": 10**6, "mln": 10**6, "tn": 10**12}
_MONEY_SCALES = {"m": 10**6, "b": 10**9, "t": 10**12, "mm": 10**6}
_CURRENCY_SIGNS = frozenset("$€£¥₹₽₩₺₪")
_DASHES = ("-", "–", "—")
_BEFORE_HYPHEN = frozenset("mid pre post sub early late non ca".split())
_ORDINAL_SUFFIXES = ("st", "nd", "rd", "th", "ème", "er")
_PER = frozenset("per pro par je".split())
_EACH = frozenset("a an each every".split())
_SUMMED = frozenset({"s", "month", "inch", "lb"})
"""Base units of which two amounts are one: "1 h 30 min", "6 ft 2 in"."""


def find_quantities(
    text: str, *, language: str | None = None, order: DateOrder | None = None
) -> tuple[Quantity, ...]:
    """Return the quantities of `text` in order, each with every reading its notation allows.

    Codes such as QX-2 hold no quantity; a section or version number is a `label`.

    Args:
        text: Any text.
        language: "en" or "de" settles what "1.500" and "1,500" mean; a country ("en-US"), or a
            language that writes the day first, settles what "03/04/2025" means.
        order: What settles the latter instead, such as `date_order` of the whole document.
    """
    if order is None and ("/" in text or "-" in text):
        order = date_order(text, language)
    rules = language.split("-")[0].lower() if language else None
    return _summed(_Reader(text, rules, order).read(), text)


@lru_cache(maxsize=65536)
def _may_begin(word: str) -> bool:
    """Whether a number, date or time can begin with a word: most words are passed over."""
    return word in MONTHS or word in TIMES or may_begin(word) or word in ("ad", "a")


@dataclass(slots=True)
class _Number:
    """A number while it is being read; `end` is the index after its last token."""

    values: tuple[Fraction, ...]
    kind: QuantityKind
    end: int
    spelled: bool = False
    soft: bool = False
    unit: str = ""
    written: str = ""
    factor: Fraction = Fraction(1)
    scale: int = 1
    per: str = ""


class _Reader:
    """One pass over the tokens of a text; every method looks at a bounded number of them."""

    def __init__(self, text: str, language: str | None, order: DateOrder | None) -> None:
        self.text = text
        self.tokens = scan(text)
        self.language = language
        self.order = order
        self.found: list[Quantity] = []

    def read(self) -> list[Quantity]:
        """Return the quantities in order, an identifier with digits as one label."""
        names = iter(find_identifiers(self.text))
        name = next(names, None)
        index = 0
        while index < len(self.tokens):
            token = self.tokens[index]
            while name is not None and name.end <= token.start:
                name = next(names, None)
            if name is not None and token.start >= name.start:
                index = self._label(name, index)
                continue
            if token.kind == "word" and not _may_begin(token.lower):
                index += 1
                continue
            index = self._moment(index) or self._quantity(index) or index + 1
        return self.found

    def _label(self, name: Identifier, index: int) -> int:
        """Take in an identifier; a code that begins with letters (QX-2) holds no quantity."""
        begins = self.tokens[index].start == name.start
        code = name.text[0].isalpha() and name.kind in ("code", "address")
        if begins and not code and any(map(str.isdigit, name.key)):
            self.found.append(Quantity(name.text, name.start, name.end, kind="label", key=name.key))
        while index < len(self.tokens) and self.tokens[index].start < name.end:
            index += 1
        return index

    def _moment(self, index: int) -> int | None:
        if self.tokens[index].kind == "num" and self._inside_code(index):
            return None
        moment = read_date(self.tokens, index, self.order) or read_time(self.tokens, index)
        if moment is None:
            return None
        end = index + moment.length
        first, last = self.tokens[index], self.tokens[end - 1]
        if first.end <= last.end:
            text, bound = (
                self.text[first.start : last.end],
                _bound_before(self.tokens, index) or Bound.EXACT,
            )
            if moment.dates:
                self.found.append(
                    Quantity(text, first.start, last.end, "date", dates=moment.dates, bound=bound)
                )
            if moment.times:
                self.found.append(
                    Quantity(text, first.start, last.end, "time", times=moment.times, bound=bound)
                )
        return end

    def _quantity(self, index: int) -> int | None:
        number = self._number(index)
        if number is None:
            return None
        begin = self._currency_before(index, number)
        self._complete(number, index)
        other = self._range_end(number)
        if other is not None:
            if not number.unit and number.kind not in ("label", "era"):
                number.unit, number.written = other[1].unit, other[1].written
                number.factor, number.per = other[1].factor, other[1].per
                number.scale = other[1].scale if number.scale == 1 else number.scale
            elif number.unit and not other[1].unit:
                other[1].unit, other[1].written = number.unit, number.written
                other[1].factor, other[1].per = number.factor, number.per
            self._emit(number, begin, "from")
            self._emit(other[1], other[0], "to")
            return other[1].end
        self._emit(number, begin, "")
        return number.end

    def _emit(self, number: _Number, begin: int, range_end: str) -> None:
        start, stop = self.tokens[begin].start, self.tokens[number.end - 1].end
        negative = -1 if self._negative(begin) else 1
        scale = Fraction(number.scale) * number.factor * negative
        bound = _bound_before(self.tokens, begin) or _bound_after(self.tokens, number.end)
        self.found.append(
            Quantity(
                text=self.text[start:stop],
                start=start,
                end=stop,
                kind=number.kind,
                values=tuple(value * scale for value in number.values),
                unit=number.unit,
                written_unit=number.written,
                per=number.per,
                bound=bound or Bound.EXACT,
                range_end=range_end,  # type: ignore[arg-type]  # callers pass its three literals
                spelled=number.spelled,
                soft=number.soft and (not number.unit or number.kind == "era"),
            )
        )

    def _range_end(self, number: _Number) -> tuple[int, _Number] | None:
        if number.kind in ("label", "ordinal", "era"):
            return None
        at = number.end
        word = word_at(self.tokens, at)
        between = word in ("and", "und", "et") and self._after_between(at)
        if word not in (*_DASHES, "to", "bis", "through", "à") and not between:
            return None
        start = at + 1
        if start >= len(self.tokens):
            return None
        if word in _DASHES and self.tokens[start].glued != self.tokens[at].glued:
            return None
        if word == "to" and self.tokens[start].kind == "word" and self.tokens[start].lower == "one":
            return None
        if self.tokens[start].text in _CURRENCY_SIGNS:
            start += 1
        if start >= len(self.tokens) or read_date(self.tokens, start, self.order) or (
            read_time(self.tokens, start)
        ):  # fmt: skip
            return None
        other = self._number(start)
        if other is None or other.kind in ("label", "ordinal", "era"):
            return None
        begin = self._currency_before(start, other)
        self._complete(other, start)
        return begin, other

    def _after_between(self, at: int) -> bool:
        return any(
            word_at(self.tokens, position) in ("between", "zwischen", "entre")
            for position in range(max(0, at - 8), at)
        )

    def _number(self, index: int) -> _Number | None:
        """Read the digits or words of the number at `index`, or return None."""
        token = self.tokens[index]
        if token.kind in ("num", "frac"):
            if self._inside_code(index):
                return None
            digits = read_digits(self.text, self.tokens, index, self.language)
            if digits is None:
                return None
            kind: QuantityKind = "fraction" if digits.fraction else "number"
            return _Number(digits.values, kind if digits.values else "label", index + digits.length)
        if token.kind != "word" or not may_begin(token.lower):
            return None
        words = [self.tokens[at].lower for at in range(index, min(index + 26, len(self.tokens)))]
        spelled = read_spelled(words)
        if spelled is None:
            return None
        return _Number(
            (spelled.value,), spelled.kind, index + spelled.length, True, spelled.soft  # type: ignore[arg-type]  # a QuantityKind
        )  # fmt: skip

    def _inside_code(self, index: int) -> bool:
        """Whether letters are glued to the digits at `index`, as in QX-2, IP67 or 3D."""
        token = self.tokens[index]
        if token.glued and index:
            before = self.tokens[index - 1]
            if before.text == "_" or (before.kind == "word" and before.text[-1].isascii()):
                return not quantities.is_currency((quantities.lookup(before.text) or ("",))[0])
            if before.text in ("-", "/") and before.glued and index > 1:
                earlier = self.tokens[index - 2]
                unit = earlier.glued and index > 2 and self.tokens[index - 3].kind == "num" and (
                    self._known_suffix(self.tokens[index - 3], earlier)
                )  # fmt: skip
                if earlier.kind == "word" and earlier.text.isascii() and not unit:
                    return earlier.lower not in _BEFORE_HYPHEN and before.text == "-"
        if index + 1 < len(self.tokens) and self.tokens[index + 1].glued:
            after = self.tokens[index + 1]
            if after.text == "_":
                return True
            if after.kind == "word" and after.text[0].isascii():
                return not self._known_suffix(token, after)
        return False

    def _known_suffix(self, token: Token, after: Token) -> bool:
        lower = after.lower
        return (
            lower in _ORDINAL_SUFFIXES
            or lower in _SHORT_SCALES
            or lower in _MONEY_SCALES
            or lower in SCALES
            or lower in ("s", "h", "x", "am", "pm", "uhr")
            or quantities.lookup(after.text) is not None
            or (token.text.isdecimal() and lower == "e")
        )

    def _currency_before(self, index: int, number: _Number) -> int:
        """Take in a currency before the number; return where the whole begins."""
        begin = index
        before = self.tokens[index - 1] if index else None
        if before is not None and (before.text in _CURRENCY_SIGNS or before.kind == "word"):
            name = before.text
            if name == "$" and before.glued and index > 1 and self.tokens[index - 2].kind == "word":
                name = self.tokens[index - 2].text + "$"
                if quantities.lookup(name):
                    begin -= 1
                else:
                    name = "$"
            found = quantities.lookup(name) if name in _CURRENCY_SIGNS or name[:2].isupper() or (
                name in ("Rs", "A$", "C$")) else None  # fmt: skip
            if found and quantities.is_currency(found[0]):
                number.unit, number.written, number.factor = found[0], name, found[1]
                return begin - 1
        return index

    def _complete(self, number: _Number, index: int) -> None:
        """Take in what follows the digits: ordinal suffix, scale, unit and "per"."""
        if number.kind == "label":
            return
        at = number.end
        word = word_at(self.tokens, at)
        glued = at < len(self.tokens) and self.tokens[at].glued
        if glued and not number.spelled and word in _ORDINAL_SUFFIXES[:4]:
            number.kind, number.end = "ordinal", at + 1
            at, word = at + 1, word_at(self.tokens, at + 1)
        digits = self.tokens[index]
        decade = len(digits.text) == 4 or self.text[digits.start - 1 : digits.start] in ("'", "’")
        if glued and word == "s" and decade and digits.text[-1] == "0":
            self._era(number, 100 if digits.text.endswith("00") else 10, at + 1)
            return
        if number.kind == "ordinal":
            if word.startswith("centur") and number.values and number.values[0] <= 30:
                era = era_sign(self.tokens, at + 1) or (1, 0)
                past = era[0] < 0
                number.values = (number.values[0] * -100 if past else (number.values[0] - 1) * 100,)
                self._era(number, 100, at + 1 + era[1])
            return
        self._scale(number)
        self._unit(number)
        self._per(number)

    def _era(self, number: _Number, years: int, end: int) -> None:
        if number.values and number.values[0] < 100 and years == 10:
            number.values = (number.values[0] + 1900,)
        number.kind, number.unit, number.end = "era", str(years), end

    def _scale(self, number: _Number) -> None:
        at = number.end
        word = word_at(self.tokens, at)
        if not word:
            return
        glued = self.tokens[at].glued
        # "5 MN" are meganewtons; "10K" is ten thousand.
        symbol = len(word) > 1 and quantities.lookup(self.tokens[at].text)
        short = None if symbol else _SHORT_SCALES.get(word)
        money = _MONEY_SCALES.get(word) if quantities.is_currency(number.unit) else None
        if short and (glued or word != "k"):
            scale = short
        elif money:
            scale = money
        elif word in SCALES and not number.spelled:
            scale = SCALES[word]
        else:
            return
        number.scale, number.end = scale, at + 1
        if word in ("mio", "mrd", "tsd") and word_at(self.tokens, at + 1) == ".":
            number.end += 1

    def _unit(self, number: _Number) -> None:
        at = number.end
        if number.unit:
            return
        if number.kind == "fraction" and word_at(self.tokens, at) in ("a", "an"):
            at += 1  # "half an hour" is a span of time, not a half for each hour
        if word_at(self.tokens, at) in _DASHES[:1] and at + 1 < len(self.tokens):
            if not (self.tokens[at].glued and self.tokens[at + 1].glued):
                return
            at += 1
        if at >= len(self.tokens):
            return
        name, length = self._unit_name(at)
        found = quantities.lookup(name) if name else None
        if found is None:
            return
        number.unit, number.factor, number.written, number.end = *found, name, at + length

    def _unit_name(self, at: int) -> tuple[str, int]:
        token = self.tokens[at]
        following = word_at(self.tokens, at + 1)
        if token.text == "A" and not token.glued and following[:1].isalpha():
            return "", 0  # "2.1 A contract begins" holds no amperes
        if token.lower == "an" and self.language != "fr":
            return "", 0  # "20 an hour" is no span of 20 years
        if following == "end" and token.lower in ("year", "month", "quarter", "week"):
            return "", 0  # "at 2018 year end" is no span of 2018 years
        if token.text == "°" and following in ("c", "f") and self.tokens[at + 1].glued:
            return "°" + following, 2
        if following == "-":
            joined = quantities.pair(token.lower, word_at(self.tokens, at + 2))
            if joined:
                return joined, 3
        joined = quantities.pair(token.lower, following)
        if joined:
            return joined, 2
        if token.kind == "sym" and token.text not in "%‰°€$£¥₹₽₩₺₪":
            return "", 0
        if following in ("2", "3") and self.tokens[at + 1].glued and (
            quantities.lookup(token.text + following)
        ):  # fmt: skip
            return token.text + following, 2
        return token.text, 1

    def _per(self, number: _Number) -> None:
        at = number.end
        word = word_at(self.tokens, at)
        if word == "p" and [word_at(self.tokens, at + step) for step in (1, 2)] == [".", "a"]:
            number.per, number.end = "12 month", at + 3
            return
        slash = word == "/" and self.tokens[at].glued
        if not (slash or word in _PER or word in _EACH) or at + 1 >= len(self.tokens):
            return
        target = self.tokens[at + 1]
        if target.kind != "word":
            return
        found = quantities.lookup(target.text)
        if target.lower == "annum":
            found = quantities.lookup("year")
        if found is None and (word in _EACH or slash or not number.unit):
            return
        number.per = f"{found[1]} {found[0]}" if found else target.lower
        number.end = at + 2

    def _negative(self, begin: int) -> bool:
        """Whether a minus stands before token `begin`."""
        if word_at(self.tokens, begin - 1) == "minus":
            return True
        if not begin or self.tokens[begin - 1].text not in ("-", "–"):
            return False
        sign = self.tokens[begin - 1]
        free = not sign.glued or word_at(self.tokens, begin - 2) in ("(", "|", "[")
        return self.tokens[begin].glued and free


def _bound_before(tokens: Sequence[Token], index: int) -> Bound | None:
    """Return the bound that the words right before token `index` put on it, or None."""
    end = index
    if word_at(tokens, end - 1) in _FILLERS and word_at(tokens, end - 2) != "maximum":
        end -= 1
    for length in (3, 2, 1):
        key = tuple(word_at(tokens, position) for position in range(end - length, end))
        found = _BEFORE.get(key)
        if found is not None:
            return found
    return None


def _bound_after(tokens: Sequence[Token], index: int) -> Bound | None:
    """Return the bound that the words from token `index` on put on the number before it."""
    if word_at(tokens, index) == "+" and index < len(tokens) and tokens[index].glued:
        return Bound.AT_LEAST
    for length in (3, 2, 1):
        key = tuple(word_at(tokens, position) for position in range(index, index + length))
        found = _AFTER.get(key)
        if found is not None:
            return found
    return None


def _summed(found: list[Quantity], text: str) -> tuple[Quantity, ...]:
    """Add up what is one quantity in two units: "1 h 30 min", "6 years and 3 months"."""
    result: list[Quantity] = []
    for quantity in found:
        last = result[-1] if result else None
        if (
            last is not None
            and last.unit == quantity.unit in _SUMMED
            and quantities.factor(last.written_unit) > quantities.factor(quantity.written_unit)
            and len(last.values) == len(quantity.values) == 1
            and quantity.values[0] < quantities.factor(last.written_unit)
            and text[last.end : quantity.start].strip(" ,") in ("", "and", "und", "et")
            and not last.per
        ):
            result[-1] = replace(
                last,
                text=text[last.start : quantity.end],
                end=quantity.end,
                values=(last.values[0] + quantity.values[0],),
                written_unit=quantity.written_unit,
                per=quantity.per,
                parts=(*(last.parts or (last,)), quantity),
            )
            continue
        result.append(quantity)
    return tuple(result)
