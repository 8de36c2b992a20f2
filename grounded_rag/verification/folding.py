"""One folded view of a text, with a map from every folded character back to its source.

Folding takes out differences of presentation and nothing else. It works in stages, each with its
own offset map: HTML entities, canonical composition, then the edits of
`presentation`. Every stage is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from grounded_rag.types import Fold
from grounded_rag.verification.offsets import Change, Edit, Edited, apply_edits
from grounded_rag.verification.presentation import (
    DAMAGED,
    Pair,
    emphasis_pairs,
    pair_edits,
    presentation_edits,
    row_edits,
)

_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
# Entities of spaces and marks that are no printable characters, and are readable all the same.
_UNPRINTED = "\xa0\xad\u2002\u2003\u2009\u200e\u200f"
_NOT_ASCII = re.compile(r"[A-Za-z0-9<>=]?[^\x00-\x7f]+")


class Place(NamedTuple):
    """A half-open range of code points in a source text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text as it reads once presentation is folded away.

    Attributes:
        source: The text itself.
        text: Its folded reading.
        line_end_hyphens: Whether a hyphen at a line end was resolved one way or the other.
    """

    source: str
    text: str
    line_end_hyphens: bool
    _stages: tuple[Edited, ...]
    _opened: Mapping[int, Pair]
    _closed: Mapping[int, Pair]

    def to_source(self, start: int, end: int) -> Place | None:
        """Return where the folded characters `start` to `end` stand in the source.

        None means that the range begins or ends inside what one source character was folded to,
        such as the "i" of "ﬁ".
        """
        for position, stage in enumerate(reversed(self._stages)):
            first, last = stage.map.start(start), stage.map.end(end)
            if first is None or last is None:
                return None
            start, end = first, last
            if position == 0 and self._opened:
                start, end = self._balance(start, end)
        return Place(start, end)

    def changes(self, place: Place) -> list[Change]:
        """Return what folding changed inside a range of the source, stage by stage."""
        found: list[Change] = []
        text, start, end = self.source, place.start, place.end
        for stage in self._stages:
            found += stage.map.changes(text, stage.text, start, end)
            start, end = stage.map.forward(start), stage.map.forward(end)
            text = stage.text
        return found

    def _balance(self, start: int, end: int) -> tuple[int, int]:
        """Take in a delimiter beside the range whose partner lies inside it."""
        while True:
            pair = self._opened.get(start)
            if pair is not None and start < pair.close_start < end:
                start = pair.open_start
                continue
            pair = self._closed.get(end)
            if pair is None or pair.open_start < start:
                return start, end
            end = pair.close_end


def fold(text: str, *, raw: bool = False, keep: frozenset[str] | None = None) -> FoldedText:
    """Return the folded view of `text`.

    Args:
        text: Any text; it is never changed.
        raw: Whether markup stays as it is: a quote copied with its markup may have cut a pair
            of delimiters apart.
        keep: Words of a quote. A line-end hyphen is kept where they hold the hyphenated word,
            and dropped otherwise; without them, the text's other words decide.
    """
    stages: list[Edited] = []
    if "&" in text:
        _add(stages, text, _entity_edits(text))
    current = stages[-1].text if stages else text
    if not unicodedata.is_normalized("NFC", current):
        _add(stages, current, _composition_edits(current))
        current = stages[-1].text if stages else text
    pairs = [] if raw else emphasis_pairs(current)
    edits = presentation = presentation_edits(current, keep)
    # Of two edits of the same characters the first one counts, and sorting keeps their order.
    if pairs:
        edits = pair_edits(pairs) + edits
    if "|" in current or "\t" in current:
        edits = row_edits(current, raw=raw) + edits
    if edits is not presentation:
        edits.sort(key=_widest_first)
    if edits:
        _add(stages, current, edits)
    folded = stages[-1].text if stages else text
    hyphens = any(edit[3] is Fold.HYPHEN for edit in presentation)
    opened = {pair.open_end: pair for pair in pairs}
    closed = {pair.close_start: pair for pair in pairs}
    return FoldedText(text, folded, hyphens, tuple(stages), opened, closed)


def _widest_first(edit: Edit) -> tuple[int, int]:
    return edit[0], -edit[1]


def _add(stages: list[Edited], text: str, edits: list[Edit]) -> None:
    edited = apply_edits(text, edits)
    if edited is not None:
        stages.append(edited)


def _entity_edits(text: str) -> list[Edit]:
    """Return the character of each HTML entity that stands for readable text."""
    edits: list[Edit] = []
    for match in _ENTITY.finditer(text):
        decoded = html.unescape(match[0])
        readable = decoded.isprintable() and DAMAGED.search(decoded) is None
        if decoded != match[0] and (readable or decoded in _UNPRINTED):
            edits.append((match.start(), match.end(), decoded, Fold.HTML))
    return edits


def _composition_edits(text: str) -> list[Edit]:
    """Return the canonical composition of each cluster of a base and its marks."""
    edits: list[Edit] = []
    for match in _NOT_ASCII.finditer(text):
        run = match[0]
        if unicodedata.is_normalized("NFC", run):
            continue
        start, offset = match.start(), 0
        for size in _clusters(run):
            cluster = run[offset : offset + size]
            composed = unicodedata.normalize("NFC", cluster)
            if composed != cluster:
                begin = start + offset
                edits.append((begin, begin + size, composed, Fold.UNICODE))
            offset += size
    return edits


def _clusters(run: str) -> list[int]:
    """Return the sizes of the clusters of `run`: a base and what composes with it."""
    sizes: list[int] = []
    for character in run:
        continues = unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"
        if continues and sizes:
            sizes[-1] += 1
        else:
            sizes.append(1)
    return sizes
