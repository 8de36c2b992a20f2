"""What two sequences have in common, in order, in a time that grows with their length.

Short sequences are compared as `difflib` does. Long ones are first cut where an item stands once on
both sides, and what lies between is aligned by its longest common subsequence; a long stretch that
nothing cuts is aligned piece by piece, at the same share of its length. So texts that read alike
are aligned as a whole, and no input, however repetitive, costs more than any other of its length.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple

_SHORT = 10_000
_PIECE = 512
_ROUNDS = 8

Items = Sequence[Hashable]


class Block(NamedTuple):
    """A run of items that both sequences have.

    Attributes:
        left: Where it begins in the first.
        right: Where it begins in the second.
        size: Its number of items.
    """

    left: int
    right: int
    size: int


class Step(NamedTuple):
    """A part of the way from one sequence to the other: the same items, or others."""

    kind: Literal["same", "other"]
    left: slice
    right: slice


class _Stretch(NamedTuple):
    """Ranges of both sequences that are still to be compared."""

    left: int
    left_end: int
    right: int
    right_end: int
    round: int


def common_blocks(left: Items, right: Items) -> list[Block]:
    """Return runs of items that stand in both sequences in the same order, without overlap.

    Args:
        left: The first sequence.
        right: The second.
    """
    if len(left) * len(right) <= _SHORT:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        return [Block(a, b, size) for a, b, size in matcher.get_matching_blocks() if size]
    waiting = [_Stretch(0, len(left), 0, len(right), 0)]
    found: list[Block] = []
    while waiting:
        inner, ends = _without_ends(left, right, waiting.pop())
        found += ends
        ours, theirs = inner.left_end - inner.left, inner.right_end - inner.right
        if not ours or not theirs:
            continue
        if max(ours, theirs) <= _PIECE:
            found += _subsequence(left, right, inner)
        else:
            waiting += _cut(left, right, inner)
    return _merged(sorted(found))


def steps(left: Items, right: Items) -> Iterator[Step]:
    """Yield what leads from one sequence to the other, in order; together it covers both.

    Args:
        left: The first sequence.
        right: The second.
    """
    at_left = at_right = 0
    for block in (*common_blocks(left, right), Block(len(left), len(right), 0)):
        if at_left < block.left or at_right < block.right:
            yield Step("other", slice(at_left, block.left), slice(at_right, block.right))
        at_left, at_right = block.left + block.size, block.right + block.size
        if block.size:
            yield Step("same", slice(block.left, at_left), slice(block.right, at_right))


def _subsequence(left: Items, right: Items, stretch: _Stretch) -> Iterator[Block]:
    """Yield the longest common subsequence of a stretch, item by item and from behind.

    A row of the table of lengths is one number: a bit is off where one item more of the left side
    makes the subsequence longer (Crochemore et al. 2001, as Hyyrö 2004 puts it).
    """
    start, end, other, other_end, _ = stretch
    where: dict[Hashable, int] = {}
    for bit, item in enumerate(left[start:end]):
        where[item] = where.get(item, 0) | 1 << bit
    mask = (1 << (end - start)) - 1
    row = mask
    rows: list[int] = []
    for item in right[other:other_end]:
        both = row & where.get(item, 0)
        row = ((row + both) | (row - both)) & mask
        rows.append(row)
    column, at = end - start, other_end - other
    while at and column:
        bit = 1 << (column - 1)
        if rows[at - 1] & bit:
            column -= 1
            continue
        at -= 1
        if not at or rows[at - 1] & bit:
            column -= 1
            yield Block(start + column, other + at, 1)


def _without_ends(left: Items, right: Items, stretch: _Stretch) -> tuple[_Stretch, list[Block]]:
    """Return a stretch without what both sides begin and end with, and that."""
    start, end, other, other_end, turn = stretch
    while start < end and other < other_end and left[start] == right[other]:
        start, other = start + 1, other + 1
    while end > start and other_end > other and left[end - 1] == right[other_end - 1]:
        end, other_end = end - 1, other_end - 1
    ends = [
        Block(stretch.left, stretch.right, start - stretch.left),
        Block(end, other_end, stretch.left_end - end),
    ]
    inner = _Stretch(start, end, other, other_end, turn)
    return inner, [block for block in ends if block.size]


def _cut(left: Items, right: Items, stretch: _Stretch) -> list[_Stretch]:
    """Return the stretches between items that stand once on both sides; else pieces of a size."""
    start, end, other, other_end, turn = stretch
    anchors = _anchors(left, right, stretch) if turn < _ROUNDS else []
    if not anchors:
        return _pieces(stretch)
    found: list[_Stretch] = []
    for at_left, at_right in [*anchors, (end, other_end)]:
        # An anchor is found again as the beginning of what follows it.
        found.append(_Stretch(start, at_left, other, at_right, turn + 1))
        start, other = at_left, at_right
    found[-1] = found[-1]._replace(left_end=end, right_end=other_end)
    return [each for each in found if each.left < each.left_end and each.right < each.right_end]


def _anchors(left: Items, right: Items, stretch: _Stretch) -> list[tuple[int, int]]:
    """Return items that stand once on both sides, as many as keep their order."""
    ours = _once(left, stretch.left, stretch.left_end)
    theirs = _once(right, stretch.right, stretch.right_end)
    pairs = [(at, theirs[item]) for item, at in ours.items() if item in theirs]
    return _rising(pairs)


def _once(items: Items, start: int, end: int) -> dict[Hashable, int]:
    counts = Counter(items[start:end])
    return {items[at]: at for at in range(start, end) if counts[items[at]] == 1}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs, sorted by their first, whose second rises too."""
    lasts: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, second) in enumerate(pairs):
        at = bisect_left(lasts, second)
        before.append(ends[at - 1] if at else -1)
        lasts[at : at + 1] = [second]
        ends[at : at + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _pieces(stretch: _Stretch) -> list[_Stretch]:
    ours, theirs = stretch.left_end - stretch.left, stretch.right_end - stretch.right
    count = -(-max(ours, theirs) // _PIECE)
    cuts = [
        (stretch.left + ours * number // count, stretch.right + theirs * number // count)
        for number in range(count + 1)
    ]
    return [
        _Stretch(a, b, c, d, stretch.round) for (a, c), (b, d) in pairwise(cuts) if a < b and c < d
    ]


def _merged(blocks: list[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if merged:
            last = merged[-1]
            if last.left + last.size == block.left and last.right + last.size == block.right:
                merged[-1] = last._replace(size=last.size + block.size)
                continue
        merged.append(block)
    return merged
