"""A table row under its header: how it reads as words, and which claims say just that."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from grounded_rag.text.lines import Line, LineKind
from grounded_rag.text.listing import told_row
from grounded_rag.text.words import content_words
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.wording import clean_wording

Words = Callable[[str], Sequence[str]]
"""Makes words of a text, as those of a claim were made."""

_TABLE = (LineKind.ROW, LineKind.DELIMITER)
_PIPE = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_BETWEEN = frozenset(":,;-–—|=·.")
# Up to so many letters a word may be a unit, whose case counts.
_SYMBOL = 2
_FREE = frozenset("the a an is are was were has have had of for in on at with per about".split())


class Row(NamedTuple):
    """The cells of one row with the names of their columns.

    Attributes:
        header: Name of each column; empty where the table's header is not known.
        cells: The row's cells, as many.
    """

    header: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def label(self) -> str:
        """What the row is about: its first cell."""
        return self.cells[0] if self.cells else ""

    def columns(self) -> tuple[int, ...]:
        """Return the columns behind the first that have a name and a cell."""
        return tuple(at for at in range(1, len(self.header)) if self.header[at] and self.cells[at])

    def reading(self, columns: Sequence[int] | None = None) -> str:
        """Return the row in words: "Single room, Weekday: 80 EUR; Sunday: 95 EUR".

        Args:
            columns: Columns to tell; None tells all.
        """
        if not self.header:
            return ", ".join(cell for cell in self.cells if cell)
        told = self.columns() if columns is None else tuple(columns)
        return told_row(self.label, [(self.header[at], self.cells[at]) for at in told])


def row_at(passage: Passage, text: str, start: int, end: int) -> Row:
    """Return the row at a place of a passage.

    Args:
        passage: The passage.
        text: Its text.
        start: Where the row begins.
        end: One past its last character.
    """
    cells = _cells(text[start:end])
    header = _header(passage, text, start)
    return Row(header if len(header) == len(cells) > 1 else (), cells)


def _header(passage: Passage, text: str, start: int) -> tuple[str, ...]:
    """Return the names above the table's rule; without a rule, a first row without figures.

    A chunk that begins inside a table carries the header's cells as its last heading.
    """
    lines = _table_lines(passage, start)
    index = next((at for at, line in enumerate(lines) if line.start == start), len(lines))
    rules = [at for at, line in enumerate(lines) if line.kind is LineKind.DELIMITER]
    if rules:
        if rules[0] == 0 or index <= rules[0]:
            return ()
        return _cells(text[lines[rules[0] - 1].start : lines[rules[0] - 1].end])
    outer = passage.chunk.headings[-1:]
    if outer and "|" in outer[0] and lines and not text[: lines[0].start].strip():
        return _cells(outer[0])
    if index == 0 or index >= len(lines):
        return ()
    first, row = lines[0], lines[index]
    top = text[first.start : first.end]
    if any(map(str.isdigit, text[row.start : row.end])) and not any(map(str.isdigit, top)):
        return _cells(top)
    return ()


def _table_lines(passage: Passage, start: int) -> list[Line]:
    """Return the lines of the table that holds the line at `start`."""
    lines = passage.lines
    first = bisect_left(lines, start, key=attrgetter("start"))
    if first == len(lines) or lines[first].start != start or lines[first].kind not in _TABLE:
        return []
    last = first + 1
    while first and lines[first - 1].kind in _TABLE:
        first -= 1
    while last < len(lines) and lines[last].kind in _TABLE:
        last += 1
    return lines[first:last]


def _cells(row: str) -> tuple[str, ...]:
    """Return the cells of a row, set apart by pipes or tabs."""
    body = row.strip()
    if "|" not in body:
        return tuple(map(_wording, body.split("\t")))
    # One pipe a side: an empty cell at the edge still is a cell.
    inner = body.removeprefix("|").removesuffix("|")
    return tuple(_wording(cell.replace("\\|", "¦")) for cell in _PIPE.split(inner))


def _wording(cell: str) -> str:
    return clean_wording(_BREAK.sub(" ", cell))


def reads_cells(claim: Sequence[str], row: Row, words: Words) -> bool:
    """Whether a claim is a row's label and names of columns with their own cells, in order.

    Args:
        claim: Words of the claim.
        row: The row.
        words: Makes words of a cell, as those of the claim were made.
    """
    bare = _plain(claim)
    label = _plain(words(row.label))
    starts = [0]
    if row.header and (first := _plain(words(row.header[0]))) and bare[: len(first)] == first:
        starts.append(len(first))
    for start in starts:
        if label and bare[start : start + len(label)] == label:
            rest = bare[start + len(label) :]
            if rest and _pairs(rest, row, row.columns(), words):
                return True
    return False


def _pairs(rest: list[str], row: Row, columns: Sequence[int], words: Words) -> bool:
    if not rest:
        return True
    for position, at in enumerate(columns):
        pair = _plain([*words(row.header[at]), *words(row.cells[at])])
        if pair == rest[: len(pair)] and _pairs(
            rest[len(pair) :], row, columns[position + 1 :], words
        ):
            return True
    return False


def names_cell(claim: Sequence[str], row: Row, context: frozenset[str], words: Words) -> bool:
    """Whether a sentence names the row, one column and its cell, and nothing else.

    Articles, forms of "be" and "have" and a few prepositions that say no direction are free, and so
    are words of the title and headings that no other column has.

    Args:
        claim: Words of the claim.
        row: The row.
        context: Words of title and headings, in lower case.
        words: Makes words of a cell, as those of the claim were made.
    """
    said = [word.lower() for word in _plain(claim)]
    label = [word.lower() for word in _plain(words(row.label))]
    if not label or not _contains(said, label):
        return False
    for at in row.columns():
        name = [word.lower() for word in _plain(words(row.header[at]))]
        cell = [word.lower() for word in _plain(words(row.cells[at]))]
        if not (_contains(said, name) and _contains(said, cell)):
            continue
        others = {
            word.lower()
            for other in row.columns()
            if other != at
            for word in (*words(row.header[other]), *words(row.cells[other]))
        }
        own = {*label, *name, *cell}
        if all(w in own or w in _FREE or (w in context and w not in others) for w in said):
            return True
    return False


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return bool(size) and any(
        list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1)
    )


def _plain(words: Sequence[str]) -> list[str]:
    """Return words without what only sets them apart; a name of a column may begin small."""
    return [
        word.lower() if len(word) > _SYMBOL and word.istitle() else word
        for word in words
        if word not in _BETWEEN
    ]


def claim_cells(claim: str, row: Row) -> Iterator[int]:
    """Yield the columns that a claim speaks of: it holds their cell, and a word of their name.

    A cell alone is not enough: "0.30 for children" may hold the cell of the adults.

    Args:
        claim: Text of the claim.
        row: The row.
    """
    said = {word.stem for word in content_words(claim)}
    for at in row.columns():
        cell = row.cells[at]
        named = not said.isdisjoint(word.stem for word in content_words(row.header[at]))
        if (
            named
            and any(map(str.isdigit, cell))
            and re.search(rf"(?<![\w.,]){re.escape(cell)}(?![\w]|[.,]\d)", claim)
        ):
            yield at
