"""The sentences of a passage with the lines they stand in, cut block by block when needed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from grounded_rag.text.sentences import LineKind, group_units, split_unit

BLANK = re.compile(r"\n[ \t\r]*\n")
"""A blank line: what a block of lines ends with."""

STOPS = ".!?…。！？｡．؟۔।॥։።៕‼⁇⁈⁉;"
"""Marks that end a sentence."""

CLOSERS = " \t\r\n)]}»”’\"'」』）】》〉*_`~"
"""What may stand behind such a mark."""

_HEADING = 60
_start = itemgetter(0)
_DEEPEST = 6
_UNDERLINE = re.compile(r"[ \t]*(=|-)\1{2,}[ \t]*")
_MARKED = re.compile(r"[ \t]*#{1,6}[ \t]")
_MARKER = re.compile(r"(?:[-*+•‣◦▪●○·–>]|\(?[0-9A-Za-z]{1,3}[.)])[ \t]")

TEXTUAL = (LineKind.TEXT, LineKind.LABEL, LineKind.ITEM)
"""Units of lines that hold sentences."""


class Sentence(NamedTuple):
    """One sentence of a passage, or a whole table row or heading.

    Attributes:
        start: First code point.
        end: One past the last.
        kind: Kind of the unit of lines that it stands in.
        unit: Where that unit begins.
        unit_end: Where that unit ends.
    """

    start: int
    end: int
    kind: LineKind
    unit: int
    unit_end: int


class Layout:
    """The sentences of a passage, cut block by block as they are asked for."""

    __slots__ = ("_bounds", "_made", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._bounds = _blocks(text)
        self._made: list[list[Sentence] | None] = [None] * len(self._bounds)

    def _block(self, index: int) -> list[Sentence]:
        made = self._made[index]
        if made is None:
            made = self._made[index] = self._cut(*self._bounds[index])
        return made

    def _cut(self, start: int, end: int) -> list[Sentence]:
        block = self.text[start:end]
        found: list[Sentence] = []
        for unit in group_units(block):
            bounds: list[tuple[int, int]] = []
            if unit.kind in TEXTUAL:
                split_unit(block, unit.start, unit.end, bounds)
            else:
                bounds.append((unit.start, unit.end))
            begin, stop = start + unit.start, start + unit.end
            found += [
                Sentence(start + first, start + last, unit.kind, begin, stop)
                for first, last in bounds
            ]
        return found

    def touched(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the sentences that a range touches, each as its block and its index in it."""
        bounds = self._bounds
        index = max(0, bisect_right(bounds, start, key=_start) - 1)
        found: list[tuple[int, int]] = []
        while index < len(bounds) and bounds[index][0] < end:
            found += [
                (index, at)
                for at, sentence in enumerate(self._block(index))
                if sentence.start < end and start < sentence.end
            ]
            index += 1
        return found

    def at(self, place: tuple[int, int]) -> Sentence:
        """Return the sentence at a place."""
        return self._block(place[0])[place[1]]

    def before(self, place: tuple[int, int]) -> tuple[int, int] | None:
        """Return the place of the sentence before one, also across a blank line."""
        block, index = place
        while index == 0:
            if block == 0:
                return None
            block -= 1
            index = len(self._block(block))
        return block, index - 1

    def after(self, place: tuple[int, int]) -> tuple[int, int] | None:
        """Return the place of the sentence behind one, also across a blank line."""
        block, index = place[0], place[1] + 1
        while index >= len(self._block(block)):
            block += 1
            if block >= len(self._bounds):
                return None
            index = 0
        return block, index

    def headings_above(self, position: int) -> tuple[str, ...]:
        """Return the headings above a place, outermost first: those that it lies under.

        A heading is a line that is marked as one, is underlined, or stands alone and reads as one.
        """
        bounds = self._bounds
        found: list[str] = []
        level = _DEEPEST + 1
        index = bisect_right(bounds, position, key=_start) - 1
        while index >= 0 and level > 1:
            start, end = bounds[index]
            lines = self.text[start : min(end, position)].split("\n")
            if end > position:
                lines.pop()
            for heading, depth in _marked(lines):
                if depth < level:
                    found.append(heading)
                    level = depth
            alone = len(lines) == 1 and end <= position and level > _DEEPEST
            if alone and _reads_as_heading(lines[0].strip()):
                found.append(lines[0].strip())
                level = _DEEPEST
            index -= 1
        return tuple(reversed(found))


def _marked(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the lines that are marked as headings, the last first, each with its level."""
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at].strip()
        if _MARKED.match(line):
            yield line, len(line) - len(line.lstrip("#"))
        elif at + 1 < len(lines) and line and (under := _UNDERLINE.fullmatch(lines[at + 1])):
            yield line, 1 if under[1] == "=" else 2


def _blocks(text: str) -> list[tuple[int, int]]:
    """Return where each block between blank lines begins and ends."""
    found: list[tuple[int, int]] = []
    start = 0
    for blank in BLANK.finditer(text):
        found.append((start, blank.start()))
        start = blank.end()
    found.append((start, len(text)))
    return [block for block in found if text[block[0] : block[1]].strip()]


def _reads_as_heading(line: str) -> bool:
    """Whether a line that stands alone, without a stop, reads as a heading."""
    bare = line.rstrip(CLOSERS)
    return (
        0 < len(line) <= _HEADING
        and not bare.endswith((*STOPS, ":", "："))
        and not _MARKER.match(line)
        and "|" not in line
    )
