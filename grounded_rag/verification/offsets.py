"""Maps between a text and its edited form, exact for every prefix."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from grounded_rag.types import Fold

Edit = tuple[int, int, str, Fold]
"""Code points from start to end of a text, what they read as, and why. A plain tuple: a view of
a chunk makes a hundred of them, and named ones cost five times as much."""


class Change(NamedTuple):
    """An edit as it took place: the characters before and after."""

    fold: Fold
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """Pieces of an edited text and where they come from.

    A piece is unchanged text or one edit; piece `i` covers `[edited[i], edited[i + 1])` of the
    edited text and `[source[i], source[i + 1])` of the source.

    Attributes:
        edited: Where each piece begins in the edited text, and its length at the end.
        source: Where each piece begins in the source, and its length at the end.
        folds: The fold of each piece; None for unchanged text.
    """

    edited: list[int]
    source: list[int]
    folds: list[Fold | None]

    def start(self, position: int) -> int | None:
        """Return the source position of the edited character at `position`.

        None means that the character is not the first of what one edit put there.
        """
        piece = bisect_right(self.edited, position) - 1
        offset = position - self.edited[piece]
        if piece == len(self.folds) or self.folds[piece] is None:
            return self.source[piece] + offset
        return self.source[piece] if offset == 0 else None

    def end(self, position: int) -> int | None:
        """Return the source position just behind the edited character before `position`."""
        if position == 0:
            return 0
        piece = bisect_right(self.edited, position - 1) - 1
        if self.folds[piece] is None:
            return self.source[piece] + position - self.edited[piece]
        return self.source[piece + 1] if position == self.edited[piece + 1] else None

    def forward(self, position: int) -> int:
        """Return the edited position of the source position `position`."""
        piece = bisect_left(self.source, position)
        if piece < len(self.source) and self.source[piece] == position:
            return self.edited[piece]
        if self.folds[piece - 1] is None:
            return self.edited[piece - 1] + position - self.source[piece - 1]
        return self.edited[piece]

    def changes(self, source: str, edited: str, start: int, end: int) -> list[Change]:
        """Return the edits inside source positions `start` to `end`, in order."""
        first = bisect_left(self.source, start)
        last = bisect_left(self.source, end)
        found: list[Change] = []
        for piece in range(first, min(last, len(self.folds))):
            fold = self.folds[piece]
            if fold is not None:
                before = source[self.source[piece] : self.source[piece + 1]]
                after = edited[self.edited[piece] : self.edited[piece + 1]]
                found.append(Change(fold, before, after))
        return found


class Edited(NamedTuple):
    """An edited text and the map back."""

    text: str
    map: OffsetMap


def apply_edits(text: str, edits: Iterable[Edit]) -> Edited | None:
    """Apply edits sorted by start; one that overlaps an earlier one is left out.

    Returns:
        The edited text with its map, or None where nothing is edited.
    """
    parts: list[str] = []
    edited: list[int] = []
    source: list[int] = []
    folds: list[Fold | None] = []
    position = done = 0
    # Bound once: this loop makes most of the cost of a folded view.
    part, at, origin, kind = parts.append, edited.append, source.append, folds.append
    for start, end, replacement, fold in edits:
        if start < done:
            continue
        if start > done:
            part(text[done:start])
            at(position)
            origin(done)
            kind(None)
            position += start - done
        part(replacement)
        at(position)
        origin(start)
        kind(fold)
        position += len(replacement)
        done = end
    if not folds:
        return None
    if done < len(text):
        parts.append(text[done:])
        edited.append(position)
        source.append(done)
        folds.append(None)
        position += len(text) - done
    edited.append(position)
    source.append(len(text))
    return Edited("".join(parts), OffsetMap(edited, source, folds))
