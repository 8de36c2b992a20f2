"""DOCX: the body in order, tracked insertions taken, deletions left out, notes at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grounded_rag.errors import ReadError
from grounded_rag.ingest.composer import Composer, raised
from grounded_rag.ingest.decoding import odd_characters
from grounded_rag.ingest.limits import MAX_BYTES, check_size, require_text
from grounded_rag.ingest.readers._docx_inline import TRANSPARENT, InlineReader
from grounded_rag.ingest.readers._docx_parts import Package
from grounded_rag.ingest.readers._docx_styles import (
    ListLabels,
    Styles,
    W,
    is_on,
    numbering_of,
    outline_level,
    value_of,
)
from grounded_rag.ingest.structure import build_sections, heading_spans, leading_title
from grounded_rag.protocols import ParsedDocument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

MAX_UNPACKED = 200_000_000
"""Most bytes that the parts of one DOCX may unpack to."""

_CORE_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_MOST_SPANNED = 60
_LONGEST_REPEATED = 200
_FIRST_ROW = 0x20


@dataclass(frozen=True, slots=True)
class DocxReader:
    """Reads the body of a Word document as a reader sees it with all changes accepted.

    Headers, footers and comments are left out.

    Attributes:
        max_bytes: Largest accepted file.
        max_unpacked: Most bytes that its parts may unpack to.
    """

    max_bytes: int = MAX_BYTES
    max_unpacked: int = MAX_UNPACKED

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`.

        Raises:
            EncryptedError: It needs a password.
        """
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        package = Package(data, source=source, max_unpacked=self.max_unpacked)
        try:
            walk = _Walk(package)
            walk.document()
        except RecursionError as error:
            raise ReadError(
                f"{source}: the document is nested too deeply.", hint="Save it in a simpler form."
            ) from error
        text = walk.out.text()
        require_text(text, source=source)
        headings = walk.out.headings
        return ParsedDocument(
            text=text,
            title=_core_title(package) or walk.title or leading_title(headings),
            media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            sections=build_sections(len(text), headings),
            headings=heading_spans(headings),
            warnings=(*walk.inline.warnings(source), *odd_characters(text, source)),
        )


class _Walk:
    def __init__(self, package: Package) -> None:
        self.out = Composer()
        self._package = package
        self._styles = Styles.of(package.part("word/styles.xml"))
        self._labels = ListLabels(package.part("word/numbering.xml"))
        self.inline = InlineReader()
        # The text of paragraphs whose mark is deleted: it goes on in the next paragraph.
        self._carried = ""
        self.title = ""

    def document(self) -> None:
        root = self._package.part("word/document.xml")
        body = root.find(f"{W}body") if root is not None else None
        if body is not None:
            self._blocks(body)
        if self._carried:
            self.out.line(self._carried)
        self._notes()

    def _blocks(self, parent: Element) -> None:
        for child in parent:
            if child.tag == f"{W}p":
                self._paragraph(child)
            elif child.tag == f"{W}tbl":
                self._table(child)
            elif child.tag in TRANSPARENT:
                self._blocks(child)

    def _paragraph(self, element: Element) -> None:
        properties = element.find(f"{W}pPr")
        text = self._carried + self.inline.text(element)
        self._carried = ""
        boxes = self.inline.take_boxes()
        mark = properties.find(f"{W}rPr") if properties is not None else None
        if mark is not None and (mark.find(f"{W}del") is not None):
            self._carried = text
        elif text.strip():
            self._write(text, properties)
        for box in boxes:
            self._blocks(box)

    def _write(self, text: str, properties: Element | None) -> None:
        style = value_of(properties.find(f"{W}pStyle")) if properties is not None else ""
        level = outline_level(properties) or self._styles.heading_level(style)
        numbering = numbering_of(properties) or self._styles.numbering(style)
        label = self._labels.label(numbering) if numbering else ""
        if not self.title and self._styles.is_title(style):
            self.title = " ".join(text.split())
        if level is not None:
            self.out.heading(label.replace("- ", "") + text, level)
        elif numbering and label:
            self.out.item("  " * numbering.depth + label)
            self.out.write_verbatim(text.strip())
            self.out.break_block(1)
        else:
            self.out.break_block(2)
            self.out.write_verbatim(text.strip())
            self.out.break_block(2)

    def _table(self, element: Element) -> None:
        rows = list(_children(element, f"{W}tr"))
        if max((len(list(_children(row, f"{W}tc"))) for row in rows), default=0) <= 1:
            for row in rows:
                for cell in _children(row, f"{W}tc"):
                    self._blocks(cell)
            return
        texts: list[list[str]] = []
        above: list[str] = []
        header_rows = 0
        for row in rows:
            properties = row.find(f"{W}trPr")
            if properties is not None and properties.find(f"{W}del") is not None:
                self.inline.deletions += 1
                continue
            above = self._cells(row, above)
            if not any(cell.strip() for cell in above):
                continue
            if is_on(properties, "tblHeader") and header_rows == len(texts):
                header_rows += 1
            texts.append(above)
        look = element.find(f"{W}tblPr/{W}tblLook")
        marked = _first_row_is_header(look) or (bool(rows) and _is_bold(rows[0]))
        if not header_rows and len(texts) > 1 and marked:
            header_rows = 1
        self.out.table(texts, header_rows=header_rows)

    def _cells(self, row: Element, above: list[str]) -> list[str]:
        """Return the texts of a row; spanned cells are told again in each place."""
        cells: list[str] = []
        for cell in _children(row, f"{W}tc"):
            properties = cell.find(f"{W}tcPr")
            merged = properties.find(f"{W}vMerge") if properties is not None else None
            if merged is not None and value_of(merged) in ("", "continue"):
                text = _repeated(above[len(cells)]) if len(cells) < len(above) else ""
            else:
                text = " ".join(part for part in self._cell_lines(cell) if part)
            span = value_of(properties.find(f"{W}gridSpan")) if properties is not None else ""
            count = int(span) if span.isascii() and span.isdigit() and len(span) < 3 else 1
            cells += [text, *[_repeated(text)] * (min(count, _MOST_SPANNED) - 1)]
        return cells

    def _cell_lines(self, parent: Element) -> Iterator[str]:
        for child in parent:
            if child.tag == f"{W}p":
                text = " ".join(self.inline.text(child).split())
                boxes = self.inline.take_boxes()
                numbering = numbering_of(child.find(f"{W}pPr"))
                yield (self._labels.label(numbering) if numbering and text else "") + text
                for box in boxes:
                    yield from self._cell_lines(box)
            elif child.tag in TRANSPARENT or child.tag in (f"{W}tbl", f"{W}tr", f"{W}tc"):
                yield from self._cell_lines(child)

    def _notes(self) -> None:
        notes = {
            (kind, note.get(f"{W}id", "")): note
            for kind in ("footnote", "endnote")
            for note in self._package.part(f"word/{kind}s.xml") or ()
        }
        for number, key in enumerate(list(self.inline.notes), start=1):
            note = notes.get(key)
            text = " ".join(self._cell_lines(note)).strip() if note is not None else ""
            if text:
                self.out.line(f"{raised(str(number))} {text}")


def _children(parent: Element, tag: str) -> Iterator[Element]:
    """Yield the children of that tag, also those inside wrapping elements."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in TRANSPARENT:
            yield from _children(child, tag)


def _repeated(text: str) -> str:
    """Return the text of a spanned cell for its further places; a long one is told once."""
    return text if len(text) <= _LONGEST_REPEATED else ""


def _first_row_is_header(look: Element | None) -> bool:
    if look is None:
        return False
    if (flag := look.get(f"{W}firstRow")) is not None:
        return flag in ("1", "true", "on")
    try:
        return bool(int(value_of(look) or "0", 16) & _FIRST_ROW)
    except ValueError:
        return False


def _is_bold(row: Element) -> bool:
    runs = [run for run in row.iter(f"{W}r") if (run.findtext(f"{W}t") or "").strip()]
    return bool(runs) and all(is_on(run.find(f"{W}rPr"), "b") for run in runs)


def _core_title(package: Package) -> str:
    core = package.part("docProps/core.xml")
    return " ".join((core.findtext(_CORE_TITLE) or "").split()) if core is not None else ""
