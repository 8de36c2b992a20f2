"""The numbers of a claim beside all the numbers that it may have taken from its evidence.

Citation marks, list numbers, page and line numbers say nothing about the world: they are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.language import comparable, guess_language
from grounded_rag.text.numbers import Quantity, find_quantities
from grounded_rag.text.stems import stem
from grounded_rag.text.units import lookup
from grounded_rag.verification.support.terms import clean

_MARK = re.compile(
    r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]"
    r"|^[ \t>*-]*\(?\d{1,3}(?:\.\d{1,3})*[.)][ \t]+(?=[^\W\d_])"
    r"|^[ \t>*-]*\d{1,3}(?:\.\d{1,3})+[ \t]+(?=[A-ZÀ-Þ])"
    r"|^[ \t]*[-–—][ \t]*\d{1,4}[ \t]*[-–—][ \t]*$"
    r"|^[^\w\n]*(?:[Pp]age|PAGE|[Ss]eite|[Pp][áa]gina|p\.)[ \t]*\d+"
    r"(?:[ \t]*(?:/|of|von|de|di)[ \t]*\d+)?[^\w\n]*$"
    r"|(?<=[^\W\d_])\n[ \t]*\d{1,4}[ \t]*\n(?=[ \t]*[a-zß-ÿ])",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d_]+|[%‰€$£¥°]")
_ENDED = frozenset(".:;!?|)")
_LOOK = 80
SCALES = {
    1_000: re.compile(r"thousand|['’]?000(?!\d)|\btsd\b|\bk\b", re.IGNORECASE),
    1_000_000: re.compile(
        r"million|\bmn\b|\bmio\b|(?:[$€£(]\s?|usd|eur|gbp)m\b|\bmm\b", re.IGNORECASE
    ),
    1_000_000_000: re.compile(r"billion|\bbn\b|\bmrd\b", re.IGNORECASE),
}
"""Scales that the head of a table may give to its numbers, each with how it is written."""


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """A claim's numbers and where they may come from; the question is no such place.

    Attributes:
        claim: The claim, without markup and marks.
        stated: Its numbers.
        quotes: Numbers of the located quotes.
        statement: Numbers of the sentences or rows around the quotes.
        known: Numbers of the whole passages, their titles and headings.
        text: The text that `known` was read from.
        comparable: Whether claim and passage are of one language, as far as is known.
    """

    claim: str
    stated: tuple[Quantity, ...]
    quotes: tuple[Quantity, ...]
    statement: tuple[Quantity, ...]
    known: tuple[Quantity, ...]
    text: str
    comparable: bool


def figures(case: ClaimCase) -> Figures | None:
    """Return the numbers of a case, or None where the claim has none."""
    claim = clean(case.claim.text)
    if not find_quantities(claim):
        return None
    pieces = case.evidence
    return _figures(
        claim,
        _lines(piece.located.quote for piece in pieces),
        _lines(piece.sentence for piece in pieces),
        _lines(
            text
            for piece in pieces
            for text in (
                piece.chunk.chunk.text,
                piece.chunk.title,
                *piece.chunk.chunk.headings,
                piece.sentence if piece.sentence not in piece.chunk.chunk.text else "",
            )
        ),
    )


def _lines(texts: Iterable[str]) -> str:
    return clean("\n\n".join(text for text in dict.fromkeys(texts) if text))


def names_unit(text: str, quantity: Quantity) -> bool:
    """Whether a text has the unit of a quantity, as in the head of a column ("Price in EUR")."""
    words = _WORD.findall(text)
    known = (lookup(word) for word in words)
    return any(base is not None and base[0] == quantity.unit for base in known) or (
        stem(quantity.written_unit.lower()) in {stem(word.lower()) for word in words}
    )


def scaled(size: Fraction, text: str) -> bool:
    """Whether a text gives numbers in thousands, millions or billions."""
    pattern = SCALES.get(int(size)) if size.denominator == 1 else None
    return pattern is not None and pattern.search(text) is not None


def scaled_down(quantity: Quantity, text: str) -> Iterator[Quantity]:
    """Yield a quantity as a table "in millions" prints it, for each scale that `text` names."""
    for size, pattern in SCALES.items():
        if any(abs(value) >= size for value in quantity.values) and pattern.search(text):
            yield replace(quantity, values=tuple(value / size for value in quantity.values))


@lru_cache(maxsize=512)
def _figures(claim: str, quotes: str, statement: str, text: str) -> Figures:
    language = guess_language(text)
    alike = comparable(claim, text)
    spoken = guess_language(claim) or (language if alike else None)
    claim, quotes, statement, text = map(_plain, (claim, quotes, statement, text))
    return Figures(
        claim=claim,
        stated=_read(claim, spoken),
        quotes=_read(quotes, language),
        statement=_read(statement, language),
        known=_read(text, language),
        text=text,
        comparable=alike,
    )


@lru_cache(maxsize=1024)
def _read(text: str, language: str | None) -> tuple[Quantity, ...]:
    """Return the quantities of a text; quote, statement and passage are often one text."""
    return find_quantities(text, language=language)


@lru_cache(maxsize=2048)
def _plain(text: str) -> str:
    """Return a text with blanks in place of numbers that only cite or count its own parts."""
    marks = [mark.span() for mark in _MARK.finditer(text) if _stands_alone(text, mark)]
    if not marks:
        return text
    # "1. May 2024" opens a line and is a date all the same.
    ends = {quantity.start: quantity.end for quantity in find_quantities(text)}
    parts, done = [], 0
    for start, end in marks:
        inside = (ends[place] for place in range(start, end) if place in ends)
        if max(inside, default=0) <= end:
            parts += [text[done:start], re.sub(r"\S", " ", text[start:end])]
            done = end
    return "".join(parts) + text[done:]


def _stands_alone(text: str, mark: re.Match[str]) -> bool:
    """Whether a number at the start of a line opens it, and does not end a wrapped sentence."""
    shape = mark.group()
    if shape.startswith("\n") or shape.lstrip(" \t")[:1] in "[-–—":
        return True
    before = text[max(0, mark.start() - _LOOK) : mark.start()].rstrip(" \t")
    return not before or before.endswith("\n\n") or before.rstrip()[-1:] in _ENDED
