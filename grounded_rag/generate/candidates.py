"""Sentences, list items and table rows of the retrieved chunks, as candidates for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from grounded_rag.text.lines import LineKind, Unit, group_units
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import RetrievedChunk, Span


class CandidateKind(Enum):
    """What a candidate is; rows and items are read together with what stands above them."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One citable piece of a chunk.

    Attributes:
        chunk: Position of its chunk in the request, from 0.
        span: Its place in the chunk's text.
        text: The characters there.
        kind: Sentence, list item or table row.
        context: Table header or list introduction: read with it, and part of the chunk's text.
        context_span: Where that stands, or None.
        headings: Title and headings above it: navigation, never evidence.
        reading: The text as it is compared with a question: a row with the names of its columns,
            an item with the sentence that opens its list.
        previous: Position in the list of candidates of the one before it in its chunk, or None.
    """

    chunk: int
    span: Span
    text: str
    kind: CandidateKind
    context: str
    context_span: Span | None
    headings: str
    reading: str
    previous: int | None


def find_candidates(chunks: Sequence[RetrievedChunk]) -> list[Candidate]:
    """Return the candidates of all chunks, in the order of the chunks and of their text.

    Headings, rules, table headers and pieces without a content word are left out.
    """
    found: list[Candidate] = []
    for number, retrieved in enumerate(chunks):
        _of_chunk(number, retrieved, found)
    return found


def _of_chunk(number: int, retrieved: RetrievedChunk, found: list[Candidate]) -> None:
    text = retrieved.chunk.text
    above = " · ".join(part for part in (retrieved.title, *retrieved.chunk.headings) if part)
    units = group_units(text)
    heading = ""
    intro: Span | None = None
    header: Span | None = None
    previous: int | None = None
    for index, unit in enumerate(units):
        span = Span(start=unit.start, end=unit.end)
        if _is_heading(unit, retrieved):
            heading = span.of(text).strip("# \t\r\n=*_")
            intro = header = None
            continue
        if unit.kind in (LineKind.RULE, LineKind.DELIMITER):
            continue
        row = unit.kind is LineKind.ROW
        if row and (header is None or not _follows_row(units, index)):
            header = span
            if _has_body(units, index):
                continue
        if not row:
            header = None
        item = unit.kind is LineKind.ITEM
        context = header if row and header != span else intro if item else None
        kind = CandidateKind.ROW if row else CandidateKind.ITEM if item else CandidateKind.SENTENCE
        pieces = (span,) if row else _sentences(text, span)
        for piece in pieces:
            if not content_words(piece.of(text)):
                continue
            found.append(
                Candidate(
                    chunk=number,
                    span=piece,
                    text=piece.of(text),
                    kind=kind,
                    context=context.of(text) if context else "",
                    context_span=context,
                    headings=f"{above} · {heading}" if heading and heading not in above else above,
                    reading=_reading(kind, piece.of(text), context.of(text) if context else ""),
                    previous=previous,
                )
            )
            previous = len(found) - 1
        if not item and not row:
            last = pieces[-1] if pieces else span
            intro = last if last.of(text).endswith(":") else None


def row_reading(row: str, header: str) -> str:
    """Return a table row as "header: cell" pairs, or its cells where no header fits."""
    cells = _cells(row)
    names = _cells(header)
    if len(names) != len(cells):
        return ", ".join(cell for cell in cells if cell)
    pairs = zip(names, cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)


def _reading(kind: CandidateKind, text: str, context: str) -> str:
    if kind is CandidateKind.ROW:
        return row_reading(text, context)
    return f"{context} {text}" if context else text


def _cells(row: str) -> list[str]:
    line = row.strip()
    if not line:
        return []
    if "|" in line:
        return [cell.strip() for cell in line.strip("|").split("|")]
    return [cell.strip() for cell in line.split("\t")]


def _sentences(text: str, span: Span) -> tuple[Span, ...]:
    return tuple(piece.shift(span.start) for piece in split_sentences(span.of(text)))


def _is_heading(unit: Unit, retrieved: RetrievedChunk) -> bool:
    if unit.kind is LineKind.HEADING:
        return True
    return any(
        heading.start <= unit.start and unit.end <= heading.end + 1
        for heading in retrieved.chunk.heading_spans
    )


def _follows_row(units: Sequence[Unit], index: int) -> bool:
    return index > 0 and units[index - 1].kind in (LineKind.ROW, LineKind.DELIMITER)


def _has_body(units: Sequence[Unit], index: int) -> bool:
    following = units[index + 1 : index + 3]
    if following and following[0].kind is LineKind.DELIMITER:
        return True
    return bool(following) and following[0].kind is LineKind.ROW
