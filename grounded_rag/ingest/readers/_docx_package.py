"""The package of a DOCX file, opened with limits, and its styles and list numbers."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from grounded_rag.errors import EncryptedError, ReadError, UnsupportedFormatError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_MOST_MEMBERS = 20_000
_HINT = "Open it and save it again as DOCX."


class Package:
    """An opened DOCX file that hands out its XML parts, which unpack to at most `max_unpacked`.

    Raises:
        EncryptedError: It needs a password.
        UnsupportedFormatError: It is an old binary document.
        ReadError: It is no DOCX.
    """

    def __init__(self, data: bytes, *, source: str, max_unpacked: int) -> None:
        self._source = source
        self._left = max_unpacked
        self._max_unpacked = max_unpacked
        if data.startswith(_OLE):
            if _ENCRYPTED_STREAM in data:
                raise _encrypted(source)
            raise UnsupportedFormatError(
                f"{source}: this is an old binary document.", hint="Save it as DOCX."
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise ReadError(f"{source}: this is no DOCX file.", hint=_HINT) from error
        if len(self._zip.infolist()) > _MOST_MEMBERS:
            raise ReadError(f"{source}: the file has too many parts.", hint=_HINT)
        if "word/document.xml" not in self._zip.namelist():
            raise ReadError(f"{source}: the file holds no Word document.", hint=_HINT)

    def part(self, name: str) -> Element | None:
        """Return the root of an XML part, or None where the package has no such part."""
        if name not in self._zip.namelist():
            return None
        import defusedxml
        from defusedxml.ElementTree import fromstring

        raw = self._read(name)
        try:
            root: Element = fromstring(raw, forbid_dtd=True)
        except defusedxml.DefusedXmlException as error:
            raise ReadError(
                f"{self._source}: {name} declares a document type or entities; refused.",
                hint=_HINT,
            ) from error
        except (ParseError, ValueError, LookupError) as error:
            raise ReadError(f"{self._source}: {name} is damaged.", hint=_HINT) from error
        return root

    def _read(self, name: str) -> bytes:
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise _encrypted(self._source)
        try:
            with self._zip.open(info) as stream:
                # The size that the archive declares may be a lie: read one byte too many instead.
                raw = stream.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
            raise ReadError(f"{self._source}: {name} is damaged.", hint=_HINT) from error
        self._left -= len(raw)
        if self._left < 0:
            raise ReadError(
                f"{self._source}: the document unpacks to more than {self._max_unpacked:,} bytes.",
                hint="Split the document.",
            )
        return raw


def _encrypted(source: str) -> EncryptedError:
    return EncryptedError(
        f"{source}: the document needs a password.",
        hint="Save a copy without the password and ingest that.",
    )


W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_NAME = re.compile(r"heading ([1-9])$")
_DEEPEST = 20  # styles may be based on each other in a circle
_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST_ROMAN = 4000


@dataclass(frozen=True, slots=True)
class Numbering:
    """The list that a paragraph belongs to and its depth, from 0."""

    list_id: str
    depth: int


class Styles:
    """Paragraph styles of `word/styles.xml`: heading level and list, their parents' included."""

    def __init__(self, root: Element | None) -> None:
        found = root.iter(f"{W}style") if root is not None else ()
        self._elements = {style.get(f"{W}styleId", ""): style for style in found}

    def heading_level(self, style_id: str | None) -> int | None:
        """Return the level that a style gives its paragraphs, or None for text."""
        for style in self._chain(style_id):
            name = value_of(style.find(f"{W}name")).lower()
            if name == "title":
                return 1
            if match := _HEADING_NAME.match(name):
                return min(6, int(match[1]))
            level = outline_level(style.find(f"{W}pPr"))
            if level is not None:
                return level
        return None

    def is_title(self, style_id: str | None) -> bool:
        """Whether a style is the document title's."""
        return any(
            value_of(style.find(f"{W}name")).lower() == "title" for style in self._chain(style_id)
        )

    def numbering(self, style_id: str | None) -> Numbering | None:
        """Return the list that a style puts its paragraphs into."""
        found = (numbering_of(style.find(f"{W}pPr")) for style in self._chain(style_id))
        return next(filter(None, found), None)

    def _chain(self, style_id: str | None) -> list[Element]:
        chain: list[Element] = []
        while style_id in self._elements and len(chain) < _DEEPEST:
            style = self._elements[style_id]
            chain.append(style)
            style_id = value_of(style.find(f"{W}basedOn")) or None
        return chain


def value_of(element: Element | None) -> str:
    """Return the `w:val` of an element, or ""."""
    return element.get(f"{W}val", "") if element is not None else ""


def is_on(properties: Element | None, name: str) -> bool:
    """Whether a switch such as `w:vanish` is there and not turned off."""
    element = properties.find(W + name) if properties is not None else None
    return element is not None and value_of(element) not in ("0", "false", "off", "none")


def outline_level(properties: Element | None) -> int | None:
    """Return the heading level of paragraph properties, 1 the outermost."""
    found = properties.find(f"{W}outlineLvl") if properties is not None else None
    level = value_of(found)
    return int(level) + 1 if level in ("0", "1", "2", "3", "4", "5") else None


def numbering_of(properties: Element | None) -> Numbering | None:
    """Return the list that paragraph properties name."""
    found = properties.find(f"{W}numPr") if properties is not None else None
    if found is None:
        return None
    depth = value_of(found.find(f"{W}ilvl"))
    list_id = value_of(found.find(f"{W}numId"))
    return Numbering(list_id, int(depth) if depth in set("012345678") else 0) if list_id else None


class ListLabels:
    """Counts list items and returns the label that a reader sees before each."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, list[Element]] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if root is None:
            return
        abstract = {
            item.get(f"{W}abstractNumId", ""): item.findall(f"{W}lvl")
            for item in root.iter(f"{W}abstractNum")
        }
        for item in root.iter(f"{W}num"):
            link = value_of(item.find(f"{W}abstractNumId"))
            self._levels[item.get(f"{W}numId", "")] = abstract.get(link, [])

    def label(self, numbering: Numbering) -> str:
        """Return the next label: "- " for bullets, "2. " and the like for numbers."""
        level = self._level(numbering.list_id, numbering.depth)
        if numbering.list_id == "0":
            return ""
        form = value_of(level.find(f"{W}numFmt")) if level is not None else "bullet"
        if form == "none":
            return ""
        counts = self._counts[numbering.list_id]
        counts[numbering.depth] = counts.get(numbering.depth, self._start(numbering) - 1) + 1
        for deeper in [depth for depth in counts if depth > numbering.depth]:
            del counts[deeper]
        if form == "bullet" or level is None:
            return "- "
        pattern = value_of(level.find(f"{W}lvlText"))
        return _PLACE.sub(lambda match: self._counted(numbering, int(match[1]) - 1), pattern) + " "

    def _counted(self, numbering: Numbering, depth: int) -> str:
        level = self._level(numbering.list_id, depth)
        number = self._counts[numbering.list_id].get(depth, 1)
        return _number(number, value_of(level.find(f"{W}numFmt")) if level is not None else "")

    def _start(self, numbering: Numbering) -> int:
        level = self._level(numbering.list_id, numbering.depth)
        start = value_of(level.find(f"{W}start")) if level is not None else ""
        return int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1

    def _level(self, list_id: str, depth: int) -> Element | None:
        levels = self._levels.get(list_id, ())
        return next((level for level in levels if level.get(f"{W}ilvl") == str(depth)), None)


def _number(number: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min(5, (number - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman") and 0 < number < _MOST_ROMAN:
        roman = ""
        for value, letters in _ROMAN:
            roman += letters * (number // value)
            number %= value
        return roman.upper() if form == "upperRoman" else roman
    return str(number)
