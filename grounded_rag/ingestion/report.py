"""What ingestion tells while it runs, and what it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from grounded_rag.ingest import SkippedFile
from grounded_rag.types import Frozen


class IngestProgress(Frozen):
    """One step of ingestion.

    Attributes:
        stage: What is being done.
        done: Steps done, of `total`.
        total: Steps of this stage, as far as known.
        item: What was just done, for people.
    """

    stage: Literal["read", "embed"]
    done: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=0)]
    item: str = ""


ProgressHook = Callable[[IngestProgress], object]


class FailedFile(Frozen):
    """A file that could not be read, and the next step. Its earlier version stays in the index."""

    path: str
    error: str
    message: str
    hint: str = ""


class FileWarning(Frozen):
    """Something in a file that a person should look at."""

    path: str
    message: str


class IngestReport(Frozen):
    """What ingestion did.

    Attributes:
        added: Ids of new documents.
        changed: Ids of documents whose text changed.
        metadata_changed: Ids of documents of which only title, dates or other metadata changed.
        removed: Ids of documents whose files are gone.
        unchanged: Ids of documents that are as they were.
        skipped: Files of no supported kind.
        failed: Files that could not be read.
        warnings: Things to look at.
        chunks: Chunks of the documents that were written.
        embedded: Chunks that had to be embedded.
        words_only: Why the index searches by words alone, or "".
        seconds: Wall-clock seconds.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    metadata_changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    warnings: tuple[FileWarning, ...] = ()
    chunks: int = 0
    embedded: int = 0
    words_only: str = ""
    seconds: float = 0.0
