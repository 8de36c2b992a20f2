"""Lines of a PDF page grouped into headings, paragraphs and tables."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from grounded_rag.ingest.readers._pdf_lines import PdfLine, Segment

_CAPTION = re.compile(r"(?:Table|Figure|Tab\.|Fig\.|Tabelle|Abbildung)\s+[0-9]")
_ALIGNED = 4.0
_COLUMN_LINES = 5
_COLUMN_CHARACTERS = 18
HEADING_SIZE = 1.12
"""Headings are at least so much larger than the body, or bold."""

_LONGEST_HEADING = 160
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class PdfTable:
    """Rows of a table and whether the first is its header."""

    rows: tuple[tuple[str, ...], ...]
    has_header: bool


@dataclass(frozen=True, slots=True)
class Fonts:
    """The body's line height and the styles of headings, the largest first."""

    body: float
    body_bold: bool
    styles: tuple[tuple[float, bool], ...]

    def level(self, line: PdfLine) -> int | None:
        """Return the level of a heading, 1 the outermost, or None where `line` is text."""
        if not _may_head(line, body=self.body, body_bold=self.body_bold):
            return None
        return min(_DEEPEST, self.styles.index(_style(line)) + 1)


def read_fonts(lines: Sequence[PdfLine]) -> Fonts:
    """Return the fonts of a document, from all its lines."""
    weights: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        weights[_style(line)] += len(line.text)
    (body, body_bold), _ = weights.most_common(1)[0]
    styles = {_style(line) for line in lines if _may_head(line, body=body, body_bold=body_bold)}
    return Fonts(body, body_bold, tuple(sorted(styles, reverse=True)))


def order_columns(lines: Sequence[PdfLine]) -> tuple[list[PdfLine], bool]:
    """Put two columns that are set across one after the other; say whether any line moved."""
    ordered: list[PdfLine] = []
    moved = False
    index = 0
    while index < len(lines):
        end = _aligned_run(lines, index)
        run = lines[index:end]
        if len(run) >= _COLUMN_LINES and len(run[0].segments) == 2 and _is_prose(run):
            ordered += [PdfLine((line.segments[0],)) for line in run]
            ordered += [PdfLine((line.segments[1],)) for line in run]
            moved = True
        else:
            ordered += run
        index = end
    return ordered, moved


def group_tables(lines: Sequence[PdfLine]) -> list[PdfLine | PdfTable]:
    """Replace runs of lines whose segments stand below each other by tables."""
    grouped: list[PdfLine | PdfTable] = []
    index = 0
    while index < len(lines):
        end = _aligned_run(lines, index)
        run = lines[index:end]
        if len(run) > 1:
            rows = tuple(tuple(segment.text for segment in line.segments) for line in run)
            grouped.append(PdfTable(rows, has_header=run[0].bold and not run[1].bold))
        else:
            grouped += run
        index = end
    return grouped


def _aligned_run(lines: Sequence[PdfLine], start: int) -> int:
    """Return the end of the run of lines whose segments stand below those of the first."""
    columns = len(lines[start].segments)
    end = start + 1
    if columns < 2:
        return end
    while end < len(lines) and len(lines[end].segments) == columns:
        below, above = lines[end], lines[end - 1]
        if not 0 < above.y0 - below.y0 < 3 * above.size:
            break
        if not all(map(_are_aligned, above.segments, below.segments)):
            break
        end += 1
    return end


def _are_aligned(above: Segment, below: Segment) -> bool:
    left = abs(above.x0 - below.x0)
    right = abs(above.x1 - below.x1)
    middle = abs(above.x0 + above.x1 - below.x0 - below.x1) / 2
    return min(left, right, middle) <= _ALIGNED


def _is_prose(run: Sequence[PdfLine]) -> bool:
    """Whether both columns are running text: long lines on either side of one gutter."""
    return all(
        mean(len(line.segments[side].text) for line in run) >= _COLUMN_CHARACTERS for side in (0, 1)
    )


def _style(line: PdfLine) -> tuple[float, bool]:
    return round(2 * line.size) / 2, line.bold


def _may_head(line: PdfLine, *, body: float, body_bold: bool) -> bool:
    text = line.text
    if len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)) or _CAPTION.match(text):
        return False
    if line.size >= HEADING_SIZE * body:
        return True
    return line.bold and not body_bold and line.size >= 0.95 * body and len(line.segments) == 1


_ITEM = re.compile(r"(?:[-*+•‣◦▪●○·]|\(?[0-9]{1,3}[.)]|\(?[a-z][.)])\s")
_HYPHENS = ("-", "\u00ad", "\u2010")
_LEADERS = re.compile(r"\.{4,}\s?[0-9ivxIVX]{1,5}$")
_NEW_PARAGRAPH = 1.25
_AT_MARGIN = 6.0
_LONGEST_BOLD_HEADING = 100
_SAME_SIZE = 0.1
_SHORTEST_WRAPPED = 25
_COLUMN_START = 60.0


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines that belong together: a heading where `level` is given, else a paragraph."""

    lines: tuple[PdfLine, ...]
    level: int | None
    close: bool  # follows the block above without a gap

    @property
    def text(self) -> str:
        """The lines joined by a space; after a line-end hyphen the line end stays."""
        parts = [self.lines[0].text]
        for line in self.lines[1:]:
            parts.append("\n" if parts[-1].endswith(_HYPHENS) else " ")
            parts.append(line.text)
        return "".join(parts)


def split_blocks(lines: Sequence[PdfLine], fonts: Fonts) -> Iterator[TextBlock | PdfTable]:
    """Yield the headings, paragraphs and tables of a page, in order."""
    margins = _right_edges(lines)
    pitch = _pitch(lines)
    levels = _levels(lines, fonts)
    pending: list[PdfLine] = []
    close = False
    for item in group_tables(lines):
        if isinstance(item, PdfTable):
            if pending:
                yield TextBlock(tuple(pending), levels.get(id(pending[0])), close)
            pending = []
            yield item
            continue
        level = levels.get(id(item))
        if pending:
            above = levels.get(id(pending[0]))
            near = _is_near(pending[-1], item, pitch)
            wrapped_heading = level is not None and 0 < pending[-1].y0 - item.y0 < 1.5 * item.size
            if level == above and (
                wrapped_heading or (near and not level and _wraps(pending[-1], item, margins))
            ):
                pending.append(item)
                continue
            yield TextBlock(tuple(pending), above, close)
            close = near and level is None and above is None
        else:
            close = False
        pending = [item]
    if pending:
        yield TextBlock(tuple(pending), levels.get(id(pending[0])), close)


def _levels(lines: Sequence[PdfLine], fonts: Fonts) -> dict[int, int]:
    """Return the levels of the headings by the identity of their lines.

    Headings are no evidence, so what is bold and only as large as the body must look like one: it
    stands at the margin, is short, and is no part of a sentence.
    """
    levels: dict[int, int] = {}
    left = _left_edge(lines)
    for index, line in enumerate(lines):
        level = fonts.level(line)
        if level is None:
            continue
        if line.size < HEADING_SIZE * fonts.body and (
            abs(line.x0 - left) > _AT_MARGIN or _is_sentence(lines, index)
        ):
            continue
        levels[id(line)] = level
    return levels


def _is_sentence(lines: Sequence[PdfLine], index: int) -> bool:
    """Whether the bold lines around `index` are, or belong to, running text."""
    first = last = index
    while first > 0 and _is_bold_pair(lines[first - 1], lines[first]):
        first -= 1
    while last + 1 < len(lines) and _is_bold_pair(lines[last], lines[last + 1]):
        last += 1
    text = " ".join(line.text for line in lines[first : last + 1])
    follower = lines[last + 1].text if last + 1 < len(lines) else ""
    return (
        len(text) > _LONGEST_BOLD_HEADING
        or text[:1].islower()
        or text.endswith((".", ",", ";", ":"))
        or follower[:1].islower()
    )


def _is_bold_pair(line: PdfLine, below: PdfLine) -> bool:
    return line.bold and below.bold and 0 < line.y0 - below.y0 < 1.5 * below.size


def _left_edge(lines: Sequence[PdfLine]) -> float:
    """Return the left edge at which most characters of the page start."""
    weights: Counter[int] = Counter()
    for line in lines:
        weights[round(line.x0)] += len(line.text)
    return float(weights.most_common(1)[0][0]) if weights else 0.0


def _is_near(line: PdfLine, below: PdfLine, pitch: float) -> bool:
    step = line.y0 - below.y0
    return 0 < step <= _NEW_PARAGRAPH * max(pitch, 0.9 * line.size)


def _wraps(line: PdfLine, below: PdfLine, margins: dict[int, float]) -> bool:
    """Whether `line` ends only because the first word of `below` did not fit."""
    if len(line.text) < _SHORTEST_WRAPPED or _ITEM.match(below.text) or _LEADERS.search(line.text):
        return False
    if abs(line.size - below.size) > _SAME_SIZE * line.size:
        return False
    if line.bold != below.bold and line.x0 == below.x0:
        return False
    first = below.text.split(" ", 1)[0]
    width = len(first) * (below.x1 - below.x0) / max(1, len(below.text))
    right = max(margins.get(_column(line) + step, line.x1) for step in (-1, 0, 1))
    return line.x1 + 1.3 * width + 0.4 * line.size >= right


def _column(line: PdfLine) -> int:
    return int(line.x0 // _COLUMN_START)


def _right_edges(lines: Sequence[PdfLine]) -> dict[int, float]:
    """Return the right edge of the lines that start in each band of the page."""
    edges: dict[int, float] = {}
    for line in lines:
        edges[_column(line)] = max(line.x1, edges.get(_column(line), line.x1))
    return edges


def _pitch(lines: Sequence[PdfLine]) -> float:
    """Return the usual distance between baselines on a page, in points."""
    steps = [
        above.y0 - below.y0
        for above, below in itertools.pairwise(lines)
        if 0 < above.y0 - below.y0 < 2.5 * above.size
    ]
    return median(steps) if steps else 0.0
