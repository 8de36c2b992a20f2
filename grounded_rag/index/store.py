"""The index of one folder: the ledger, its lexical index and the vectors, kept in step."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pydantic import JsonValue

from grounded_rag.errors import StoreError
from grounded_rag.index import corrections, recovery, writing
from grounded_rag.index.arrays import Vector
from grounded_rag.index.checks import check_items
from grounded_rag.index.opening import Opened, check_identity, open_ledger
from grounded_rag.index.reading import LOCK_SECONDS, IndexReader
from grounded_rag.index.records import AuditReport, IndexItem, identity_of
from grounded_rag.types import Chunk, Document, Validity

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


class Index(IndexReader):
    """An index folder. One process may write at a time; any number may read.

    Close it, or use it as a context manager.

    Attributes:
        folder: The folder.
    """

    def __init__(self, folder: Path, opened: Opened) -> None:
        super().__init__(folder, opened.connection, write=opened.lock is not None)
        self._writer = opened.lock

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
        index = cls(
            folder,
            open_ledger(folder, identity=given, write=write, create=create, server=server),
        )
        try:
            if given is not None:
                check_identity(folder, index.identity, given)
            if write:
                with index._writing():
                    recovery.recover(index._connection, index._vectors)
            else:
                index._start_reading()
        except BaseException:
            index.close()
            raise
        return index

    def replace(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: Mapping[str, Vector | Sequence[float]],
        *,
        trust: str = "official",
        recipe: str = "",
    ) -> None:
        """Write one document version; see `replace_many`."""
        self.replace_many(
            [
                IndexItem(
                    document=document, chunks=chunks, vectors=vectors, trust=trust, recipe=recipe
                )
            ]
        )

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
            check_items(items)
            fresh: list[IndexItem] = []
            for item in items:
                if corrections.unchanged(self._connection, item):
                    corrections.correct(
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
            corrections.discard_pending(self._connection)
            raise
        self._drop_vectors(gone)

    def remove(self, *doc_ids: str) -> None:
        """Take documents out of retrieval; their versions stay for receipts.

        Raises:
            StoreError: One of them is not in the index; nothing was removed.
        """
        with self._writing(), self.view() as view:
            unknown = [doc_id for doc_id in doc_ids if doc_id not in view.catalogue.entries]
            if unknown:
                raise self._unknown(unknown[0])
            self._drop_vectors(corrections.remove(self._connection, doc_ids))

    def set_metadata(
        self,
        doc_id: str,
        *,
        validity: Validity | None = None,
        title: str | None = None,
        source: str | None = None,
        trust: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Correct metadata of a live document; nothing is embedded again.

        Args:
            doc_id: The document.
            validity: The whole new validity: what it leaves out is cleared. None keeps the old.
            title: New title, or None to keep it.
            source: New source, or None to keep it.
            trust: New trust, or None to keep it.
            metadata: The whole of the further values, or None to keep them.

        Raises:
            StoreError: The document is not in the index.
        """
        with self._writing(), self.view() as view:
            entry = view.catalogue.entries.get(doc_id)
            document = view.ledger.document(doc_id)
            if entry is None or document is None:
                raise self._unknown(doc_id)
            given: dict[str, Any] = {
                "validity": validity,
                "title": title,
                "source": source,
                "metadata": None if metadata is None else dict(metadata),
            }
            changes = {name: value for name, value in given.items() if value is not None}
            corrections.correct(
                self._connection,
                document.model_copy(update=changes),
                trust=entry.trust if trust is None else trust,
            )

    def audit(self, *, mend: bool = False) -> AuditReport:
        """Compare the lexical and the vector index with the ledger, which is the truth.

        Args:
            mend: Whether to put right what is found; needs an index opened for writing.

        Raises:
            StoreError: Mending was asked of a reader, or the indexes cannot be read.
        """
        if mend:
            with self._writing():
                return recovery.audit(self._connection, self._vectors, mend=True)
        with self.view() as view:
            return recovery.audit(view.ledger.connection, view.vectors, mend=False)

    def close(self) -> None:
        """Close everything and give the writer's lock back; calling it again does nothing."""
        super().close()
        if self._writer is not None:
            self._writer.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            with self._vector_lock.held(seconds=LOCK_SECONDS):
                yield

    def _drop_vectors(self, chunk_ids: Sequence[str]) -> None:
        if self._vectors is not None:
            self._vectors.delete(chunk_ids)
        corrections.settle(self._connection)

    def _unknown(self, doc_id: str) -> StoreError:
        return StoreError(
            f"There is no document {doc_id!r} in {self.folder}.",
            hint="`states()` lists the documents.",
        )
