"""Quotes that begin in the cited chunk and run past its edge, into a neighbour or into nothing."""

from __future__ import annotations

from typing import NamedTuple

from grounded_rag.verification.locate import Match, Quote, Source, locate
from grounded_rag.verification.passages import Passage, Passages

_ANCHOR = 16
_TRIES = 8
_INSIDE_WORDS = 3


class Beyond(NamedTuple):
    """How a quote leaves its chunk.

    Attributes:
        detail: One sentence.
        inside: The part of it that the chunk holds, in the source's own characters.
    """

    detail: str
    inside: str | None


def runs_beyond(quote: Quote, passage: Passage, passages: Passages) -> Beyond | None:
    """Tell whether `quote` runs past the end, or from before the start, of `passage`."""
    wanted, view = quote.readings[0].text, passage.source.folded.text
    tail = _overlap(view.rstrip(), wanted)
    head = 0 if tail else _overlap(wanted, view.lstrip())
    inside = wanted[:tail] if tail else wanted[len(wanted) - head :]
    if not tail and not head:
        return None
    if inside.count(" ") + 1 < _INSIDE_WORDS and len(inside) * 2 < len(wanted):
        return None
    outside = (wanted[tail:] if tail else wanted[: len(wanted) - head]).strip()
    if outside in view:
        return None
    edge = "runs past the end" if tail else "begins before the start"
    found = locate(passage.source, Quote(inside))
    kept = None
    if isinstance(found, Match):
        kept = passage.text[found.places[-1].start : found.places[-1].end]
    neighbour = _neighbour(quote, passage, passages, after=bool(tail))
    where = f" into {neighbour}" if neighbour else ""
    return Beyond(
        f"The quote {edge} of {passage.id}{where}; quote only what stands inside one chunk, or "
        "make two claims.",
        kept,
    )


def _overlap(left: str, right: str) -> int:
    """Return how many characters at the end of `left` begin `right`, if a few words do."""
    anchor = left[-_ANCHOR:]
    if len(anchor) < _ANCHOR:
        return 0
    at = right.find(anchor)
    for _ in range(_TRIES):
        if at < 0:
            break
        size = at + len(anchor)
        if size < len(right) and left.endswith(right[:size]):
            return size
        at = right.find(anchor, at + 1)
    return 0


def _neighbour(quote: Quote, passage: Passage, passages: Passages, *, after: bool) -> str | None:
    """Return the retrieved chunk of the same document that the quote runs into."""
    span = passage.chunk.span
    for other in sorted(passages, key=lambda other: other.id):
        theirs = other.chunk.span
        if other is passage or other.chunk.doc_id != passage.chunk.doc_id:
            continue
        first, second = (passage, other) if after else (other, passage)
        overlap = first.chunk.span.end - second.chunk.span.start
        touching = theirs.start > span.start if after else theirs.start < span.start
        if touching and 0 <= overlap <= len(second.text):
            joined = first.text + second.text[overlap:]
            if isinstance(locate(Source(joined), quote), Match):
                return other.id
    return None
