"""Documents cut into chunks, span first: every chunk is a slice with exact offsets."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence

from grounded_rag.ingest.packing import Packer, Piece, split_by_headings
from grounded_rag.types import Chunk, Document, Span

DEFAULT_CAPACITY = 220
"""Tokens of an embedded view: safely inside the 256 word pieces of the built-in embedder."""

RECIPE = "3"
"""Version of these rules: it moves when the same document would give other chunks."""

_TITLE_BYTES = 60
_PATH_BYTES = 100
_SEPARATOR = " › "
_ID_DIGITS = 20


def chunk(
    document: Document,
    *,
    count: Callable[[str], int],
    capacity: int = DEFAULT_CAPACITY,
) -> tuple[Chunk, ...]:
    """Cut a document into chunks.

    Boundaries fall, in this order of preference, before headings, between paragraphs, between
    list items, table rows and sentences, between words, between grapheme clusters.

    Ids are made of document id, embedded view and n-th occurrence of it. A chunk that begins
    inside a table has the header's cells as its last heading. Spans are disjoint, hold no white
    space at either end, and cover every character that is not white space.

    Args:
        document: The document.
        count: Returns how many tokens the embedding model makes of a text, untruncated.
        capacity: Most tokens of a chunk's embedded view (title, headings and text).

    Raises:
        ConfigError: `capacity` leaves no room beside the title and the headings.
    """
    starts = [span.start for span in document.headings]
    page_ends = [span.end for span in document.pages]
    # Of each piece its embedded view and the headings inside its text.
    measured: dict[Piece, tuple[str, tuple[Span, ...]]] = {}

    def measure(piece: Piece) -> int:
        text = document.text[piece.start : piece.end]
        inside = _headings_inside(document, starts, piece)
        view = _view(document.title, piece.path, text, inside)
        measured[piece] = (view, inside)
        return count(view)

    packer = Packer(text=document.text, measure=measure, count=count, capacity=capacity)
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for piece in packer.pack(split_by_headings(document)):
        view, inside = measured[piece]
        text = document.text[piece.start : piece.end]
        chunks.append(
            Chunk(
                id=_chunk_id(document.id, view, seen[view]),
                doc_id=document.id,
                span=Span(start=piece.start, end=piece.end),
                text=text,
                content_hash=hashlib.sha256(text.encode()).hexdigest(),
                headings=piece.path,
                heading_spans=inside,
                page=_page_at(page_ends, piece.start),
            )
        )
        seen[view] += 1
    return tuple(chunks)


def embedded_text(chunk: Chunk, title: str) -> str:
    """Return what is embedded and indexed for a chunk: title of the document, headings and text.

    The header is shortened to at most 165 bytes of UTF-8 (some 45 tokens); the chunk's text is
    whole and last. Headings that already open the text are not repeated.
    """
    return _view(title, chunk.headings, chunk.text, chunk.heading_spans)


def _view(title: str, path: Sequence[str], text: str, inside: Sequence[Span]) -> str:
    opened = [" ".join(span.of(text).split()) for span in inside]
    name = " ".join(title.split())
    trail = [part for part in path if part != name]
    header = [
        _cut(name, _TITLE_BYTES) if not _stands_in(name, opened) else "",
        _innermost([part for part in trail if not _stands_in(part, opened)]),
    ]
    lines = [line for line in header if line]
    return "\n".join(lines) + "\n\n" + text if lines else text


def _stands_in(part: str, opened: Sequence[str]) -> bool:
    return any(part in heading for heading in opened)


def _innermost(path: Sequence[str]) -> str:
    """Join as many of the innermost headings as fit; of a single long one its beginning."""
    if not path:
        return ""
    trail = _cut(path[-1], _PATH_BYTES)
    for part in reversed(path[:-1]):
        longer = part + _SEPARATOR + trail
        if len(longer.encode()) > _PATH_BYTES:
            break
        trail = longer
    return trail


def _cut(text: str, size: int) -> str:
    """Return the longest beginning of `text` that takes at most `size` bytes of UTF-8."""
    return text[:size].encode()[:size].decode("utf-8", "ignore").rstrip()


def _headings_inside(document: Document, starts: list[int], piece: Piece) -> tuple[Span, ...]:
    """Return the parts of the piece that are headings, in code points of the piece."""
    first = max(0, bisect_right(starts, piece.start) - 1)
    last = bisect_left(starts, piece.end)
    return tuple(
        Span(start=max(span.start, piece.start), end=min(span.end, piece.end)).shift(-piece.start)
        for span in document.headings[first:last]
        if span.end > piece.start and span.start < piece.end
    )


def _page_at(ends: list[int], offset: int) -> int | None:
    page = bisect_right(ends, offset)
    return page + 1 if page < len(ends) else None


def _chunk_id(doc_id: str, view: str, occurrence: int) -> str:
    # The length keeps a document id and a view from running into each other.
    key = f"{len(doc_id)}:{doc_id}{occurrence}:{view}"
    return hashlib.sha256(key.encode()).hexdigest()[:_ID_DIGITS]
