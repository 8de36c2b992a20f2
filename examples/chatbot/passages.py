"""Cuts a passage into blocks that a page can show: paragraphs, headings, tables, and the quote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from grounded_rag.render.cards import Segment, segments
from grounded_rag.types import Frozen, RetrievedChunk, Span

_BLANK = re.compile(r"\n[ \t]*\n")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+•‣▪–]|\d{1,3}[.)]|>)\s", re.MULTILINE)
_DELIMITER = re.compile(r"^\s*\|?(?:\s*:?-{3,}:?\s*\|)+\s*:?-*:?\s*\|?\s*$")
_CELL_EDGE = re.compile(r"(?<!\\)\|")


class Row(Frozen):
    """A row of a table.

    Attributes:
        cells: Its cells, cut at the edges of the quote.
        quoted: Whether the quote touches it.
    """

    cells: tuple[tuple[Segment, ...], ...]
    quoted: bool


class Block(Frozen):
    """A part of a passage.

    Attributes:
        kind: How to show it; `lines` keeps line ends, as lists and addresses need.
        segments: Its text, cut at the edges of the quote; empty for a table.
        header: Header of a table.
        rows: Rows of a table.
        quoted: Whether the quote touches it.
    """

    kind: Literal["heading", "text", "lines", "table"]
    segments: tuple[Segment, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    quoted: bool = False


def blocks(chunk: RetrievedChunk, quote: Span | None = None) -> tuple[Block, ...]:
    """Cut a chunk into blocks.

    Args:
        chunk: The chunk.
        quote: The quote's place in the chunk's text, or None without one.
    """
    text = chunk.chunk.text
    made = []
    for span in _parts(text, chunk.chunk.heading_spans):
        table = _table(text, span, quote)
        if table is not None:
            made.append(table)
            continue
        heading = any(span.overlaps(other) for other in chunk.chunk.heading_spans)
        if heading:
            span = _without_marks(text, span)
        kind: Literal["heading", "text", "lines"] = "text"
        if heading:
            kind = "heading"
        elif _LIST_ITEM.search(span.of(text)):
            kind = "lines"
        made.append(
            Block(kind=kind, segments=_cut(text, span, quote), quoted=_touches(span, quote))
        )
    return tuple(made)


def _parts(text: str, headings: Sequence[Span]) -> Iterator[Span]:
    """Yield what blank lines and headings separate, without white space around."""
    edges = {0, len(text)}
    for match in _BLANK.finditer(text):
        edges.add(match.end())
    for heading in headings:
        edges |= {heading.start, heading.end}
    bounds = sorted(edges)
    for start, end in pairwise(bounds):
        piece = text[start:end]
        if piece.strip():
            begin = start + len(piece) - len(piece.lstrip())
            yield Span(start=begin, end=begin + len(piece.strip()))


def _touches(span: Span, quote: Span | None) -> bool:
    return quote is not None and span.overlaps(quote)


def _cut(text: str, span: Span, quote: Span | None) -> tuple[Segment, ...]:
    if quote is None or not span.overlaps(quote):
        return (Segment(text=span.of(text), quoted=False),)
    inside = Span(start=max(span.start, quote.start), end=min(span.end, quote.end))
    return segments(text, inside, context=span)


def _without_marks(text: str, span: Span) -> Span:
    piece = span.of(text)
    return Span(start=span.start + len(piece) - len(piece.lstrip("# ")), end=span.end)


def _table(text: str, span: Span, quote: Span | None) -> Block | None:
    """Return a Markdown table as a block, or None where `span` holds none."""
    lines = list(_lines(text, span))
    if len(lines) < 3 or not _DELIMITER.match(lines[1].of(text)):
        return None
    rows = [
        Row(
            cells=tuple(_cut(text, cell, quote) for cell in _cells(text, line)),
            quoted=_touches(line, quote),
        )
        for line in lines[2:]
    ]
    return Block(
        kind="table",
        header=tuple(cell.of(text) for cell in _cells(text, lines[0])),
        rows=tuple(rows),
        quoted=_touches(span, quote),
    )


def _lines(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    for line in span.of(text).splitlines(keepends=True):
        yield Span(start=start, end=start + len(line.rstrip("\r\n")))
        start += len(line)


def _cells(text: str, line: Span) -> list[Span]:
    row = line.of(text)
    edges = [line.start + match.start() for match in _CELL_EDGE.finditer(row)]
    begins = [line.start, *(edge + 1 for edge in edges)]
    ends = [*edges, line.end]
    cells = []
    for position, (start, end) in enumerate(zip(begins, ends, strict=True)):
        piece = text[start:end]
        outside = position == 0 or position == len(edges)
        if outside and not piece.strip():
            continue
        lead = len(piece) - len(piece.lstrip())
        cells.append(Span(start=start + lead, end=start + lead + len(piece.strip())))
    return cells
