"""Packs the parts of a document into pieces that fit the embedder's window.

Every decision looks only at the passage at hand, never at the rest of the document: a change in
one section leaves the pieces, and so the chunk ids, of all others as they are.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from grounded_rag.errors import ConfigError
from grounded_rag.text.sentences import LineKind, Unit, group_units, sentence_bounds
from grounded_rag.types import Document


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the bounds without white space at either end, or None where nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


@dataclass(frozen=True, slots=True)
class Part:
    """A span, without white space at its ends, that is placed as a whole if it fits."""

    start: int
    end: int
    path: tuple[str, ...]
    weight: float = 0.0  # estimated tokens
    is_heading: bool = False
    is_prose: bool = False  # may be cut between sentences before other parts are cut at all
    table_header: str = ""  # cells of the table's first row, for rows below it


@dataclass(frozen=True, slots=True)
class Piece:
    """The bounds of one chunk and the heading path of its text."""

    start: int
    end: int
    path: tuple[str, ...]


def piece_of(parts: Sequence[Part]) -> Piece:
    """Return the piece of some parts; its path is what the paths of its body have in common.

    A piece that begins inside a table has the table's header as the last of its path: a slice of
    the text cannot repeat it.
    """
    paths = [part.path for part in parts if not part.is_heading] or [parts[-1].path]
    common = paths[0]
    for path in paths[1:]:
        while path[: len(common)] != common:
            common = common[:-1]
    if parts[0].table_header:
        common = (*common, parts[0].table_header)
    return Piece(parts[0].start, parts[-1].end, common)


_GAP = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|\r\n[^\S\n]*\r\n")
_TABLE = frozenset({LineKind.ROW, LineKind.DELIMITER})
_PROSE = frozenset({LineKind.TEXT, LineKind.LABEL})


@dataclass(frozen=True, slots=True)
class ContentBlock:
    """A paragraph, list or table: its parts are paragraphs, items or rows, in order."""

    parts: tuple[Part, ...]
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class HeadedText:
    """The text under one heading, or before the first one."""

    path: tuple[str, ...]  # all headings from the outermost to this one
    heading: tuple[int, int] | None  # bounds of its line
    blocks: tuple[ContentBlock, ...]


def split_by_headings(document: Document) -> list[HeadedText]:
    """Return the passages of a document; together they cover all that is not white space."""
    starts = [section.span.start for section in document.sections]
    bounds = [0, *starts, len(document.text)]
    spans = {span.start: span.end for span in document.headings}
    passages: list[HeadedText] = []
    for index, (start, end) in enumerate(itertools.pairwise(bounds)):
        if start >= end:
            continue
        section = document.sections[index - 1] if index else None
        heading = None
        if section is not None and spans.get(start, start) > start:
            heading = trim(document.text, start, min(spans[start], end))
        body = heading[1] if heading else start
        path = section.path if section else ()
        blocks = _split_blocks(document.text, body, end, path)
        if heading or blocks:
            passages.append(HeadedText(path, heading, tuple(blocks)))
    return passages


def _split_blocks(text: str, start: int, end: int, path: tuple[str, ...]) -> list[ContentBlock]:
    body = text[start:end]
    units = group_units(body)
    blocks: list[ContentBlock] = []
    for first, last in _runs(body, units):
        run = units[first : last + 1]
        parts = tuple(
            Part(start + unit.start, start + unit.end, path, is_prose=unit.kind in _PROSE)
            for unit in run
        )
        is_table = run[0].kind in _TABLE and len(run) > 1
        blocks.append(ContentBlock(_join_header(text, parts, run) if is_table else parts, is_table))
    return blocks


def _runs(body: str, units: Sequence[Unit]) -> list[tuple[int, int]]:
    """Group units without a blank line between them; a table is a group of its own."""
    runs: list[tuple[int, int]] = []
    for index, unit in enumerate(units):
        if runs:
            before = units[index - 1]
            joined = (unit.kind in _TABLE) == (before.kind in _TABLE)
            if joined and not _GAP.search(body, before.end, unit.start):
                runs[-1] = (runs[-1][0], index)
                continue
        runs.append((index, index))
    return runs


def _join_header(text: str, parts: tuple[Part, ...], units: Sequence[Unit]) -> tuple[Part, ...]:
    """Keep the header of a table, its rule and its first row in one part; name it to the rest."""
    for index, unit in enumerate(units):
        if unit.kind is LineKind.DELIMITER and index + 1 < len(parts):
            header = _cells(text[parts[0].start : parts[0].end])
            head = replace(parts[0], end=parts[index + 1].end, is_prose=False)
            return (head, *(replace(part, table_header=header) for part in parts[index + 2 :]))
    return parts


def _cells(row: str) -> str:
    cells = html.unescape(row.strip("| \t")).split("|")
    return " | ".join(" ".join(cell.split()) for cell in cells)


_UNITS = re.compile(r"[A-Za-z]{1,7}|[0-9]{1,3}|[^\sA-Za-z0-9]")
# Plain prose on which a tokenizer shows how many tokens it makes of one unit; it must not be
# taken from the document, or a change in one section would move the boundaries of the others.
_SAMPLE = (
    "The account holder may withdraw up to 1,500 euros a day, unless a lower limit was agreed in "
    "writing. Interest is calculated on the daily balance and credited at the end of each month. "
    "Applications received after 16:30 are processed on the following business day."
)
_MARGIN = 1.04
"""Estimates of tokens are raised by this much: a piece that turns out too long is cut again."""

_TINY = 0.15
"""Share of a piece below which a section goes on in the piece of the section before it."""

_HALF_FULL = 0.4
"""Share of a piece from which it is closed before a block that fits into one of its own."""

_LEAST_ROOM = 16
"""Fewest tokens that title and headings must leave to the text."""

_LOOK_AHEAD = 400
_SURE_WEIGHT = 40
"""Estimated tokens from which an exact count corrects the estimates that follow."""

_LEAST_SCALE = 0.5


@dataclass(slots=True)
class Packer:
    """Packs passages in order; one object for one document.

    `measure` returns the exact tokens of a piece's embedded view, `count` those of a plain text.
    """

    text: str
    measure: Callable[[Piece], int]
    count: Callable[[str], int]
    capacity: int
    _pieces: list[Piece] = field(default_factory=list)
    _parts: list[Part] = field(default_factory=list)
    _weight: float = 0.0
    # Tokens that a piece has for its text, and estimated tokens that make as many: the estimate is
    # corrected by what the pieces of the same passage turned out to have.
    _budget: float = 0.0
    _limit: float = 0.0
    _per_unit: float = 1.0

    def pack(self, passages: Sequence[HeadedText]) -> list[Piece]:
        """Return the pieces of all passages, in order."""
        units = len(_UNITS.findall(_SAMPLE))
        self._per_unit = _MARGIN * max(0.05, (self.count(_SAMPLE) - self.count("")) / units)
        for passage in passages:
            blocks = [self._weighed(block) for block in passage.blocks]
            self._open(passage, sum(part.weight for block in blocks for part in block))
            for block, parts in zip(passage.blocks, blocks, strict=True):
                self._add_block(parts, whole=block.is_table)
        self._emit_all()
        return self._pieces

    def _weighed(self, block: ContentBlock) -> list[Part]:
        weights = [self._estimate(part.start, part.end) for part in block.parts]
        if block.is_table and 0 < sum(weights) < 2 * self.capacity:
            # Whether a table stays whole is worth an exact count.
            exact = self.count(self.text[block.parts[0].start : block.parts[-1].end])
            weights = [weight * exact / sum(weights) for weight in weights]
        return [
            replace(part, weight=weight) for part, weight in zip(block.parts, weights, strict=True)
        ]

    def _estimate(self, start: int, end: int) -> float:
        return len(_UNITS.findall(self.text, start, end)) * self._per_unit

    def _open(self, passage: HeadedText, weight: float) -> None:
        """Start a passage: in a piece of its own, unless what is pending must not stand alone."""
        heading = passage.heading
        mark = heading and Part(*heading, passage.path, self._estimate(*heading), is_heading=True)
        if self._parts and not self._joins(passage, weight + (mark.weight if mark else 0)):
            self._emit_all()
        if not self._parts:
            header = self.measure(Piece(0, 0, passage.path))
            self._budget = self._limit = self.capacity - header
            if self._budget < _LEAST_ROOM:
                raise ConfigError(
                    f"A chunk capacity of {self.capacity} tokens is too small: title and headings "
                    f"take {header}.",
                    hint="Raise the capacity or shorten the title.",
                )
        if mark:
            self._append(mark)

    def _joins(self, passage: HeadedText, weight: float) -> bool:
        """Whether a passage goes on in the pending piece: bare headings and tiny relatives."""
        if not any(not part.is_heading for part in self._parts):
            return self._weight < self._limit / 2
        first = self._parts[0].path
        related = bool(passage.path[:-1]) and passage.path[: len(first[:-1])] == first[:-1]
        fits = self._weight + weight <= self._limit
        return fits and (related or not first) and self._weight < _TINY * self._limit

    def _append(self, part: Part) -> None:
        self._parts.append(part)
        self._weight += part.weight

    @property
    def _has_body(self) -> bool:
        return bool(self._parts) and not self._parts[-1].is_heading

    def _add_block(self, parts: list[Part], *, whole: bool) -> None:
        weight = sum(part.weight for part in parts)
        if self._has_body and self._weight + weight > self._limit:
            # What fits into a piece of its own waits for it, unless it can go on in a near empty
            # one; what does not fit anyway begins here, unless this piece is nearly full.
            fits_alone = weight <= self._limit
            enough = _HALF_FULL if fits_alone else 1 - _HALF_FULL
            if (fits_alone and whole) or self._weight >= enough * self._limit:
                self._emit()
        for part in parts:
            self._add_part(part)

    def _add_part(self, part: Part) -> None:
        """Add a part; of one that does not fit, as much as fits, piece by piece."""
        if part.is_prose and self._weight + part.weight > self._limit:
            fits_alone = part.weight <= self._limit
            if not (fits_alone and self._has_body and self._weight >= _HALF_FULL * self._limit):
                for sentence in self._sentences(part):
                    self._add_part(sentence)
                return
        self._make_room(part.weight)
        while part.weight > (room := self._room()):
            first, part = self._cut(part, room / part.weight)
            self._append(first)
            self._make_room(part.weight)
        self._append(part)

    def _sentences(self, part: Part) -> list[Part]:
        bounds = [
            (part.start + start, part.start + end)
            for start, end in sentence_bounds(self.text[part.start : part.end])
        ]
        return [
            replace(part, start=start, end=end, weight=self._estimate(start, end), is_prose=False)
            for start, end in bounds
        ]

    def _room(self) -> float:
        # Long headings must not leave so little that the text is cut into crumbs.
        return max(self._limit - self._weight, self._limit / 4)

    def _make_room(self, weight: float) -> None:
        while self._has_body and self._weight + weight > self._limit:
            self._emit()

    def _cut(self, part: Part, share: float) -> tuple[Part, Part]:
        """Cut a part in two at a sentence, word or cluster; the first has at most `share` of it."""
        from semantic_text_splitter import TextSplitter

        length = part.end - part.start
        if length < 2:
            raise ConfigError(
                f"A chunk capacity of {self.capacity} tokens has no room for one character.",
                hint="Raise the capacity or shorten the title.",
            )
        size = max(1, min(length - 1, int(length * share)))
        # A little more than fits is enough to see where the next word or cluster ends, and the
        # end of a hard-wrapped line is no better place to cut than any other space.
        body = self.text[part.start : part.start + min(length, 2 * size + _LOOK_AHEAD)]
        flat = body.replace("\n", " ").replace("\r", " ")
        pieces = TextSplitter(size, trim=False).chunk_indices(flat)
        middle = part.start + (pieces[1][0] if len(pieces) > 1 else size)
        # Parts begin and end with a character that is no white space, so both loops end.
        end = start = middle
        while self.text[end - 1].isspace():
            end -= 1
        while self.text[start].isspace():
            start += 1
        weight = self._estimate(part.start, end)
        # The rest is not looked at again, or cutting one long line would take quadratic time.
        rest = max(1.0, part.weight - weight)
        return replace(part, end=end, weight=weight), replace(part, start=start, weight=rest)

    def _emit_all(self) -> None:
        while self._parts:
            self._emit(more=False)

    def _emit(self, *, more: bool = True) -> None:
        """Emit the longest run of pending parts that fits, by exact count; the rest stays.

        Where `more` text of the same passage follows, a line ending in ":" waits for it.
        """
        size = self._fitting()
        if more and self._ends_open(size):
            size -= 1
        while True:
            taken = self._parts[:size]
            piece = piece_of(taken)
            tokens = self.measure(piece)
            self._correct(sum(part.weight for part in taken), tokens)
            if tokens <= self.capacity:
                break
            size = self._shrunk(taken, tokens)
        self._pieces.append(piece)
        self._parts = self._parts[size:]
        self._weight = sum(part.weight for part in self._parts)

    def _fitting(self) -> int:
        """Return how many of the pending parts fit by estimate; at least one that is no heading."""
        total = 0.0
        for size, part in enumerate(self._parts):
            total += part.weight
            if total > self._limit and size and not self._parts[size - 1].is_heading:
                return size
        return len(self._parts)

    def _correct(self, weight: float, tokens: int) -> None:
        """Learn from an exact count how many tokens the text of this passage makes."""
        if weight >= _SURE_WEIGHT:
            exact = (tokens - self.capacity + self._budget) / weight
            self._limit = self._budget / max(_LEAST_SCALE, _MARGIN * exact)

    def _ends_open(self, size: int) -> bool:
        """Whether the last of `size` parts introduces what follows and others stand before it."""
        if size < 2 or self._parts[size - 2].is_heading:
            return False
        return self.text[self._parts[size - 1].end - 1] in ":："

    def _shrunk(self, taken: list[Part], tokens: int) -> int:
        """Return how many parts to try next, after cutting one in two where none can go."""
        weight = sum(part.weight for part in taken)
        header = self.capacity - self._budget
        scale = max(1.0, (tokens - header) / weight) if weight else 1.0
        total, size = 0.0, 0
        for part in taken[:-1]:
            total += part.weight * scale
            if total > self._budget:
                break
            size += 1
        if size and not taken[size - 1].is_heading:
            return size
        # Only headings fit, or nothing: the part behind them is cut.
        room = self._budget - sum(part.weight * scale for part in taken[:size])
        if size and room < self._budget / 4:
            return size
        cut = taken[size]
        if cut.is_prose:
            sentences = self._sentences(cut)
            self._parts[size : size + 1] = sentences
            return self._shrunk(self._parts[: size + len(sentences)], tokens)
        share = min(0.9, 0.95 * room / (cut.weight * scale)) if cut.weight else 0.5
        self._parts[size : size + 1] = self._cut(cut, share)
        return size + 1
