"""Every number, date and time of a text, by value."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from grounded_rag.text import units
from grounded_rag.text.bounds import bound_after, bound_before
from grounded_rag.text.dates import (
    DateOrder,
    Moment,
    date_order,
    read_date,
    read_time,
)
from grounded_rag.text.identifiers import Identifier, find_identifiers
from grounded_rag.text.months import MONTHS, TIMES
from grounded_rag.text.number_reader import DASHES, SIGNS, NumberInProgress, NumberReader
from grounded_rag.text.number_words import may_begin
from grounded_rag.text.quantities import Agreement, Bound, Quantity, QuantityKind, compare
from grounded_rag.text.scan import scan, word_at

__all__ = ["Agreement", "Bound", "Quantity", "compare", "find_quantities"]

_SUMMED = frozenset({"s", "month", "inch", "lb"})


def find_quantities(
    text: str, *, language: str | None = None, order: DateOrder | None = None
) -> tuple[Quantity, ...]:
    """Return the quantities of `text` in order, each with every reading its notation allows.

    Codes such as QX-2 hold no quantity; a section or version number is a `label`.

    Args:
        text: Any text.
        language: "en" or "de" settles what "1.500" and "1,500" mean; a country ("en-US"), or a
            language that writes the day first, settles what "03/04/2025" means.
        order: What settles it instead, such as `date_order` of the whole document.
    """
    if order is None and ("/" in text or "-" in text):
        order = date_order(text, language)
    rules = language.split("-")[0].lower() if language else None
    reader = _Reader(text, scan(text), rules)
    return _summed(reader.read(find_identifiers(text), order), text)


@lru_cache(maxsize=65536)
def _may_begin(word: str) -> bool:
    """Whether a number, date or time can begin with a word: most words are passed over."""
    return word in MONTHS or word in TIMES or may_begin(word) or word in ("ad", "a")


class _Reader(NumberReader):
    """One pass over the tokens of a text."""

    def read(self, identifiers: tuple[Identifier, ...], order: DateOrder | None) -> list[Quantity]:
        """Return the quantities in order, an identifier with digits as one label."""
        self.found: list[Quantity] = []
        self.order = order
        names = iter(identifiers)
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
        if self.tokens[index].kind == "num" and self.inside_code(index):
            return None
        moment = read_date(self.tokens, index, self.order) or read_time(self.tokens, index)
        if moment is None:
            return None
        end = index + moment.length
        first, last = self.tokens[index], self.tokens[end - 1]
        for kind in ("date", "time"):
            if (moment.dates if kind == "date" else moment.times) and first.end <= last.end:
                self.found.append(self._of_moment(moment, kind, index, end))
        return end

    def _of_moment(self, moment: Moment, kind: QuantityKind, index: int, end: int) -> Quantity:
        start, stop = self.tokens[index].start, self.tokens[end - 1].end
        return Quantity(
            text=self.text[start:stop],
            start=start,
            end=stop,
            kind=kind,
            dates=moment.dates if kind == "date" else (),
            times=moment.times if kind == "time" else (),
            bound=bound_before(self.tokens, index) or Bound.EXACT,
        )

    def _quantity(self, index: int) -> int | None:
        number = self.number(index)
        if number is None:
            return None
        begin = self.currency_before(index, number)
        self.complete(number, index)
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

    def _emit(self, number: NumberInProgress, begin: int, range_end: str) -> None:
        start, stop = self.tokens[begin].start, self.tokens[number.end - 1].end
        negative = -1 if self.negative(begin) else 1
        scale = Fraction(number.scale) * number.factor * negative
        bound = bound_before(self.tokens, begin) or bound_after(self.tokens, number.end)
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

    def _range_end(self, number: NumberInProgress) -> tuple[int, NumberInProgress] | None:
        if number.kind in ("label", "ordinal", "era"):
            return None
        at = number.end
        word = word_at(self.tokens, at)
        between = word in ("and", "und", "et") and self._after_between(at)
        if word not in (*DASHES, "to", "bis", "through", "à") and not between:
            return None
        start = at + 1
        if start >= len(self.tokens):
            return None
        if word in DASHES and self.tokens[start].glued != self.tokens[at].glued:
            return None
        if word == "to" and self.tokens[start].kind == "word" and self.tokens[start].lower == "one":
            return None
        if self.tokens[start].text in SIGNS:
            start += 1
        if start >= len(self.tokens) or read_date(self.tokens, start, self.order) or (
            read_time(self.tokens, start)
        ):  # fmt: skip
            return None
        other = self.number(start)
        if other is None or other.kind in ("label", "ordinal", "era"):
            return None
        begin = self.currency_before(start, other)
        self.complete(other, start)
        return begin, other

    def _after_between(self, at: int) -> bool:
        return any(
            word_at(self.tokens, position) in ("between", "zwischen", "entre")
            for position in range(max(0, at - 8), at)
        )


def _summed(found: list[Quantity], text: str) -> tuple[Quantity, ...]:
    """Add up what is one quantity in two units: "1 h 30 min", "6 years and 3 months"."""
    result: list[Quantity] = []
    for quantity in found:
        last = result[-1] if result else None
        if (
            last is not None
            and last.unit == quantity.unit in _SUMMED
            and units.factor(last.written_unit) > units.factor(quantity.written_unit)
            and len(last.values) == len(quantity.values) == 1
            and quantity.values[0] < units.factor(last.written_unit)
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
