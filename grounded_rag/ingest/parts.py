"""What chunks are packed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A span that is placed as a whole if it fits; `weight` is its estimated tokens.

    Prose may be cut between sentences before other parts are cut at all. A row below the first of a
    table carries the table's header, or "".
    """

    start: int
    end: int
    weight: float
    path: tuple[str, ...]
    is_heading: bool = False
    is_prose: bool = False
    table_header: str = ""


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
