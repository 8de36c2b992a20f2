"""Brings an index up to date with folders and files: read, compare, embed, write."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from grounded_rag.errors import IndexMismatchError, InputError, ReadError
from grounded_rag.ingest import (
    RECIPE,
    ReadDocument,
    Scan,
    SkippedFile,
    chunk,
    embedded_text,
    read_document,
    scan,
)
from grounded_rag.ingest.readers import check_readers
from grounded_rag.protocols import Reader
from grounded_rag.types import Document, Frozen

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from grounded_rag.index.records import DocumentState, IndexItem, Vector
    from grounded_rag.index.store import Index


class IngestProgress(Frozen):
    """One step of ingestion: how many of a stage are done, and what was done just now."""

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
    """What ingestion did."""

    added: tuple[str, ...] = Field(default=(), description="Ids of new documents.")
    changed: tuple[str, ...] = Field(default=(), description="Ids of documents whose text changed.")
    metadata_changed: tuple[str, ...] = Field(
        default=(),
        description="Ids of documents of which only title, dates or other metadata changed.",
    )
    removed: tuple[str, ...] = Field(
        default=(), description="Ids of documents whose files are gone."
    )
    unchanged: tuple[str, ...] = Field(
        default=(), description="Ids of documents that are as they were."
    )
    skipped: tuple[SkippedFile, ...] = Field(default=(), description="Files of no supported kind.")
    failed: tuple[FailedFile, ...] = Field(default=(), description="Files that could not be read.")
    warnings: tuple[FileWarning, ...] = Field(default=(), description="Things to look at.")
    chunks: int = Field(default=0, description="Chunks of the documents that were written.")
    embedded: int = Field(default=0, description="Chunks that had to be embedded.")
    words_only: str = Field(default="", description='Why the index searches by words alone, or "".')
    seconds: float = Field(default=0.0, description="Wall-clock seconds.")


def update_index(
    paths: Sequence[Path | str],
    *,
    index: Path | str,
    embedding: BaseEmbedding | Literal["default"] | None = "default",
    strict: bool = False,
    readers: Mapping[str, Reader] | None = None,
    progress: ProgressHook | None = None,
) -> IngestReport:
    """Bring an index up to date with folders and files, creating it where there is none.

    Everything is read before anything is written. Documents whose files are gone from a folder
    leave retrieval; files that cannot be read keep their earlier version and are reported.

    Args:
        paths: Folders or files.
        index: Folder of the index.
        embedding: LlamaIndex embedding; "default" is the built-in one, None searches by words.
        strict: Raise on the first file that is of no supported kind or cannot be read.
        readers: Further readers by suffix, as in `{".rst": MyReader()}`; they come before the
            built-in ones. What they do wrong is a failed file.
        progress: Called after each step.

    Raises:
        ConfigError: `readers` holds something else than readers.
        InputError: A folder is missing or empty, its manifest is broken, or a document of the
            same name came from another folder.
        ReadError: With `strict`, a file cannot be read; without, no file can.
        IndexLockedError: Another process is writing.
        IndexMismatchError: The index was made by another embedding model or schema version.
    """
    from grounded_rag.index.store import Index

    started = time.perf_counter()
    report_step = progress or (lambda _step: None)
    own = check_readers(readers)
    sources = [_scan_path(Path(path), strict=strict, readers=own) for path in paths]
    model = _choose(embedding)
    changes = _Changes()
    documents = _read_all(sources, changes, readers=own, strict=strict, report_step=report_step)
    with Index.open(index, embedding=model.embedding, write=True, create=True) as store:
        _check_words(store, model)
        prepared = _compare(store, documents, model, changes)
        embedded = _write(store, prepared, model, report_step)
        gone = _prune(store, sources)
    return IngestReport(
        **vars(changes),
        removed=tuple(gone),
        skipped=tuple(skipped for source in sources for skipped in source.found.skipped),
        chunks=sum(len(item.chunks) for item in prepared),
        embedded=embedded,
        words_only=model.reason,
        seconds=time.perf_counter() - started,
    )


@dataclass
class _Changes:
    """What is found out about the documents while they are read: fields of `IngestReport`."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    metadata_changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[FailedFile] = field(default_factory=list)
    warnings: list[FileWarning] = field(default_factory=list)


@dataclass(frozen=True)
class _ScannedPath:
    """What a path holds, and for a folder metadata that keep its documents from another's."""

    found: Scan
    origin: dict[str, str]


def _scan_path(path: Path, *, strict: bool, readers: Mapping[str, Reader]) -> _ScannedPath:
    found = scan(path, strict=strict, readers=readers)
    if not path.is_dir():
        return _ScannedPath(found, {})
    place = path.resolve()
    digest = hashlib.sha256(str(place).encode("utf-8", "surrogatepass")).hexdigest()
    return _ScannedPath(found, {"corpus": place.name, "corpus_id": digest[:12]})


def _check_ids(doc_ids: Sequence[str]) -> None:
    """Refuse two files of one name in one call, before anything is written."""
    twice = [doc_id for doc_id, times in Counter(doc_ids).items() if times > 1]
    if twice:
        raise InputError(
            f"{twice[0]} is there twice, in two of the folders.",
            hint="Ingest a folder that holds both, or use an index for each.",
        )


@dataclass(frozen=True)
class _EmbeddingChoice:
    """The embedding, its token counter, and why there is no embedding, or ""."""

    embedding: BaseEmbedding | None
    count: Callable[[str], int]
    reason: str = ""


def _choose(embedding: BaseEmbedding | Literal["default"] | None) -> _EmbeddingChoice:
    reason = ""
    if embedding == "default":
        from grounded_rag.index.embedding import default_embedding

        found = default_embedding()
        embedding, reason = found.embedding, found.reason
    elif embedding is None:
        reason = "no embedding was asked for"
    counter = getattr(embedding, "count_tokens", None) or _approximate_tokens
    return _EmbeddingChoice(embedding, counter, reason)


def _approximate_tokens(text: str) -> int:
    """Return about as many tokens as a subword tokenizer makes, rather more than fewer."""
    return len(text.encode("utf-8", "surrogatepass")) // 3 + 1


def _check_words(store: Index, model: _EmbeddingChoice) -> None:
    """Refuse to add documents without vectors to an index that has them."""
    if model.embedding is None and store.identity is not None:
        raise IndexMismatchError(
            f"The index was made with {store.identity}, and there is no embedding now: "
            f"{model.reason}.",
            hint="Give the same embedding, or ingest into a new folder.",
        )


def _read_all(
    sources: Sequence[_ScannedPath],
    changes: _Changes,
    *,
    readers: Mapping[str, Reader],
    strict: bool,
    report_step: ProgressHook,
) -> list[ReadDocument]:
    """Read every file; those that cannot be read are noted, and all others returned."""
    files = [(file, source.origin) for source in sources for file in source.found.files]
    _check_ids([file.doc_id for file, _ in files])
    documents: list[ReadDocument] = []
    first_error: ReadError | None = None
    for done, (file, origin) in enumerate(files, start=1):
        try:
            read = read_document(file, overrides=origin, readers=readers)
        except ReadError as error:
            if strict:
                raise
            first_error = first_error or error
            changes.failed.append(
                FailedFile(
                    path=file.doc_id,
                    error=type(error).__name__,
                    message=error.message,
                    hint=error.hint,
                )
            )
        else:
            documents.append(read)
            changes.warnings.extend(
                FileWarning(path=file.doc_id, message=warning) for warning in read.warnings
            )
        report_step(IngestProgress(stage="read", done=done, total=len(files), item=file.doc_id))
    if first_error is not None and not documents:
        raise first_error
    return documents


def _compare(
    store: Index, documents: Sequence[ReadDocument], model: _EmbeddingChoice, changes: _Changes
) -> list[IndexItem]:
    """Return the documents that differ from the index, cut into chunks."""
    # Not at the top: the command line imports this module for its types, and that brings numpy.
    from grounded_rag.index.records import IndexItem

    states = store.states()
    prepared: list[IndexItem] = []
    for read in documents:
        _check_owner(store, read.document)
        if _sort(read, states.get(read.document.id), changes):
            chunks = chunk(read.document, count=model.count)
            prepared.append(IndexItem(read.document, chunks, trust=read.trust, recipe=RECIPE))
    return prepared


def _sort(read: ReadDocument, state: DocumentState | None, changes: _Changes) -> bool:
    """Note what became of a document; True means that it has to be written."""
    from grounded_rag.index.ledger import metadata_hash

    document = read.document
    if state is None:
        changes.added.append(document.id)
    elif state.content_hash != document.content_hash or state.recipe != RECIPE:
        changes.changed.append(document.id)
    elif state.metadata_hash != metadata_hash(document, trust=read.trust):
        changes.metadata_changed.append(document.id)
    else:
        changes.unchanged.append(document.id)
        return False
    return True


def _check_owner(store: Index, document: Document) -> None:
    """Refuse a document whose id came from another folder: one would replace the other."""
    entry = store.entry(document.id)
    if entry is None or entry.metadata.get("corpus_id") == document.metadata.get("corpus_id"):
        return
    owner = entry.metadata.get("corpus") or "a single file"
    raise InputError(
        f"{document.id} is in the index already, from another place ({owner}).",
        hint="Ingest a folder that holds both, or use an index for each.",
    )


def _write(
    store: Index, prepared: Sequence[IndexItem], model: _EmbeddingChoice, report_step: ProgressHook
) -> int:
    """Embed what is missing and write batch by batch; return the number of embedded chunks."""
    missing = store.missing_vectors([c.id for item in prepared for c in item.chunks])
    done = 0
    for batch in _batches(prepared):
        texts = {
            c.id: embedded_text(c, item.document.title)
            for item in batch
            for c in item.chunks
            if c.id in missing
        }
        found = _embed(texts, model, report_step, done=done, total=len(missing))
        done += len(texts)
        store.replace_many(
            [
                replace(
                    item,
                    vectors={c.id: found[c.id][0] for c in item.chunks if c.id in found},
                    pieces={c.id: found[c.id][1] for c in item.chunks if c.id in found},
                )
                for item in batch
            ]
        )
    return done


def _embed(
    texts: dict[str, str],
    model: _EmbeddingChoice,
    report_step: ProgressHook,
    *,
    done: int,
    total: int,
) -> dict[str, tuple[Vector, bytes]]:
    """Return the vector of each text and the signs of its word pieces, by chunk id."""
    if not texts or model.embedding is None:
        return {}
    from grounded_rag.index.embedding import embed_texts

    def step(count: int, _of: int) -> None:
        report_step(IngestProgress(stage="embed", done=done + count, total=total))

    found = embed_texts(model.embedding, list(texts.values()), progress=step)
    return dict(zip(texts, zip(found.vectors, found.pieces, strict=True), strict=True))


_BATCH_CHUNKS = 512
"""Chunks that are embedded and written together: large enough for the vector store to be fast,
small enough that an interrupted run keeps most of its work."""


def _batches(prepared: Sequence[IndexItem]) -> Iterator[list[IndexItem]]:
    batch: list[IndexItem] = []
    size = 0
    for item in prepared:
        batch.append(item)
        size += len(item.chunks)
        if size >= _BATCH_CHUNKS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _prune(store: Index, sources: Sequence[_ScannedPath]) -> list[str]:
    """Take documents out whose files are gone from a folder that was scanned."""
    seen: dict[str, set[str]] = {}
    for source in sources:
        if source.origin:
            ids = seen.setdefault(source.origin["corpus_id"], set())
            ids.update(file.doc_id for file in source.found.files)
            # A file that only lacks a reader this time is not gone: its last version stays.
            ids.update(file.path for file in source.found.skipped)
    gone = []
    for doc_id in store.states():
        entry = store.entry(doc_id)
        corpus = entry.metadata.get("corpus_id") if entry is not None else None
        if isinstance(corpus, str) and corpus in seen and doc_id not in seen[corpus]:
            gone.append(doc_id)
    if gone:
        store.remove(*gone)
    return gone
