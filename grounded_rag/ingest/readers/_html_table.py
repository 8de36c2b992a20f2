"""Tables of HTML as rows of texts; spanned cells are told again so that each row stands alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MOST_COLUMNS = 60
_MOST_ROWS = 500
_LONGEST_REPEATED = 200
_MOST_REPEATS = 2_000
_LAYOUT_INSIDE = frozenset({"table", "h1", "h2", "h3", "h4", "h5", "h6", "pre"})


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a table, how many of the first are its header, and its caption."""

    rows: list[list[str]]
    header_rows: int
    caption: str


@dataclass(slots=True)
class _Spanning:
    """A cell that reaches into the rows below."""

    text: str
    rows_left: int


def read_table(
    node: LexborNode,
    *,
    text_of: Callable[[LexborNode], str],
    is_hidden: Callable[[LexborNode, str], bool],
) -> Table | None:
    """Return the table, or None where it only arranges a page.

    Args:
        node: The `table` element.
        text_of: Returns the text of a cell.
        is_hidden: Whether an element of that tag is hidden.
    """
    if node.attributes.get("role") in ("presentation", "none") or _holds_layout(node):
        return None
    rows: list[list[str]] = []
    grid = _Grid()
    header_rows = 0
    caption = ""
    for child, in_head in _rows(node):
        if is_hidden(child, child.tag or ""):
            continue
        if child.tag == "caption":
            caption = text_of(child)
            continue
        cells = [cell for cell in _elements(child) if not is_hidden(cell, cell.tag or "")]
        row = grid.read_row(cells, text_of)
        if not any(text.strip() for text in row):
            continue
        all_heads = bool(cells) and all(cell.tag == "th" for cell in cells)
        if (in_head or all_heads) and header_rows == len(rows):
            header_rows += 1
        rows.append(row)
    if max((len(row) for row in rows), default=0) < 2:
        return None
    return Table(rows, header_rows, caption)


def _holds_layout(node: LexborNode) -> bool:
    # The first node is the table itself. Comparing nodes would compare all of their HTML.
    inside = itertools.islice(node.traverse(), 1, None)
    return any(inner.tag in _LAYOUT_INSIDE for inner in inside)


def _rows(node: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    for child in _elements(node):
        if child.tag in ("caption", "tr"):
            yield child, False
        elif child.tag in ("thead", "tbody", "tfoot"):
            for row in _elements(child):
                yield row, child.tag == "thead"


def _elements(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


@dataclass(slots=True)
class _Grid:
    """Spanned cells of one table.

    Attributes:
        spanning: Cells that reach into the rows below, by column.
        repeats: How many more times a cell may be told again: spans must not multiply a page.
    """

    spanning: dict[int, _Spanning] = field(default_factory=dict)
    repeats: int = _MOST_REPEATS

    def read_row(self, cells: list[LexborNode], text_of: Callable[[LexborNode], str]) -> list[str]:
        """Return the texts of a row, cells of rows above it included."""
        row: list[str] = []
        for cell in cells:
            self._fill(row)
            text = " ".join(text_of(cell).split())
            repeated = text if len(text) <= _LONGEST_REPEATED else ""
            down = _span_of(cell.attributes.get("rowspan"), _MOST_ROWS)
            across = _span_of(cell.attributes.get("colspan"), _MOST_COLUMNS)
            across = 1 + min(across - 1, self.repeats)
            self.repeats -= across - 1
            for column in range(across):
                if down > 1:
                    self.spanning[len(row)] = _Spanning(repeated, down - 1)
                row.append(text if column == 0 else repeated)
        if cells:
            self._fill(row)
        return row

    def _fill(self, row: list[str]) -> None:
        while self.repeats and (above := self.spanning.get(len(row))) is not None:
            above.rows_left -= 1
            if not above.rows_left:
                del self.spanning[len(row)]
            self.repeats -= 1
            row.append(above.text)


def _span_of(value: str | None, most: int) -> int:
    digits = (value or "").strip()
    if not (digits.isascii() and digits.isdigit()):
        return 1
    return max(1, min(most, int(digits[:4])))
