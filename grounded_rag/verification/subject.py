"""Whether a statement speaks of what the question asks about, as far as names tell.

A name, place or code of the question that neither the statement nor its headings or title hold says
no where another name stands in its place ("the Ombudsman of Merrowland" for "the Ombudsman of
Norvale"), or where hardly another word of the question is there. A name that only tells where the
asker is ("I'm moving to Canada") has neither, and costs no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.text.language import comparable, guess_language
from grounded_rag.text.questions import question_parts
from grounded_rag.text.stems import fold_marks, stem
from grounded_rag.text.words import STOPWORDS
from grounded_rag.types import Statement
from grounded_rag.verification.neighbours import asking_words, common_capitals
from grounded_rag.verification.passages import Passage

_WORD = re.compile(r"[^\W_]+(?:['’\-.&][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\"“«(]\s*)$")
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).+")
_COUNTED = re.compile(r"\d[\d.,]*(?:st|nd|rd|th|s|am|pm|h|[a-z]{1,3})?(?:-\w+)*", re.IGNORECASE)
_TELLING = frozenset("en fr es it pt nl".split())
_AROUND = 2
_SHARED = 2
_MOST = 0.5
_PREFIX = 5
_ENDING = 4


class _Name(NamedTuple):
    """A name that a question asks about, with the words around it that say what it names."""

    text: str
    frame: frozenset[str]


def missing_name(
    question: str, statement: Statement, passage: Passage, shown: Iterable[Passage]
) -> str | None:
    """Return a name of the question that a statement is not about, or None.

    Args:
        question: The question.
        statement: The statement.
        passage: Its passage.
        shown: All passages that were shown: a name that most of them hold, such as that of the
            organisation they come from, tells nothing.
    """
    parts = [span.of(question) for span in question_parts(question)]
    # A statement answers one part of a question; what the others ask about is no matter of its own.
    if len(parts) > 1:
        held = _held(statement, passage)
        parts = [part for part in parts if _content(part) & held] or [question]
    missing = [_missing(part, statement, passage, shown) for part in parts]
    return missing[0] if all(missing) else None


def _missing(
    question: str, statement: Statement, passage: Passage, shown: Iterable[Passage]
) -> str | None:
    names = asked_names(question)
    if not names:
        return None
    around = (statement.text, *statement.headings, passage.retrieved.title)
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
    shared = _content(question) & held
    comparable_words = comparable(question, statement.text)
    for name in absent:
        common = sum(_holds(stems, name.text) for stems in passages)
        if _holds(given, name.text) or (len(passages) > 1 and common > _MOST * len(passages)):
            continue
        if (comparable_words and len(shared) < _SHARED) or _has_rival(
            name, around, question, passage.text
        ):
            return name.text
    return None


def _spells_out(text: str, name: str) -> bool:
    """Whether a text has the words that a short name stands for: "Subject Alternate Name"."""
    if not (name.isalpha() and name.isupper()):
        return False
    initials = "".join(word[0] if word[0].isupper() else " " for word in _WORD.findall(text))
    return name in initials


def _held(statement: Statement, passage: Passage) -> frozenset[str]:
    return _stems("\n".join((statement.text, *statement.headings, passage.retrieved.title)))


@lru_cache(maxsize=256)
def asked_names(question: str) -> tuple[_Name, ...]:
    """Return the names, places and codes that a question asks about.

    Where nouns have capitals, as in German, or everything has, capitals tell nothing.

    Args:
        question: The question.
    """
    words = list(_WORD.finditer(question))
    capitals = sum(word[0][0].isupper() for word in words)
    telling = guess_language(question) in _TELLING and capitals <= max(2, len(words) * _MOST)
    common = common_capitals()
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
            found[text] = _Name(text, frame)
    return tuple(found.values())


def _has_rival(name: _Name, around: tuple[str, ...], question: str, passage: str) -> bool:
    """Whether another name stands among the words that stand around this one in the question."""
    asked = {word.lower() for word in _WORD.findall(question)}
    lower = frozenset(word for word in _WORD.findall(passage) if word.islower())
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


@lru_cache(maxsize=256)
def _content(question: str) -> frozenset[str]:
    return frozenset(
        stem(word, None)
        for word in _WORD.findall(fold_marks(question.lower()))
        if word not in STOPWORDS | asking_words() and not word[0].isdigit()
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
    return len(wanted) > _PREFIX and any(
        known.startswith(wanted[:_PREFIX]) and abs(len(known) - len(wanted)) <= _ENDING
        for known in stems
    )
