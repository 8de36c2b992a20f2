"""PDF: pages in order, wrapped lines joined, running heads taken off, headings by their font."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grounded_rag.errors import EncryptedError, NoTextError, ReadError
from grounded_rag.ingest.decoding import MAX_BYTES, check_size, odd_characters
from grounded_rag.ingest.readers._pdf_blocks import (
    PdfTable,
    TextBlock,
    order_columns,
    read_fonts,
    split_blocks,
)
from grounded_rag.ingest.readers._pdf_lines import PdfLine, read_lines, strip_running_heads
from grounded_rag.ingest.structure import Composer, Heading, build_sections, heading_spans
from grounded_rag.protocols import ParsedDocument
from grounded_rag.types import Span

PDFIUM = threading.Lock()
"""PDFium may be used by one thread at a time: hold this around every use in the same process."""

_WRONG_LETTERS = re.compile("ÿ|[a-z][À-ÞĀĂĄĆ][a-z]")
_MOST_WRONG = 0.002
_MOST_PAGES = 5000


@dataclass(frozen=True, slots=True)
class PdfReader:
    """Reads the text of a PDF; pages count from 1.

    Wrapped lines of a paragraph are joined by a space; a line-end hyphen stays, with its line end.
    """

    max_bytes: int = MAX_BYTES

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        with PDFIUM:
            loaded, title = _load(data, source)
        if not any(loaded):
            raise NoTextError(
                f"{source}: none of its {len(loaded)} pages holds text: it is scanned.",
                hint="Run it through OCR first, for example ocrmypdf, and ingest the result.",
            )
        pages, heads = strip_running_heads(loaded)
        made = _compose(pages)
        return ParsedDocument(
            text=made.text,
            title=_title(title, made.headings),
            media_type="application/pdf",
            sections=build_sections(len(made.text), made.headings, made.pages),
            pages=made.pages,
            headings=heading_spans(made.headings),
            metadata={"running_heads": list(heads)} if heads else {},
            warnings=tuple(_warnings(loaded, made, source)),
        )


@dataclass(frozen=True, slots=True)
class _Composed:
    """Text of all pages; `moved` are the pages whose columns were reordered."""

    text: str
    pages: tuple[Span, ...]
    headings: tuple[Heading, ...]
    moved: tuple[int, ...]


def _load(data: bytes, source: str) -> tuple[list[list[PdfLine]], str]:
    """Return the lines of each page, and the title among the properties."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise EncryptedError(
                f"{source}: the PDF needs a password.",
                hint="Save a copy without the password and ingest that.",
            ) from error
        raise ReadError(
            f"{source}: this cannot be read as PDF.", hint="Open it and save it again as PDF."
        ) from error
    try:
        if len(document) > _MOST_PAGES:
            raise ReadError(
                f"{source}: {len(document)} pages are more than the limit of {_MOST_PAGES}.",
                hint="Split the file.",
            )
        title = " ".join(document.get_metadata_value("Title").split())
        pages = []
        for page in document:
            pages.append(read_lines(page))
            page.close()
        return pages, title
    except pypdfium2.PdfiumError as error:
        raise ReadError(
            f"{source}: a page of the PDF is damaged.", hint="Open it and save it again as PDF."
        ) from error
    finally:
        document.close()


def _compose(pages: Sequence[Sequence[PdfLine]]) -> _Composed:
    out = Composer()
    fonts = read_fonts([line for lines in pages for line in lines])
    starts: list[int] = []
    moved: list[int] = []
    last = ""
    for number, lines in enumerate(pages, start=1):
        ordered, was_moved = order_columns(lines)
        if was_moved:
            moved.append(number)
        blocks = list(split_blocks(ordered, fonts))
        if blocks:
            runs_on = isinstance(blocks[0], TextBlock) and _runs_on(last, blocks[0].text)
            out.break_block(1 if runs_on else 2)
        starts.append(out.mark())
        for block in blocks:
            _write(out, block)
        last = blocks[-1].text if blocks and isinstance(blocks[-1], TextBlock) else ""
    text = out.text()
    bounds = [0, *starts[1:], len(text)]
    spans = tuple(Span(start=start, end=end) for start, end in pairwise(bounds))
    return _Composed(text, spans, tuple(out.headings), tuple(moved))


def _write(out: Composer, block: TextBlock | PdfTable) -> None:
    if isinstance(block, PdfTable):
        out.table(block.rows, header_rows=int(block.has_header))
    elif block.level is not None:
        out.heading(block.text, block.level)
    else:
        out.break_block(1 if block.close else 2)
        out.write_verbatim(block.text)
        out.break_block(1)


def _runs_on(last: str, text: str) -> bool:
    """Whether the paragraph at the end of a page goes on at the top of the next."""
    return bool(last) and not last.endswith((".", "!", "?", ":")) and text[:1].islower()


def _warnings(pages: Sequence[Sequence[PdfLine]], made: _Composed, source: str) -> Iterator[str]:
    empty = [number for number, lines in enumerate(pages, start=1) if not lines]
    if empty:
        yield f"{source}, {_pages(empty)}: no text: blank, or a picture."
    if made.moved:
        yield (
            f"{source}, {_pages(made.moved)}: two columns were set across; they were put one after "
            "the other by their place."
        )
    damaged: list[int] = []
    for number, span in enumerate(made.pages, start=1):
        text = span.of(made.text)
        yield from odd_characters(text, f"{source}, page {number}")
        if len(_WRONG_LETTERS.findall(text)) > _MOST_WRONG * max(1, len(text)):
            damaged.append(number)
    if damaged:
        yield (
            f"{source}, {_pages(damaged)}: letters look wrong (such as ÿ inside words): the fonts "
            "of the PDF are damaged, and quotes will not match what a reader sees."
        )


def _pages(numbers: Sequence[int]) -> str:
    """Return page numbers for people: page 3, pages 1-4, 9."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    numbers_named = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f"page {numbers_named}" if len(numbers) == 1 else f"pages {numbers_named}"


def _title(named: str, headings: Sequence[Heading]) -> str:
    """Return the title among the properties unless it is a file name, else the first heading."""
    if " " in named or not headings:
        return named
    return min(headings, key=lambda heading: heading.level).title
