"""Abbreviations that a text defines: "Annual Equivalent Rate (AER)", or the other way round.

A small form of what Schwartz and Hearst describe ("A simple algorithm for identifying abbreviation
definitions in biomedical text", PSB 2003): stricter, since each letter must begin a word. Names in
brackets that only look like abbreviations would otherwise send a search astray.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from grounded_rag.text.words import STOPWORDS

LONGEST_FORM = 10
"""Most words of a long form."""

_MOST_TEXT = 20_000
_MOST_FOUND = 50
_BEFORE = 160
_QUOTES = "\"'“”‘’*_"
_BRACKETS = re.compile(r"\(([^()]{2,120})\)")
_PART = re.compile(r"[^\W_]+")
_SHORT = re.compile(r"[^\W_](?:[^\W_]|[&.\-/]){0,8}[^\W_.]\.?")
_ENDS = re.compile(r"[.;:!?,()\[\]|\"“”]\s|\n\s*\n")


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """Two names of one thing, both in lower case.

    Attributes:
        short: The abbreviation, letters and digits only.
        long: The words that it stands for, with one space between them.
    """

    short: str
    long: str


def abbreviations(text: str) -> tuple[Abbreviation, ...]:
    """Return the abbreviations that a text defines in brackets, each once.

    Args:
        text: Any text; of a very long one only the beginning is read.
    """
    found: dict[Abbreviation, None] = {}
    text = text[:_MOST_TEXT]
    for match in _BRACKETS.finditer(text):
        inner = match.group(1)
        before = text[max(0, match.start() - _BEFORE) : match.start()].rstrip().rstrip(_QUOTES)
        one = _defined(inner.strip(f" {_QUOTES}"), _ENDS.split(before)[-1])
        if one is not None:
            found[one] = None
            if len(found) == _MOST_FOUND:
                break
    return tuple(found)


def short_form(text: str) -> str | None:
    """Return an abbreviation in lower case, its letters and digits; None where it is none.

    It has 2 to 10 characters, among them two capitals; a plural "s" is left out.
    """
    if not _SHORT.fullmatch(text) or sum(letter.isupper() for letter in text) < 2:
        return None
    bare = text[:-1] if text.endswith("s") and text[-2].isupper() else text
    return "".join(_PART.findall(bare)).lower()


def both_names(text: str, defined: Sequence[Abbreviation]) -> str:
    """Return a text with the other name of each defined thing put behind it.

    Args:
        text: The text.
        defined: What stands for what.
    """
    if not defined:
        return text
    words = f" {' '.join(_words(text))} "
    added: list[str] = []
    for one in defined:
        short, long = f" {one.short} " in words, f" {one.long} " in words
        if short != long:
            added.append(one.long if short else one.short)
    return "\n".join((text, *added))


def initials(words: Sequence[str]) -> str:
    """Return the initials of the words that carry content, for words in lower case."""
    return "".join(word[0] for word in words if word not in STOPWORDS)


def _defined(inner: str, before: str) -> Abbreviation | None:
    short = short_form(inner)
    if short is not None:
        words = _words(before)[-2 * LONGEST_FORM :]
        # From the shortest long form on: "the Fixed Rate Bond (FRB)" is not about "the".
        for start in range(len(words) - 1, max(-1, len(words) - LONGEST_FORM - 1), -1):
            if _stands_for(short, words[start:]):
                return Abbreviation(short, " ".join(words[start:]))
        return None
    last = before.split()[-1:]
    short = short_form(last[0].strip(_QUOTES)) if last else None
    words = _words(re.split(r"[,;:]", inner, maxsplit=1)[0])
    if short is None or len(words) > LONGEST_FORM or not _stands_for(short, words):
        return None
    return Abbreviation(short, " ".join(words))


def _words(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)]


def _stands_for(short: str, words: Sequence[str]) -> bool:
    """Whether the letters begin the words in order; function words may do without a letter."""
    if len(words) < 2 or words[0] in STOPWORDS or words[-1] in STOPWORDS:
        return False
    open_letters = {0}
    for word in words:
        following = {at + 1 for at in open_letters if at < len(short) and word[0] == short[at]}
        if word in STOPWORDS:
            following |= open_letters
        open_letters = following
    return len(short) in open_letters
