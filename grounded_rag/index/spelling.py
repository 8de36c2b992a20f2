"""Mistyped words of a question, corrected to words that the index holds; for searching only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from functools import lru_cache

from grounded_rag.resources import data_file
from grounded_rag.text.language import guess_language
from grounded_rag.text.spelling import nearest_term, replaced, suspects
from grounded_rag.text.words import Word, tokenize

_MAX_VOCABULARY = 200_000


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
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
        for word in suspects(words, known=common_words()):
            terms = self._terms.get(word.lower[0], {})
            if word.stem in terms or self._begins(word.lower, terms):
                continue
            nearest = nearest_term(word, terms)
            if nearest is not None:
                found[word.lower] = nearest
        return found

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


def corrected(question: str, vocabulary: Vocabulary) -> str:
    """Return a question with its mistyped words replaced by the index's nearest terms."""
    if guess_language(question) not in ("en", None):
        return question
    words = tokenize(question)
    changes = vocabulary.corrections(words)
    return replaced(question, words, changes) if changes else question
