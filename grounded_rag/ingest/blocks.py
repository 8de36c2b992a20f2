"""The parts of a document that a chunk boundary should respect, as spans."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from grounded_rag.ingest.spans import trim
from grounded_rag.text.lines import LineKind, Unit, group_units
from grounded_rag.types import Document

_GAP = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|\r\n[^\S\n]*\r\n")
_TABLE = frozenset({LineKind.ROW, LineKind.DELIMITER})
_PROSE = frozenset({LineKind.TEXT, LineKind.LABEL})


class BlockPart(NamedTuple):
    """Trimmed bounds in the text; `is_prose` where it may be cut between sentences."""

    start: int
    end: int
    is_prose: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list or table: its parts are paragraphs, items or rows, in order.

    Attributes:
        parts: Disjoint, increasing.
        is_table: Whether the parts are rows.
        header: Cells of the table's header on one line, or "".
    """

    parts: tuple[BlockPart, ...]
    is_table: bool = False
    header: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """The text under one heading, or before the first one.

    Attributes:
        path: Headings from the outermost to this one.
        heading: Bounds of the heading line, or None.
        blocks: What follows it, in order.
    """

    path: tuple[str, ...]
    heading: tuple[int, int] | None
    blocks: tuple[Block, ...]


def split_passages(document: Document) -> list[Passage]:
    """Return the passages of a document; together they cover all that is not white space."""
    starts = [section.span.start for section in document.sections]
    bounds = [0, *starts, len(document.text)]
    spans = {span.start: span.end for span in document.headings}
    passages: list[Passage] = []
    for index, (start, end) in enumerate(itertools.pairwise(bounds)):
        if start >= end:
            continue
        section = document.sections[index - 1] if index else None
        heading = None
        if section is not None and spans.get(start, start) > start:
            heading = trim(document.text, start, min(spans[start], end))
        body = heading[1] if heading else start
        blocks = _split_blocks(document.text, body, end)
        if heading or blocks:
            passages.append(Passage(section.path if section else (), heading, tuple(blocks)))
    return passages


def _split_blocks(text: str, start: int, end: int) -> list[Block]:
    body = text[start:end]
    units = group_units(body)
    blocks: list[Block] = []
    for first, last in _runs(body, units):
        run = units[first : last + 1]
        parts = tuple(
            BlockPart(start + unit.start, start + unit.end, unit.kind in _PROSE) for unit in run
        )
        if run[0].kind in _TABLE and len(run) > 1:
            joined = _join_header(parts, run)
            header = "" if joined == parts else _cells(text[parts[0].start : parts[0].end])
            blocks.append(Block(joined, is_table=True, header=header))
        else:
            blocks.append(Block(parts))
    return blocks


def _runs(body: str, units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Group units without a blank line between them; a table is a group of its own."""
    runs: list[tuple[int, int]] = []
    for index, unit in enumerate(units):
        if runs:
            before = units[index - 1]
            joined = (unit.kind in _TABLE) == (before.kind in _TABLE)
            if joined and not _GAP.search(body, before.end, unit.start):
                runs[-1] = (runs[-1][0], index)
                continue
        runs.append((index, index))
    return runs


def _join_header(parts: tuple[BlockPart, ...], units: Sequence[Unit]) -> tuple[BlockPart, ...]:
    """Keep the header of a table, its rule and its first row in one part."""
    for index, unit in enumerate(units):
        if unit.kind is LineKind.DELIMITER and index + 1 < len(parts):
            head = BlockPart(parts[0].start, parts[index + 1].end, is_prose=False)
            return (head, *parts[index + 2 :])
    return parts


def _cells(row: str) -> str:
    cells = html.unescape(row.strip("| \t")).split("|")
    return " | ".join(" ".join(cell.split()) for cell in cells)
