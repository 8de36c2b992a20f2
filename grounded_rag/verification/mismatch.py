"""Why a quote has no place in the cited chunk, in words that help a second attempt.

Only for explaining a refusal, never for accepting a quote: what is found here is the other chunk
that holds the quote, the edge that it runs over, or the longest runs of it that the text has.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from grounded_rag.text.sentences import enclosing_bounds
from grounded_rag.types import Reason
from grounded_rag.verification.folding import FoldedText, Place
from grounded_rag.verification.locate import Cut, Match, Quote, Source, locate
from grounded_rag.verification.passages import Passage, Passages
from grounded_rag.verification.presentation import UNSPACED

_UNIT = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_UNITS_COMPARED = 160
_EDGE_PUNCTUATION = ".,;:!?\"'()[]"
# A quote runs over an edge of its chunk where a few words of both are the same ones; of a
# repeated end only the first places are tried.
_OVERLAP = 16
_OVERLAPS_TRIED = 8
# Fewer words inside the chunk, and less than half of the quote, are chance.
_INSIDE_WORDS = 3
_ELLIPSIS = re.compile(r"\[\.\.\.\]|\(\.\.\.\)|\.\.\.+")
_WORDS = re.compile(r"[^\W_]{3,}")
# Only a chunk that holds these words of the quote is folded to look for it there.
_ANCHOR_WORDS = 3
# The nearest sentence goes into the re-ask, whose size is constant.
_NEAREST_LENGTH = 600
# Characters beside a lost one that must be those of the quote, and characters of the quote that
# may stand for it, as "fi" does for a ligature.
_BESIDE_DAMAGE = 12
_LOST_AT_MOST = 4
# Runs that lie further apart were not one stretch.
_GAP = 40


class Mismatch(NamedTuple):
    """Why a quote cannot be used.

    Attributes:
        reason: Typed reason.
        detail: One sentence for a person and for the re-ask.
        nearest: Real characters of the cited chunk to copy from instead.
        found_in: Other retrieved chunks that hold the quote.
    """

    reason: Reason
    detail: str
    nearest: str | None = None
    found_in: tuple[str, ...] = ()


def diagnose(
    quote: Quote,
    passage: Passage,
    passages: Passages,
    *,
    question: FoldedText | None,
    cut: Cut | None,
) -> Mismatch:
    """Say why `quote` has no place in `passage`.

    The order is from what is certain to what is a guess. `question` is folded; `cut` is where the
    quote stands inside longer words, if it does.
    """
    damaged = _over_damage(quote, passage)
    if damaged is not None:
        return damaged
    elsewhere = _elsewhere(quote, passage, passages)
    if elsewhere:
        named = ", ".join(elsewhere)
        return Mismatch(
            Reason.WRONG_CHUNK,
            f"The quote is not in {passage.id}; it stands in {named}. Cite that chunk.",
            _closest(quote, passage),
            tuple(elsewhere),
        )
    if cut is not None:
        nearest = _sentence_at(passage, cut.place)
        return Mismatch(
            Reason.CUT_WORD,
            "The quote cuts through a word or number of the source; "
            f'copy whole words: "{nearest}".',
            nearest,
        )
    beyond = _runs_beyond(quote, passage, passages)
    if beyond is not None:
        return beyond
    if question is not None and _holds(question, quote):
        return Mismatch(
            Reason.FROM_QUESTION,
            "The quote repeats the question; only the text of a chunk is evidence.",
            _closest(quote, passage),
        )
    if _holds(passage.context, quote):
        return Mismatch(
            Reason.FROM_METADATA,
            "The quote comes from a title, heading or other metadata; only the text of the chunk "
            "is evidence.",
            _closest(quote, passage),
        )
    return _by_fragments(quote, passage)


def _over_damage(quote: Quote, passage: Passage) -> Mismatch | None:
    """Explain a quote that would stand over characters that extraction lost."""
    if not passage.damage:
        return None
    view, wanted = passage.source.folded.text, quote.readings[0].text
    for character in {passage.text[at] for at in passage.damage}:
        position = -1
        for _ in passage.damage:
            position = view.find(character, position + 1)
            if position < 0:
                break
            if _fits_around(view, position, wanted):
                place = passage.source.folded.to_source(position, position + 1)
                nearest = _after_damage(passage, place.end) if place else None
                return Mismatch(
                    Reason.UNREADABLE_SOURCE,
                    "The chunk's text is damaged there and cannot confirm the quote; quote a part "
                    "without the damaged character.",
                    nearest,
                )
    return None


def _fits_around(view: str, position: int, wanted: str) -> bool:
    """Whether `wanted` reads like the text left and right of a lost character."""
    left = view[max(0, position - _BESIDE_DAMAGE) : position].lstrip("\x00\ufffd")
    right = view[position + 1 : position + 1 + _BESIDE_DAMAGE]
    at = wanted.find(right) if len(right) > 2 else -1
    if at >= 0:
        for lost in range(_LOST_AT_MOST + 1):
            known = wanted[max(0, at - lost - len(left)) : max(0, at - lost)]
            if left.endswith(known):
                return True
    at = wanted.rfind(left) if len(left) > 2 else -1
    return (
        at >= 0
        and wanted[:at].strip()
        == view[max(0, position - len(left) - at) : position - len(left)].strip()
    )


def _after_damage(passage: Passage, end: int) -> str | None:
    start, stop = enclosing_bounds(passage.sentences, end, end + 1)
    words = passage.text[end:stop].split(" ", 1)
    return words[1].strip() or None if len(words) > 1 and start < end else None


def _elsewhere(quote: Quote, passage: Passage, passages: Passages) -> list[str]:
    """Return the other chunks that hold the quote.

    Only chunks that hold its longest words as they are get folded: this explains a refusal, and
    a chunk missed for a hyphenated word changes nothing else.
    """
    # Not the first word: its first letter may stand there in the other case.
    words = sorted(_WORDS.findall(quote.text[:2000])[1:], key=len, reverse=True)[:_ANCHOR_WORDS]
    return sorted(
        other.id
        for other in passages
        if other is not passage
        and all(word in other.text for word in words)
        and isinstance(locate(other.source, quote), Match)
    )


def _holds(text: FoldedText, quote: Quote) -> bool:
    return any(reading.text in text.text for reading in quote.readings if len(reading.text) > 1)


def _runs_beyond(quote: Quote, passage: Passage, passages: Passages) -> Mismatch | None:
    """Explain a quote that runs past the end, or begins before the start, of `passage`."""
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
    return Mismatch(
        Reason.BEYOND_CHUNK,
        f"The quote {edge} of {passage.id}{where}; quote only what stands inside one chunk, or "
        "make two claims.",
        kept,
    )


def _overlap(left: str, right: str) -> int:
    """Return how many characters at the end of `left` begin `right`, if a few words do."""
    anchor = left[-_OVERLAP:]
    if len(anchor) < _OVERLAP:
        return 0
    at = right.find(anchor)
    for _ in range(_OVERLAPS_TRIED):
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


def _by_fragments(quote: Quote, passage: Passage) -> Mismatch:
    wanted, view = quote.readings[0].text, passage.source.folded
    if _ELLIPSIS.search(wanted):
        return Mismatch(
            Reason.ELLIPSIS_JOIN,
            "The quote joins or cuts text with an ellipsis that the source does not have; give "
            "each part as a quote of its own, without leaving anything out.",
            _closest(quote, passage),
        )
    parts = _units(wanted)
    runs = _fragments(wanted, parts, view.text)
    long = [run for run in runs if run.last - run.first > 1] or runs[:1]
    covered = sum(run.last - run.first for run in long)
    if not long or covered * 2 < len(parts):
        nearest = _closest(quote, passage)
        return Mismatch(
            Reason.QUOTE_NOT_FOUND,
            f"The quote is not in {passage.id}; copy the source's own words and language."
            if nearest is None
            else f'The quote is not in {passage.id}; the nearest there is "{nearest}".',
            nearest,
        )
    if len(long) > 1 and covered * 5 >= len(parts) * 3 and not _in_one_stretch(long, passage):
        order = "in another order" if long[-1].at < long[0].at else "from different places"
        return Mismatch(
            Reason.STITCHED,
            f"The quote puts words of {passage.id} together {order}; quote one continuous stretch.",
            _around(passage, long[0].at, long[0].end),
        )
    return _near_miss(wanted, parts, long, passage)


def _near_miss(
    wanted: str, parts: list[_Unit], runs: list[_Fragment], passage: Passage
) -> Mismatch:
    view = passage.source.folded
    ordered = [run for run in runs if run.at >= runs[0].at]
    last = ordered[-1] if _in_one_stretch(ordered, passage) else ordered[0]
    start = _words_back(view.text, ordered[0].at, ordered[0].first)
    end = _words_on(view.text, last.end, len(parts) - last.last)
    real = view.text[start:end]
    nearest = _around(passage, start, end)
    return Mismatch(
        Reason.NEAR_MISS,
        f"The quote is not what {passage.id} says: {_difference(wanted, real)}.",
        nearest,
    )


def _in_one_stretch(runs: list[_Fragment], passage: Passage) -> bool:
    """Whether the runs follow one another closely, with no sentence ending in between."""
    text = passage.source.folded.text
    for left, right in pairwise(runs):
        between = text[left.end : right.at]
        if right.at < left.end or len(between) > _GAP:
            return False
        if any(mark in between for mark in (". ", "! ", "? ", "。", "\n")):
            return False
    return True


def _words_back(text: str, position: int, count: int) -> int:
    for _ in range(count):
        position = text.rfind(" ", 0, max(0, position - 1)) + 1
    return position


def _words_on(text: str, position: int, count: int) -> int:
    for _ in range(count):
        following = text.find(" ", position + 1)
        position = len(text) if following < 0 else following
    return position


def _difference(quote: str, real: str) -> str:
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


class _Unit(NamedTuple):
    """A word of a folded text, or one character of a script without spaces."""

    start: int
    end: int


class _Fragment(NamedTuple):
    """A run of _units of the quote that stands in the text.

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


def _units(text: str) -> list[_Unit]:
    """Return the first _units of a folded text."""
    found: list[_Unit] = []
    for match in _UNIT.finditer(text):
        found.append(_Unit(match.start(), match.end()))
        if len(found) == _UNITS_COMPARED:
            break
    return found


def _fragments(quote: str, parts: list[_Unit], text: str) -> list[_Fragment]:
    """Return runs of `quote` in `text`, from left to right, each as long as it can be."""
    found: list[_Fragment] = []
    first = after = 0
    while first < len(parts):
        fragment = _longest(quote, parts, first, text, after)
        if fragment is None:
            first += 1
            continue
        found.append(fragment)
        first, after = fragment.last, fragment.end
    return found


def _longest(quote: str, parts: list[_Unit], first: int, text: str, after: int) -> _Fragment | None:
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
    return _Fragment(first, low, at, len(run))


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


def _around(passage: Passage, start: int, end: int) -> str | None:
    """Return the source's sentence(s) around folded characters, or those alone if too long."""
    place = passage.source.folded.to_source(start, end)
    return _sentence_at(passage, place) if place is not None else None


def _sentence_at(passage: Passage, place: Place) -> str:
    start, end = enclosing_bounds(passage.sentences, *place)
    if end - start > _NEAREST_LENGTH:
        start, end = place.start, min(place.end, place.start + _NEAREST_LENGTH)
    return passage.text[start:end]


def _closest(quote: Quote, passage: Passage) -> str | None:
    """Return the sentence of the chunk that shares most words with the quote."""
    wanted = set(_WORDS.findall(quote.text[:2000].lower()))
    best, found = 1, None
    for start, end in passage.sentences:
        shared = len(wanted.intersection(_WORDS.findall(passage.text[start:end].lower())))
        if shared > best:
            best, found = shared, passage.text[start : min(end, start + _NEAREST_LENGTH)]
    return found
