"""Whether titles and headings show that two statements are about one thing."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.words import fold_marks
from grounded_rag.verification.support.readings import Side, kind_of, small_words
from grounded_rag.verification.support.terms import TextTerm, read

# Letters of a word for a kind of document that may end a compound ("Kundeninformation").
_ENDING = 6


def one_subject(mine: Side, other: Side) -> bool | None:
    """Whether titles show that both are about one thing; None if they or headings deny it."""
    if not (mine.headings and other.headings):
        return False
    titles = _laid_titles(mine.headings[0], other.headings[0], mine.language)
    shared = any(run.same for run in titles)
    if not shared and any(t.name and other.own.holds(t.stem) for t in mine.words):
        return False
    if _apart(titles, mine, other, documents=True):
        return None
    if len(mine.headings) > 1 and len(other.headings) > 1:
        sections = _laid_titles(mine.headings[-1], other.headings[-1], mine.language)
        if any(run.same for run in sections) and _apart(sections, mine, other):
            return None
    return shared


class _Run(NamedTuple):
    """Words of two titles in one place: the same, or those that stand there in each."""

    same: bool
    left: list[TextTerm]
    right: list[TextTerm]


@lru_cache(maxsize=1024)
def _laid_titles(one: str, two: str, language: str) -> tuple[_Run, ...]:
    left, right = _title_words(one, language), _title_words(two, language)
    keys = [[fold_marks(t.stem) for t in terms] for terms in (left, right)]
    codes = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes()
    return tuple(_Run(kind == "equal", left[a:b], right[c:d]) for kind, a, b, c, d in codes)


def _title_words(text: str, language: str) -> list[TextTerm]:
    """Return the words of a title without its own number and that of a revision."""
    reading = read(text)
    found: list[TextTerm] = []
    for at, term in enumerate(reading.terms):
        numbers = term.text[0].isdigit() and (
            (at == 0 and len(reading.terms) > 1)
            or (at > 0 and fold_marks(reading.terms[at - 1].lower) in _editions())
        )
        if term.content and not numbers and fold_marks(term.lower) not in small_words(language):
            found.append(term)
    return found


@cache
def _editions() -> frozenset[str]:
    return frozenset(read_table("conflicts")["editions"].split())


def _apart(runs: Sequence[_Run], mine: Side, other: Side, *, documents: bool = False) -> bool:
    """Whether two titles or headings name two things.

    They do where both have a word of their own in one place ("Oven 30 Manual", "Oven 40 Manual"),
    or one has a word more inside or beside what they share ("Plus Account", "Account"). What the
    other side says anywhere is no word of one's own, and neither are, in titles, those for kinds
    of `documents`. Two dates or years stand for two times.
    """
    shared = any(run.same for run in runs)
    apart = [run for run in runs if not run.same]
    more = [[t for run in apart for t in run.left], [t for run in apart for t in run.right]]
    if all(any(_is_date(t) for t in words) for words in more):
        return True
    for at, run in enumerate(runs):
        if run.same:
            continue
        strange = [
            not (
                all(there.has(t.stem) for t in words)
                or (documents and any(map(_names_document, words)))
            )
            for words, there in ((run.left, other), (run.right, mine))
        ]
        inside = 0 < at < len(runs) - 1
        if all(strange) or (any(strange) and (inside or not shared or not all(more))):
            return True
    return False


def _is_date(term: TextTerm) -> bool:
    return term.quantity is not None and kind_of(term.quantity) == "date"


def _names_document(term: TextTerm) -> bool:
    """Whether a word is one for a kind of document."""
    word = fold_marks(term.lower)
    endings = (word[at:] for at in range(1, len(word) - _ENDING + 1))
    return word in _genres() or any(ending in _genres() for ending in endings)


@cache
def _genres() -> frozenset[str]:
    return frozenset(map(fold_marks, read_table("conflicts")["documents"].split()))
