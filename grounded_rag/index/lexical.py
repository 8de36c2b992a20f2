"""The lexical index: how texts and questions become FTS5 rows and BM25 queries.

Below them: what the index knows beside its rows, for mistyped words and other names.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from grounded_rag.resources import data_file
from grounded_rag.text.spelling import (
    LONGEST_FORM,
    Abbreviation,
    abbreviations,
    initials,
    joined,
    nearest_term,
    replaced,
    short_form,
    split,
    suspects,
)
from grounded_rag.text.words import STOPWORDS, Word, content_words, guess_language, tokenize

MAX_TERMS = 64
"""Most terms taken from one question."""

_MAX_QUESTION = 20_000
"""Characters of a question that are read."""

_LARGE = 1_000
"""Chunks from which on the time that common terms cost matters; see `TermStatistics`."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_LINE_END_HYPHEN = re.compile(r"(\w+)[-‐]\s*\n\s*(\w+)")
# Only texts with such a character are worth the tokenizer; curly quotes and the like are not.
_MAY_NEED_BIGRAMS = re.compile("[\u0e00-\u1fff\u3005-\ud7ff\uf900-\ufaff\uff66-\U0003ffff]")
# Columns body, bigrams, context: a title repeats in every chunk of its document and says less.
_WEIGHTS = "1.0, 1.0, 0.5"


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """One chunk for the lexical index; its context is what `context_of` returns."""

    key: int
    text: str
    context: str


def search_view(text: str) -> str:
    """Return `text` as it is indexed: compatibility forms folded, split words also joined.

    It serves finding only; quotes are always looked up in the text itself.
    """
    view = text
    if not text.isascii():
        view = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    if "\n" in view:
        joined = [first + second for first, second in _LINE_END_HYPHEN.findall(view)]
        if joined:
            view = f"{view}\n{' '.join(joined)}"
    return view


def _bigrams(view: str) -> str:
    if not _MAY_NEED_BIGRAMS.search(view):
        return ""
    return " ".join(word.text for word in tokenize(view) if word.kind == "cjk")


def context_of(title: str, headings: Sequence[str]) -> str:
    """Return what stands above a chunk, as the lexical index holds it."""
    return search_view("\n".join((title, *headings)))


def insert_rows(connection: sqlite3.Connection, rows: Iterable[LexicalRow]) -> None:
    """Add rows; their keys are not in the index yet."""
    connection.executemany(
        "INSERT INTO lexical (rowid, body, bigrams, context) VALUES (?, ?, ?, ?)",
        (
            (row.key, view, _bigrams(f"{view}\n{row.context}"), row.context)
            for row, view in ((row, search_view(row.text)) for row in rows)
        ),
    )


def update_contexts(connection: sqlite3.Connection, rows: Iterable[LexicalRow]) -> None:
    """Bring title and headings of rows that are there already up to date."""
    connection.executemany(
        "UPDATE lexical SET context = ?1, bigrams = ?2 WHERE rowid = ?3 AND context <> ?1",
        (
            (row.context, _bigrams(f"{search_view(row.text)}\n{row.context}"), row.key)
            for row in rows
        ),
    )


def delete_rows(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Remove the rows of `keys`, where they are in the index."""
    connection.executemany("DELETE FROM lexical WHERE rowid = ?", ((key,) for key in keys))


def query_terms(question: str) -> tuple[str, ...]:
    """Return what to look for, each term quoted for FTS5; none where there is no word.

    MATCH takes a query language, in which quotes, colons, `NEAR` or `*` of a question would be
    operators or errors: every term is quoted, and nothing of the question stands outside.
    """
    view = search_view(question[:_MAX_QUESTION])
    words = content_words(view) or tokenize(view)
    terms = dict.fromkeys(word.lower for word in words)
    return tuple(f'"{term.replace(chr(34), "")}"' for term in list(terms)[:MAX_TERMS])


class TermStatistics:
    """In how many chunks terms stand, looked up once each for one generation of the index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._counts: dict[str, int] = {}

    def expression(self, terms: Sequence[str]) -> str:
        """Return the FTS5 query for at least one term.

        BM25 gives terms that over half of all chunks hold no weight, yet spends its time on them:
        they are left out where others remain, in an index large enough for it to matter.
        """
        if self._total < _LARGE:
            return " OR ".join(terms)
        rare = [term for term in terms if 2 * self._count(term) <= self._total]
        return " OR ".join(rare or terms)

    def _count(self, term: str) -> int:
        if term not in self._counts:
            (self._counts[term],) = self._connection.execute(
                "SELECT count(*) FROM lexical WHERE lexical MATCH ?", (term,)
            ).fetchone()
        return self._counts[term]

    @cached_property
    def _total(self) -> int:
        row = self._connection.execute("SELECT count(*) FROM lexical_docsize").fetchone()
        return int(row[0])


def search(
    connection: sqlite3.Connection,
    expression: str,
    *,
    limit: int,
    among: Sequence[int] | None = None,
) -> list[int]:
    """Return the keys of the best chunks by BM25, of all or of the few `among`, best first.

    The expression holds nothing but quoted terms and OR.
    """
    # The plus sign keeps FTS5 from running one whole query for each key.
    few = "" if among is None else "AND +rowid IN (SELECT value FROM json_each(?)) "
    rows = connection.execute(
        "SELECT rowid FROM lexical WHERE lexical MATCH ? "  # noqa: S608
        f"{few}ORDER BY bm25(lexical, {_WEIGHTS}), rowid LIMIT ?",
        (expression, *(() if among is None else (json_keys(among),)), limit),
    )
    return [key for (key,) in rows]


def json_keys(keys: Iterable[int]) -> str:
    """Return keys as a JSON list, the one parameter that takes any number of them."""
    return f"[{','.join(map(str, keys))}]"


_MAX_VOCABULARY = 200_000
"""Most terms that are held in memory for the comparison with mistyped words."""


@cache
def common_words() -> frozenset[str]:
    """Return the whole words of the embedding model's vocabulary, mostly English."""
    table = json.loads(data_file("minilm-tokenizer.json").read_text(encoding="utf-8"))
    return frozenset(word for word in table["model"]["vocab"] if word.isalpha())


class Vocabulary:
    """The stemmed terms of one generation of the lexical index, read once when needed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def corrections(self, words: Sequence[Word]) -> dict[str, str]:
        """Return for each mistyped word the nearest term that some chunk holds.

        A word is taken for mistyped if neither the index nor the embedding model's vocabulary of
        common words knows it. Names are left alone: an unknown name is no misspelling. Terms are
        word stems, so the beginning of a word is compared too.
        """
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
        # A stem of the index is mostly the beginning of its word.
        return any(word[:length] in terms for length in range(max(4, len(word) - 5), len(word) + 1))

    @cached_property
    def _terms(self) -> dict[str, dict[str, int]]:
        """The terms with the number of chunks that hold them, by first letter."""
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


# A hostile question or corpus must cost little: these bound the look-ups and what they add.
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
        """Return what to search for beside a corrected question; at most six words or phrases."""
        words = tokenize(question)[:_MOST_WORDS]
        shouted = question.isupper()
        found = [*joined(question, words, self._holds)]
        unknown = [word.lower for word in words if self._may_be_compound(word)]
        for compound in unknown[:_MOST_SPLITS]:
            found += split(compound, self._holds)
        for word in words:
            found += self._long_forms(word, shouted=shouted)
        found += self._short_forms([word.lower for word in words])
        return tuple(dict.fromkeys(found))[:_MOST_ADDED]

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
