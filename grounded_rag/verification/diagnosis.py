"""Why a quote has no place in the cited chunk, in words that help a second attempt."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from grounded_rag.text.sentences import enclosing_bounds
from grounded_rag.types import Reason
from grounded_rag.verification.beyond import runs_beyond
from grounded_rag.verification.folding import FoldedText, Place
from grounded_rag.verification.fragments import Fragment, Unit, difference, fragments, units
from grounded_rag.verification.locate import Cut, Match, Quote, locate
from grounded_rag.verification.passages import Passage, Passages

_ELLIPSIS = re.compile(r"\[\.\.\.\]|\(\.\.\.\)|\.\.\.+")
_WORDS = re.compile(r"[^\W_]{3,}")
_ANCHOR_WORDS = 3
_NEAREST_LENGTH = 600
_ANCHOR = 12
_LOST_AT_MOST = 4
_GAP = 40


class Diagnosis(NamedTuple):
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
) -> Diagnosis:
    """Say why `quote` has no place in `passage`.

    Args:
        quote: The quote.
        passage: The cited chunk.
        passages: All retrieved chunks.
        question: The question, folded.
        cut: Where the quote stands inside longer words, if it does.
    """
    damaged = _over_damage(quote, passage)
    if damaged is not None:
        return damaged
    elsewhere = _elsewhere(quote, passage, passages)
    if elsewhere:
        named = ", ".join(elsewhere)
        return Diagnosis(
            Reason.WRONG_CHUNK,
            f"The quote is not in {passage.id}; it stands in {named}. Cite that chunk.",
            _closest(quote, passage),
            tuple(elsewhere),
        )
    if cut is not None:
        nearest = _sentence_at(passage, cut.place)
        return Diagnosis(
            Reason.CUT_WORD,
            "The quote cuts through a word or number of the source; "
            f'copy whole words: "{nearest}".',
            nearest,
        )
    beyond = runs_beyond(quote, passage, passages)
    if beyond is not None:
        return Diagnosis(Reason.BEYOND_CHUNK, beyond.detail, beyond.inside)
    if question is not None and _holds(question, quote):
        return Diagnosis(
            Reason.FROM_QUESTION,
            "The quote repeats the question; only the text of a chunk is evidence.",
            _closest(quote, passage),
        )
    if _holds(passage.context, quote):
        return Diagnosis(
            Reason.FROM_METADATA,
            "The quote comes from a title, heading or other metadata; only the text of the chunk "
            "is evidence.",
            _closest(quote, passage),
        )
    return _by_fragments(quote, passage)


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


def _over_damage(quote: Quote, passage: Passage) -> Diagnosis | None:
    """Tell whether the quote would stand over characters that extraction lost."""
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
                return Diagnosis(
                    Reason.UNREADABLE_SOURCE,
                    "The chunk's text is damaged there and cannot confirm the quote; quote a part "
                    "without the damaged character.",
                    nearest,
                )
    return None


def _fits_around(view: str, position: int, wanted: str) -> bool:
    """Whether `wanted` reads like the text left and right of a lost character."""
    left = view[max(0, position - _ANCHOR) : position].lstrip("\x00\ufffd")
    right = view[position + 1 : position + 1 + _ANCHOR]
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


def _by_fragments(quote: Quote, passage: Passage) -> Diagnosis:
    wanted, view = quote.readings[0].text, passage.source.folded
    if _ELLIPSIS.search(wanted):
        return Diagnosis(
            Reason.ELLIPSIS_JOIN,
            "The quote joins or cuts text with an ellipsis that the source does not have; give "
            "each part as a quote of its own, without leaving anything out.",
            _closest(quote, passage),
        )
    parts = units(wanted)
    runs = fragments(wanted, parts, view.text)
    long = [run for run in runs if run.last - run.first > 1] or runs[:1]
    covered = sum(run.last - run.first for run in long)
    if not long or covered * 2 < len(parts):
        nearest = _closest(quote, passage)
        return Diagnosis(
            Reason.QUOTE_NOT_FOUND,
            f"The quote is not in {passage.id}; copy the source's own words and language."
            if nearest is None
            else f'The quote is not in {passage.id}; the nearest there is "{nearest}".',
            nearest,
        )
    if len(long) > 1 and covered * 5 >= len(parts) * 3 and not _in_one_stretch(long, passage):
        order = "in another order" if long[-1].at < long[0].at else "from different places"
        return Diagnosis(
            Reason.STITCHED,
            f"The quote puts words of {passage.id} together {order}; quote one continuous stretch.",
            _around(passage, long[0].at, long[0].end),
        )
    return _near_miss(wanted, parts, long, passage)


def _near_miss(wanted: str, parts: list[Unit], runs: list[Fragment], passage: Passage) -> Diagnosis:
    view = passage.source.folded
    ordered = [run for run in runs if run.at >= runs[0].at]
    last = ordered[-1] if _in_one_stretch(ordered, passage) else ordered[0]
    start = _words_back(view.text, ordered[0].at, ordered[0].first)
    end = _words_on(view.text, last.end, len(parts) - last.last)
    real = view.text[start:end]
    nearest = _around(passage, start, end)
    return Diagnosis(
        Reason.NEAR_MISS,
        f"The quote is not what {passage.id} says: {difference(wanted, real)}.",
        nearest,
    )


def _in_one_stretch(runs: list[Fragment], passage: Passage) -> bool:
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
