"""One number with what belongs to it: sign, currency, scale, unit, "per"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grounded_rag.text import units
from grounded_rag.text.dates import era_sign
from grounded_rag.text.literals import read_digits
from grounded_rag.text.number_words import SCALES, may_begin, read_spelled
from grounded_rag.text.quantities import QuantityKind
from grounded_rag.text.scan import Token, word_at

_SHORT_SCALES = {"k": 1000, "bn": 10**9, "mn": 10**6, "mln": 10**6, "tn": 10**12}
_MONEY_SCALES = {"m": 10**6, "b": 10**9, "t": 10**12, "mm": 10**6}
SIGNS = frozenset("$€£¥₹₽₩₺₪")
"""Currency signs that stand before their number."""
DASHES = ("-", "–", "—")
"""Signs between the ends of a range."""
_BEFORE_HYPHEN = frozenset("mid pre post sub early late non ca".split())
_ORDINAL_SUFFIXES = ("st", "nd", "rd", "th", "ème", "er")
_PER = frozenset("per pro par je".split())
_EACH = frozenset("a an each every".split())


@dataclass(slots=True)
class NumberInProgress:
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


class NumberReader:
    """Reads single numbers; every method looks at a bounded number of tokens."""

    def __init__(self, text: str, tokens: Sequence[Token], language: str | None) -> None:
        self.text = text
        self.tokens = tokens
        self.language = language

    def number(self, index: int) -> NumberInProgress | None:
        """Read the digits or words of the number at `index`, or return None."""
        token = self.tokens[index]
        if token.kind in ("num", "frac"):
            if self.inside_code(index):
                return None
            digits = read_digits(self.text, self.tokens, index, self.language)
            if digits is None:
                return None
            kind: QuantityKind = "fraction" if digits.fraction else "number"
            return NumberInProgress(
                digits.values, kind if digits.values else "label", index + digits.length
            )
        if token.kind != "word" or not may_begin(token.lower):
            return None
        words = [self.tokens[at].lower for at in range(index, min(index + 26, len(self.tokens)))]
        spelled = read_spelled(words)
        if spelled is None:
            return None
        return NumberInProgress(
            (spelled.value,), spelled.kind, index + spelled.length, True, spelled.soft  # type: ignore[arg-type]  # a QuantityKind
        )  # fmt: skip

    def inside_code(self, index: int) -> bool:
        """Whether letters are glued to the digits at `index`, as in QX-2, IP67 or 3D."""
        token = self.tokens[index]
        if token.glued and index:
            before = self.tokens[index - 1]
            if before.text == "_" or (before.kind == "word" and before.text[-1].isascii()):
                return not units.is_currency((units.lookup(before.text) or ("",))[0])
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
            or units.lookup(after.text) is not None
            or (token.text.isdecimal() and lower == "e")
        )

    def currency_before(self, index: int, number: NumberInProgress) -> int:
        """Take in a currency before the number; return where the whole begins."""
        begin = index
        before = self.tokens[index - 1] if index else None
        if before is not None and (before.text in SIGNS or before.kind == "word"):
            name = before.text
            if name == "$" and before.glued and index > 1 and self.tokens[index - 2].kind == "word":
                name = self.tokens[index - 2].text + "$"
                if units.lookup(name):
                    begin -= 1
                else:
                    name = "$"
            found = units.lookup(name) if name in SIGNS or name[:2].isupper() or (
                name in ("Rs", "A$", "C$")) else None  # fmt: skip
            if found and units.is_currency(found[0]):
                number.unit, number.written, number.factor = found[0], name, found[1]
                return begin - 1
        return index

    def complete(self, number: NumberInProgress, index: int) -> None:
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

    def _era(self, number: NumberInProgress, years: int, end: int) -> None:
        if number.values and number.values[0] < 100 and years == 10:
            number.values = (number.values[0] + 1900,)
        number.kind, number.unit, number.end = "era", str(years), end

    def _scale(self, number: NumberInProgress) -> None:
        at = number.end
        word = word_at(self.tokens, at)
        if not word:
            return
        glued = self.tokens[at].glued
        # "5 MN" are meganewtons; "10K" is ten thousand.
        symbol = len(word) > 1 and units.lookup(self.tokens[at].text)
        short = None if symbol else _SHORT_SCALES.get(word)
        money = _MONEY_SCALES.get(word) if units.is_currency(number.unit) else None
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

    def _unit(self, number: NumberInProgress) -> None:
        at = number.end
        if number.unit:
            return
        if number.kind == "fraction" and word_at(self.tokens, at) in ("a", "an"):
            at += 1  # "half an hour" is a span of time, not a half for each hour
        if word_at(self.tokens, at) in DASHES[:1] and at + 1 < len(self.tokens):
            if not (self.tokens[at].glued and self.tokens[at + 1].glued):
                return
            at += 1
        if at >= len(self.tokens):
            return
        name, length = self._unit_name(at)
        found = units.lookup(name) if name else None
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
            joined = units.pair(token.lower, word_at(self.tokens, at + 2))
            if joined:
                return joined, 3
        joined = units.pair(token.lower, following)
        if joined:
            return joined, 2
        if token.kind == "sym" and token.text not in "%‰°€$£¥₹₽₩₺₪":
            return "", 0
        if following in ("2", "3") and self.tokens[at + 1].glued and (
            units.lookup(token.text + following)
        ):  # fmt: skip
            return token.text + following, 2
        return token.text, 1

    def _per(self, number: NumberInProgress) -> None:
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
        found = units.lookup(target.text)
        if target.lower == "annum":
            found = units.lookup("year")
        if found is None and (word in _EACH or slash or not number.unit):
            return
        number.per = f"{found[1]} {found[0]}" if found else target.lower
        number.end = at + 2

    def negative(self, begin: int) -> bool:
        """Whether a minus stands before token `begin`."""
        if word_at(self.tokens, begin - 1) == "minus":
            return True
        if not begin or self.tokens[begin - 1].text not in ("-", "–"):
            return False
        sign = self.tokens[begin - 1]
        free = not sign.glued or word_at(self.tokens, begin - 2) in ("(", "|", "[")
        return self.tokens[begin].glued and free
