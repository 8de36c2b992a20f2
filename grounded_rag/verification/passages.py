"""The retrieved chunks of one verification, with what is worked out about each only once.

`read_chunks` reads them from what users of other stacks hand over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Literal

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from grounded_rag.errors import DraftError, ManifestError
from grounded_rag.text.sentences import LineKind, group_units, sentence_bounds
from grounded_rag.text.words import guess_language
from grounded_rag.types import Chunk, RetrievedChunk, Validity
from grounded_rag.validity import parse_instant
from grounded_rag.verification.folding import FoldedText, Place, fold
from grounded_rag.verification.layout import Layout
from grounded_rag.verification.locate import Source
from grounded_rag.verification.presentation import DAMAGED

_CHUNKS_WANTED = (
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
# A refusal is explained by a few of them; a scanned text may hold thousands.
_MOST_DAMAGE = 100
_HEADING_LINE = re.compile(r"[ \t]*#{1,6}[ \t][^\n]*")


class Passages:
    """All retrieved chunks, by id. Their order means nothing."""

    __slots__ = ("_by_id",)

    def __init__(self, chunks: Iterable[RetrievedChunk]) -> None:
        self._by_id: dict[str, list[Passage]] = {}
        for retrieved in chunks:
            same_id = self._by_id.setdefault(retrieved.chunk.id, [])
            text = retrieved.chunk.text
            copy = next((known for known in same_id if known.text == text), None)
            if copy is None:
                same_id.append(Passage(retrieved))
            elif _stable(retrieved) < _stable(copy.retrieved):
                copy.retrieved = retrieved

    def __iter__(self) -> Iterator[Passage]:
        for passages in self._by_id.values():
            yield from passages

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def ids(self) -> Collection[str]:
        """Every id once."""
        return self._by_id.keys()

    def get(self, chunk_id: str) -> tuple[Passage, ...]:
        """Return the passages under an id: none, one, or several that contradict each other."""
        return tuple(self._by_id.get(chunk_id, ()))


def _stable(retrieved: RetrievedChunk) -> tuple[str, int, str]:
    """Order chunks by what they are, so that of two copies always the same one counts."""
    chunk = retrieved.chunk
    return chunk.doc_id, chunk.span.start, repr(retrieved.validity)


class Passage:
    """One retrieved chunk. Everything but the text is worked out when it is first asked for."""

    __slots__ = (
        "_context", "_damage", "_headings", "_language", "_layout", "_sentences",
        "retrieved", "source", "statements",
    )  # fmt: skip

    def __init__(self, retrieved: RetrievedChunk) -> None:
        self.retrieved = retrieved
        self.source = Source(retrieved.chunk.text)
        self._sentences: list[tuple[int, int]] | None = None
        self._headings: tuple[Place, ...] | None = None
        self._damage: tuple[int, ...] | None = None
        self._context: FoldedText | None = None
        self._layout: Layout | None = None
        self._language: str | Literal[False] | None = False
        # Statements by where their sentence begins; `statements` makes them.
        self.statements: dict[int, Any] = {}

    @property
    def chunk(self) -> Chunk:
        """The chunk itself."""
        return self.retrieved.chunk

    @property
    def id(self) -> str:
        """Id of the chunk."""
        return self.retrieved.chunk.id

    @property
    def text(self) -> str:
        """Text of the chunk, which is all that counts as evidence."""
        return self.retrieved.chunk.text

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """Start and end of each sentence of the text."""
        if self._sentences is None:
            self._sentences = sentence_bounds(self.text)
        return self._sentences

    @property
    def layout(self) -> Layout:
        """Sentences of the text with their lines, cut where they are asked for."""
        if self._layout is None:
            self._layout = Layout(self.text)
        return self._layout

    @property
    def language(self) -> str | None:
        """Language of most of the text, or None where it is not clear."""
        if self._language is False:
            self._language = guess_language(self.text)
        return self._language

    @property
    def of_index(self) -> bool:
        """Whether the chunk was cut by this package, from a document that it knows."""
        return self.retrieved.document_hash is not None

    def is_heading(self, start: int, end: int) -> bool:
        """Whether a sentence is a heading, as far as the chunk says."""
        spans = self.chunk.heading_spans
        return bool(spans) and any(h.start <= start and end <= h.end for h in spans)

    def behind_heading(self, start: int, end: int) -> int:
        """Return where a sentence goes on behind a heading that its first line is, or `start`."""
        inside = [h.end for h in self.chunk.heading_spans if h.start <= start < h.end < end]
        begin = max(inside, default=start)
        while begin < end and self.text[begin].isspace():
            begin += 1
        return begin

    @property
    def headings(self) -> tuple[Place, ...]:
        """Headings inside the text: navigation, never evidence."""
        if self._headings is None:
            spans = [Place(span.start, span.end) for span in self.chunk.heading_spans]
            if not spans and "#" in self.text:
                spans = [
                    Place(unit.start, unit.end)
                    for unit in group_units(self.text)
                    if unit.kind is LineKind.HEADING
                ]
            self._headings = tuple(spans)
        return self._headings

    @property
    def damage(self) -> tuple[int, ...]:
        """Where extraction lost a character, for the first of them."""
        if self._damage is None:
            found = (match.start() for match in DAMAGED.finditer(self.text))
            self._damage = tuple(islice(found, _MOST_DAMAGE))
        return self._damage

    @property
    def context(self) -> FoldedText:
        """Title, headings and metadata as they may have been shown to the model, folded."""
        if self._context is None:
            shown = [self.retrieved.title, self.retrieved.source, *self.chunk.headings]
            shown += [text for text in self.retrieved.metadata.values() if isinstance(text, str)]
            self._context = fold("\n".join(shown))
        return self._context

    def in_heading(self, place: Place) -> bool:
        """Whether `place` lies wholly inside a heading."""
        if not self.chunk.heading_spans:
            # Only the quote's own line is looked at: most lines do not begin like a heading.
            start = self.text.rfind("\n", 0, place.start) + 1
            line = _HEADING_LINE.match(self.text, start)
            return line is not None and place.end <= line.end()
        return any(
            heading.start <= place.start and place.end <= heading.end for heading in self.headings
        )


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
        raise DraftError(f"A {type(values).__name__} is no list of chunks.", hint=_CHUNKS_WANTED)
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
    raise DraftError(f"A {type(value).__name__} is no chunk.", hint=_CHUNKS_WANTED)


def _build(chunk_id: object, text: object, metadata: object, rank: int) -> dict[str, object]:
    if isinstance(chunk_id, int) and not isinstance(chunk_id, bool):
        chunk_id = str(chunk_id)
    if not isinstance(chunk_id, str) or not chunk_id:
        raise DraftError(f"Chunk {rank} has no id.", hint=_CHUNKS_WANTED)
    if not isinstance(text, str):
        raise DraftError(f"Chunk {chunk_id!r} has no text.", hint=_CHUNKS_WANTED)
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
