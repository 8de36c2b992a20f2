"""A text as words, names and numbers by value, and a claim's numbers beside its evidence's.

Each text is read once and cached. Citation marks, list numbers, page and line numbers say nothing
about the world: they are left out of the figures.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Quantity, lookup
from grounded_rag.text.words import Word, comparable, guess_language, split_compound, stem, tokenize

MAX_TERMS = 2000
"""Terms of one text that are looked at: bounds the cost of hostile input."""

SCALES = {
    1_000: re.compile(r"thousand|['’]?000(?!\d)|\btsd\b|\bk\b", re.IGNORECASE),
    1_000_000: re.compile(
        r"million|\bmn\b|\bmio\b|(?:[$€£(]\s?|usd|eur|gbp)m\b|\bmm\b", re.IGNORECASE
    ),
    1_000_000_000: re.compile(r"billion|\bbn\b|\bmrd\b", re.IGNORECASE),
}
"""Scales that the head of a table may give to its numbers, each with how it is written."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3}|_{1,3}|~~|`)(?=\S)|(?<=\S)(\*{1,3}|_{1,3}|~~|`)(?![\w*])"
)
_SENTENCE_END = frozenset('.!?:;\n|•"“«(–—。！？')
_TITLES = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Nr|Mt|Ft|Gen|Sgt|Rev|Hr|Fr|[A-Z])\.$")
_CITES_OR_COUNTS = re.compile(
    r"\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]"
    r"|^[ \t>*-]*\(?\d{1,3}(?:\.\d{1,3})*[.)][ \t]+(?=[^\W\d_])"
    r"|^[ \t>*-]*\d{1,3}(?:\.\d{1,3})+[ \t]+(?=[A-ZÀ-Þ])"
    r"|^[ \t]*[-–—][ \t]*\d{1,4}[ \t]*[-–—][ \t]*$"
    r"|^[^\w\n]*(?:[Pp]age|PAGE|[Ss]eite|[Pp][áa]gina|p\.)[ \t]*\d+"
    r"(?:[ \t]*(?:/|of|von|de|di)[ \t]*\d+)?[^\w\n]*$"
    r"|(?<=[^\W\d_])\n[ \t]*\d{1,4}[ \t]*\n(?=[ \t]*[a-zß-ÿ])",
    re.MULTILINE,
)
_UNIT_WORD = re.compile(r"[^\W\d_]+|[%‰€$£¥°]")
_ENDED = frozenset(".:;!?|)")
# How far back the line before a number is looked at.
_LOOK = 80


@dataclass(frozen=True, slots=True, eq=False)
class TextTerm:
    """One word, number or code; compared by identity, as the reading that holds it.

    Attributes:
        text: As written.
        lower: Lower case.
        stem: Stem for matching; a number's own text.
        content: Whether it says something of its own.
        name: Whether it looks like a name, code or identifier.
        quantity: What a number says, or None.
        start: First code point in the cleaned text.
        end: One past the last code point.
    """

    text: str
    lower: str
    stem: str
    content: bool
    name: bool
    quantity: Quantity | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class ReadText:
    """A cleaned text with its terms; compared by identity, `read` returns one object a text.

    Attributes:
        text: Text without markup and invisible characters.
        terms: Terms in order.
    """

    text: str
    terms: tuple[TextTerm, ...]

    @property
    def content(self) -> tuple[TextTerm, ...]:
        """The terms that say something of their own."""
        return tuple(term for term in self.terms if term.content)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers, dates and times."""
        return tuple(term.quantity for term in self.terms if term.quantity is not None)


@lru_cache(maxsize=2048)
def read(text: str) -> ReadText:
    """Return the terms of `text`, numbers in place of the words that they are written in."""
    cleaned = clean(text)
    language = guess_language(cleaned)
    stemming = "de" if language == "de" else None
    quantities = find_quantities(cleaned, language=language)
    terms: list[TextTerm] = []
    position = 0
    for whole in tokenize(cleaned, language=stemming):
        for word in split_compound(whole, stemming):
            # One token may hold several quantities ("1939-1975"), or a quantity several tokens.
            while position < len(quantities) and quantities[position].start < word.end:
                terms.append(_number(quantities[position]))
                position += 1
            if not terms or terms[-1].quantity is None or terms[-1].end <= word.start:
                terms.append(_word(word, whole, cleaned, language))
        if len(terms) >= MAX_TERMS:
            break
    return ReadText(cleaned, tuple(terms))


def clean(text: str) -> str:
    """Return `text` composed, without HTML entities, Markdown emphasis, invisible characters."""
    if "&" in text:
        text = html.unescape(text)
    return _EMPHASIS.sub("", unicodedata.normalize("NFC", text.translate(_INVISIBLE)))


def _number(quantity: Quantity) -> TextTerm:
    lower = quantity.text.lower()
    return TextTerm(
        quantity.text, lower, lower, True, False, quantity, quantity.start, quantity.end
    )  # fmt: skip


def _word(word: Word, whole: Word, text: str, language: str | None) -> TextTerm:
    initial = _begins_sentence(text, word.start)
    upper = word.text[:1].isupper()
    # "Plan A": a letter that names something, not the article.
    letter = len(word.text) == 1 and "A" <= word.text <= "Z" and word.text != "I" and not initial
    shout = upper and len(word.text) > 1 and word.text.isupper()
    inside = not initial and language != "de" and whole.start == word.start
    name = word.kind == "code" or letter or (
        upper and word.content and word.lower != "i" and (shout or inside)
    )  # fmt: skip
    return TextTerm(
        word.text, word.lower, word.text if letter else word.stem, letter or word.content, name,
        None, word.start, word.end,
    )  # fmt: skip


def _begins_sentence(text: str, start: int) -> bool:
    """Whether a capital at `start` proves nothing."""
    position = start - 1
    while position >= 0 and text[position] in " \t\r'‘’*#->":
        position -= 1
    if position < 0 or text[position] not in _SENTENCE_END:
        return position < 0
    return text[position] != "." or not _TITLES.search(text[max(0, start - 6) : start].rstrip())


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


@lru_cache(maxsize=512)
def _figures(claim: str, quotes: str, statement: str, text: str) -> Figures:
    language = guess_language(text)
    alike = comparable(claim, text)
    spoken = guess_language(claim) or (language if alike else None)
    claim, quotes, statement, text = map(_without_marks, (claim, quotes, statement, text))
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
def _without_marks(text: str) -> str:
    """Return a text with blanks in place of numbers that only cite or count its own parts."""
    marks = [mark.span() for mark in _CITES_OR_COUNTS.finditer(text) if _stands_alone(text, mark)]
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


def names_unit(text: str, quantity: Quantity) -> bool:
    """Whether a text has the unit of a quantity, as in the head of a column ("Price in EUR")."""
    words = _UNIT_WORD.findall(text)
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
