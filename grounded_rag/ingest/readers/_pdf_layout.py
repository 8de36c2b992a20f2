"""Fonts, columns and tables of PDF pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from grounded_rag.ingest.readers._pdf_lines import Line, Segment

_CAPTION = re.compile(r"(?:Table|Figure|Tab\.|Fig\.|Tabelle|Abbildung)\s+[0-9]")
_ALIGNED = 4.0
_COLUMN_LINES = 5
_COLUMN_CHARACTERS = 18
HEADING_SIZE = 1.12
"""Headings are at least so much larger than the body, or bold."""

_LONGEST_HEADING = 160
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a table and whether the first is its header."""

    rows: tuple[tuple[str, ...], ...]
    has_header: bool


@dataclass(frozen=True, slots=True)
class Fonts:
    """The body's line height and the styles of headings, the largest first."""

    body: float
    body_bold: bool
    styles: tuple[tuple[float, bool], ...]

    def level(self, line: Line) -> int | None:
        """Return the level of a heading, 1 the outermost, or None where `line` is text."""
        if not _may_head(line, body=self.body, body_bold=self.body_bold):
            return None
        return min(_DEEPEST, self.styles.index(_style(line)) + 1)


def read_fonts(lines: Iterable[Line]) -> Fonts:
    """Return the fonts of a document, from all its lines."""
    every = list(lines)
    weights: Counter[tuple[float, bool]] = Counter()
    for line in every:
        weights[_style(line)] += len(line.text)
    (body, body_bold), _ = weights.most_common(1)[0]
    styles = {_style(line) for line in every if _may_head(line, body=body, body_bold=body_bold)}
    return Fonts(body, body_bold, tuple(sorted(styles, reverse=True)))


def order_columns(lines: Sequence[Line]) -> tuple[list[Line], bool]:
    """Put two columns that the file sets across, line by line, one after the other.

    Returns:
        The lines, and whether any were moved.
    """
    ordered: list[Line] = []
    moved = False
    index = 0
    while index < len(lines):
        end = _aligned_run(lines, index)
        run = lines[index:end]
        if len(run) >= _COLUMN_LINES and len(run[0].segments) == 2 and _is_prose(run):
            ordered += [Line((line.segments[0],)) for line in run]
            ordered += [Line((line.segments[1],)) for line in run]
            moved = True
        else:
            ordered += run
        index = end
    return ordered, moved


def group_tables(lines: Sequence[Line]) -> list[Line | Table]:
    """Replace runs of lines whose segments stand below each other by tables."""
    grouped: list[Line | Table] = []
    index = 0
    while index < len(lines):
        end = _aligned_run(lines, index)
        run = lines[index:end]
        if len(run) > 1:
            rows = tuple(tuple(segment.text for segment in line.segments) for line in run)
            grouped.append(Table(rows, has_header=run[0].bold and not run[1].bold))
        else:
            grouped += run
        index = end
    return grouped


def _aligned_run(lines: Sequence[Line], start: int) -> int:
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


def _is_prose(run: Sequence[Line]) -> bool:
    """Whether both columns are running text: long lines on either side of one gutter."""
    return all(
        mean(len(line.segments[side].text) for line in run) >= _COLUMN_CHARACTERS for side in (0, 1)
    )


def _style(line: Line) -> tuple[float, bool]:
    return round(2 * line.size) / 2, line.bold


def _may_head(line: Line, *, body: float, body_bold: bool) -> bool:
    text = line.text
    if len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)) or _CAPTION.match(text):
        return False
    if line.size >= HEADING_SIZE * body:
        return True
    return line.bold and not body_bold and line.size >= 0.95 * body and len(line.segments) == 1
