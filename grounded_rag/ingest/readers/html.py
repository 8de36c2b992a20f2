"""HTML: what a person sees, in reading order, as text with Markdown-like lists and tables.

Left out are comments, scripts, styles, templates, struck-out text and nodes hidden by an attribute
or an inline style. Style sheets are not read: what only they hide stays.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING

from grounded_rag.errors import ReadError
from grounded_rag.ingest.decoding import MAX_BYTES, check_size, decode, require_text
from grounded_rag.ingest.structure import Composer, build_sections, heading_spans, repeated
from grounded_rag.protocols import ParsedDocument
from grounded_rag.text.literals import raised

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode


# What one cell may span, and how often the cells of one table are repeated: a small file with huge
# spans must not become a huge text.
_MOST_COLUMNS = 60
_MOST_ROWS = 500
_MOST_REPEATS = 2_000
_FENCE = "```"
_MOVED_IN = " " * 4
_LAYOUT_INSIDE = frozenset({"table", "h1", "h2", "h3", "h4", "h5", "h6", "pre"})


@dataclass(frozen=True, slots=True)
class HtmlTable:
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
) -> HtmlTable | None:
    """Return the table, or None where it only arranges a page."""
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
    return HtmlTable(rows, header_rows, caption)


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
    """Spanned cells of one table: those that reach into the rows below, by column."""

    spanning: dict[int, _Spanning] = field(default_factory=dict)
    repeats: int = _MOST_REPEATS

    def read_row(self, cells: list[LexborNode], text_of: Callable[[LexborNode], str]) -> list[str]:
        """Return the texts of a row, cells of rows above it included."""
        row: list[str] = []
        for cell in cells:
            self._fill(row)
            text = " ".join(text_of(cell).split())
            further = repeated(text)
            down = _span_of(cell.attributes.get("rowspan"), _MOST_ROWS)
            across = _span_of(cell.attributes.get("colspan"), _MOST_COLUMNS)
            across = 1 + min(across - 1, self.repeats)
            self.repeats -= across - 1
            for column in range(across):
                if down > 1:
                    self.spanning[len(row)] = _Spanning(further, down - 1)
                row.append(text if column == 0 else further)
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


_CHARSET = re.compile(
    rb"<meta[^>]{0,300}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)
_PRESCAN = 4096
_SKIPPED = frozenset(
    """
    head script style template noscript svg canvas iframe object embed audio video map select
    datalist textarea input annotation annotation-xml meta link title img
    """.split()
)
_STRUCK = frozenset({"del", "s", "strike"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    """
    p div section article aside nav header footer main figure figcaption blockquote address form
    fieldset legend details summary dialog dl dt dd hr hgroup center body tr td th caption
    thead tbody tfoot search menu
    """.split()
)
_HIDING = {
    "display": ("none",),
    "visibility": ("hidden", "collapse"),
    "opacity": ("0", "0.0", "0%"),
    "font-size": ("0", "0px", "0pt", "0em", "0rem", "0%"),
}


@dataclass(frozen=True, slots=True)
class HtmlReader:
    """Reads HTML as browsers parse it."""

    max_bytes: int = MAX_BYTES

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        declared = _CHARSET.search(data[:_PRESCAN])
        decoded = decode(data, source=source, declared=declared and declared[1].decode("ascii"))
        found = html_text(decoded.text, source=source)
        require_text(found.text, source=source)
        return found.model_copy(update={"warnings": decoded.warnings + found.warnings})


def html_text(html: str, *, source: str) -> ParsedDocument:
    """Return what a person sees of decoded HTML."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    walk = _HtmlWalk()
    try:
        if tree.body is not None:
            walk.children(tree.body)
    except RecursionError as error:
        raise ReadError(
            f"{source}: the HTML is nested too deeply.", hint="Save it in a simpler form."
        ) from error
    text = walk.out.text()
    headings = walk.out.headings
    first = next((heading.title for heading in headings if heading.level == 1), "")
    return ParsedDocument(
        text=text,
        title=_head_title(tree.head) or first,
        media_type="text/html",
        sections=build_sections(len(text), headings),
        headings=heading_spans(headings),
        warnings=tuple(walk.warnings(source)),
    )


@dataclass(slots=True)
class _HtmlWalk:
    """One pass over a tree; tables walk each of their cells with a composer of its own."""

    out: Composer = field(default_factory=Composer)
    left_out: Counter[str] = field(default_factory=Counter)
    depth: int = -1
    verbatim: bool = False

    def warnings(self, source: str) -> Iterator[str]:
        for what in ("hidden elements with text", "struck-out passages"):
            if self.left_out[what]:
                yield f"{source}: {self.left_out[what]} {what} were left out."

    def children(self, node: LexborNode) -> None:
        child = node.first_child
        while child is not None:
            if child.is_text_node:
                self._text(child.text_content or "")
            elif child.is_element_node:
                self._element(child)
            child = child.next

    def _text(self, text: str) -> None:
        if self.verbatim:
            self.out.write_verbatim(text)
        else:
            self.out.write(text)

    def _element(self, node: LexborNode) -> None:
        tag = (node.tag or "").lower()
        if tag in _SKIPPED:
            return
        if _is_hidden(node, tag):
            self.left_out["hidden elements with text"] += bool(node.text().strip())
            return
        if tag in _STRUCK:
            self.left_out["struck-out passages"] += bool(node.text().strip())
            return
        if tag in _HEADINGS:
            self.out.heading(self.inline(node), _HEADINGS[tag])
        elif tag == "br":
            self.out.break_line()
        elif tag == "sup":
            self.out.write(raised(self.inline(node)))
        elif tag in ("ul", "ol", "menu"):
            self._list(node, numbered=tag == "ol")
        elif tag == "pre":
            self._preformatted(node)
        elif tag == "table":
            self._table(node)
        elif tag in _BLOCKS:
            self._block(node)
        elif tag == "li":
            self.out.item("- ")
            self.children(node)
        else:
            self.children(node)

    def inline(self, node: LexborNode) -> str:
        """Return the text of a node by itself, with the same things left out."""
        inner = _HtmlWalk(left_out=self.left_out)
        inner.children(node)
        return inner.out.text()

    def _list(self, node: LexborNode, *, numbered: bool) -> None:
        self.depth += 1
        gap = 1 if self.depth else 2
        self.out.break_block(gap)
        number = _integer(node.attributes.get("start"), 1)
        for child in _elements(node):
            if child.tag == "li" and not _is_hidden(child, "li"):
                number = _integer(child.attributes.get("value"), number)
                self.out.item("  " * self.depth + (f"{number}. " if numbered else "- "))
                self.children(child)
                number += 1
            else:
                self._element(child)
        self.out.break_block(gap)
        self.depth -= 1

    def _preformatted(self, node: LexborNode) -> None:
        """Write lines as they are: fenced where they are marked as code, else moved in."""
        inner = _HtmlWalk(left_out=self.left_out, verbatim=True)
        inner.children(node)
        lines = inner.out.text().strip("\n")
        if not lines.strip():
            return
        if node.css_first("code") is not None and _FENCE not in lines:
            lines = f"{_FENCE}\n{lines}\n{_FENCE}"
        else:
            lines = indent(lines, _MOVED_IN)
        self.out.break_block(2)
        self.out.write_verbatim(lines)
        self.out.break_block(2)

    def _block(self, node: LexborNode) -> None:
        self.out.break_block(2)
        self.children(node)
        self.out.break_block(2)

    def _table(self, node: LexborNode) -> None:
        table = read_table(node, text_of=self.inline, is_hidden=_is_hidden)
        if table is None:
            self._block(node)
            return
        if table.caption:
            self.out.line(table.caption)
        self.out.table(table.rows, header_rows=table.header_rows)


def _is_hidden(node: LexborNode, tag: str) -> bool:
    attributes = node.attributes
    if "hidden" in attributes or (tag == "dialog" and "open" not in attributes):
        return True
    for declaration in (attributes.get("style") or "").lower().split(";"):
        name, _, value = declaration.partition(":")
        if value.replace("!important", "").strip() in _HIDING.get(name.strip(), ()):
            return True
    return False


def _integer(value: str | None, default: int) -> int:
    digits = (value or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 7 else default


def _head_title(head: LexborNode | None) -> str:
    title = head.css_first("title") if head is not None else None
    return " ".join((title.text() or "").split()) if title is not None else ""
