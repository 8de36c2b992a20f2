"""The ledger: one SQLite file, the truth about documents, versions, chunks and vectors.

Here are its tables, how it is opened and every query that reads it; `writing` changes it, and
whether a reader may see a row at all is decided by `reading` and `store`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grounded_rag.errors import IndexMismatchError, StoreError
from grounded_rag.index.lexical import json_keys
from grounded_rag.index.records import (
    DocumentEntry,
    DocumentState,
    EmbeddingIdentity,
    StoredChunk,
    TunedThreshold,
    Vector,
    from_bytes,
)
from grounded_rag.types import Chunk, Document, PageSpan, Section, Span, Validity

SCHEMA_VERSION = 2
FILE_NAME = "ledger.sqlite3"
BUSY_SECONDS = 30.0

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    doc_id TEXT PRIMARY KEY,
    live INTEGER REFERENCES versions,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    trust TEXT NOT NULL,
    metadata TEXT NOT NULL,
    metadata_hash TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE versions (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'live', 'past', 'stored')),
    content_hash TEXT NOT NULL,
    recipe TEXT NOT NULL,
    validity TEXT NOT NULL,
    sections TEXT NOT NULL,
    pages TEXT NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX versions_of_document ON versions (doc_id, state);
CREATE INDEX versions_by_state ON versions (state);
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE,
    doc_id TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE vectors (
    key INTEGER PRIMARY KEY REFERENCES chunks, vector BLOB NOT NULL, pieces BLOB NOT NULL
);
CREATE TABLE placements (
    version INTEGER NOT NULL REFERENCES versions,
    ordinal INTEGER NOT NULL,
    key INTEGER NOT NULL REFERENCES chunks,
    start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    page INTEGER,
    headings TEXT NOT NULL,
    heading_spans TEXT NOT NULL,
    PRIMARY KEY (version, ordinal)
) WITHOUT ROWID;
CREATE INDEX placements_of_chunk ON placements (key, version);
CREATE VIRTUAL TABLE lexical USING fts5(
    body, bigrams, context, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(lexical, row);
"""


def connect(folder: Path, *, write: bool) -> sqlite3.Connection:
    """Open the ledger that `has_ledger` found, in autocommit mode."""
    path = folder / FILE_NAME
    connection = _open(path)
    try:
        _check_schema(connection)
        if not write:
            connection.execute("PRAGMA query_only = ON")
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(
            f"{path} cannot be read: {error}.",
            hint="Restore it from a backup, or delete the folder and ingest again.",
        ) from error
    except StoreError:
        connection.close()
        raise
    return connection


def create(folder: Path, values: Mapping[str, str]) -> sqlite3.Connection:
    """Create an empty ledger with further `meta` entries; the caller holds the writer's lock."""
    path = folder / FILE_NAME
    connection = _open(path, mode="rwc")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            for statement in _TABLES.split(";\n"):
                connection.execute(statement)
            fixed = {"schema_version": str(SCHEMA_VERSION), "generation": "0", "dirty": "0"}
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)", [*fixed.items(), *values.items()]
            )
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(
            f"{path} cannot be written: {error}.", hint="Choose another folder for the index."
        ) from error
    return connection


def has_ledger(folder: Path) -> bool:
    """Whether `folder` holds a ledger with tables."""
    path = folder / FILE_NAME
    if not path.is_file():
        return False
    with contextlib.closing(_open(path)) as connection:
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
        return found is not None


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the body in one write transaction: all of it or, on any exception, nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _open(path: Path, mode: str = "rw") -> sqlite3.Connection:
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        # A commit must be on disk before vectors of the old version are deleted.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -32768")
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise StoreError(
            f"{path} cannot be opened: {error}.",
            hint="Check that it may be written; else restore it, or ingest into a new folder.",
        ) from error
    return connection


def _check_schema(connection: sqlite3.Connection) -> None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    found = row[0] if row else "none"
    if found != str(SCHEMA_VERSION):
        raise IndexMismatchError(
            f"The index has schema version {found}; this version of grounded-rag reads "
            f"{SCHEMA_VERSION}.",
            hint="Ingest the documents again into a new folder, or use the version that made it.",
        )


RETRIEVABLE = "('live', 'past')"
"""States of versions that a question may find: a past one answers for its own time."""


def to_json(value: object) -> str:
    """Return the one canonical JSON text of plain values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def metadata_hash(document: Document, *, trust: str = "official") -> str:
    """Return the SHA-256, hexadecimal, of everything citable beside a document's text."""
    canonical = to_json(
        {
            "source": document.source,
            "title": document.title,
            "media_type": document.media_type,
            "trust": trust,
            "validity": document.validity.model_dump(mode="json"),
            "metadata": document.metadata,
        }
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def spans_json(spans: Iterable[Span]) -> str:
    """Return spans as pairs of numbers."""
    return to_json([[span.start, span.end] for span in spans])


def _spans(text: str) -> tuple[Span, ...]:
    return tuple(Span(start=start, end=end) for start, end in json.loads(text))


def _parsed(row: dict[str, Any]) -> dict[str, Any]:
    validity = Validity.model_validate_json(row["validity"])
    return {**row, "validity": validity, "metadata": json.loads(row["metadata"])}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a chunk stands: the `ordinal`-th of a version."""

    chunk_id: str
    key: int
    doc_id: str
    version: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One retrievable version, for choosing among a document's versions."""

    doc_id: str
    version: int
    live: bool
    validity: Validity


class LedgerReader:
    """Read access to an open ledger; the caller keeps the connection and its transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def meta(self, key: str) -> str | None:
        """Return a value of the `meta` table, or None."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    @property
    def generation(self) -> int:
        """Number of the last visible change."""
        return int(self.meta("generation") or 0)

    @property
    def identity(self) -> EmbeddingIdentity | None:
        """Model of the vectors; None for an index that only searches words."""
        stored = self.meta("embedding")
        return None if stored is None else EmbeddingIdentity.model_validate_json(stored)

    @property
    def threshold(self) -> TunedThreshold | None:
        """The refusal threshold that was stored, if one was."""
        stored = self.meta("threshold")
        try:
            return None if stored is None else TunedThreshold.model_validate_json(stored)
        except ValidationError as error:
            raise StoreError(
                "The stored threshold cannot be read: another version made it.",
                hint="Choose it again, or take it away: grounded-rag tune --reset.",
            ) from error

    def _named_rows(self, sql: str, arguments: Sequence[object] = ()) -> Iterator[dict[str, Any]]:
        cursor = self.connection.execute(sql, arguments)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def count(self, sql: str) -> int:
        """Return the single number that a query yields."""
        return int(self.connection.execute(sql).fetchone()[0])

    def states(self) -> dict[str, DocumentState]:
        """Return the state of every live document, by id."""
        rows = self._named_rows(
            "SELECT d.doc_id, v.content_hash, d.metadata_hash, v.recipe, "
            "(SELECT count(*) FROM placements p WHERE p.version = d.live) AS chunks "
            "FROM documents d JOIN versions v ON v.version = d.live ORDER BY d.doc_id"
        )
        return {row["doc_id"]: DocumentState(**row) for row in rows}

    def entries(self) -> dict[str, DocumentEntry]:
        """Return what is known about every live document beside its text, by id."""
        rows = self._named_rows(
            "SELECT d.doc_id, d.source, d.title, d.media_type, d.trust, v.validity, d.metadata, "
            "v.content_hash FROM documents d JOIN versions v ON v.version = d.live"
        )
        return {row["doc_id"]: DocumentEntry(**_parsed(row)) for row in rows}

    def versions(self) -> list[VersionRow]:
        """Return every retrievable version, newest first."""
        rows = self.connection.execute(
            "SELECT doc_id, version, state, validity FROM versions "  # noqa: S608
            f"WHERE state IN {RETRIEVABLE} ORDER BY version DESC"
        )
        return [
            VersionRow(doc_id, version, state == "live", Validity.model_validate_json(validity))
            for doc_id, version, state, validity in rows
        ]

    def document(
        self, doc_id: str, *, content_hash: str | None = None, version: int | None = None
    ) -> Document | None:
        """Return a document's live version, its newest with `content_hash`, or `version`."""
        rows = self._named_rows(
            "SELECT d.doc_id AS id, d.source, d.title, d.media_type, d.metadata, v.content_hash, "
            "v.validity, v.sections, v.pages, v.headings, v.text "
            "FROM documents d JOIN versions v ON v.doc_id = d.doc_id WHERE d.doc_id = ?1 "
            "AND CASE WHEN ?3 IS NOT NULL THEN v.version = ?3 WHEN ?2 IS NULL "
            "THEN v.version = d.live ELSE v.content_hash = ?2 AND v.state <> 'pending' END "
            "ORDER BY v.version DESC LIMIT 1",
            (doc_id, content_hash, version),
        )
        row = next(rows, None)
        if row is None:
            return None
        sections = tuple(map(Section.model_validate, json.loads(row["sections"])))
        spans = {"pages": _spans(row["pages"]), "headings": _spans(row["headings"])}
        return Document(**{**_parsed(row), "sections": sections, **spans})

    def chunk(self, chunk_id: str, *, document_hash: str | None = None) -> StoredChunk | None:
        """Return a chunk as its newest version places it, or that of one document hash."""
        row = self.connection.execute(
            "SELECT p.version, p.ordinal FROM chunks c JOIN placements p ON p.key = c.key "
            "JOIN versions v ON v.version = p.version WHERE c.chunk_id = ?1 "
            "AND v.state <> 'pending' AND (?2 IS NULL OR v.content_hash = ?2) "
            "ORDER BY v.state = 'live' DESC, p.version DESC LIMIT 1",
            (chunk_id, document_hash),
        ).fetchone()
        return None if row is None else self.placement(*row)

    def placement(self, version: int, ordinal: int) -> StoredChunk:
        """Return the chunk at a place, which exists."""
        row = self.connection.execute(
            "SELECT c.chunk_id, c.doc_id, p.start_at, p.end_at, c.text, c.content_hash, "
            "p.headings, p.heading_spans, p.page, v.content_hash, v.state, v.pages "
            "FROM placements p JOIN chunks c ON c.key = p.key "
            "JOIN versions v ON v.version = p.version WHERE p.version = ? AND p.ordinal = ?",
            (version, ordinal),
        ).fetchone()
        span = Span(start=row[2], end=row[3])
        return StoredChunk(
            chunk=Chunk(
                id=row[0],
                doc_id=row[1],
                span=span,
                text=row[4],
                content_hash=row[5],
                headings=tuple(json.loads(row[6])),
                heading_spans=_spans(row[7]),
                page=row[8],
            ),
            document_hash=row[9],
            version=version,
            live=row[10] == "live",
            page_spans=tuple(
                PageSpan(number=number, span=page)
                for number, page in enumerate(_spans(row[11]), start=1)
                if page.overlaps(span)
            ),
        )

    def places_of(self, chunk_ids: Sequence[str]) -> list[Placement]:
        """Return where chunks stand in retrievable versions."""
        return self._places(
            "CROSS JOIN chunks c ON c.chunk_id = j.value CROSS JOIN placements p ON p.key = c.key",
            to_json(list(chunk_ids)),
        )

    def places_at(self, keys: Sequence[int]) -> list[Placement]:
        """Return where the chunks of some keys stand in retrievable versions."""
        return self._places(
            "CROSS JOIN chunks c ON c.key = j.value CROSS JOIN placements p ON p.key = c.key",
            json_keys(keys),
        )

    def places_in(self, versions: Sequence[int]) -> list[Placement]:
        """Return all chunks of retrievable versions."""
        return self._places(
            "CROSS JOIN placements p ON p.version = j.value CROSS JOIN chunks c ON c.key = p.key",
            json_keys(versions),
        )

    def _places(self, joins: str, values: str) -> list[Placement]:
        # CROSS JOIN fixes the order: from the few that were asked for, never over whole tables.
        rows = self.connection.execute(
            "SELECT c.chunk_id, c.key, c.doc_id, p.version, p.ordinal "  # noqa: S608
            f"FROM json_each(?) j {joins} CROSS JOIN versions v ON v.version = p.version "
            f"WHERE v.state IN {RETRIEVABLE}",
            (values,),
        )
        return [Placement(*row) for row in rows]

    def missing_vectors(self, chunk_ids: Sequence[str]) -> set[str]:
        """Return those ids for which no vector is stored."""
        rows = self.connection.execute(
            "SELECT c.chunk_id FROM chunks c JOIN vectors x ON x.key = c.key "
            "WHERE c.chunk_id IN (SELECT value FROM json_each(?))",
            (to_json(list(chunk_ids)),),
        )
        return set(chunk_ids) - {chunk_id for (chunk_id,) in rows}

    def vectors(self, keys: Sequence[int]) -> tuple[list[int], Vector | None]:
        """Return stored vectors and their keys, in the order of keys; None where there are none."""
        rows = self.connection.execute(
            "SELECT key, vector FROM vectors WHERE key IN (SELECT value FROM json_each(?)) "
            "ORDER BY key",
            (json_keys(keys),),
        ).fetchall()
        if not rows:
            return [], None
        return [key for key, _ in rows], from_bytes([blob for _, blob in rows])

    def pieces(self, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        """Return the signs of the word pieces of chunks; b"" where the model gave none."""
        rows = self.connection.execute(
            "SELECT c.chunk_id, x.pieces FROM json_each(?) j "
            "CROSS JOIN chunks c ON c.chunk_id = j.value CROSS JOIN vectors x ON x.key = c.key",
            (to_json(list(chunk_ids)),),
        )
        return dict(rows.fetchall())

    def owners(self, keys: Sequence[int]) -> list[tuple[str, str]]:
        """Return the ids of chunks and of their documents, in the order of keys."""
        rows = self.connection.execute(
            "SELECT chunk_id, doc_id FROM chunks "
            "WHERE key IN (SELECT value FROM json_each(?)) ORDER BY key",
            (json_keys(keys),),
        )
        return rows.fetchall()

    def retrievable(self) -> dict[str, int]:
        """Return the keys of all chunks of retrievable versions, by chunk id."""
        rows = self.connection.execute(
            "SELECT DISTINCT c.chunk_id, c.key FROM versions v "  # noqa: S608
            "JOIN placements p ON p.version = v.version JOIN chunks c ON c.key = p.key "
            f"WHERE v.state IN {RETRIEVABLE}"
        )
        return dict(rows.fetchall())
