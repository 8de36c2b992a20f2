"""Running heads, feet and page numbers: lines that every page repeats at the same place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from grounded_rag.ingest.readers._pdf_lines import Line

_DIGITS = re.compile(r"[0-9]+")
_AT_EDGE = 3
_TOLERANCE = 4.0
_SHARE = 0.4
_LEAST_PAGES = 3


def strip_running_heads(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], tuple[str, ...]]:
    """Take repeated lines off the top and the bottom of pages.

    A line goes only if it stands at the same height on many pages and all its numbers are either
    the same everywhere or count with the pages; a table that goes on over pages is safe.

    Args:
        pages: Lines of each page.

    Returns:
        The remaining lines of each page, and one example of each line that was taken off.
    """
    needed = max(_LEAST_PAGES if len(pages) > 2 else 2, _SHARE * len(pages))
    candidates: dict[str, list[tuple[int, Line]]] = defaultdict(list)
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


def _counts_along(places: Sequence[tuple[int, Line]]) -> bool:
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
