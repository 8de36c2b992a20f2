"""Numbers written in digits: grouping, decimals, fractions, exponents, by value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

TokenKind = Literal["num", "iso", "word", "sup", "frac", "sym"]

# One character for one, so that offsets stay those of the text.
_SAME_LENGTH = str.maketrans(
    {chr(0xFF01 + offset): chr(0x21 + offset) for offset in range(94)}
    | {"٫": ".", "٬": ",", "−": "-", "‐": "-", "‑": "-", "–": "–", "’": "'", "µ": "μ"}
    | dict.fromkeys("\u00ad\u200b\u200e\u200f\u2060\ufeff\u202a\u202c\u2066\u2069", " ")
)
_TOKEN = re.compile(
    r"(?P<iso>(?<![\w-])\d{4}-\d{1,2}-\d{1,2}(?![\d-])"
    r"(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|(?<![\w./-])\d{1,2}-\d{1,2}-\d{4}(?![\w-]))"
    r"|(?P<num>(?:(?<![\w.,)\]])\.)?\d+(?:[.,:/']\d+)*)"
    r"|(?P<word>[^\W\d_⁰¹²³⁴-⁹½¼¾⅐-⅞]+(?:'[^\W\d_]+)*[²³]?)"
    r"|(?P<sup>[⁻⁺]?[⁰¹²³⁴-⁹]+)"
    r"|(?P<frac>[½¼¾⅐-⅞])"
    r"|(?P<sym>[^\s])"
)
_MAX_DIGITS = 40
"""A number with more digits counts nothing."""


class Token(NamedTuple):
    """One token of a text: what it looks like, and where it stands."""

    kind: TokenKind
    text: str  # after folding of width and signs
    lower: str
    start: int
    end: int
    glued: bool  # follows the token before it without white space


def scan(text: str) -> tuple[Token, ...]:
    """Return the tokens of `text` in order, in one pass."""
    folded = text if text.isascii() else text.translate(_SAME_LENGTH)
    tokens: list[Token] = []
    end = -1
    for match in _TOKEN.finditer(folded):
        kind = match.lastgroup
        raw = match.group()
        if kind == "num" and not raw.isascii():
            raw = "".join(str(int(c)) if c.isdecimal() else c for c in raw)
        start = match.start()
        tokens.append(Token(kind, raw, raw.lower(), start, match.end(), start == end))  # type: ignore[arg-type]  # the pattern's group names are the kinds
        end = match.end()
    return tuple(tokens)


def word_at(tokens: Sequence[Token], index: int) -> str:
    """Return the lower-case token at `index`, or "" outside the text."""
    return tokens[index].lower if 0 <= index < len(tokens) else ""


_GROUP_GAPS = (" ", "\u00a0", "\u202f", "\u2009")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_RAISABLE = frozenset("0123456789+-−=()n")
_MAX_EXPONENT = 40
_DECIMAL_COMMA = frozenset("de fr it nl pt".split())


def read_literal(literal: str, language: str | None) -> tuple[Fraction, ...]:
    """Return the possible values of digits with separators, likeliest first; none for a label.

    Args:
        literal: ASCII digits with ``.``, ``,``, ``'``, ``:`` or ``/`` between them.
        language: "en" or, with a decimal comma, "de", "fr", "it", "nl" or "pt" settles what "1.500"
            means; otherwise both readings are kept.
    """
    if literal.isdecimal():
        return (Fraction(int(literal)),)
    if literal.startswith("."):
        return (Fraction(f"0{literal}"),) if literal[1:].isdecimal() else ()
    if literal.count("/") == 1 and literal.replace("/", "").isdecimal():
        numerator, denominator = literal.split("/")
        return (Fraction(int(numerator), int(denominator)),) if int(denominator) else ()
    if ":" in literal or "/" in literal:
        return ()
    literal = literal.replace("'", "")
    dot, comma = literal.rfind("."), literal.rfind(",")
    if dot >= 0 and comma >= 0:
        decimal = "." if dot > comma else ","
        return _decimal(literal, "," if decimal == "." else ".", decimal)
    separator = "." if dot >= 0 else ","
    if dot < 0 and comma < 0:
        return (Fraction(int(literal)),)
    groups = literal.split(separator)
    if len(groups) > 2:
        return (Fraction(int("".join(groups))),) if _grouped(groups, separator) else ()
    whole, rest = groups
    as_decimal = Fraction(f"{whole}.{rest}")
    if len(rest) != 3 or len(whole) > 3 or whole.startswith("0"):
        return (as_decimal,)
    as_group = Fraction(int(whole + rest))
    if language == "en":
        return (as_group,) if separator == "," else (as_decimal,)
    if language in _DECIMAL_COMMA:
        return (as_group,) if separator == "." else (as_decimal,)
    return (as_group, as_decimal) if separator == "," else (as_decimal, as_group)


def _grouped(groups: Sequence[str], separator: str) -> bool:
    if len(groups[-1]) != 3 or not 1 <= len(groups[0]) <= 3:
        return False
    middle = {len(group) for group in groups[1:-1]}
    return middle <= {3} or (separator == "," and middle <= {2} and len(groups[0]) <= 2)


def _decimal(literal: str, group: str, decimal: str) -> tuple[Fraction, ...]:
    whole, _, rest = literal.rpartition(decimal)
    groups = whole.split(group)
    if decimal in whole or (len(groups) > 1 and not _grouped(groups, group)):
        return ()
    return (Fraction(f"{''.join(groups)}.{rest}"),)


class DigitNumber(NamedTuple):
    """A number in digits: its readings and the tokens that it took."""

    values: tuple[Fraction, ...]
    length: int
    fraction: bool = False


def read_digits(
    text: str, tokens: Sequence[Token], index: int, language: str | None
) -> DigitNumber | None:
    """Read the digits at token `index` with what continues them: groups, fractions, exponents."""
    token = tokens[index]
    if token.kind == "frac":
        return DigitNumber((_vulgar(token.text),), 1, fraction=True)
    if token.kind != "num":
        return None
    if len(token.text) > _MAX_DIGITS:
        return DigitNumber((), 1)
    literal, length = token.text, 1
    while (
        literal.isdecimal() and (length > 1 or len(literal) <= 3) and index + length < len(tokens)
    ):
        following = tokens[index + length]
        gap = text[tokens[index + length - 1].end : following.start]
        head = following.text.replace(",", ".").split(".")[0]
        if following.kind != "num" or gap not in _GROUP_GAPS or len(head) != 3:
            break
        if len(literal) > 30:
            break
        literal += following.text
        length += 1
    values = read_literal(literal, "xx" if length > 1 else language)
    if length > 1 and len(values) > 1:
        values = values[:1]
    fraction = "/" in literal and bool(values)
    following_index = index + length
    if following_index < len(tokens) and values:
        following = tokens[following_index]
        if following.kind == "frac" and literal.isdecimal():
            return DigitNumber((values[0] + _vulgar(following.text),), length + 1)
        if following.kind == "num" and "/" in following.text and literal.isdecimal():
            part = read_literal(following.text, None)
            if part and part[0] < 1 and len(following.text) <= 5:
                return DigitNumber((values[0] + part[0],), length + 1)
        exponent, used = _exponent(tokens, following_index)
        if exponent is not None:
            raised = tuple(value**exponent for value in values if value and value < 10**6)
            return DigitNumber(raised, length + used)
        power, used = _scientific(tokens, following_index) or _times_ten(tokens, following_index)
        if power is not None:
            return DigitNumber(tuple(v * power for v in values), length + used)
    return DigitNumber(values, length, fraction=fraction)


@lru_cache(maxsize=64)
def _vulgar(character: str) -> Fraction:
    return Fraction(unicodedata.numeric(character)).limit_denominator(10)


def _exponent(tokens: Sequence[Token], index: int) -> tuple[int | None, int]:
    if index >= len(tokens):
        return None, 0
    token = tokens[index]
    if token.kind == "sup" and token.glued:
        raised = token.text.translate(_SUPERSCRIPTS)
        value = int(raised) if raised.lstrip("+-").isdecimal() and len(raised) < 4 else None
        return (value, 1) if value is not None and abs(value) <= _MAX_EXPONENT else (None, 0)
    if token.text == "^" and token.glued and index + 1 < len(tokens):
        sign = -1 if tokens[index + 1].text == "-" else 1
        at = index + 1 + (sign < 0)
        if at < len(tokens) and tokens[at].text.isdecimal() and len(tokens[at].text) < 3:
            value = sign * int(tokens[at].text)
            return (value, at - index + 1) if abs(value) <= _MAX_EXPONENT else (None, 0)
    return None, 0


def _scientific(tokens: Sequence[Token], index: int) -> tuple[Fraction, int] | None:
    """Read "e5" or "e-5" glued to the digits."""
    if index + 1 >= len(tokens) or tokens[index].lower != "e" or not tokens[index].glued:
        return None
    sign = -1 if tokens[index + 1].text == "-" else 1
    at = index + 1 + (sign < 0)
    if at >= len(tokens) or not tokens[at].glued or not tokens[at].text.isdecimal():
        return None
    exponent = sign * int(tokens[at].text[:4])
    return (Fraction(10) ** exponent, at - index + 1) if abs(exponent) <= _MAX_EXPONENT else None


def _times_ten(tokens: Sequence[Token], index: int) -> tuple[Fraction | None, int]:
    if index + 2 >= len(tokens) or tokens[index].lower not in ("×", "x", "·", "*"):
        return None, 0
    if tokens[index + 1].text != "10":
        return None, 0
    exponent, used = _exponent(tokens, index + 2)
    return (Fraction(10) ** exponent, used + 2) if exponent is not None else (None, 0)


def raised(text: str) -> str:
    """Return raised characters where all of `text` has them: 10 and 5 must not become 105."""
    bare = text.strip()
    return bare.translate(_SUPERSCRIPT) if bare and set(bare) <= _RAISABLE else text
