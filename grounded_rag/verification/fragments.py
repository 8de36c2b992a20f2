"""The longest runs of a quote that a text really holds: what a diagnosis is made of.

Only for explaining a refusal, never for accepting a quote.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from grounded_rag.verification.characters import UNSPACED

_UNIT = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_UNITS_COMPARED = 160
_EDGE_PUNCTUATION = ".,;:!?\"'()[]"


class Unit(NamedTuple):
    """A word of a folded text, or one character of a script without spaces."""

    start: int
    end: int


class Fragment(NamedTuple):
    """A run of units of the quote that stands in the text.

    Attributes:
        first: Its first unit in the quote.
        last: One past its last unit.
        at: Where it stands in the folded text.
        size: Its length in folded characters.
    """

    first: int
    last: int
    at: int
    size: int

    @property
    def end(self) -> int:
        """One past its last character in the folded text."""
        return self.at + self.size


def units(text: str) -> list[Unit]:
    """Return the first units of a folded text."""
    found: list[Unit] = []
    for match in _UNIT.finditer(text):
        found.append(Unit(match.start(), match.end()))
        if len(found) == _UNITS_COMPARED:
            break
    return found


def fragments(quote: str, parts: list[Unit], text: str) -> list[Fragment]:
    """Return runs of `quote` in `text`, from left to right, each as long as it can be.

    Args:
        quote: The folded quote.
        parts: Its units.
        text: The folded text.
    """
    found: list[Fragment] = []
    first = after = 0
    while first < len(parts):
        fragment = _longest(quote, parts, first, text, after)
        if fragment is None:
            first += 1
            continue
        found.append(fragment)
        first, after = fragment.last, fragment.end
    return found


def _longest(quote: str, parts: list[Unit], first: int, text: str, after: int) -> Fragment | None:
    """Return the longest run from unit `first`; where it repeats, the first one from `after`."""
    low, high = first, len(parts)
    start = parts[first].start
    step = 1
    while low < high:
        middle = min(low + step, high)
        if _find(text, quote[start : parts[middle - 1].end], 0) >= 0:
            low, step = middle, step * 2
        else:
            high, step = middle - 1, max(1, (middle - 1 - low) // 2)
    if low == first:
        return None
    run = quote[start : parts[low - 1].end]
    at = _find(text, run, after)
    if at < 0:
        at = _find(text, run, 0)
    return Fragment(first, low, at, len(run))


def _find(text: str, run: str, position: int) -> int:
    """Find `run` where it begins and ends with whole words, in the first few places."""
    for _ in range(8):
        position = text.find(run, position)
        if position < 0:
            return -1
        before, after = text[position - 1 : position], text[position + len(run) :][:1]
        if not (before.isalnum() and run[0].isascii() and run[0].isalnum()) and not (
            after.isalnum() and run[-1].isascii() and run[-1].isalnum()
        ):
            return position
        position += 1
    return -1


def difference(quote: str, real: str) -> str:
    """Say in what words `quote` differs from the `real` text."""
    said, reads = quote.split()[:_UNITS_COMPARED], real.split()[:_UNITS_COMPARED]
    while said and reads and said[0] == reads[0]:
        del said[0], reads[0]
    while said and reads and _bare(said[-1]) == _bare(reads[-1]):
        del said[-1], reads[-1]
    quoted, written = " ".join(said)[:80], " ".join(reads)[:80]
    if quoted and written:
        return f'it says "{quoted}" where the source reads "{written}"'
    if quoted:
        return f'it adds "{quoted}"'
    return f'it leaves out "{written}"' if written else "its wording differs"


def _bare(word: str) -> str:
    return word.strip(_EDGE_PUNCTUATION)
