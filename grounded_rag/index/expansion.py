"""What is searched for beside the words of a question: compounds, and abbreviations of the corpus.

Nothing that the user wrote is replaced, and nothing found here is quoted: the other names of a
thing only lead to the passages that use them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from grounded_rag.index.spelling import common_words
from grounded_rag.text.abbreviations import (
    LONGEST_FORM,
    Abbreviation,
    abbreviations,
    initials,
    short_form,
)
from grounded_rag.text.compounds import joined, split
from grounded_rag.text.words import STOPWORDS, Word, tokenize

_MOST_WORDS = 64
_MOST_SPLITS = 4
_MOST_FORMS = 2
_MOST_ADDED = 6
_KEPT = 4_096
_READ = 500
_TEXTS = 20


class OtherNames:
    """Other names for what a question asks about, looked up in one generation of the index.

    Documents that the question's filters leave out count too: they lend words, never evidence.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._held: dict[str, bool] = {}

    def of(self, question: str) -> tuple[str, ...]:
        """Return what to search for beside the question; at most six words or phrases.

        Args:
            question: The question, its typing errors corrected.
        """
        words = tokenize(question)[:_MOST_WORDS]
        shouted = question.isupper()
        found = dict.fromkeys(joined(question, words, self._holds))
        unknown = [word.lower for word in words if self._may_be_compound(word)]
        for compound in unknown[:_MOST_SPLITS]:
            found.update(dict.fromkeys(split(compound, self._holds)))
        for word in words:
            found.update(dict.fromkeys(self._long_forms(word, shouted=shouted)))
        found.update(dict.fromkeys(self._short_forms([word.lower for word in words])))
        return tuple(found)[:_MOST_ADDED]

    def _may_be_compound(self, word: Word) -> bool:
        plain = word.kind == "word" and word.lower.isalpha() and word.content
        return plain and word.lower not in common_words() and not self._holds(word.lower)

    def _long_forms(self, word: Word, *, shouted: bool) -> tuple[str, ...]:
        capitals = None if shouted else short_form(word.text)
        short = capitals or (word.lower if word.lower.isalnum() else "")
        if not 2 <= len(short) <= LONGEST_FORM or not self._holds(short):
            return ()
        # "it" or "pin" in small letters is the word, not the abbreviation.
        if capitals is None and (short in STOPWORDS or short in common_words()):
            return ()
        rows = self._connection.execute(
            "SELECT body FROM (SELECT body FROM lexical WHERE lexical MATCH ? LIMIT ?) "
            "WHERE body LIKE ? OR body LIKE ? LIMIT ?",
            (f'"{short}"', _READ, f"%({short})%", f"%{short} (%", _TEXTS),
        )
        counts: dict[str, int] = {}
        for one in _defined_in(rows):
            if one.short == short:
                counts[one.long] = counts.get(one.long, 0) + 1
        return tuple(sorted(counts, key=lambda long: (-counts[long], long))[:_MOST_FORMS])

    def _short_forms(self, words: list[str]) -> Iterator[str]:
        """Yield the abbreviations of phrases of the question, each checked where it is defined."""
        for start in range(len(words)):
            for end in range(start + 2, min(start + LONGEST_FORM, len(words)) + 1):
                phrase = words[start:end]
                short = initials(phrase)
                plain = all(word.isalnum() for word in phrase)
                if not plain or {phrase[0], phrase[-1]} & STOPWORDS or not self._holds(short):
                    continue
                long = " ".join(phrase)
                rows = self._connection.execute(
                    "SELECT body FROM lexical WHERE lexical MATCH ? LIMIT ?",
                    (f'"{long} {short}" OR "{short} {long}"', _TEXTS),
                )
                if Abbreviation(short, long) in set(_defined_in(rows)):
                    yield short

    def _holds(self, word: str) -> bool:
        """Whether some chunk has a word of this stem."""
        if not word.isalnum():
            return False
        if word not in self._held:
            if len(self._held) >= _KEPT:
                self._held.clear()
            row = self._connection.execute(
                "SELECT 1 FROM lexical WHERE lexical MATCH ? LIMIT 1", (f'"{word}"',)
            ).fetchone()
            self._held[word] = row is not None
        return self._held[word]


def _defined_in(rows: sqlite3.Cursor) -> Iterator[Abbreviation]:
    for (body,) in rows:
        yield from abbreviations(body)
