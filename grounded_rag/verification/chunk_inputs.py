"""Reading retrieved chunks from what users of other stacks hand over."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from grounded_rag.errors import DraftError, ManifestError
from grounded_rag.types import Chunk, RetrievedChunk, Validity
from grounded_rag.validity import parse_instant

_HINT = (
    'Pass RetrievedChunk or Chunk objects, mappings {"id", "text", "metadata"}, or nodes of '
    "LlamaIndex."
)
_DATES = ("effective_from", "valid_until", "superseded_on", "reviewed_on", "updated_at")
_KNOWN = frozenset(
    {*_DATES, "superseded_by", "doc_id", "doc_start", "title", "headings", "source", "page"}
)
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_CHUNKS: TypeAdapter[tuple[RetrievedChunk, ...]] = TypeAdapter(tuple[RetrievedChunk, ...])
_UNDATED = Validity()


def read_chunks(values: Iterable[object]) -> tuple[RetrievedChunk, ...]:
    """Read retrieved chunks.

    Args:
        values: `RetrievedChunk`s or `Chunk`s; mappings with "id", "text" and optionally
            "metadata" (doc_id, doc_start, title, headings, source, page and the fields of
            `Validity`; "" means unknown, and so does a date that cannot be read); or objects
            with a `node`, or with `node_id`, `text` and `metadata`, as LlamaIndex returns them.

    Raises:
        DraftError: A value is none of these, or has no id.
    """
    if isinstance(values, str | bytes | Mapping | BaseModel):
        raise DraftError(f"A {type(values).__name__} is no list of chunks.", hint=_HINT)
    # Validated once and as a whole, which takes two thirds of the time of doing so one by one.
    return _CHUNKS.validate_python([_read(value, rank) for rank, value in enumerate(values, 1)])


def _read(value: object, rank: int) -> RetrievedChunk | dict[str, object]:
    # `dict` first: to ask whether something is a model or any mapping takes ten times as long.
    if isinstance(value, (dict, Mapping)):
        return _build(value.get("id"), value.get("text"), value.get("metadata"), rank)
    if isinstance(value, RetrievedChunk):
        return value
    if isinstance(value, Chunk):
        return RetrievedChunk(chunk=value, rank=rank)
    node = getattr(value, "node", value)
    if hasattr(node, "node_id") and hasattr(node, "metadata"):
        text = getattr(node, "text", None)
        metadata = dict(node.metadata) if isinstance(node.metadata, Mapping) else {}
        metadata.setdefault("doc_id", getattr(node, "ref_doc_id", None))
        metadata.setdefault("doc_start", getattr(node, "start_char_idx", None))
        return _build(node.node_id, text, metadata, rank)
    raise DraftError(f"A {type(value).__name__} is no chunk.", hint=_HINT)


def _build(chunk_id: object, text: object, metadata: object, rank: int) -> dict[str, object]:
    if isinstance(chunk_id, int) and not isinstance(chunk_id, bool):
        chunk_id = str(chunk_id)
    if not isinstance(chunk_id, str) or not chunk_id:
        raise DraftError(f"Chunk {rank} has no id.", hint=_HINT)
    if not isinstance(text, str):
        raise DraftError(f"Chunk {chunk_id!r} has no text.", hint=_HINT)
    chunk = {
        "id": chunk_id,
        "doc_id": chunk_id,
        "span": {"start": 0, "end": len(text)},
        "text": text,
        "content_hash": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
    }
    if not isinstance(metadata, Mapping) or not metadata:
        return {"chunk": chunk, "rank": rank, "validity": _UNDATED}
    start = metadata.get("doc_start")
    if isinstance(start, int) and not isinstance(start, bool) and start > 0:
        chunk["span"] = {"start": start, "end": start + len(text)}
    page = metadata.get("page")
    headings = metadata.get("headings")
    return {
        "chunk": {
            **chunk,
            "doc_id": _text(metadata.get("doc_id")) or chunk_id,
            "headings": tuple(map(str, headings)) if isinstance(headings, list | tuple) else (),
            "page": page if isinstance(page, int) and not isinstance(page, bool) else None,
        },
        "rank": rank,
        "source": _text(metadata.get("source")),
        "title": _text(metadata.get("title")),
        "validity": _validity(metadata),
        "metadata": {
            key: value
            for key, value in metadata.items()
            if isinstance(key, str) and key not in _KNOWN and _is_json(value)
        },
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _validity(metadata: Mapping[Any, Any]) -> Validity:
    """Read the dates; one that cannot be read makes the age of the whole source unknown.

    To ignore only that date would read "valid until soon" as "valid for ever".
    """
    successor = metadata.get("superseded_by")
    known = str(successor) if successor else None
    try:
        dates = {field: parse_instant(metadata.get(field)) for field in _DATES}
    except (ManifestError, OverflowError):
        return Validity(superseded_by=known)
    return Validity(superseded_by=known, **dates)


def _is_json(value: object) -> bool:
    try:
        _JSON.validate_python(value)
    except (ValidationError, RecursionError):
        return False
    return True
