"""The ledger's tables, and how its file is opened.

The ledger is one SQLite file and the truth about the index. A document has versions; a version
places chunks in its text; a chunk id names one text, so chunks may be shared by versions and each
has one vector and one row in the lexical index. A version is

    pending   written, but not yet visible: a crash leaves it behind, recovery deletes it
    live      the document's current text
    past      an earlier text that holds for moments before the start of a later one
    stored    kept for receipts only

Live and past versions are retrievable. Their chunks, and no others, are in the lexical index and
in the vector index.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

from grounded_rag.errors import IndexMismatchError, StoreError

SCHEMA_VERSION = 1
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
CREATE TABLE vectors (key INTEGER PRIMARY KEY REFERENCES chunks, vector BLOB NOT NULL);
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
    """Open the ledger that `has_ledger` found, in autocommit mode.

    Raises:
        IndexMismatchError: Another version of this package made it.
        StoreError: The file cannot be read.
    """
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
    """Create an empty ledger in `folder`; the caller holds the writer's lock.

    Args:
        folder: The index folder.
        values: Further entries of the `meta` table.

    Raises:
        StoreError: The folder holds other files or cannot be written.
    """
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


def table_names(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names of all tables in a database."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return frozenset(name for (name,) in rows)


def has_ledger(folder: Path) -> bool:
    """Whether `folder` holds a ledger with tables."""
    path = folder / FILE_NAME
    if not path.is_file():
        return False
    with contextlib.closing(_open(path)) as connection:
        return "meta" in table_names(connection)


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
