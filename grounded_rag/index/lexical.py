"""The lexical index: how texts and questions become FTS5 rows and BM25 queries."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grounded_rag.text.words import content_words, tokenize

MAX_TERMS = 64
"""Most terms taken from one question."""

_MAX_QUESTION = 20_000
_LARGE = 1_000
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_LINE_END_HYPHEN = re.compile(r"(\w+)[-‐]\s*\n\s*(\w+)")
# Only texts with such a character are worth the tokenizer; curly quotes and the like are not.
_MAY_NEED_BIGRAMS = re.compile("[\u0e00-\u1fff\u3005-\ud7ff\uf900-\ufaff\uff66-\U0003ffff]")
# Columns body, bigrams, context: a title repeats in every chunk of its document and tells less.
_WEIGHTS = "1.0, 1.0, 0.5"


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """One chunk for the lexical index.

    Attributes:
        key: Key of the chunk in the ledger.
        text: Its text.
        context: Title of the document and headings above the chunk.
    """

    key: int
    text: str
    context: str


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """One chunk that a question found; a lower `score` is better (BM25, negated)."""

    key: int
    score: float


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
        self._total: int | None = None

    def expression(self, terms: Sequence[str]) -> str:
        """Return the FTS5 query for at least one term.

        BM25 gives terms that over half of all chunks hold no weight, yet spends its time on them:
        they are left out where others remain, in an index large enough for it to matter.
        """
        if self._all() < _LARGE:
            return " OR ".join(terms)
        telling = [term for term in terms if 2 * self._count(term) <= self._all()]
        return " OR ".join(telling or terms)

    def _count(self, term: str) -> int:
        if term not in self._counts:
            self._counts[term] = self._number(
                "SELECT count(*) FROM lexical WHERE lexical MATCH ?", (term,)
            )
        return self._counts[term]

    def _all(self) -> int:
        if self._total is None:
            self._total = self._number("SELECT count(*) FROM lexical_docsize", ())
        return self._total

    def _number(self, sql: str, arguments: tuple[str, ...]) -> int:
        return int(self._connection.execute(sql, arguments).fetchone()[0])


def search(connection: sqlite3.Connection, expression: str, *, limit: int) -> list[LexicalHit]:
    """Return the best chunks by BM25, best first.

    Args:
        connection: The ledger.
        expression: FTS5 query made of quoted terms.
        limit: Most hits to return.
    """
    rows = connection.execute(
        f"SELECT rowid, bm25(lexical, {_WEIGHTS}) AS score FROM lexical "  # noqa: S608
        "WHERE lexical MATCH ? ORDER BY score, rowid LIMIT ?",
        (expression, limit),
    )
    return [LexicalHit(key, score) for key, score in rows]


def search_among(
    connection: sqlite3.Connection, expression: str, *, keys: Sequence[int], limit: int
) -> list[LexicalHit]:
    """Return the best of the chunks `keys`, best first; meant for few of them."""
    # The plus sign keeps FTS5 from running one whole query for each key.
    rows = connection.execute(
        f"SELECT rowid, bm25(lexical, {_WEIGHTS}) AS score FROM lexical "  # noqa: S608
        "WHERE lexical MATCH ? AND +rowid IN (SELECT value FROM json_each(?)) "
        "ORDER BY score, rowid LIMIT ?",
        (expression, json_keys(keys), limit),
    )
    return [LexicalHit(key, score) for key, score in rows]


def json_keys(keys: Iterable[int]) -> str:
    """Return keys as a JSON list, the one parameter that takes any number of them."""
    return f"[{','.join(map(str, keys))}]"
