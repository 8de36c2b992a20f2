"""Headings of a document, the sections that they open, and a composer of text with headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grounded_rag.types import Section, Span

LONGEST_TITLE = 300
"""Characters of a title that are kept: every chunk below a heading carries it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where its line lies in the text, its level (1 is the outermost) and title."""

    start: int
    end: int
    level: int
    title: str


def build_sections(
    length: int, headings: Sequence[Heading], pages: Sequence[Span] = ()
) -> tuple[Section, ...]:
    """Return the sections that `headings` open in a text of `length` code points.

    Each runs from its heading to the next heading of any level, so they are disjoint. Text before
    the first heading belongs to none.
    """
    sections: list[Section] = []
    path: list[Heading] = []
    page = 0
    for index, heading in enumerate(headings):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(replace(heading, title=heading.title[:LONGEST_TITLE]))
        end = headings[index + 1].start if index + 1 < len(headings) else length
        while page < len(pages) and pages[page].end <= heading.start:
            page += 1
        sections.append(
            Section(
                title=path[-1].title,
                path=tuple(part.title for part in path),
                span=Span(start=heading.start, end=end),
                page=page + 1 if page < len(pages) else None,
            )
        )
    return tuple(sections)


def heading_spans(headings: Sequence[Heading]) -> tuple[Span, ...]:
    """Return the spans of the heading lines, in order."""
    return tuple(Span(start=heading.start, end=heading.end) for heading in headings)


def leading_title(headings: Sequence[Heading]) -> str:
    """Return the first heading if it stands above all the others, else ""."""
    above_all = headings and all(other.level > headings[0].level for other in headings[1:])
    return headings[0].title[:LONGEST_TITLE] if above_all else ""


_SPACE = re.compile(r"[ \t\n\r\f]+")
_LONGEST_REPEATED = 200


class Composer:
    """Collects inline text and blocks; white space is collapsed as a browser does."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self._out: list[str] = []
        self._length = 0
        self._newlines = 0
        self._written = 0
        self._space = False
        self._prefix = ""
        self._line_open = False

    def mark(self) -> int:
        """Write a pending break and return the place at which the next text begins."""
        if self._length:
            self._start()
        return self._length

    def text(self) -> str:
        """Return what was composed."""
        return "".join(self._out)

    def write(self, raw: str) -> None:
        """Write inline text; runs of white space become one space, none at the start of a line."""
        words = _SPACE.sub(" ", raw)
        if not words:
            return
        if words[0] == " ":
            self._space = True
            words = words[1:]
        ends = words.endswith(" ")
        if ends:
            words = words[:-1]
        if words:
            self._start()
            self._put(words)
        self._space = ends or (self._space and not words)

    def write_verbatim(self, raw: str) -> None:
        """Write text whose white space counts."""
        if raw:
            self._start()
            self._put(raw)

    def break_block(self, newlines: int) -> None:
        """Make what follows begin after at least this many line ends."""
        self._newlines = max(self._newlines, newlines)
        self._space = False

    def break_line(self) -> None:
        """Add one line end, as `<br>` does; a second one makes a blank line."""
        self._newlines = min(2, self._newlines + 1)
        self._space = False

    def item(self, prefix: str) -> None:
        """Begin a list item: `prefix` is written before its first text."""
        self.break_block(1)
        self._prefix = prefix

    def heading(self, title: str, level: int) -> None:
        """Write a heading as a line of its own."""
        title = " ".join(title.split())
        if not title:
            return
        self.break_block(2)
        self._start()
        start = self._length
        self._put(title)
        self.headings.append(Heading(start, self._length, level, title))
        self.break_block(2)

    def line(self, text: str) -> None:
        """Write a block of its own."""
        self.break_block(2)
        self.write(text)
        self.break_block(2)

    def table(self, rows: Sequence[Sequence[str]], *, header_rows: int) -> None:
        """Write rows as Markdown does, with a rule under the header if there are header rows."""
        self.break_block(2)
        for number, row in enumerate(rows, start=1):
            self._row([" ".join(cell.split()).replace("|", "\\|") for cell in row])
            if number == header_rows:
                self._row(["---"] * len(row))
        self.break_block(2)

    def _row(self, cells: Sequence[str]) -> None:
        self.break_block(1)
        self._start()
        self._put("| " + " | ".join(cells) + " |")

    def _start(self) -> None:
        missing = self._newlines - self._written
        if self._newlines and self._length:
            if missing > 0:
                self._put("\n" * missing)
            self._written = max(self._written, self._newlines)
            self._line_open = False
        elif self._space and self._line_open:
            self._put(" ")
        self._newlines = 0
        self._space = False
        if self._prefix:
            self._put(self._prefix)
            self._prefix = ""

    def _put(self, text: str) -> None:
        self._out.append(text)
        self._length += len(text)
        self._line_open = True
        self._written = 0


def repeated(text: str) -> str:
    """Return the text of a spanned cell for its further places; a long one stands once."""
    return text if len(text) <= _LONGEST_REPEATED else ""
