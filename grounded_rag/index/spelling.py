"""Mistyped words of a question, corrected to words that the index holds; for searching only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import lru_cache

from grounded_rag.resources import data_file
from grounded_rag.text.language import guess_language
from grounded_rag.text.words import Word, tokenize

_MIN_LENGTH = 4
_LONG = 8
_ENDINGS = (
    "ation",
    "ment",
    "able",
    "ible",
    "ally",
    "ing",
    "ion",
    "al",
    "ed",
    "er",
    "es",
    "ly",
    "s",
    "e",
)
_MAX_VOCABULARY = 200_000


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    """Return the whole words of the embedding model's vocabulary, mostly English."""
    table = json.loads(data_file("minilm-tokenizer.json").read_text(encoding="utf-8"))
    return frozenset(word for word in table["model"]["vocab"] if word.isalpha())


class Vocabulary:
    """The stemmed terms of one generation of the lexical index, read once when needed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._terms: dict[str, dict[str, int]] | None = None

    def corrections(self, words: Sequence[Word]) -> dict[str, str]:
        """Return for each mistyped word the nearest term that some chunk holds.

        A word is taken for mistyped if neither the index nor the embedding model's vocabulary of
        common words knows it. Names are left alone: an unknown name is no misspelling. Terms are
        word stems, so the beginning of a word is compared too.

        Args:
            words: Words of the question, in order.
        """
        if self._terms is None:
            self._terms = self._read()
        found: dict[str, str] = {}
        for position, word in enumerate(words):
            name = position > 0 and word.text[:1].isupper()
            plain = word.lower.isascii() and word.lower.isalpha()
            if name or not plain or len(word.lower) < _MIN_LENGTH:
                continue
            if word.lower in _common_words():
                continue
            nearest = self._nearest(word)
            if nearest is not None:
                found[word.lower] = nearest
        return found

    def _nearest(self, word: Word) -> str | None:
        terms = (self._terms or {}).get(word.lower[0], {})
        if word.stem in terms or self._begins(word.lower, terms):
            return None
        allowed = 2 if len(word.lower) >= _LONG else 1
        best: tuple[int, int, str] | None = None
        for term, chunks in terms.items():
            if not _MIN_LENGTH <= len(term) <= len(word.lower) + allowed:
                continue
            distance = min(
                edit_distance(head, term, limit=allowed)
                for head in (word.lower, *_without_ending(word.lower))
            )
            if distance <= allowed and (best is None or (distance, -chunks) < best[:2]):
                best = (distance, -chunks, term)
        return best[2] if best else None

    @staticmethod
    def _begins(word: str, terms: dict[str, int]) -> bool:
        """Whether a stem of the index is the beginning of a word, as stems mostly are."""
        return any(word[:length] in terms for length in range(max(4, len(word) - 5), len(word) + 1))

    def _read(self) -> dict[str, dict[str, int]]:
        """Return the terms with the number of chunks that hold them, by first letter."""
        rows = self._connection.execute(
            "SELECT term, doc FROM vocabulary LIMIT ?", (_MAX_VOCABULARY,)
        )
        terms: dict[str, dict[str, int]] = {}
        for term, chunks in rows:
            if term.isalpha():
                terms.setdefault(term[0], {})[term] = chunks
        return terms


def _without_ending(word: str) -> list[str]:
    """Return what may be the stem of a word: the word without each ending that it has."""
    return [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]


def corrected(question: str, vocabulary: Vocabulary) -> str:
    """Return a question with its mistyped words replaced by the index's nearest terms."""
    if guess_language(question) not in ("en", None):
        return question
    words = tokenize(question)
    changes = vocabulary.corrections(words)
    if not changes:
        return question
    pieces: list[str] = []
    end = 0
    for word in words:
        if word.lower in changes:
            pieces += (question[end : word.start], changes[word.lower])
            end = word.end
    return "".join((*pieces, question[end:]))


def edit_distance(first: str, second: str, *, limit: int) -> int:
    """Return how many letters differ, a swap of neighbours counting once.

    This is the optimal string alignment distance. It finds what to search for; a quote is never
    accepted by it.

    Args:
        first: A word.
        second: Another one.
        limit: Distances above it are all returned as `limit + 1`.
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        before, previous, row = row, before, [i]
        for j, other in enumerate(second, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
