"""Tables of HTML as rows of texts; spanned cells are told again so that each row stands alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_MOST_COLUMNS = 60
_MOST_ROWS = 500
_LONGEST_REPEATED = 200
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
    spanning: dict[int, _Spanning] = {}
    header_rows = 0
    caption = ""
    for child, in_head in _rows(node):
        if is_hidden(child, child.tag or ""):
            continue
        if child.tag == "caption":
            caption = text_of(child)
            continue
        cells = [cell for cell in _elements(child) if not is_hidden(cell, cell.tag or "")]
        row = _read_row(cells, spanning, text_of)
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
    return any(inner.tag in _LAYOUT_INSIDE for inner in node.traverse() if inner != node)


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


def _read_row(
    cells: list[LexborNode],
    spanning: dict[int, _Spanning],
    text_of: Callable[[LexborNode], str],
) -> list[str]:
    row: list[str] = []

    def fill() -> None:
        while (above := spanning.get(len(row))) is not None:
            above.rows_left -= 1
            if not above.rows_left:
                del spanning[len(row)]
            row.append(above.text)

    for cell in cells:
        fill()
        if len(row) >= _MOST_COLUMNS:
            break
        text = " ".join(text_of(cell).split())
        repeated = text if len(text) <= _LONGEST_REPEATED else ""
        down = _span_of(cell.attributes.get("rowspan"), _MOST_ROWS)
        for column in range(_span_of(cell.attributes.get("colspan"), _MOST_COLUMNS)):
            if len(row) >= _MOST_COLUMNS:
                break
            if down > 1:
                spanning[len(row)] = _Spanning(repeated, down - 1)
            row.append(text if column == 0 else repeated)
    fill()
    return row


def _span_of(value: str | None, most: int) -> int:
    digits = (value or "").strip()
    if not (digits.isascii() and digits.isdigit()):
        return 1
    return max(1, min(most, int(digits[:4])))
