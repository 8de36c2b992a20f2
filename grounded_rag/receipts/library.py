"""The documents as they are now, from an index or from a folder, each read once."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from grounded_rag.errors import InputError, ReadError
from grounded_rag.protocols import Reader
from grounded_rag.receipts.differences import (
    DocumentPassages,
    number_changes,
    similarity,
    word_diff,
)
from grounded_rag.receipts.findings import NearestPassage
from grounded_rag.types import Document, Instant, ReceiptSource, Span, Validity
from grounded_rag.validity import resolve
from grounded_rag.verification.locate import Source


class Unreadable(NamedTuple):
    """A document that is there and cannot be read."""

    why: str


class Held:
    """A document of today with what is worked out about it only once.

    Attributes:
        document: The document.
        validity: Its validity, with the moment filled in at which a successor took over.
        source: Its text as the verifier searches it.
    """

    __slots__ = ("_nearest", "_passages", "document", "source", "validity")

    def __init__(self, document: Document, validity: Validity) -> None:
        self.document = document
        self.validity = validity
        self.source = Source(document.text)
        self._passages: DocumentPassages | None = None
        self._nearest: dict[tuple[str, str], NearestPassage | None] = {}

    @property
    def text(self) -> str:
        """Canonical text of the document."""
        return self.document.text

    @property
    def passages(self) -> DocumentPassages:
        """Its lines and sentences."""
        if self._passages is None:
            self._passages = DocumentPassages(self.document)
        return self._passages

    def nearest(self, quote: str, sentence: str) -> NearestPassage | None:
        """Return what resembles a quote most, with how it differs; None where nothing does."""
        key = (quote, sentence)
        if key not in self._nearest:
            found = self.passages.find(quote, sentence)
            self._nearest[key] = (
                None if found is None else self.compared(found.old, found.span, found.similarity)
            )
        return self._nearest[key]

    def counterpart(self, claim: str, quote: str, sentence: str) -> NearestPassage | None:
        """Return what this document says in place of a quote of another document, or None."""
        near = self.nearest(quote, sentence)
        if near is not None:
            return near
        found = self.passages.find_by_words(claim, quote)
        return None if found is None else self.compared(quote, found.span, found.similarity)

    def compared(self, old: str, span: Span, alike: float | None = None) -> NearestPassage:
        """Return a passage with how it differs from an old text.

        Args:
            old: The old text.
            span: The passage.
            alike: Their similarity, where it is known already.
        """
        new = span.of(self.text)
        return NearestPassage(
            doc_id=self.document.id,
            span=span,
            text=self.passages.around(span),
            similarity=similarity(old, new) if alike is None else alike,
            diff=word_diff(old, new),
            numbers=number_changes(old, new),
        )


class Library(ABC):
    """Documents by id. They are read when they are first asked for, and then kept."""

    kind: Literal["index", "folder", "nothing"]

    def __init__(self, as_of: Instant) -> None:
        self.as_of = as_of
        self._held: dict[str, Held | Unreadable | None] = {}

    def get(self, doc_id: str) -> Held | Unreadable | None:
        """Return a document as it is at `as_of`; None where there is none of that name."""
        if doc_id not in self._held:
            self._held[doc_id] = self._load(doc_id)
        return self._held[doc_id]

    def validity(self, doc_id: str) -> Validity | None:
        """Return the validity of a document, or None where it is not known."""
        held = self.get(doc_id)
        return held.validity if isinstance(held, Held) else None

    def all(self) -> Iterator[Held]:
        """Yield every readable document, by id."""
        for doc_id in self.ids():
            held = self.get(doc_id)
            if isinstance(held, Held):
                yield held

    def with_hash(self, content_hash: str) -> str | None:
        """Return the document whose whole text has this hash, or None."""
        return next(
            (held.document.id for held in self.all() if held.document.content_hash == content_hash),
            None,
        )

    @abstractmethod
    def ids(self) -> Sequence[str]:
        """Return the ids of all documents, in order."""

    @abstractmethod
    def chunk_text(self, source: ReceiptSource) -> str | None:
        """Return the text of a chunk that travels without it, where it is still known."""

    @abstractmethod
    def _load(self, doc_id: str) -> Held | Unreadable | None:
        """Read a document."""


class NoLibrary(Library):
    """Nothing to compare with: only the receipt itself is checked."""

    kind = "nothing"

    def ids(self) -> Sequence[str]:
        """Return nothing."""
        return ()

    def chunk_text(self, source: ReceiptSource) -> str | None:  # noqa: ARG002
        """Return None."""
        return None

    def _load(self, doc_id: str) -> Held | Unreadable | None:  # noqa: ARG002
        return None


class FolderLibrary(Library):
    """The documents of a folder, read as ingestion reads them, without any index."""

    kind = "folder"

    def __init__(
        self, folder: Path, as_of: Instant, *, readers: Mapping[str, Reader] | None = None
    ) -> None:
        from grounded_rag.ingest import scan

        super().__init__(as_of)
        self._readers = readers
        if not folder.is_dir():
            raise InputError(f"{folder} is no folder.", hint="Name the folder of the documents.")
        self._files = {file.doc_id: file for file in scan(folder, readers=readers).files}

    def ids(self) -> Sequence[str]:
        """Return the paths of all readable files."""
        return tuple(self._files)

    def chunk_text(self, source: ReceiptSource) -> str | None:
        """Return the text where the document is the same version still."""
        held = self.get(source.doc_id)
        if not isinstance(held, Held) or held.document.content_hash != source.document_hash:
            return None
        return source.span.of(held.text)

    def _load(self, doc_id: str) -> Held | Unreadable | None:
        from grounded_rag.ingest import read_document

        file = self._files.get(doc_id)
        if file is None:
            return None
        try:
            document = read_document(file, readers=self._readers).document
        except (ReadError, InputError) as error:
            return Unreadable(error.message)
        following = document.validity.superseded_by
        successor = None
        if (
            following is not None
            and following != doc_id
            and document.validity.superseded_on is None
        ):
            successor = self._start_of(following)
        return Held(document, resolve(document.validity, successor=successor))

    def _start_of(self, doc_id: str) -> Validity | None:
        """Return a successor's own validity; it is not resolved, so a circle ends here."""
        from grounded_rag.ingest import read_document

        file = self._files.get(doc_id)
        if file is None:
            return None
        with contextlib.suppress(ReadError, InputError):
            return read_document(file, readers=self._readers).document.validity
        return None


class IndexLibrary(Library):
    """The documents of an index, read from its ledger alone: no vectors, no model."""

    kind = "index"

    def __init__(self, folder: Path, as_of: Instant) -> None:
        from grounded_rag.index.ledger import LedgerReader
        from grounded_rag.index.opening import open_ledger
        from grounded_rag.index.reading import Catalogue

        super().__init__(as_of)
        opened = open_ledger(folder, identity=None, write=False, create=False, server=None)
        self._connection = opened.connection
        try:
            # One transaction: a writer that works meanwhile changes nothing that is read here.
            self._connection.execute("BEGIN")
            self._ledger = LedgerReader(self._connection)
            self._catalogue = Catalogue.load(self._ledger)
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the ledger."""
        self._connection.close()

    def ids(self) -> Sequence[str]:
        """Return the ids of all live documents."""
        return tuple(sorted(self._catalogue.entries))

    def with_hash(self, content_hash: str) -> str | None:
        """Return the live document whose whole text has this hash, or None."""
        return next(
            (
                doc_id
                for doc_id, entry in sorted(self._catalogue.entries.items())
                if entry.content_hash == content_hash
            ),
            None,
        )

    def chunk_text(self, source: ReceiptSource) -> str | None:
        """Return the text of a chunk of any stored version."""
        stored = self._ledger.chunk(source.chunk_id, document_hash=source.document_hash)
        return None if stored is None else stored.chunk.text

    def _load(self, doc_id: str) -> Held | Unreadable | None:
        if doc_id not in self._catalogue.entries:
            return None
        version = self._catalogue.version_at(doc_id, self.as_of).version
        document = self._ledger.document(doc_id, version=version)
        if document is None:
            return None
        return Held(document, self._catalogue.validity_at(doc_id, self.as_of))


@contextlib.contextmanager
def open_library(
    *,
    index: Path | str | None,
    folder: Path | str | None,
    as_of: Instant,
    readers: Mapping[str, Reader] | None = None,
) -> Iterator[Library]:
    """Open the documents to compare receipts with.

    Args:
        index: Folder of an index.
        folder: Folder of documents; only one of the two may be named, or none.
        as_of: Moment for which the documents are read.
        readers: Readers of one's own by suffix that the folder was ingested with.

    Raises:
        InputError: Both are named, or the folder cannot be used.
        StoreError: The index cannot be used.
    """
    if index is not None and folder is not None:
        raise InputError("An index and a folder are named.", hint="Name one of the two.")
    if index is not None:
        with contextlib.closing(IndexLibrary(Path(index), as_of)) as library:
            yield library
    elif folder is not None:
        yield FolderLibrary(Path(folder), as_of, readers=readers)
    else:
        yield NoLibrary(as_of)
