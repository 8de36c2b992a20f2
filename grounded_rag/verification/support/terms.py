"""A text as a list of words, names and numbers by value; read once and cached by text."""

from __future__ import annotations

import html
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from grounded_rag.text.language import guess_language
from grounded_rag.text.numbers import Quantity, find_quantities
from grounded_rag.text.words import Word, split_compound, tokenize

MAX_TERMS = 2000
"""Terms of one text that are looked at: bounds the cost of hostile input."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3}|_{1,3}|~~|`)(?=\S)|(?<=\S)(\*{1,3}|_{1,3}|~~|`)(?![\w*])"
)
_SENTENCE_END = frozenset('.!?:;\n|•"“«(–—。！？')
_TITLES = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Nr|Mt|Ft|Gen|Sgt|Rev|Hr|Fr|[A-Z])\.$")


@dataclass(frozen=True, slots=True, eq=False)
class Term:
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
class Reading:
    """A cleaned text with its terms; compared by identity, `read` returns one object a text.

    Attributes:
        text: Text without markup and invisible characters.
        terms: Terms in order.
    """

    text: str
    terms: tuple[Term, ...]

    @property
    def content(self) -> tuple[Term, ...]:
        """The terms that say something of their own."""
        return tuple(term for term in self.terms if term.content)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers, dates and times."""
        return tuple(term.quantity for term in self.terms if term.quantity is not None)


def clean(text: str) -> str:
    """Return `text` composed, without HTML entities, Markdown emphasis, invisible characters."""
    if "&" in text:
        text = html.unescape(text)
    return _EMPHASIS.sub("", unicodedata.normalize("NFC", text.translate(_INVISIBLE)))


@lru_cache(maxsize=2048)
def read(text: str) -> Reading:
    """Return the terms of `text`, numbers in place of the words that they are written in."""
    cleaned = clean(text)
    language = guess_language(cleaned)
    stemming = "de" if language == "de" else None
    quantities = find_quantities(cleaned, language=language)
    terms: list[Term] = []
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
    return Reading(cleaned, tuple(terms))


def _number(quantity: Quantity) -> Term:
    lower = quantity.text.lower()
    return Term(
        quantity.text, lower, lower, True, False, quantity, quantity.start, quantity.end
    )  # fmt: skip


def _word(word: Word, whole: Word, text: str, language: str | None) -> Term:
    initial = _begins_sentence(text, word.start)
    upper = word.text[:1].isupper()
    # "Plan A": a letter that names something, not the article.
    letter = len(word.text) == 1 and "A" <= word.text <= "Z" and word.text != "I" and not initial
    shout = upper and len(word.text) > 1 and word.text.isupper()
    inside = not initial and language != "de" and whole.start == word.start
    name = word.kind == "code" or letter or (
        upper and word.content and word.lower != "i" and (shout or inside)
    )  # fmt: skip
    return Term(
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
