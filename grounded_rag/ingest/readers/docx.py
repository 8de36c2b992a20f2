"""DOCX: the body in order, tracked insertions taken, deletions left out, notes at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grounded_rag.errors import ReadError
from grounded_rag.ingest.decoding import MAX_BYTES, check_size, odd_characters, require_text
from grounded_rag.ingest.readers._docx_package import (
    ListLabels,
    Package,
    Styles,
    W,
    is_on,
    numbering_of,
    outline_level,
    value_of,
)
from grounded_rag.ingest.structure import (
    Composer,
    build_sections,
    heading_spans,
    leading_title,
    repeated,
)
from grounded_rag.protocols import ParsedDocument
from grounded_rag.text.literals import raised

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
TRANSPARENT = frozenset(
    f"{W}{name}"
    for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "hyperlink")
)
"""Elements that only wrap what a reader sees."""

_WRAPPING = TRANSPARENT | {f"{W}{name}" for name in ("fldSimple", "dir", "bdo", "rubyBase")}
_LEFT_OUT = frozenset({f"{W}del", f"{W}moveFrom"})
_LITERAL = {
    f"{W}tab": "\t",
    f"{W}ptab": "\t",
    f"{W}br": "\n",
    f"{W}cr": "\n",
    f"{W}noBreakHyphen": "\u2011",
    f"{W}softHyphen": "\u00ad",
}
_NOTES = {f"{W}footnoteReference": "footnote", f"{W}endnoteReference": "endnote"}


class InlineReader:
    """Reads paragraphs and remembers what it left out, the notes referred to, and text boxes."""

    def __init__(self) -> None:
        # Kind and id of each note, in the order of their first mention.
        self.notes: list[tuple[str, str]] = []
        self.deletions = 0
        self._insertions = 0
        self._hidden = 0
        self._struck = 0
        self._boxes: list[Element] = []
        self._parts: list[str] = []

    def text(self, paragraph: Element) -> str:
        """Return the text of a paragraph with all tracked changes accepted."""
        self._parts = []
        self._walk(paragraph)
        return "".join(self._parts)

    def take_boxes(self) -> list[Element]:
        """Return the contents of the text boxes met since the last call."""
        boxes, self._boxes = self._boxes, []
        return boxes

    def warnings(self, source: str) -> Iterator[str]:
        """Yield what a person should know about text that was taken or left out."""
        if self._insertions or self.deletions:
            yield (
                f"{source}: tracked changes: {self._insertions} insertions were taken, "
                f"{self.deletions} deletions were left out."
            )
        if self._hidden:
            yield f"{source}: {self._hidden} hidden passages were left out."
        if self._struck:
            yield f"{source}: {self._struck} struck-out passages were left out."

    def _walk(self, parent: Element) -> None:
        for child in parent:
            tag = child.tag
            if tag == f"{W}r":
                self._run(child)
            elif tag in _LEFT_OUT:
                self.deletions += 1
            elif tag in _WRAPPING:
                self._insertions += tag in (f"{W}ins", f"{W}moveTo")
                self._walk(child)
            elif tag in (f"{_M}oMath", f"{_M}oMathPara"):
                self._parts.append(_formula(child))
            elif tag == f"{_MC}AlternateContent":
                self._alternatives(child)

    def _run(self, run: Element) -> None:
        properties = run.find(f"{W}rPr")
        if is_on(properties, "vanish"):
            self._hidden += 1
            return
        if is_on(properties, "strike") or is_on(properties, "dstrike"):
            self._struck += 1
            return
        place = value_of(properties.find(f"{W}vertAlign")) if properties is not None else ""
        for child in run:
            self._content(child, lifted=place == "superscript")

    def _content(self, child: Element, *, lifted: bool) -> None:
        tag = child.tag
        if tag == f"{W}t":
            text = child.text or ""
            self._parts.append(raised(text) if lifted else text)
        elif tag in _LITERAL:
            self._parts.append(_LITERAL[tag])
        elif tag in _NOTES:
            self._parts.append(self._note_mark(_NOTES[tag], child.get(f"{W}id", "")))
        elif tag == f"{W}sym":
            self._parts.append(_symbol(child.get(f"{W}char", "")))
        elif tag == f"{W}ruby":
            self._walk(child)
        elif tag == f"{_MC}AlternateContent":
            self._alternatives(child)
        elif tag in (f"{W}drawing", f"{W}pict", f"{W}object"):
            self._boxes += _boxes_in(child)

    def _alternatives(self, element: Element) -> None:
        """Take the first alternative with a text box: Word writes the same box twice."""
        for alternative in element:
            boxes = _boxes_in(alternative)
            if boxes:
                self._boxes += boxes
                return

    def _note_mark(self, kind: str, note_id: str) -> str:
        if (kind, note_id) not in self.notes:
            self.notes.append((kind, note_id))
        return raised(str(self.notes.index((kind, note_id)) + 1))


def _boxes_in(element: Element) -> list[Element]:
    """Return the outermost text boxes below an element."""
    boxes: list[Element] = []
    for child in element:
        if child.tag == f"{W}txbxContent":
            boxes.append(child)
        elif child.tag == f"{_MC}AlternateContent":
            boxes += next((found for part in child if (found := _boxes_in(part))), [])
        else:
            boxes += _boxes_in(child)
    return boxes


def _symbol(code: str) -> str:
    """Return a character of a symbol font; most are private-use and warned about."""
    try:
        value = int(code, 16)
    except ValueError:
        return ""
    return chr(value) if 0x20 <= value < 0xD800 or 0xE000 <= value <= 0xFFFD else ""


def _formula(element: Element) -> str:
    """Return a formula on one line: raised powers, slashes for fractions."""
    if element.tag == f"{_M}t":
        return element.text or ""
    if element.tag == f"{_M}sSup":
        base, power = (_formula_part(element, name) for name in ("e", "sup"))
        lifted = raised(power)
        return base + (lifted if lifted != power else f"^({power})")
    if element.tag == f"{_M}f":
        return "/".join(_formula_part(element, name) for name in ("num", "den"))
    return "".join(map(_formula, element))


def _formula_part(element: Element, name: str) -> str:
    part = element.find(_M + name)
    return _formula(part) if part is not None else ""


MAX_UNPACKED = 200_000_000
"""Most bytes that the parts of one DOCX may unpack to."""

_CORE_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_MOST_SPANNED = 60
_FIRST_ROW = 0x20


@dataclass(frozen=True, slots=True)
class DocxReader:
    """Reads the body of a Word document as a reader sees it with all changes accepted.

    Headers, footers and comments are left out.
    """

    max_bytes: int = MAX_BYTES
    max_unpacked: int = MAX_UNPACKED

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        package = Package(data, source=source, max_unpacked=self.max_unpacked)
        try:
            walk = _DocxWalk(package)
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


class _DocxWalk:
    def __init__(self, package: Package) -> None:
        self.out = Composer()
        self._package = package
        self._styles = Styles(package.part("word/styles.xml"))
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
        """Return the texts of a row; spanned cells are repeated in each place."""
        cells: list[str] = []
        for cell in _children(row, f"{W}tc"):
            properties = cell.find(f"{W}tcPr")
            merged = properties.find(f"{W}vMerge") if properties is not None else None
            if merged is not None and value_of(merged) in ("", "continue"):
                text = repeated(above[len(cells)]) if len(cells) < len(above) else ""
            else:
                text = " ".join(part for part in self._cell_lines(cell) if part)
            span = value_of(properties.find(f"{W}gridSpan")) if properties is not None else ""
            count = int(span) if span.isascii() and span.isdigit() and len(span) < 3 else 1
            cells += [text, *[repeated(text)] * (min(count, _MOST_SPANNED) - 1)]
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
