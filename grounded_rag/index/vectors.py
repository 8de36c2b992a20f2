"""The vector index: one Chroma collection, derived from the ledger and rebuildable from it.

`VectorIndex` is what the index uses; only `open_collection` and what is below it know the clients.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from grounded_rag.errors import IndexMismatchError, StoreError
from grounded_rag.index.records import EmbeddingIdentity, Vector

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api import ClientAPI


@dataclass(frozen=True, slots=True)
class VectorHit:
    """One chunk near to a question; `similarity` is the cosine."""

    chunk_id: str
    similarity: float


@dataclass(eq=False, kw_only=True, slots=True)
class VectorIndex:
    """Vectors by chunk id, in a folder or on a Chroma server.

    Rows carry the id, the document id and nothing else: whatever can change is in the ledger.
    Whatever Chroma raises becomes a StoreError that names the next step.
    """

    folder: Path
    name: str
    identity: EmbeddingIdentity
    create: bool
    server: str | None
    _handle: Handle | None = field(default=None, init=False)

    def reopen(self, *, dimension: int | None) -> None:
        """Forget what is in memory, since another process has written, and load anew."""
        self.close()
        # Chroma loads the graph at the first search, and may write while it does so.
        if self.count() and dimension is not None:
            self.query(np.ones((1, dimension), dtype=np.float32), limit=1)

    def close(self) -> None:
        """Close the collection; a later call opens it again."""
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.close()

    def destroy(self) -> None:
        """Delete the whole collection, readable or not."""
        self.close()
        if self.server is None:
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        try:
            _server_client(self.server).delete_collection(self.name)
        except Exception as error:
            raise self._error("delete_collection", error) from error

    def count(self) -> int:
        """Return the number of vectors."""
        return int(self._call("count"))

    def ids(self) -> set[str]:
        """Return the ids of all vectors."""
        return set(self._call("get", include=[])["ids"])

    def present(self, ids: Sequence[str]) -> set[str]:
        """Return those of `ids` that have a vector."""
        found: set[str] = set()
        for start, end in self._slices(len(ids)):
            found.update(self._call("get", ids=list(ids[start:end]), include=[])["ids"])
        return found

    def upsert(self, ids: Sequence[str], doc_ids: Sequence[str], vectors: Vector) -> None:
        """Write vectors, and raise a StoreError unless they are there afterwards."""
        for start, end in self._slices(len(ids)):
            self._call(
                "upsert",
                ids=list(ids[start:end]),
                embeddings=vectors[start:end],
                metadatas=[{"doc_id": doc_id} for doc_id in doc_ids[start:end]],
            )
        lacking = len(ids) - len(self.present(ids))
        if lacking:
            raise StoreError(
                f"{lacking} of {len(ids)} vectors are not there after they were written.",
                hint="Check the free space, then ingest again; nothing became visible.",
            )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the vectors of `ids`, where they are there."""
        for start, end in self._slices(len(ids)):
            self._call("delete", ids=list(ids[start:end]))

    def query(self, vectors: Vector, *, limit: int) -> list[list[VectorHit]] | None:
        """Return the chunks nearest to each row, best first; None where no search succeeds."""
        while limit > 0:
            try:
                found = self._call(
                    "query", query_embeddings=vectors, n_results=limit, include=["distances"]
                )
            except StoreError as error:
                # A graph thinned out by deletions may reach fewer than were asked for.
                if "contiguous 2D array" not in str(error.__cause__):
                    raise
                limit //= 2
                continue
            return [
                [
                    VectorHit(chunk_id, 1.0 - distance)
                    for chunk_id, distance in zip(ids, distances, strict=True)
                ]
                for ids, distances in zip(found["ids"], found["distances"], strict=True)
            ]
        return None

    def _slices(self, size: int) -> Iterator[tuple[int, int]]:
        if size:
            batch = self._opened().batch
            for start in range(0, size, batch):
                yield start, min(start + batch, size)

    def _opened(self) -> Handle:
        if self._handle is None:
            try:
                self._handle = self._connect()
            except StoreError:
                raise
            except Exception as error:
                raise self._error("open", error) from error
        return self._handle

    def _connect(self) -> Handle:
        mark = {
            "embedding_name": self.identity.name,
            "embedding_variant": self.identity.variant,
        }
        handle = open_collection(
            self.server or self.folder, self.name, metadata=mark, create=self.create
        )
        stored = handle.collection.metadata or {}
        if any(stored.get(key) != value for key, value in mark.items()):
            handle.close()
            raise IndexMismatchError(
                f"The vectors were made by {stored.get('embedding_name')}, the ledger names "
                f"{self.identity}.",
                hint="Ledger and vectors are of different indexes: ingest into a new folder.",
            )
        return handle

    def _call(self, method: str, **arguments: Any) -> Any:
        collection = self._opened().collection
        try:
            return getattr(collection, method)(**arguments)
        except Exception as error:
            raise self._error(method, error) from error

    def _error(self, method: str, error: Exception) -> StoreError:
        place = self.server or self.folder
        if "dimension" in str(error):
            return IndexMismatchError(
                f"The vectors in {place} have another length: {error}.",
                hint="Open the index with the embedding that made it.",
            )
        return StoreError(
            f"Chroma failed in {place} ({method}): {error}",
            hint="Start the server, or check its address."
            if self.server
            else "Open the index for writing and call `audit(mend=True)`: the ledger has all "
            "vectors.",
        )


@dataclass(frozen=True, slots=True)
class Handle:
    """An open Chroma collection, the most rows it takes in one call, and how to let go of it."""

    collection: Collection
    batch: int
    close: Callable[[], None]


def open_collection(
    place: Path | str, name: str, *, metadata: dict[str, str], create: bool
) -> Handle:
    """Open a collection in a folder or on the server at an address, or create it there."""
    with contextlib.ExitStack() as stack:
        if isinstance(place, Path):
            # Annotated so because Chroma's interface leaves out the `close` that its clients have.
            client: Any = _folder_client(place, create=create)
            stack.callback(client.close)
        else:
            client = _server_client(place)
        # Without an embedding function Chroma downloads a model of its own at the first use.
        if create:
            collection = client.get_or_create_collection(
                name,
                metadata=metadata,
                configuration={"hnsw": {"space": "cosine"}},
                embedding_function=None,
            )
        else:
            collection = client.get_collection(name, embedding_function=None)
        return Handle(collection, client.get_max_batch_size(), stack.pop_all().close)


def _folder_client(folder: Path, *, create: bool) -> ClientAPI:
    # Imported here: Chroma takes a second to import, and BM25 alone does without it.
    from chromadb import PersistentClient
    from chromadb.config import Settings

    if create:
        folder.mkdir(parents=True, exist_ok=True)
    elif not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} is not there")
    return PersistentClient(_own_spelling(folder), settings=Settings(anonymized_telemetry=False))


def _own_spelling(folder: Path) -> str:
    """Return the path of a folder in a spelling that no other client in this process uses.

    Chroma shares one engine among the clients of one path, compared as text. An engine of its own
    is what lets a reader keep its generation while a writer of the same process writes, and load
    the newest by closing and opening. "/." and "//." lead nowhere but to the folder itself.
    """
    return str(folder) + "".join(secrets.choice(("/.", "//.")) for _ in range(32))


@functools.cache
def _server_client(address: str) -> ClientAPI:
    # One in a process: Chroma never frees what it opens for one. Connections are not kept alive,
    # since nothing public would close them.
    from chromadb import HttpClient
    from chromadb.config import Settings

    parts = urlsplit(address if "//" in address else f"http://{address}")
    secure = parts.scheme == "https"
    return HttpClient(
        parts.hostname or "localhost",
        parts.port or (443 if secure else 8000),
        ssl=secure,
        settings=Settings(anonymized_telemetry=False, chroma_http_max_keepalive_connections=0),
    )
