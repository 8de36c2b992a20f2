"""Reading an index: one generation of ledger and vectors at a time, followed as it grows.

`Catalogue` says which version of a document answers for a moment. What a question finds in a
view is up to `search` and `retrieval`; `store` adds the writing.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from grounded_rag.errors import IndexLockedError, StoreError
from grounded_rag.index.ledger import SCHEMA_VERSION, LedgerReader, VersionRow, connect
from grounded_rag.index.lexical import OtherNames, TermStatistics, Vocabulary
from grounded_rag.index.opening import vectors_locked
from grounded_rag.index.records import (
    DocumentEntry,
    DocumentState,
    EmbeddingIdentity,
    IndexStatus,
    StoredChunk,
    TunedThreshold,
)
from grounded_rag.index.vectors import VectorIndex
from grounded_rag.types import Document, Instant, Validity
from grounded_rag.validity import current, resolve


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All live documents of one generation, without their texts; versions are newest first."""

    entries: Mapping[str, DocumentEntry]
    versions: Mapping[str, tuple[VersionRow, ...]]

    @classmethod
    def load(cls, ledger: LedgerReader) -> Catalogue:
        """Read all entries and versions."""
        versions: dict[str, list[VersionRow]] = {}
        for row in ledger.versions():
            versions.setdefault(row.doc_id, []).append(row)
        return cls(ledger.entries(), {key: tuple(rows) for key, rows in versions.items()})

    def version_at(self, doc_id: str, as_of: Instant | None) -> VersionRow:
        """Return the version that answers for a moment: the newest that has taken effect.

        Where none has, and where no moment is given, it is the live one.
        """
        rows = self.versions[doc_id]
        if len(rows) == 1:
            return rows[0]
        if as_of is not None:
            for row in rows:
                if current(Validity(effective_from=row.validity.effective_from), as_of=as_of):
                    return row
        return next(row for row in rows if row.live)

    def validity_at(self, doc_id: str, as_of: Instant | None) -> Validity:
        """Return the validity of that version, with the moment filled in at which it ends.

        A version that gave way to a later one of the same document ends when that took effect; a
        superseded document ends when its successor does, unless the metadata says otherwise.
        """
        row = self.version_at(doc_id, as_of)
        if not row.live:
            rows = self.versions[doc_id]
            later = rows[rows.index(row) - 1]
            return row.validity.model_copy(
                update={
                    "superseded_by": doc_id,
                    "superseded_on": later.validity.effective_from,
                }
            )
        successor = self.entries.get(row.validity.superseded_by or "")
        return resolve(row.validity, successor=successor.validity if successor else None)

    def is_current(self, doc_id: str, as_of: Instant | None) -> bool:
        """Whether a document holds at a moment; without a moment, everything does."""
        return as_of is None or current(self.validity_at(doc_id, as_of), as_of=as_of)

    def successor(self, doc_id: str, as_of: Instant) -> str | None:
        """Return the document that holds instead of a superseded one at `as_of`, or None.

        A chain of successors is followed to its end; one that closes upon itself has no end.
        """
        seen = {doc_id}
        found: str | None = None
        while True:
            validity = self.validity_at(doc_id, as_of)
            following = validity.superseded_by
            ended = validity.model_copy(update={"effective_from": None, "valid_until": None})
            if following is None or current(ended, as_of=as_of):
                return found
            if following in seen or following not in self.entries:
                return found
            seen.add(following)
            doc_id = found = following


LOCK_SECONDS = 60.0
"""How long to wait for the vectors while another process writes or loads them."""


@dataclass(frozen=True, slots=True)
class View:
    """One consistent state of an index, for reading; valid only inside `view()`."""

    ledger: LedgerReader
    vectors: VectorIndex | None
    catalogue: Catalogue
    terms: TermStatistics
    vocabulary: Vocabulary
    other_names: OtherNames


class IndexReader:
    """Read access to an index folder; safe to be used by several threads.

    A reader serves one generation of ledger and vectors together, and moves on to the newest at
    the next call after a writer has finished a batch.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection, *, write: bool) -> None:
        self.folder = folder
        self._connection = connection
        self._write = write
        self._ledger = LedgerReader(connection)
        self._watch: sqlite3.Connection | None = None
        self._vectors: VectorIndex | None = None
        # Not bound to a thread: the index may be closed by another thread than opened it.
        self._vector_lock = FileLock(folder / "vectors.lock", thread_local=False)
        self._mutex = threading.RLock()
        self._view: View | None = None
        self._generation = -1
        self._closed = False
        identity = self._ledger.identity
        if identity is not None:
            self._vectors = VectorIndex(
                folder=folder / "vectors",
                name=self._ledger.meta("collection") or "",
                identity=identity,
                create=write,
                server=self._ledger.meta("server"),
            )

    @property
    def identity(self) -> EmbeddingIdentity | None:
        """Model of the vectors; None for an index that only searches words."""
        with self._mutex:
            self._check_open()
            return self._ledger.identity

    @property
    def threshold(self) -> TunedThreshold | None:
        """The refusal threshold that was stored, if one was."""
        with self.view() as view:
            return view.ledger.threshold

    @contextlib.contextmanager
    def view(self) -> Iterator[View]:
        """Give one consistent state for the body; other threads wait meanwhile."""
        with self._mutex:
            self._check_open()
            self._follow()
            generation = self._ledger.generation
            if self._view is None or generation != self._generation:
                self._view = View(
                    ledger=self._ledger,
                    vectors=self._vectors,
                    catalogue=Catalogue.load(self._ledger),
                    terms=TermStatistics(self._connection),
                    vocabulary=Vocabulary(self._connection),
                    other_names=OtherNames(self._connection),
                )
                self._generation = generation
            yield self._view

    def _start_reading(self) -> None:
        """Settle on the newest generation, once no writer is in the middle of a batch."""
        self._watch = connect(self.folder, write=False)
        with self._vectors_locked(LOCK_SECONDS):
            self._advance()

    def _follow(self) -> None:
        """Move a reader on to the newest generation, unless it is just being written."""
        if self._watch is None or LedgerReader(self._watch).generation == self._generation:
            return
        with contextlib.suppress(IndexLockedError), self._vectors_locked(0):
            self._advance()

    def _advance(self) -> None:
        # An open transaction keeps the ledger at the generation that the vectors have in memory.
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._connection.execute("BEGIN")
        identity = self._ledger.identity
        if self._vectors is not None and identity is not None:
            self._vectors.reopen(dimension=identity.dimension)

    def _vectors_locked(self, seconds: float) -> AbstractContextManager[None]:
        return vectors_locked(self.folder, self._vector_lock, seconds=seconds)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"The index in {self.folder} is closed.", hint="Open it again.")

    def states(self) -> dict[str, DocumentState]:
        """Return the state of every live document by id, for a sync."""
        with self.view() as view:
            return view.ledger.states()

    def entry(self, doc_id: str) -> DocumentEntry | None:
        """Return what is known about a live document beside its text."""
        with self.view() as view:
            return view.catalogue.entries.get(doc_id)

    def document(self, doc_id: str, *, content_hash: str | None = None) -> Document | None:
        """Return a document's live version, or the newest with `content_hash`, or None."""
        with self.view() as view:
            return view.ledger.document(doc_id, content_hash=content_hash)

    def chunk(self, chunk_id: str, *, document_hash: str | None = None) -> StoredChunk | None:
        """Return a chunk as its newest version, or that of `document_hash`, has it; or None."""
        with self.view() as view:
            return view.ledger.chunk(chunk_id, document_hash=document_hash)

    def missing_vectors(self, chunk_ids: Sequence[str]) -> set[str]:
        """Return those ids that are to be embedded before `replace`; none without a model."""
        if self.identity is None:
            return set()
        with self.view() as view:
            return view.ledger.missing_vectors(chunk_ids)

    def status(self) -> IndexStatus:
        """Return sizes, model and versions."""
        with self.view() as view:
            ledger = view.ledger
            undated = sum(e.validity.undated for e in view.catalogue.entries.values())
            return IndexStatus(
                documents=len(view.catalogue.entries),
                chunks=ledger.count(
                    "SELECT count(*) FROM placements p JOIN documents d ON d.live = p.version"
                ),
                versions=ledger.count("SELECT count(*) FROM versions WHERE state <> 'pending'"),
                vectors=0 if self._vectors is None else self._vectors.count(),
                dated=len(view.catalogue.entries) - undated,
                undated=undated,
                embedding=ledger.identity,
                schema_version=SCHEMA_VERSION,
                generation=self._generation,
                bytes_on_disk=sum(
                    path.stat().st_size for path in self.folder.rglob("*") if path.is_file()
                ),
                server=ledger.meta("server"),
                threshold=ledger.threshold,
            )

    def close(self) -> None:
        """Close everything; calling it again does nothing."""
        with self._mutex:
            self._closed = True
            if self._vectors is not None:
                self._vectors.close()
            if self._watch is not None:
                self._watch.close()
            self._connection.close()
