"""Pictures of PDF pages, and where a quote stands on them."""

from __future__ import annotations

import ctypes
import io
import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from grounded_rag.ingest.readers.pdf import PDFIUM
from grounded_rag.types import Frozen

_WIDTH = 1000
_LONGEST_SIDE = 4000
_HYPHEN = "\x02"
_CONTEXT = 40
_SHORTEST_PIECE = 12
_SAME_LINE = 0.5


class Mark(Frozen):
    """A rectangle on the picture, in its pixels."""

    x: float
    y: float
    width: float
    height: float


class PagePlan(Frozen):
    """What the page needs to lay marks over a picture.

    Attributes:
        page: 1-based number of the page.
        pages: Pages of the document.
        width: Width of the picture in pixels.
        height: Its height.
        marks: Where the quote stands; empty where it was not found on the page.
    """

    page: int
    pages: int
    width: int
    height: int
    marks: tuple[Mark, ...] = ()


def plan_page(path: Path, page: int, *, quote: str, before: str = "") -> PagePlan:
    """Find a quote on a page by its characters.

    Args:
        path: The file.
        page: 1-based number.
        quote: The quote, as the canonical text has it.
        before: Text before the quote, to tell repetitions apart.

    Raises:
        OSError: The file cannot be read as PDF, or has no such page.
    """
    import pypdfium2.raw as pdfium

    with PDFIUM, _opened(path, page) as opened:
        size = _size(opened.page)
        textpage = opened.page.get_textpage()
        try:
            total = pdfium.FPDFText_CountChars(textpage.raw)
            letters = [chr(pdfium.FPDFText_GetUnicode(textpage.raw, i)) for i in range(total)]
            found = find_characters(letters, quote, before=before)
            boxes = [_box(opened.page, textpage, index, size) for piece in found for index in piece]
        finally:
            textpage.close()
        return PagePlan(
            page=page,
            pages=opened.pages,
            width=size[0],
            height=size[1],
            marks=merge(
                [box for box in boxes if box is not None],
                turned=opened.page.get_rotation() in (90, 270),
            ),
        )


@lru_cache(maxsize=32)
def page_picture(path: Path, page: int, modified: int) -> bytes:  # noqa: ARG001 (part of the key)
    """Return a page as PNG.

    Args:
        path: The file.
        page: 1-based number.
        modified: Time of its last change, so that a new version is drawn anew.

    Raises:
        OSError: The file cannot be read as PDF, or has no such page.
    """
    with PDFIUM, _opened(path, page) as opened:
        image = opened.page.render(scale=_scale(opened.page)).to_pil()
    out = io.BytesIO()
    image.convert("P", palette=1, colors=64).save(out, format="PNG", optimize=True)
    return out.getvalue()


class _opened:  # noqa: N801 (it reads as a verb in `with`)
    """A page of a document, closed in the right order."""

    def __init__(self, path: Path, page: int) -> None:
        self._path = path
        self._number = page

    def __enter__(self) -> _opened:
        import pypdfium2

        try:
            self._document = pypdfium2.PdfDocument(self._path)
            self.pages = len(self._document)
            if not 1 <= self._number <= self.pages:
                self._document.close()
                raise OSError(f"There is no page {self._number}.")
            self.page: Any = self._document[self._number - 1]
        except pypdfium2.PdfiumError as error:
            raise OSError("The file cannot be read as PDF any more.") from error
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()
        self._document.close()


def find_characters(letters: Sequence[str], quote: str, *, before: str = "") -> tuple[range, ...]:
    """Return the indexes of a page's characters that make up a quote.

    White space and table markup are left out on both sides: the canonical text joins lines. Where
    the quote is not there as a whole, because the page was read in another order or the quote goes
    on overleaf, its pieces are looked up one after the other.

    Args:
        letters: The page's characters.
        quote: The quote.
        before: Text before it, to tell repetitions apart.
    """
    folded: list[str] = []
    places: list[int] = []
    for index, letter in enumerate(letters):
        for character in fold(letter):
            folded.append(character)
            places.append(index)
    page, wanted = "".join(folded), fold(quote)
    return tuple(
        range(places[start], places[start + length - 1] + 1)
        for start, length in _pieces(page, wanted, fold(before)[-_CONTEXT:])
    )


def _pieces(page: str, wanted: str, context: str) -> Iterator[tuple[int, int]]:
    """Yield start and length of the quote on the page, or of the pieces that are there."""
    while context:
        start = page.find(context + wanted)
        if start >= 0:
            yield start + len(context), len(wanted)
            return
        context = context[len(context) // 2 + 1 :]
    while wanted:
        # If a beginning is on the page, so is every shorter one.
        length = bisect_left(range(1, len(wanted) + 1), True, key=lambda n: wanted[:n] not in page)
        if length < min(_SHORTEST_PIECE, len(wanted)):
            return
        yield page.find(wanted[:length]), length
        wanted = wanted[length:]


def fold(text: str) -> str:
    """Return text without white space and table markup, in one form of each character."""
    plain = unicodedata.normalize("NFKC", text.replace(_HYPHEN, "-"))
    return "".join(c for c in plain if not c.isspace() and c not in "|\x00\ufffd\ufffe\xad")


def merge(boxes: Sequence[Mark], *, turned: bool = False) -> tuple[Mark, ...]:
    """Join the boxes of characters that stand beside each other on one line.

    Args:
        boxes: Boxes in reading order.
        turned: Whether lines run from top to bottom, as on a page turned by a quarter.
    """
    lines: list[Mark] = []
    for box in boxes:
        if lines and _same_line(lines[-1], box, turned=turned):
            last = lines[-1]
            x, y = min(last.x, box.x), min(last.y, box.y)
            lines[-1] = Mark(
                x=x,
                y=y,
                width=max(last.x + last.width, box.x + box.width) - x,
                height=max(last.y + last.height, box.y + box.height) - y,
            )
        else:
            lines.append(box)
    return tuple(lines)


def _same_line(one: Mark, other: Mark, *, turned: bool) -> bool:
    if turned:
        overlap = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        return overlap > _SAME_LINE * min(one.width, other.width)
    overlap = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return overlap > _SAME_LINE * min(one.height, other.height)


def _scale(page: Any) -> float:
    width, height = page.get_size()
    return float(min(_WIDTH / width, _LONGEST_SIDE / max(width, height)))


def _size(page: Any) -> tuple[int, int]:
    """Return the size of the picture, rounded as PDFium's binding does."""
    width, height = page.get_size()
    scale = _scale(page)
    return math.ceil(width * scale), math.ceil(height * scale)


def _box(page: Any, textpage: Any, index: int, size: tuple[int, int]) -> Mark | None:
    """Return a character's box in pixels, turned as the page is shown."""
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage.raw, index, box):
        return None
    corners = []
    for left, top in ((box.left, box.top), (box.right, box.bottom)):
        x, y = ctypes.c_int(), ctypes.c_int()
        # In hundredths of pixels, since the function returns whole numbers.
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, size[0] * 100, size[1] * 100, 0, left, top, x, y)
        corners.append((x.value / 100, y.value / 100))
    (x0, y0), (x1, y1) = corners
    mark = Mark(x=min(x0, x1), y=min(y0, y1), width=abs(x1 - x0), height=abs(y1 - y0))
    return mark if mark.width > 0 and mark.height > 0 else None
