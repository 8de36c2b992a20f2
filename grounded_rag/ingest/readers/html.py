"""HTML: what a person sees, in reading order, as text with Markdown-like lists and tables.

Left out are comments, scripts, styles, templates, struck-out text and nodes hidden by an attribute
or an inline style. Style sheets are not read: what only they hide stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grounded_rag.errors import ReadError
from grounded_rag.ingest.composer import Composer, raised
from grounded_rag.ingest.decoding import decode
from grounded_rag.ingest.limits import MAX_BYTES, check_size, require_text
from grounded_rag.ingest.readers._html_table import read_table
from grounded_rag.ingest.structure import build_sections, heading_spans
from grounded_rag.protocols import ParsedDocument

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

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
    """Reads HTML as browsers parse it.

    Attributes:
        max_bytes: Largest accepted file.
    """

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
    """Return what a person sees of decoded HTML.

    Raises:
        ReadError: It is nested too deeply.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    walk = _Walk()
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
class _Counts:
    hidden: int = 0
    struck: int = 0


@dataclass(slots=True)
class _Walk:
    """One pass over a tree; tables walk each of their cells with a composer of its own."""

    out: Composer = field(default_factory=Composer)
    counts: _Counts = field(default_factory=_Counts)
    depth: int = -1
    verbatim: bool = False

    def warnings(self, source: str) -> Iterator[str]:
        if self.counts.hidden:
            yield f"{source}: {self.counts.hidden} hidden elements with text were left out."
        if self.counts.struck:
            yield f"{source}: {self.counts.struck} struck-out passages were left out."

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
            self.counts.hidden += bool(node.text().strip())
            return
        if tag in _STRUCK:
            self.counts.struck += bool(node.text().strip())
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
            self._verbatim(node)
        elif tag == "table":
            self._table(node)
        elif tag in _BLOCKS:
            self.out.break_block(2)
            self.children(node)
            self.out.break_block(2)
        elif tag == "li":
            self.out.item("- ")
            self.children(node)
        else:
            self.children(node)

    def inline(self, node: LexborNode) -> str:
        """Return the text of a node by itself, with the same things left out."""
        inner = _Walk(counts=self.counts)
        inner.children(node)
        return inner.out.text()

    def _list(self, node: LexborNode, *, numbered: bool) -> None:
        self.depth += 1
        gap = 1 if self.depth else 2
        self.out.break_block(gap)
        number = _integer(node.attributes.get("start"), 1)
        child = node.first_child
        while child is not None:
            if child.is_element_node and child.tag == "li" and not _is_hidden(child, "li"):
                number = _integer(child.attributes.get("value"), number)
                self.out.item("  " * self.depth + (f"{number}. " if numbered else "- "))
                self.children(child)
                number += 1
            elif child.is_element_node:
                self._element(child)
            child = child.next
        self.out.break_block(gap)
        self.depth -= 1

    def _verbatim(self, node: LexborNode) -> None:
        self.out.break_block(2)
        before, self.verbatim = self.verbatim, True
        self.children(node)
        self.verbatim = before
        self.out.break_block(2)

    def _table(self, node: LexborNode) -> None:
        table = read_table(node, text_of=self.inline, is_hidden=_is_hidden)
        if table is None:
            self.out.break_block(2)
            self.children(node)
            self.out.break_block(2)
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
