"""Words and lines of a PDF page with their places, in the order of the page's content."""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from grounded_rag.text.literals import raised

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage


_HYPHEN = "\x02"
_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy", re.IGNORECASE)
_LONGEST_NAME = 128
_GAP = 1.2
_BULLET = re.compile(r"(?:[-*+•‣◦▪●○·–]|\(?[0-9]{1,3}[.)]|\(?[A-Za-z][.)])$")
_SHRUNK = 0.8
_LIFTED = 0.08


@dataclass(frozen=True, slots=True)
class Segment:
    """A word, or words of one line without a wide gap; lengths are points, y grows upward."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    bold: bool
    ends_line: bool = False

    @property
    def size(self) -> float:
        """Height of the line, about 1.2 times the font size."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class PdfLine:
    """Segments on one baseline, from left to right."""

    segments: tuple[Segment, ...]

    @property
    def text(self) -> str:
        """All words, a space between segments."""
        return " ".join(segment.text for segment in self.segments)

    @property
    def x0(self) -> float:
        """Left edge."""
        return self.segments[0].x0

    @property
    def x1(self) -> float:
        """Right edge."""
        return self.segments[-1].x1

    @property
    def y0(self) -> float:
        """Lower edge."""
        return min(segment.y0 for segment in self.segments)

    @property
    def size(self) -> float:
        """Height of the segment with the most characters."""
        return max(self.segments, key=lambda segment: len(segment.text)).size

    @property
    def bold(self) -> bool:
        """Whether all of it is bold."""
        return all(segment.bold for segment in self.segments)


def read_lines(page: PdfPage) -> list[PdfLine]:
    """Return the lines of a page in content order; what lies on one baseline is one line."""
    textpage = page.get_textpage()
    try:
        words = list(_words(page, textpage))
    finally:
        textpage.close()
    lines: list[PdfLine] = []
    current: list[Segment] = []
    for word in words:
        if current and not _follows(current[-1], word):
            lines.append(_line_of(current))
            current = []
        current.append(word)
    if current:
        lines.append(_line_of(current))
    return lines


def _follows(before: Segment, word: Segment) -> bool:
    """Whether `word` goes on in the line of `before`."""
    if before.ends_line or word.x0 < before.x0:
        return False
    overlap = min(before.y1, word.y1) - max(before.y0, word.y0)
    return overlap > min(before.size, word.size) / 2


def _line_of(words: Sequence[Segment]) -> PdfLine:
    tallest = max(word.size for word in words)
    floor = min(word.y0 for word in words if word.size > _SHRUNK * tallest)
    groups: list[list[Segment]] = []
    for word in words:
        small = word.size < _SHRUNK * tallest and word.y0 > floor + _LIFTED * tallest
        shown = replace(word, text=raised(word.text)) if small else word
        joins = groups and (
            word.x0 - groups[-1][-1].x1 <= _GAP * tallest
            or (len(groups[-1]) == 1 and _BULLET.match(groups[-1][0].text))
        )
        if joins:
            groups[-1].append(shown)
        else:
            groups.append([shown])
    return PdfLine(tuple(_segment_of(group) for group in groups))


def _segment_of(words: Sequence[Segment]) -> Segment:
    # The longest word decides the height: a tick or an arrow of another font may be taller.
    longest = max(words, key=lambda word: len(word.text))
    return Segment(
        text=" ".join(word.text for word in words),
        x0=words[0].x0,
        x1=words[-1].x1,
        y0=longest.y0,
        y1=longest.y1,
        bold=all(word.bold for word in words),
    )


def _words(page: PdfPage, textpage: PdfTextPage) -> Iterator[Segment]:
    import pypdfium2.raw as pdfium

    handle = textpage.raw
    code_of = pdfium.FPDFText_GetUnicode
    start = 0
    letters: list[str] = []
    boxes = _Boxes(page, textpage)
    total = pdfium.FPDFText_CountChars(handle)
    for index in range(total + 1):
        letter = chr(code_of(handle, index)) if index < total else " "
        # NUL, U+FFFE and lone surrogates cannot be stored; they show that the font is damaged.
        if letter == "\x00" or letter == "\ufffe" or "\ud800" <= letter <= "\udfff":
            letter = "\ufffd"
        if letter in " \t\r\n\xa0\f\v":
            if letters:
                yield boxes.word(letters, start)
                letters = []
            continue
        if not letters:
            start = index
        letters.append(letter)
        if letter == _HYPHEN:
            yield boxes.word(letters, start)
            letters = []


class _Boxes:
    """Places of characters, turned as the page is shown."""

    def __init__(self, page: PdfPage, textpage: PdfTextPage) -> None:
        import pypdfium2.raw as pdfium

        self._box = pdfium.FS_RECTF()
        self._measure: Any = pdfium.FPDFText_GetLooseCharBox
        self._weight: Any = pdfium.FPDFText_GetFontWeight
        self._font: Any = pdfium.FPDFText_GetFontInfo
        self._name = ctypes.create_string_buffer(_LONGEST_NAME)
        self._flags = ctypes.c_int()
        self._handle = textpage.raw
        self._turn = page.get_rotation()

    def word(self, letters: list[str], start: int) -> Segment:
        last = start + len(letters) - 1
        first_box, last_box = self._place(start), self._place(last)
        heights = (first_box[3] - first_box[1], last_box[3] - last_box[1])
        taller = first_box if heights[0] >= heights[1] else last_box
        text = "".join(letters)
        if len(letters) > 1 and min(heights) < _SHRUNK * max(heights):
            text = self._lift(letters, start)
        return Segment(
            text=text.replace(_HYPHEN, "-"),
            x0=min(first_box[0], last_box[0]),
            x1=max(first_box[2], last_box[2]),
            y0=taller[1],
            y1=taller[3],
            bold=self._is_bold(start),
            ends_line=text.endswith(_HYPHEN),
        )

    def _is_bold(self, index: int) -> bool:
        if self._weight(self._handle, index) >= _BOLD_WEIGHT:
            return True
        # Fonts that are not embedded have no weight, only a name.
        length = self._font(self._handle, index, self._name, _LONGEST_NAME, self._flags)
        return length <= _LONGEST_NAME and bool(_BOLD_NAME.search(self._name.value))

    def _lift(self, letters: list[str], start: int) -> str:
        """Return the word with its raised digits as such: 10 and a small 5 are not 105."""
        places = [self._place(start + index) for index in range(len(letters))]
        tallest = max(place[3] - place[1] for place in places)
        floor = min(place[1] for place in places if place[3] - place[1] > _SHRUNK * tallest)
        return "".join(
            raised(letter)
            if place[3] - place[1] < _SHRUNK * tallest and place[1] > floor + _LIFTED * tallest
            else letter
            for letter, place in zip(letters, places, strict=True)
        )

    def _place(self, index: int) -> tuple[float, float, float, float]:
        box = self._box
        if not self._measure(self._handle, index, box):
            return (0.0, 0.0, 0.0, 0.0)
        left, bottom, right, top = box.left, box.bottom, box.right, box.top
        if self._turn == 90:
            return (bottom, -right, top, -left)
        if self._turn == 180:
            return (-right, -top, -left, -bottom)
        if self._turn == 270:
            return (-top, left, -bottom, right)
        return (left, bottom, right, top)


_DIGITS = re.compile(r"[0-9]+")
_AT_EDGE = 3
_TOLERANCE = 4.0
_SHARE = 0.4  # of all pages that must have a line at the same height
_LEAST_PAGES = 3


def strip_running_heads(
    pages: Sequence[list[PdfLine]],
) -> tuple[list[list[PdfLine]], tuple[str, ...]]:
    """Take repeated lines off the top and the bottom of pages, and return an example of each.

    A line goes only if it stands at the same height on many pages and all its numbers are either
    the same everywhere or count with the pages; a table that goes on over pages is safe.
    """
    needed = max(_LEAST_PAGES if len(pages) > 2 else 2, _SHARE * len(pages))
    candidates: dict[str, list[tuple[int, PdfLine]]] = defaultdict(list)
    for number, lines in enumerate(pages):
        by_height = sorted(lines, key=lambda line: line.y0)
        edge = {id(line): line for line in (*by_height[:_AT_EDGE], *by_height[-_AT_EDGE:])}
        for line in edge.values():
            candidates[_DIGITS.sub("#", line.text)].append((number, line))
    taken: set[int] = set()
    examples: list[str] = []
    for places in candidates.values():
        height = median(line.y0 for _, line in places)
        level = [place for place in places if abs(place[1].y0 - height) <= _TOLERANCE]
        if len({number for number, _ in level}) >= needed and _counts_along(level):
            taken.update(id(line) for _, line in level)
            examples.append(level[0][1].text)
    kept = [[line for line in lines if id(line) not in taken] for lines in pages]
    return kept, tuple(examples)


def _counts_along(places: Sequence[tuple[int, PdfLine]]) -> bool:
    rows = [
        (number, [int(digits[:9]) for digits in _DIGITS.findall(line.text)])
        for number, line in places
    ]
    for column in range(len(rows[0][1])):
        fixed = {values[column] for _, values in rows}
        counting = {values[column] - number for number, values in rows}
        if len(fixed) > 1 and len(counting) > 1:
            return False
    return any(character.isalpha() for character in places[0][1].text) or bool(rows[0][1])
