"""Opening an index folder: does it exist, who may write, is it of this model and schema.

Nothing of the documents is read here; `store` reads and writes.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import uuid
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from grounded_rag.errors import IndexLockedError, IndexMismatchError, IndexNotFoundError, StoreError
from grounded_rag.index import ledger
from grounded_rag.index.records import EmbeddingIdentity

_OWNER = "writer.json"


def open_ledger(
    folder: Path,
    *,
    identity: EmbeddingIdentity | None,
    write: bool,
    create: bool,
    server: str | None,
) -> tuple[sqlite3.Connection, WriterLock | None]:
    """Open or create the ledger of a folder, and take a writer's lock; see `Index.open`."""
    if not (write and create) and not ledger.has_ledger(folder):
        raise IndexNotFoundError(
            f"There is no index in {folder}.",
            hint="Ingest documents first: grounded-rag ingest FOLDER --index INDEX.",
        )
    if not write:
        return ledger.connect(folder, write=False), None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be made a folder: {error}.", hint="Choose another place."
        ) from error
    lock = WriterLock(folder)
    lock.acquire()
    try:
        if ledger.has_ledger(folder):
            return ledger.connect(folder, write=True), lock
        values = {"collection": f"grounded-rag-{uuid.uuid4().hex}"}
        if identity is not None:
            values["embedding"] = identity.model_dump_json()
        if server is not None:
            values["server"] = server
        return ledger.create(folder, values), lock
    except BaseException:
        lock.release()
        raise


def check_identity(
    folder: Path, stored: EmbeddingIdentity | None, given: EmbeddingIdentity
) -> None:
    """Refuse an embedding whose vectors would not lie in the index's own space."""
    if stored is None:
        raise IndexMismatchError(
            f"The index in {folder} was made without an embedding.",
            hint="Open it without one, or ingest into a new folder with it.",
        )
    if not stored.accepts(given):
        raise IndexMismatchError(
            f"The index in {folder} was made by {stored}, not by {given}.",
            hint="Open it with that embedding, or ingest into a new folder with this one.",
        )


class WriterLock:
    """The right to write, held by at most one process (and one `Index`) at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Not bound to a thread: the index may be closed by another thread than opened it.
        self._lock = FileLock(folder / "writer.lock", thread_local=False)

    def acquire(self) -> None:
        """Take the lock, or raise an error that names the process that has it."""
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise IndexLockedError(
                f"{self._folder} is being written by {self._owner()}.",
                hint="Wait until it has finished, or open the index without write=True.",
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self._folder} cannot be written: {error}.",
                hint="Choose a folder that may be written.",
            ) from error
        owner = {"pid": os.getpid(), "host": socket.gethostname()}
        (self._folder / _OWNER).write_text(json.dumps(owner), encoding="utf-8")

    def release(self) -> None:
        """Give the lock back, where it is held."""
        if self._lock.is_locked:
            (self._folder / _OWNER).unlink(missing_ok=True)
            self._lock.release()

    def _owner(self) -> str:
        try:
            owner = json.loads((self._folder / _OWNER).read_text(encoding="utf-8"))
            return f"process {owner['pid']} on {owner['host']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"


@contextlib.contextmanager
def vectors_locked(folder: Path, lock: FileLock, *, seconds: float) -> Iterator[None]:
    """Hold the lock of the vectors: a writer while it writes, a reader while it loads them.

    Chroma's files are not written at one stroke, and a reader that opens them may write as well.
    """
    try:
        lock.acquire(timeout=seconds)
    except Timeout as error:
        raise IndexLockedError(
            f"The vectors in {folder} have been in use for {seconds:.0f} seconds.",
            hint="Try again; if it stays so, end the process that hangs.",
        ) from error
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be written: {error}.",
            hint="Readers too need to write to the folder: Chroma and SQLite do so.",
        ) from error
    try:
        yield
    finally:
        lock.release()
