"""The text of a DOCX paragraph: runs, revisions, notes, fields, formulas and text boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from grounded_rag.ingest.composer import raised
from grounded_rag.ingest.readers._docx_styles import W, is_on, value_of

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
    """Reads paragraphs and remembers what it left out, the notes referred to, and text boxes.

    Attributes:
        notes: Kind and id of each note, in the order of their first mention.
        deletions: Tracked deletions left out so far.
    """

    def __init__(self) -> None:
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
