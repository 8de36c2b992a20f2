"""Whether a statement is about what a question asks about: relevance, apart from support.

Nothing here says whether a claim is true. A true statement about another model, place or version
answers nothing, and must not be shown as the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.sentences import question_parts
from grounded_rag.text.words import STOPWORDS, comparable, fold_marks, guess_language, stem
from grounded_rag.types import Statement
from grounded_rag.verification.neighbours import listed_words
from grounded_rag.verification.passages import Passage

_WORD = re.compile(r"[^\W_]+(?:['’\-.&][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\"“«(]\s*)$")
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).+")
_COUNTED = re.compile(r"\d[\d.,]*(?:st|nd|rd|th|s|am|pm|h|[a-z]{1,3})?(?:-\w+)*", re.IGNORECASE)
_CAPITALS_TELL = frozenset("en fr es it pt nl".split())
# Words on each side of a name that say what it names.
_AROUND = 2
# A statement that shares fewer words with the question is about something else, if it lacks the
# name too.
_SHARED = 2
# A name that more of the passages hold, such as that of their publisher, tells nothing.
_MOST_OF_THEM = 0.5
# "Norwegian" holds "Norway": a long name is known by its beginning, and differs in its ending.
_BEGINNING = 5
_ENDING = 4
_NUMBERED = re.compile(r"(?<![\w-])([^\W\d_]{3,}) (\d{1,4}(?:\.\d{1,3})*)(?![\w%])")
_MOST_OTHERS = 5
_FIGURES = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
_GROUPING = re.compile(r"[.,](?=\d{3}(?:\D|$))")
_RANGE = re.compile(
    r"[^\w-]{0,3}(\d+(?:[.,]\d+)*)\s{0,2}[^\w\s]?\s{0,2}(?:[-–—]|[^\W\d_]{1,3}\s)\s{0,2}[^\w\s]?"
    r"(\d+(?:[.,]\d+)*)\D{0,12}"
)


class Absent(NamedTuple):
    """A name or code of a question that no passage holds.

    Attributes:
        name: As the question has it.
        others: Codes of the same shape that the passages do hold, in the order of their text.
    """

    name: str
    others: tuple[str, ...]


class _Name(NamedTuple):
    """A name that a question asks about, with the words around it that say what it names."""

    text: str
    frame: frozenset[str]
    code: bool  # It has letters and figures, as a model number does


def absent_subject(question: str, passages: Iterable[Passage]) -> Absent | None:
    """Return the first name or code of a question that stands in no passage, or None.

    Args:
        question: The question.
        passages: Everything that was retrieved.
    """
    read = [(each, _stems(_all_of(each))) for each in passages]
    for name in _asked_names(question):
        if any(_holds(stems, name.text) for _, stems in read):
            continue
        if any(_spells_out(_all_of(each), name.text) for each, _ in read):
            continue
        shape = _shape(name.text)
        others = dict.fromkeys(
            word
            for each, _ in read
            for word in _WORD.findall(_all_of(each))
            if name.code and _shape(word) == shape
        )
        return Absent(name.text, tuple(others)[:_MOST_OTHERS])
    return None


def _all_of(passage: Passage) -> str:
    return "\n".join((passage.retrieved.title, *passage.chunk.headings, passage.text))


def _shape(code: str) -> str:
    """Return a code with each figure replaced by the same sign: what it shares with its like."""
    return "".join("0" if sign.isdigit() else sign.lower() for sign in code)


def missing_subject(
    question: str, statement: Statement, passage: Passage, shown: Iterable[Passage]
) -> str | None:
    """Return what the question asks about and a statement is not about, or None.

    A name, place or code of the question that neither the statement nor its headings or title
    hold says no where another name stands in its place ("the Ombudsman of Merrowland" for "the
    Ombudsman of Norvale"), or where hardly another word of the question is there. A name that only
    tells where the asker is ("I'm moving to Canada") has neither, and costs no answer. A name that
    most passages hold, such as that of the organisation they come from, tells nothing.

    A code ("X400") says no where nothing that is shown of the document has it, or the statement has
    another of its shape ("X200"); a numbered thing ("version 1.3") where the same thing has another
    number there; a number where the statement is a table row for another range ("21 to 55"); and a
    day or month where the statement has another one and no more: "Monday to Friday" may hold it.
    """
    parts = [span.of(question) for span in question_parts(question)]
    # A statement answers one part of a question; what the others ask about is no matter of its own.
    if len(parts) > 1:
        held = _held(statement, passage)
        parts = [part for part in parts if _subject_words(part) & held] or [question]
    missing = [_missing(part, statement, passage, shown) for part in parts]
    return missing[0] if all(missing) else None


def _missing(
    question: str, statement: Statement, passage: Passage, shown: Iterable[Passage]
) -> str | None:
    names = _asked_names(question)
    around = (statement.text, *statement.headings, passage.retrieved.title)
    other = (
        _other_number(question, around, statement)
        or _out_of_range(question, statement)
        or _other_day(question, statement)
    )
    if other is not None:
        return other
    if not names:
        return None
    held = _held(statement, passage)
    absent = [
        name
        for name in names
        if not _holds(held, name.text) and not any(_spells_out(text, name.text) for text in around)
    ]
    if not absent:
        return None
    given = _stems("\n".join(v for v in passage.retrieved.metadata.values() if isinstance(v, str)))
    passages = [
        _stems("\n".join((other.text, other.retrieved.title, *other.chunk.headings)))
        for other in shown
    ]
    shared = _subject_words(question) & held
    comparable_words = comparable(question, statement.text)
    for name in absent:
        if name.code and (
            _has_like(name.text, around) or not _in_document(name.text, passage, shown)
        ):
            return name.text
        common = sum(_holds(stems, name.text) for stems in passages)
        if _holds(given, name.text) or (
            len(passages) > 1 and common > _MOST_OF_THEM * len(passages)
        ):
            continue
        if (comparable_words and len(shared) < _SHARED) or _has_rival(
            name, around, question, passage.text
        ):
            return name.text
    return None


def _in_document(name: str, passage: Passage, shown: Iterable[Passage]) -> bool:
    """Whether a name stands in what is shown of the document that a passage comes from."""
    return any(
        _holds(_stems(_all_of(other)), name)
        for other in (passage, *shown)
        if other.chunk.doc_id == passage.chunk.doc_id
    )


def _has_like(code: str, around: tuple[str, ...]) -> bool:
    """Whether another code of the same shape stands in one of some texts."""
    shape = _shape(code)
    return any(
        _shape(word) == shape and word.lower() != code.lower()
        for text in around
        for word in _WORD.findall(text)
    )


def _other_number(question: str, around: tuple[str, ...], statement: Statement) -> str | None:
    """Return a numbered thing of the question that has only other numbers in a statement."""
    # The name of a column says what its cells number.
    cells = [
        (stem(word.lower(), None), cell) for name, cell in statement.cells for word in name.split()
    ]
    for thing, number in _numbered(question):
        numbers = {n for text in around for other, n in _numbered(text) if other == thing}
        numbers.update(cell for other, cell in cells if other == thing and _FIGURES.fullmatch(cell))
        if numbers and number not in numbers:
            return number
    return None


def _out_of_range(question: str, statement: Statement) -> str | None:
    """Return a number of the question where a row is for a range that holds none of its numbers."""
    bounds = covered_range(statement)
    asked = _FIGURES.findall(question) if bounds is not None else []
    if bounds is None or not asked:
        return None
    return None if any(bounds[0] <= _value(n) <= bounds[1] for n in asked) else str(asked[0])


def _other_day(question: str, statement: Statement) -> str | None:
    """Return a day or month of the question in whose place a statement has another one."""
    asked, there = _days(question), _days(statement.text)
    return next(iter(asked)) if len(asked) == len(there) == 1 and asked != there else None


def _days(text: str) -> frozenset[str]:
    days = frozenset(read_table("questions")["days_and_months"])
    found = (word.lower() for word in _WORD.findall(text) if word[0].isupper())
    return frozenset(word.removesuffix("s") for word in found if word in days)


def covered_range(statement: Statement) -> tuple[float, float] | None:
    """Return the ends of the range that a table row is for: its first cell, such as "56–90"."""
    found = _RANGE.fullmatch(statement.cells[0][1]) if statement.cells else None
    return (_value(found[1]), _value(found[2])) if found is not None else None


def _value(figures: str) -> float:
    """Return a number as written; what groups thousands is left out."""
    plain = _GROUPING.sub("", figures).replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return float("nan")


@lru_cache(maxsize=512)
def _numbered(text: str) -> frozenset[tuple[str, str]]:
    """Return the words that a number stands right behind, with it: "level 3", "version 1.3"."""
    return frozenset(
        (stem(word[1].lower(), None), word[2])
        for word in _NUMBERED.finditer(text)
        if word[1].lower() not in STOPWORDS
    )


def _spells_out(text: str, name: str) -> bool:
    """Whether a text has the words that a short name stands for: "Assurance Level 3" for AL3."""
    if not (name.isalnum() and name.isupper()):
        return False
    initials = "".join(
        word if word.isdigit() else word[0] if word[0].isupper() else " "
        for word in _WORD.findall(text)
    )
    return name in initials


def _held(statement: Statement, passage: Passage) -> frozenset[str]:
    return _stems("\n".join((statement.text, *statement.headings, passage.retrieved.title)))


@lru_cache(maxsize=256)
def _asked_names(question: str) -> tuple[_Name, ...]:
    """Return the names, places and codes that a question asks about.

    Where nouns have capitals, as in German, or everything has, capitals tell nothing.
    """
    words = list(_WORD.finditer(question))
    capitals = sum(word[0][0].isupper() for word in words)
    telling = guess_language(question) in _CAPITALS_TELL and capitals <= max(
        2, len(words) * _MOST_OF_THEM
    )
    common = listed_words("common_capitals", "words")
    found: dict[str, _Name] = {}
    for at, word in enumerate(words):
        text = word[0].removesuffix("'s").removesuffix("’s")
        plain = text.lower().partition("'")[0].partition("’")[0]
        if len(text) < 2 or plain in common or plain.removesuffix("s") in common:
            continue
        starts = _SENTENCE_START.search(question[: word.start()]) is not None
        code = _CODE.fullmatch(text) is not None and _COUNTED.fullmatch(text) is None
        if code or (telling and text[0].isupper() and not starts):
            near = words[max(0, at - _AROUND) : at] + words[at + 1 : at + 1 + _AROUND]
            frame = frozenset(
                stem(other[0].lower(), None)
                for other in near
                if other[0].lower() not in STOPWORDS and other[0] != word[0]
            )
            found[text] = _Name(text, frame, code)
    return tuple(found.values())


def _has_rival(name: _Name, around: tuple[str, ...], question: str, passage: str) -> bool:
    """Whether another name stands among the words that stand around this one in the question."""
    asked = {word.lower() for word in _WORD.findall(question)}
    lower = _small_words(passage)
    for text in around:
        words = _WORD.findall(text)
        for at, word in enumerate(words):
            if not word[0].isupper() or word.lower() in asked or word.lower() in STOPWORDS:
                continue
            if word.lower() in lower or not word.isalpha():
                # A word that the passage also writes small is no name.
                continue
            near = words[max(0, at - _AROUND) : at] + words[at + 1 : at + 1 + _AROUND]
            if any(stem(other.lower(), None) in name.frame for other in near):
                return True
    return False


@lru_cache(maxsize=64)
def _small_words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text) if word.islower())


@lru_cache(maxsize=256)
def _subject_words(question: str) -> frozenset[str]:
    return frozenset(
        stem(word, None)
        for word in _WORD.findall(fold_marks(question.lower()))
        if word not in STOPWORDS | listed_words("asking", "words") and not word[0].isdigit()
    )


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(
        stem(part, None)
        for word in _WORD.findall(fold_marks(text.lower()))
        for part in {word, *_parts(word)}
    )


def _parts(word: str) -> list[str]:
    return re.split(r"['’\-.&]", word)


def _holds(stems: frozenset[str], name: str) -> bool:
    plain = fold_marks(name.lower())
    wanted = stem(plain, None)
    if wanted in stems:
        return True
    parts = [stem(part, None) for part in _parts(plain) if part]
    if len(parts) > 1 and all(part in stems for part in parts):
        return True
    # "Norwegian" for "Norway": the beginning of a long name is enough to hold it.
    return len(wanted) > _BEGINNING and any(
        known.startswith(wanted[:_BEGINNING]) and abs(len(known) - len(wanted)) <= _ENDING
        for known in stems
    )
