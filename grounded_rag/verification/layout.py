"""The sentences of a passage with the lines, lists, tables and headings that they stand in.

Sentences are cut block by block, when they are asked for. What holds for a whole list or table is
worked out once for all of its sentences, so that a quote of a thousand rows costs a thousand times
as much as one of a single row.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from grounded_rag.text.code import CodeBlock, code_blocks
from grounded_rag.text.sentences import Line, LineKind, classify_lines, group_units, split_unit

BLANK = re.compile(r"\n[ \t\r]*\n")
"""A blank line: what a block of lines ends with."""

STOPS = ".!?…。！？｡．؟۔।॥።։៕‼⁇⁈⁉;"
"""Marks that end a sentence."""

CLOSERS = " \t\r\n)]}»”’\"'」』）】》〉*_`~"
"""What may stand behind such a mark."""

TEXTUAL = (LineKind.TEXT, LineKind.LABEL, LineKind.ITEM)
"""Units of lines that hold sentences."""

Position = tuple[int, int]
"""A sentence of a layout: its block, and its index in that block."""

_TABLE = (LineKind.ROW, LineKind.DELIMITER)
# A longer line that stands alone without a stop is more often a sentence than a heading.
_LONGEST_HEADING = 60
# Levels that Markdown has; a heading without a mark lies under all of them.
_DEEPEST = 6
_UNDERLINE = re.compile(r"[ \t]*(=|-)\1{2,}[ \t]*")
_MARKED = re.compile(r"[ \t]*#{1,6}[ \t]")
_MARKER = re.compile(r"(?:[-*+•‣◦▪●○·–>]|\(?[0-9A-Za-z]{1,3}[.)])[ \t]")
_start = itemgetter(0)


class Sentence(NamedTuple):
    """One sentence of a passage, or a whole table row, heading or block of code.

    The unit of a block of code has its fences, the sentence has the code alone.

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


class TableLines(NamedTuple):
    """The first line of a table, its rule, and the line above the rule, which names the columns."""

    first: Line
    rule: Line | None
    names: Line | None


class Layout:
    """The sentences of a passage and how they lie in it."""

    __slots__ = ("_bounds", "_code", "_headings", "_made", "_outer", "_runs", "_tables", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._code = {block.outer.start: block for block in code_blocks(text)}
        self._bounds = _blocks(text, self._code.values())
        self._made: list[list[Sentence] | None] = [None] * len(self._bounds)
        self._runs: dict[Position, tuple[Position, Position]] = {}
        self._outer: dict[Position, Position | None] = {}
        self._headings: tuple[list[int], list[tuple[str, ...]]] | None = None
        self._tables: dict[int, TableLines] | None = None

    def touched(self, start: int, end: int) -> list[Position]:
        """Return the sentences that a range touches."""
        bounds = self._bounds
        index = max(0, bisect_right(bounds, start, key=_start) - 1)
        found: list[Position] = []
        while index < len(bounds) and bounds[index][0] < end:
            found += [
                (index, at)
                for at, sentence in enumerate(self._block(index))
                if sentence.start < end and start < sentence.end
            ]
            index += 1
        return found

    def at(self, position: Position) -> Sentence:
        """Return the sentence at a position."""
        return self._block(position[0])[position[1]]

    def said(self, position: Position) -> str:
        """Return the text of the sentence at a position."""
        sentence = self.at(position)
        return self.text[sentence.start : sentence.end]

    def before(self, position: Position) -> Position | None:
        """Return the position of the sentence before one, also across a blank line."""
        block, index = position
        while index == 0:
            if block == 0:
                return None
            block -= 1
            index = len(self._block(block))
        return block, index - 1

    def after(self, position: Position) -> Position | None:
        """Return the position of the sentence behind one, also across a blank line."""
        block, index = position[0], position[1] + 1
        while index >= len(self._block(block)):
            block += 1
            if block >= len(self._bounds):
                return None
            index = 0
        return block, index

    def indent(self, position: Position) -> int:
        """Return how far the unit of a sentence is moved in."""
        unit = self.at(position).unit
        return unit - (self.text.rfind("\n", 0, unit) + 1)

    def run(self, position: Position) -> tuple[Position, Position]:
        """Return the first and last sentence of the list or table that one stands in."""
        if position not in self._runs:
            kind = self.at(position).kind
            kinds = _TABLE if kind in _TABLE else (kind,)
            first = last = position
            inside = [position]
            while (before := self.before(first)) is not None and self.at(before).kind in kinds:
                first = before
                inside.append(first)
            while (after := self.after(last)) is not None and self.at(after).kind in kinds:
                last = after
                inside.append(last)
            self._runs.update(dict.fromkeys(inside, (first, last)))
        return self._runs[position]

    def outer_item(self, position: Position) -> Position | None:
        """Return the nearest item of a list before one that is moved in less, if there is one."""
        if position not in self._outer:
            current, last = self.run(position)
            above: list[Position] = []
            while True:
                depth = self.indent(current)
                while above and self.indent(above[-1]) >= depth:
                    above.pop()
                self._outer[current] = above[-1] if above else None
                above.append(current)
                following = self.after(current)
                if current == last or following is None:
                    break
                current = following
        return self._outer[position]

    def table_at(self, start: int) -> TableLines | None:
        """Return the table that has a line which begins at `start`."""
        if self._tables is None:
            self._tables = {}
            for is_table, group in groupby(classify_lines(self.text), key=_is_table_line):
                if not is_table:
                    continue
                lines = list(group)
                at = next(
                    (i for i, line in enumerate(lines) if line.kind is LineKind.DELIMITER), -1
                )
                table = TableLines(
                    first=lines[0],
                    rule=lines[at] if at >= 0 else None,
                    names=lines[at - 1] if at > 0 else None,
                )
                self._tables.update(dict.fromkeys((line.start for line in lines), table))
        return self._tables.get(start)

    def headings_above(self, position: int) -> tuple[str, ...]:
        """Return the headings above a place of the text, outermost first: those it lies under.

        A heading is a line that is marked as one, is underlined, or stands alone and reads as one.
        """
        if self._headings is None:
            self._headings = ([], [])
            for end, path in self._heading_paths():
                self._headings[0].append(end)
                self._headings[1].append(path)
        ends, paths = self._headings
        index = bisect_right(ends, position)
        return paths[index - 1] if index else ()

    def _heading_paths(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield where each heading is complete, with it and the headings that it lies under."""
        marked: list[tuple[str, int]] = []
        for start, end in self._bounds:
            if start in self._code:
                continue
            lines = self.text[start:end].split("\n")
            alone = len(lines) == 1 and not self._opens_code(end)
            if alone and _reads_as_heading(line := lines[0].strip()):
                # What no mark gives a level lies under all that has one, and ends with the next.
                outer = [text for text, level in marked if level < _DEEPEST]
                yield end, (*outer, line)
                continue
            at = start
            for index, line in enumerate(lines):
                at += len(line) + 1
                following = lines[index + 1] if index + 1 < len(lines) else None
                heading = _marked(line.strip(), following)
                if heading is None:
                    continue
                marked = [*((text, level) for text, level in marked if level < heading[1]), heading]
                underlined = not _MARKED.match(heading[0])
                done = at + len(following) + 1 if underlined and following is not None else at
                yield min(done, end), tuple(text for text, _ in marked)

    def _opens_code(self, end: int) -> bool:
        """Whether code begins on the line below, without a blank line."""
        return any(at in self._code for at in (end, end + 1))

    def _block(self, index: int) -> list[Sentence]:
        made = self._made[index]
        if made is None:
            made = self._made[index] = self._cut(*self._bounds[index])
        return made

    def _cut(self, start: int, end: int) -> list[Sentence]:
        if (code := self._code.get(start)) is not None:
            return [Sentence(code.inner.start, code.inner.end, LineKind.CODE, start, end)]
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


def _is_table_line(line: Line) -> bool:
    return line.kind in _TABLE


def _blocks(text: str, code: Iterable[CodeBlock]) -> list[tuple[int, int]]:
    """Return where each block between blank lines begins and ends; code is a block of its own."""
    found: list[tuple[int, int]] = []
    start = 0
    for block in code:
        found += _between_blanks(text, start, block.outer.start)
        found.append((block.outer.start, block.outer.end))
        start = block.outer.end
    return [*found, *_between_blanks(text, start, len(text))]


def _between_blanks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for blank in BLANK.finditer(text, start, end):
        if text[start : blank.start()].strip():
            yield start, blank.start()
        start = blank.end()
    if text[start:end].strip():
        yield start, end


def _marked(line: str, following: str | None) -> tuple[str, int] | None:
    """Return a line that is marked as a heading, or underlined by the next one, with its level."""
    if _MARKED.match(line):
        return line, len(line) - len(line.lstrip("#"))
    if line and following is not None and (under := _UNDERLINE.fullmatch(following)):
        return line, 1 if under[1] == "=" else 2
    return None


def _reads_as_heading(line: str) -> bool:
    """Whether a line that stands alone, without a stop, reads as a heading."""
    bare = line.rstrip(CLOSERS)
    return (
        0 < len(line) <= _LONGEST_HEADING
        and not bare.endswith((*STOPS, ":", "："))
        and not _MARKER.match(line)
        and not _MARKED.match(line)
        and "|" not in line
    )
