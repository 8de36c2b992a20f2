"""The documents as they are now, from an index or from a folder, each read once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grounded_rag.errors import InputError, ReadError
from grounded_rag.protocols import Reader
from grounded_rag.receipts.differences import CurrentDocument
from grounded_rag.receipts.findings import Against
from grounded_rag.types import Document, Instant, ReceiptSource
from grounded_rag.validity import resolve


class Library:
    """Documents by id, read when they are first asked for, and then kept.

    This one has none: with it only the receipt itself is checked.
    """

    kind: Against = "nothing"

    def __init__(self, as_of: Instant) -> None:
        self.as_of = as_of
        self._documents: dict[str, CurrentDocument | None] = {}

    def ids(self) -> Sequence[str]:
        """Return the ids of all documents, in order; also of those that cannot be read."""
        return ()

    def get(self, doc_id: str) -> CurrentDocument | None:
        """Return a document as it is at `as_of`; None where it is not there or not readable."""
        if doc_id not in self._documents:
            self._documents[doc_id] = self._load(doc_id)
        return self._documents[doc_id]

    def all(self) -> Iterator[CurrentDocument]:
        """Yield every readable document, by id."""
        for doc_id in self.ids():
            document = self.get(doc_id)
            if document is not None:
                yield document

    def with_hash(self, content_hash: str) -> CurrentDocument | None:
        """Return the document whose whole text has this hash, or None."""
        matching = (each for each in self.all() if each.document.content_hash == content_hash)
        return next(matching, None)

    def chunk_text(self, source: ReceiptSource) -> str | None:
        """Return the text of a chunk that travels without it, where it is still known."""
        document = self.get(source.doc_id)
        if document is None or document.document.content_hash != source.document_hash:
            return None
        return source.span.of(document.text)

    def _load(self, doc_id: str) -> CurrentDocument | None:  # noqa: ARG002 - there is none
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
        """Return the paths of all files of a known kind."""
        return tuple(self._files)

    def _load(self, doc_id: str) -> CurrentDocument | None:
        document = self._read(doc_id)
        if document is None:
            return None
        validity = document.validity
        successor = None
        # A successor's own validity is not resolved in turn, so that a circle ends here.
        if validity.superseded_by not in (None, doc_id) and validity.superseded_on is None:
            following = self._read(str(validity.superseded_by))
            successor = None if following is None else following.validity
        return CurrentDocument(document, resolve(validity, successor=successor))

    def _read(self, doc_id: str) -> Document | None:
        from grounded_rag.ingest import read_document

        if doc_id in self._files:
            with contextlib.suppress(ReadError, InputError):
                return read_document(self._files[doc_id], readers=self._readers).document
        return None


class IndexLibrary(Library):
    """The documents of an index, read from its ledger alone: no vectors, no model."""

    kind = "index"

    def __init__(self, folder: Path, as_of: Instant) -> None:
        from grounded_rag.index.ledger import LedgerReader
        from grounded_rag.index.opening import open_ledger
        from grounded_rag.index.reading import Catalogue

        super().__init__(as_of)
        self._connection, _ = open_ledger(
            folder, identity=None, write=False, create=False, server=None
        )
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

    def with_hash(self, content_hash: str) -> CurrentDocument | None:
        """Return the live document whose whole text has this hash, or None."""
        entries = self._catalogue.entries
        matching = (name for name in self.ids() if entries[name].content_hash == content_hash)
        found = next(matching, None)
        return None if found is None else self.get(found)

    def chunk_text(self, source: ReceiptSource) -> str | None:
        """Return the text of a chunk of any stored version."""
        stored = self._ledger.chunk(source.chunk_id, document_hash=source.document_hash)
        return None if stored is None else stored.chunk.text

    def _load(self, doc_id: str) -> CurrentDocument | None:
        if doc_id not in self._catalogue.entries:
            return None
        version = self._catalogue.version_at(doc_id, self.as_of).version
        document = self._ledger.document(doc_id, version=version)
        if document is None:
            return None
        return CurrentDocument(document, self._catalogue.validity_at(doc_id, self.as_of))


@contextlib.contextmanager
def open_library(
    *,
    index: Path | str | None,
    folder: Path | str | None,
    as_of: Instant,
    readers: Mapping[str, Reader] | None = None,
) -> Iterator[Library]:
    """Open the documents to compare receipts with: of an index, of a folder, or none.

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
        yield Library(as_of)
