"""Tokens for reading numbers: digits, words and signs, each with its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: What it looks like.
        text: Characters after folding of width and signs.
        lower: The same in lower case.
        start: First code point in the text.
        end: One past the last.
        glued: Whether it follows the token before it without white space.
    """

    kind: TokenKind
    text: str
    lower: str
    start: int
    end: int
    glued: bool


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


def too_long(token: Token) -> bool:
    """Whether a number has so many digits that it counts nothing."""
    return len(token.text) > _MAX_DIGITS


def word_at(tokens: Sequence[Token], index: int) -> str:
    """Return the lower-case token at `index`, or "" outside the text."""
    return tokens[index].lower if 0 <= index < len(tokens) else ""
