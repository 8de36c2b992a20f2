"""One writer for an index folder, and no reader loading vectors while they are being written."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from grounded_rag.errors import IndexLockedError, StoreError

_OWNER = "writer.json"


class WriterLock:
    """The right to write, held by at most one process (and one `Index`) at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Not bound to a thread: the index may be closed by another thread than opened it.
        self._lock = FileLock(folder / "writer.lock", thread_local=False)

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            IndexLockedError: Another writer has it; the message names it.
            StoreError: The folder cannot be written.
        """
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


class VectorLock:
    """Held while vectors are written, and by a reader while it loads them.

    Chroma's files are not written at one stroke, and a reader that opens them may write as well.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / "vectors.lock", thread_local=False)

    @contextlib.contextmanager
    def held(self, *, seconds: float) -> Iterator[None]:
        """Hold the lock for the body.

        Args:
            seconds: How long to wait for it.

        Raises:
            IndexLockedError: It did not become free in time.
            StoreError: The folder cannot be written.
        """
        try:
            self._lock.acquire(timeout=seconds)
        except Timeout as error:
            raise IndexLockedError(
                f"The vectors in {self._folder} have been in use for {seconds:.0f} seconds.",
                hint="Try again; if it stays so, end the process that hangs.",
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self._folder} cannot be written: {error}.",
                hint="Readers too need to write to the folder: Chroma and SQLite do so.",
            ) from error
        try:
            yield
        finally:
            self._lock.release()
