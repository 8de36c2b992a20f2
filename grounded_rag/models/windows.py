"""Long evidence in windows that a model can read: whole sentences, each window overlapping."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grounded_rag.text.sentences import sentence_bounds

Count = Callable[[Sequence[str]], Sequence[int]]
"""Returns the tokens of each text."""


def windows(text: str, *, room: int, count: Count) -> tuple[str, ...]:
    """Return slices of `text` of at most `room` tokens that together cover its sentences.

    A window holds whole sentences, and begins with the last sentence of the one before where
    both fit: what two neighbours say together is then seen in one. A sentence that is too long
    by itself is cut between words.

    Args:
        text: The text.
        room: Most tokens of a window, at least 1.
        count: Counts tokens of texts.
    """
    if count([text])[0] <= room:
        return (text,)
    pieces: list[tuple[int, int]] = []
    for start, end in sentence_bounds(text):
        pieces += _fitting(text, start, end, room, count)
    sizes = count([text[start:end] for start, end in pieces])
    found: list[str] = []
    first = 0
    while first < len(pieces):
        last, size = first, sizes[first]
        # One more for what joins two pieces.
        while last + 1 < len(pieces) and size + sizes[last + 1] + 1 <= room:
            last += 1
            size += sizes[last] + 1
        found.append(text[pieces[first][0] : pieces[last][1]])
        if last + 1 == len(pieces):
            break
        overlaps = last > first and sizes[last] + sizes[last + 1] + 1 <= room
        first = last if overlaps else last + 1
    return tuple(found)


def _fitting(text: str, start: int, end: int, room: int, count: Count) -> list[tuple[int, int]]:
    """Return a stretch in parts that fit, halved at the white space nearest to the middle."""
    if count([text[start:end]])[0] <= room or end - start < 2:
        return [(start, end)]
    middle = (start + end) // 2
    before = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    after = next((n for n in range(middle, end - 1) if text[n].isspace()), -1)
    near = [n for n in (before, after) if n > start]
    cut = min(near, key=lambda n: abs(n - middle), default=middle)
    return _fitting(text, start, cut, room, count) + _fitting(text, cut, end, room, count)
