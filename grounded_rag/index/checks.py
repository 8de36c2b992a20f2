"""What a document version must be before anything of it is written."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.errors import StoreError
from grounded_rag.index.records import IndexItem
from grounded_rag.types import Document


def check_items(items: Sequence[IndexItem]) -> None:
    """Refuse a batch that would break what the index promises.

    Raises:
        StoreError: A document is there twice, or one of its chunks is wrong; see `check_item`.
    """
    seen: set[str] = set()
    for item in items:
        if item.document.id in seen:
            raise StoreError(
                f"{item.document.id} is there twice in one batch.",
                hint="Give every document an id of its own.",
            )
        seen.add(item.document.id)
        check_item(item)


def check_item(item: IndexItem) -> None:
    """Refuse a document version that would break what the index promises.

    Raises:
        StoreError: A chunk is of another document, not at its place, or there twice; or the text
            holds a lone surrogate.
    """
    document = item.document
    _check_encodable(document)
    seen: set[str] = set()
    for chunk in item.chunks:
        if chunk.doc_id != document.id or chunk.span.of(document.text) != chunk.text:
            raise StoreError(
                f"Chunk {chunk.id} of {document.id} is not what stands at its place.",
                hint="Cut chunks as slices of the document's text.",
            )
        if chunk.id in seen:
            raise StoreError(
                f"Chunk id {chunk.id} is there twice in {document.id}.",
                hint="Count repeated texts in the id.",
            )
        seen.add(chunk.id)


def _check_encodable(document: Document) -> None:
    try:
        document.text.encode()
    except UnicodeEncodeError as error:
        raise StoreError(
            f"{document.id} holds a lone surrogate at code point {error.start}.",
            hint="Decode the file strictly before it is indexed.",
        ) from error
