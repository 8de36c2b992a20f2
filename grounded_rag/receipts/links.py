"""Markdown text without the targets of its links: what changes when only an address changes."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from grounded_rag.types import Span

_TARGET = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]*\))*\)")
_WORD = re.compile(r"\w+")


class WithoutTargets(NamedTuple):
    """A text whose link targets are empty, and the way back.

    Attributes:
        text: The text, with `()` for each target.
        starts: Where stretches that were copied or emptied begin in it, in order.
        offsets: Where the same stretches begin in the original text.
    """

    text: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]

    def span(self, start: int, end: int) -> Span:
        """Return the place in the original text of a place in this one."""
        return Span(start=self._back(start), end=self._back(end - 1) + 1)

    def _back(self, position: int) -> int:
        at = bisect_right(self.starts, position) - 1
        return self.offsets[at] + position - self.starts[at]


def without_targets(text: str) -> WithoutTargets:
    """Return `text` with the targets of its Markdown links left out."""
    pieces: list[str] = []
    starts, offsets = [0], [0]
    length = done = 0
    for match in _TARGET.finditer(text):
        kept = text[done : match.start()] + "("
        pieces += [kept, ")"]
        length += len(kept)
        # The closing bracket is where the text goes on.
        starts.append(length)
        offsets.append(match.end() - 1)
        length += 1
        done = match.end()
    pieces.append(text[done:])
    return WithoutTargets("".join(pieces), tuple(starts), tuple(offsets))


def link_count(text: str) -> int:
    """Return the number of Markdown links, also of one whose text begins before `text`."""
    return len(_TARGET.findall(text))


def word_count(text: str) -> int:
    """Return the number of words that are not part of a link's target."""
    return len(_WORD.findall(without_targets(text).text))
