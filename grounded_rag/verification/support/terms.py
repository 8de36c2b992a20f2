"""A text as the support checks see it: terms with stems, names and values; cached by text."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from grounded_rag.text.language import guess_language
from grounded_rag.text.numbers import Quantity, find_quantities
from grounded_rag.text.words import Word, split_compound, tokenize

MAX_TERMS = 400
"""Terms of one text that are looked at: bounds the cost of hostile input."""

_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"))
_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3}|_{1,3}|~~|`)(?=\S)|(?<=\S)(\*{1,3}|_{1,3}|~~|`)(?![\w*])"
)
_SENTENCE_END = frozenset('.!?:;\n|•"“«(–—。！？')


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One word, number or code; compared by identity, as the reading that holds it.

    Attributes:
        text: As written.
        lower: Lower case.
        stem: Stem for matching.
        kind: `word`, `number`, `code` or `cjk`.
        content: Whether it says something of its own.
        name: Whether it looks like a name, code or identifier.
        initial: Whether it begins a sentence, so that its capital proves nothing.
        quantity: What a number says.
        start: First code point in the cleaned text.
        end: One past the last code point.
    """

    text: str
    lower: str
    stem: str
    kind: str
    content: bool
    name: bool
    initial: bool
    quantity: Quantity | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A cleaned text with its terms; compared by identity, `read` returns one object a text.

    Attributes:
        text: Text without markup and invisible characters.
        language: Guessed language, or None.
        terms: Terms in order.
    """

    text: str
    language: str | None
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


def joined(parts: Sequence[Reading]) -> Reading:
    """Return readings one below the other as one, without reading them again."""
    if len(parts) == 1:
        return parts[0]
    terms: list[Term] = []
    start = 0
    for part in parts:
        # Only gaps between neighbours matter for places: a line break separates the parts.
        terms.extend(
            replace(term, start=term.start + start, end=term.end + start) for term in part.terms
        )
        start += len(part.text) + 1
    text = "\n".join(part.text for part in parts)
    return Reading(text, parts[0].language, tuple(terms[:MAX_TERMS]))


@lru_cache(maxsize=4096)
def read(text: str, language: str | None = None) -> Reading:
    """Return the terms of `text`.

    Args:
        text: Any text.
        language: Its language where known; guessed otherwise.
    """
    cleaned = clean(text)
    if language is None:
        guessed = guess_language(cleaned)
        if guessed is not None:
            return read(text, guessed)
    stemming = "de" if language == "de" else None
    quantities = list(find_quantities(cleaned, language=language))
    terms: list[Term] = []
    position = 0
    for whole in tokenize(cleaned, language=stemming):
        for word in split_compound(whole, stemming):
            while position < len(quantities) and quantities[position].end <= word.start:
                position += 1
            inside = position < len(quantities) and quantities[position].start < word.end
            # One token may hold several quantities ("1939-1975"), or one quantity several tokens.
            while position < len(quantities) and quantities[position].start < word.end:
                if not terms or terms[-1].quantity is not quantities[position]:
                    terms.append(_number(quantities[position]))
                if quantities[position].end > word.end:
                    break
                position += 1
            if inside or (terms and terms[-1].quantity and terms[-1].end > word.start):
                continue
            terms.append(_word(word, whole, cleaned, language))
            if len(terms) >= MAX_TERMS:
                return Reading(cleaned, language, tuple(terms))
    return Reading(cleaned, language, tuple(terms))


def _number(quantity: Quantity) -> Term:
    lower = quantity.text.lower()
    return Term(
        quantity.text, lower, lower, "number", True, False, False, quantity,
        quantity.start, quantity.end,
    )  # fmt: skip


_TITLES = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Nr|Mt|Ft|Gen|Sgt|Rev|Hr|Fr|[A-Z])\.$")


def _word(word: Word, whole: Word, text: str, language: str | None) -> Term:
    initial = _begins_sentence(text, word.start)
    if len(word.text) == 1 and word.text in "ABCDEFGHJKLMNOPQRSTUVWXYZ" and not initial:
        # "Plan A": a letter that names something, not the article.
        return Term(
            word.text, word.lower, word.text, "word", True, True, False, None, word.start, word.end
        )
    upper = word.text[:1].isupper()
    shout = upper and len(word.text) > 1 and word.text.isupper()
    name = word.kind == "code" or (
        upper
        and word.content
        and word.lower != "i"
        and (shout or (not initial and language != "de" and whole.start == word.start))
    )
    return Term(
        word.text, word.lower, word.stem, word.kind, word.content, name, initial, None,
        word.start, word.end,
    )  # fmt: skip


def _begins_sentence(text: str, start: int) -> bool:
    position = start - 1
    while position >= 0 and text[position] in " \t\r'‘’*#->":
        position -= 1
    if position < 0 or text[position] not in _SENTENCE_END:
        return position < 0
    return text[position] != "." or not _TITLES.search(text[max(0, start - 6) : start].rstrip())
