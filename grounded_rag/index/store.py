"""The index of one folder: ledger, lexical index and vectors, written together and kept in step.

`Index` is what others open. It decides in which order the parts change, so that a process may be
killed at any moment; `recover` and `audit` put the parts in step again. The SQL is in `writing`.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from grounded_rag.errors import IndexMismatchError, StoreError
from grounded_rag.index import lexical, writing
from grounded_rag.index.ledger import LedgerReader, transaction
from grounded_rag.index.opening import WriterLock, check_identity, open_ledger
from grounded_rag.index.reading import LOCK_SECONDS, IndexReader
from grounded_rag.index.records import IndexAudit, IndexItem, TunedThreshold, Vector, identity_of
from grounded_rag.index.vectors import VectorIndex
from grounded_rag.index.writing import discard_pending, settle

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


class Index(IndexReader):
    """An index folder. One process may write at a time; any number may read.

    Close it, or use it as a context manager.
    """

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, writer: WriterLock | None
    ) -> None:
        super().__init__(folder, connection, write=writer is not None)
        self._writer = writer

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        embedding: BaseEmbedding | None = None,
        write: bool = False,
        create: bool = False,
        server: str | None = None,
    ) -> Index:
        """Open the index in a folder.

        Args:
            path: The folder.
            embedding: Model whose identity the index must have, or gets when it is created;
                an index created without one only searches words.
            write: Whether to take the writer's lock; what a crash left behind is mended then.
            create: Whether to create the index where there is none; needs `write`.
            server: Address of a Chroma server that holds the vectors, for a new index.

        Raises:
            IndexNotFoundError: There is no index, and it was not to be created.
            IndexLockedError: Another writer has it.
            IndexMismatchError: Another embedding model or schema version made it.
            StoreError: The folder cannot be used.
        """
        folder = Path(path)
        given = None if embedding is None else identity_of(embedding)
        connection, lock = open_ledger(
            folder, identity=given, write=write, create=create, server=server
        )
        index = cls(folder, connection, lock)
        try:
            if given is not None:
                check_identity(folder, index.identity, given)
            if write:
                with index._writing():
                    recover(index._connection, index._vectors)
            else:
                index._start_reading()
        except BaseException:
            index.close()
            raise
        return index

    def replace_many(self, items: Sequence[IndexItem]) -> None:
        """Write document versions; all of them become visible at once, or none.

        The earlier version of a document leaves retrieval, unless it still answers for moments
        before the new one takes effect. Where text and chunks are as they were, only metadata is
        written.

        Raises:
            StoreError: An item is inconsistent, lacks vectors, or could not be written; nothing
                became visible then.
        """
        with self._writing():
            writing.check_items(items)
            fresh: list[IndexItem] = []
            for item in items:
                if writing.unchanged(self._connection, item):
                    writing.correct(
                        self._connection, item.document, trust=item.trust, recipe=item.recipe
                    )
                else:
                    fresh.append(item)
            if fresh:
                self._write_versions(fresh)

    def _write_versions(self, items: Sequence[IndexItem]) -> None:
        staged = writing.stage(self._connection, items, model=self._ledger.identity)
        try:
            if self._vectors is not None and staged.vectors is not None:
                self._vectors.upsert(staged.chunk_ids, staged.doc_ids, staged.vectors)
            gone = writing.flip(self._connection, staged)
        except BaseException:
            writing.discard_pending(self._connection)
            raise
        self._drop_vectors(gone)

    def remove(self, *doc_ids: str) -> None:
        """Take documents out of retrieval, all or none; their versions stay for receipts."""
        with self._writing(), self.view() as view:
            unknown = [doc_id for doc_id in doc_ids if doc_id not in view.catalogue.entries]
            if unknown:
                raise StoreError(
                    f"There is no document {unknown[0]!r} in {self.folder}.",
                    hint="`states()` lists the documents.",
                )
            self._drop_vectors(writing.remove(self._connection, doc_ids))

    def put_threshold(self, tuned: TunedThreshold | None) -> None:
        """Store the refusal threshold of this index; None takes it away."""
        with self._writing():
            writing.put_threshold(self._connection, tuned)

    def audit(self, *, mend: bool = False) -> IndexAudit:
        """Compare the lexical and the vector index with the ledger; `mend` puts them right."""
        if mend:
            with self._writing():
                return audit(self._connection, self._vectors, mend=True)
        with self.view() as view:
            return audit(view.ledger.connection, view.vectors, mend=False)

    def close(self) -> None:
        """Close everything and give the writer's lock back; calling it again does nothing."""
        super().close()
        if self._writer is not None:
            self._writer.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._mutex:
            self._check_open()
            if self._writer is None:
                raise StoreError(
                    f"The index in {self.folder} is open for reading only.",
                    hint="Open it with write=True.",
                )
            with self._vectors_locked(LOCK_SECONDS):
                yield

    def _drop_vectors(self, chunk_ids: Sequence[str]) -> None:
        if self._vectors is not None:
            self._vectors.delete(chunk_ids)
        writing.settle(self._connection)


_SLICE = 1_000
"""Vectors that are held in memory at a time."""

_PROBE = 10
_SAME = 1e-4  # vectors nearer than this to a cosine of 1 are of one text


def recover(connection: sqlite3.Connection, vectors: VectorIndex | None) -> None:
    """Finish or undo what an interrupted writer left behind; cheap when there is nothing."""
    ledger = LedgerReader(connection)
    dirty = ledger.meta("dirty") == "1"
    if dirty:
        discard_pending(connection)
    if vectors is not None:
        try:
            count = vectors.count()
        except IndexMismatchError:
            raise
        except StoreError:
            # Whatever became of its files, all vectors are in the ledger.
            vectors.destroy()
            count = vectors.count()
        if dirty or count != len(ledger.retrievable()):
            _mend_vectors(ledger, vectors)
    if dirty:
        settle(connection)


def audit(connection: sqlite3.Connection, vectors: VectorIndex | None, *, mend: bool) -> IndexAudit:
    """Compare the lexical and the vector index with the ledger; to mend, the caller may write."""
    ledger = LedgerReader(connection)
    unfinished = ledger.count("SELECT count(*) FROM versions WHERE state = 'pending'")
    wanted = ledger.retrievable()
    names = {key: chunk_id for chunk_id, key in wanted.items()}
    indexed = {key for (key,) in connection.execute("SELECT rowid FROM lexical")}
    mismatch = indexed ^ names.keys()
    report = IndexAudit(
        lexical_mismatch=tuple(sorted(names.get(key, f"key {key}") for key in mismatch)),
        unfinished_versions=unfinished,
    )
    if vectors is not None:
        present = vectors.ids()
        report = report.model_copy(
            update={
                "orphan_vectors": tuple(sorted(present - wanted.keys())),
                "missing_vectors": tuple(sorted(wanted.keys() - present)),
                "unreachable_vectors": _unreachable(ledger, vectors, names, present),
            }
        )
    if not mend:
        return report
    discard_pending(connection)
    with transaction(connection):
        lexical.delete_rows(connection, indexed - names.keys())
        lexical.insert_rows(connection, writing.lexical_rows(connection, names.keys() - indexed))
    if vectors is not None:
        if report.unreachable_vectors:
            # The graph itself is damaged; writing rows again would not relink it.
            vectors.destroy()
        _mend_vectors(ledger, vectors)
    settle(connection)
    return report.model_copy(update={"mended": True})


def _mend_vectors(ledger: LedgerReader, vectors: VectorIndex) -> None:
    wanted = ledger.retrievable()
    present = vectors.ids()
    vectors.delete(sorted(present - wanted.keys()))
    keys = sorted(key for chunk_id, key in wanted.items() if chunk_id not in present)
    for found, rows in _stored_vectors(ledger, keys):
        chunk_ids, doc_ids = zip(*ledger.owners(found), strict=True)
        vectors.upsert(chunk_ids, doc_ids, rows)


def _unreachable(
    ledger: LedgerReader, vectors: VectorIndex, names: dict[int, str], present: set[str]
) -> tuple[str, ...]:
    """Return chunks that a search for their own vector does not find."""
    lost: list[str] = []
    keys = sorted(key for key, chunk_id in names.items() if chunk_id in present)
    for found, rows in _stored_vectors(ledger, keys):
        answers = vectors.query(rows, limit=_PROBE)
        if answers is None:
            lost += [names[key] for key in found]
            continue
        for key, hits in zip(found, answers, strict=True):
            # Many chunks with one text have one vector: any of them may stand for the others.
            reached = names[key] in {hit.chunk_id for hit in hits} or (
                len(hits) == _PROBE and hits[-1].similarity > 1.0 - _SAME
            )
            if not reached:
                lost.append(names[key])
    return tuple(sorted(lost))


def _stored_vectors(
    ledger: LedgerReader, keys: Sequence[int]
) -> Iterator[tuple[list[int], Vector]]:
    for start in range(0, len(keys), _SLICE):
        found, rows = ledger.vectors(keys[start : start + _SLICE])
        if rows is not None:
            yield found, rows
