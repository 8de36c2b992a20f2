"""Opening an index folder: does it exist, who may write, is it of this model and schema."""

from __future__ import annotations

import sqlite3
import uuid
from dataclasses import dataclass
from pathlib import Path

from grounded_rag.errors import IndexMismatchError, IndexNotFoundError, StoreError
from grounded_rag.index import schema
from grounded_rag.index.locks import WriterLock
from grounded_rag.index.records import EmbeddingIdentity


@dataclass(frozen=True, slots=True)
class Opened:
    """A ledger and, for a writer, the lock that goes with it."""

    connection: sqlite3.Connection
    lock: WriterLock | None


def open_ledger(
    folder: Path,
    *,
    identity: EmbeddingIdentity | None,
    write: bool,
    create: bool,
    server: str | None,
) -> Opened:
    """Open or create the ledger of an index folder.

    Args:
        folder: The folder.
        identity: Model of a new index; None for one that only searches words.
        write: Whether to take the writer's lock.
        create: Whether to create an index where there is none; needs `write`.
        server: Address of the Chroma server of a new index, or None for a folder.

    Raises:
        IndexNotFoundError: There is no index, and it was not to be created.
        IndexLockedError: Another writer has it.
        IndexMismatchError: Another schema version made it.
        StoreError: The folder cannot be used.
    """
    if not (write and create) and not schema.has_ledger(folder):
        raise IndexNotFoundError(
            f"There is no index in {folder}.",
            hint="Ingest documents first: grounded-rag ingest FOLDER --index INDEX.",
        )
    if not write:
        return Opened(schema.connect(folder, write=False), None)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be made a folder: {error}.", hint="Choose another place."
        ) from error
    lock = WriterLock(folder)
    lock.acquire()
    try:
        if schema.has_ledger(folder):
            return Opened(schema.connect(folder, write=True), lock)
        values = {"collection": f"grounded-rag-{uuid.uuid4().hex}"}
        if identity is not None:
            values["embedding"] = identity.model_dump_json()
        if server is not None:
            values["server"] = server
        return Opened(schema.create(folder, values), lock)
    except BaseException:
        lock.release()
        raise


def check_identity(
    folder: Path, stored: EmbeddingIdentity | None, given: EmbeddingIdentity
) -> None:
    """Refuse an embedding whose vectors would not lie in the index's own space.

    Raises:
        IndexMismatchError: The index was made by another model, or without one.
    """
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
