"""Whether evidence lies on a gold place, and whether an answer holds what is expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from pydantic import Field

from grounded_rag.evaluation.datasets import GoldenItem, GoldQuote
from grounded_rag.evaluation.records import EvalRecord, GoldPlace, JudgedRecord
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Agreement, Quantity, compare
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import comparable, content_words, tokenize
from grounded_rag.types import FlagKind, Frozen, Located, RetrievedChunk, Span


def gold_places(
    item: GoldenItem, text_of: Callable[[str], str | None]
) -> tuple[tuple[GoldPlace, ...], ...]:
    """Return where each gold piece of an item stands; a piece that stands nowhere is empty.

    `text_of` returns the canonical text of a document by its id, or None.
    """
    return tuple(
        tuple(
            GoldPlace(doc_id=option.file, span=span)
            for option in piece.any_of
            for span in _occurrences(text_of(option.file) or "", option.quote)
        )
        for piece in item.gold
    )


def _occurrences(text: str, quote: str) -> Iterator[Span]:
    """Yield every place of `quote` in `text`, overlapping ones included."""
    start = text.find(quote) if quote else -1
    while start >= 0:
        yield Span(start=start, end=start + len(quote))
        start = text.find(quote, start + 1)


class Evidence(NamedTuple):
    """A stretch of a document, as a citation or a retrieved chunk covers it."""

    doc_id: str
    span: Span
    text: str


def of_chunk(retrieved: RetrievedChunk) -> Evidence:
    """Return the evidence that a retrieved chunk is."""
    chunk = retrieved.chunk
    return Evidence(chunk.doc_id, chunk.span, chunk.text)


def of_citation(located: Located) -> Evidence:
    """Return the evidence that a located quote is."""
    return Evidence(located.doc_id, located.document_span, located.quote)


def on_piece(evidence: Evidence, record: EvalRecord, piece: int) -> bool:
    """Whether evidence touches a place of one gold piece.

    With known places, spans of the same document must share a code point. Without (another
    system's contexts have no offsets), one text must hold the other, white space aside.
    """
    places = record.places[piece] if piece < len(record.places) else ()
    if places:
        return any(
            place.doc_id == evidence.doc_id and place.span.overlaps(evidence.span)
            for place in places
        )
    named = record.other is None
    return any(
        (not named or option.file == evidence.doc_id) and _shares(evidence.text, option)
        for option in record.item.gold[piece].any_of
    )


def _shares(text: str, option: GoldQuote) -> bool:
    have, wanted = " ".join(text.split()), " ".join(option.quote.split())
    return bool(have) and (wanted in have or have in wanted)


def pieces_covered(evidence: Iterable[Evidence], record: EvalRecord) -> tuple[bool, ...]:
    """Return for each gold piece of the record's item whether any of the evidence touches it."""
    given = tuple(evidence)
    return tuple(
        any(on_piece(each, record, piece) for each in given)
        for piece in range(len(record.item.gold))
    )


def on_gold(evidence: Evidence, record: EvalRecord) -> bool:
    """Whether evidence touches any gold piece."""
    return any(on_piece(evidence, record, piece) for piece in range(len(record.item.gold)))


def first_rank(
    retrieved: Iterable[RetrievedChunk], holds: Callable[[RetrievedChunk], bool]
) -> int | None:
    """Return the 1-based position of the first chunk that holds what is looked for, or None."""
    return next((rank for rank, chunk in enumerate(retrieved, start=1) if holds(chunk)), None)


# Words alone cannot all be there: an answer may say the same with others.
_MOST = 0.6
_BARE = frozenset({"yes", "no", "none", "nothing"})
_SAME = frozenset({Agreement.SAME, Agreement.WEAKER, Agreement.UNIT_ADDED})


class Completeness(Frozen):
    """What of the expected answer is in the answer."""

    wanted: tuple[str, ...] = Field(default=(), description="Empty: cannot be compared by value.")
    missing: tuple[str, ...] = ()


def answer_completeness(judged: JudgedRecord) -> Completeness:
    """Compare what the reader was shown with the expected answer."""
    # A conflict remark stands beside the text: what the other source says is shown as well.
    remarks = " ".join(flag.detail for flag in judged.flags if flag.kind is FlagKind.CONFLICT)
    return completeness(
        judged.item.expected, f"{judged.text} {remarks}", question=judged.item.question
    )


@lru_cache(maxsize=256)
def completeness(expected: str, answer: str, *, question: str = "") -> Completeness:
    """Compare all that the reader was shown with the expected answer.

    The question's words need not be repeated.
    """
    quantities = [q for q in find_quantities(expected) if not q.soft and q.kind != "label"]
    have = find_quantities(answer)
    wanted = [quantity.text for quantity in quantities]
    missing = [quantity.text for quantity in quantities if not _gives(have, quantity)]
    if not comparable(expected, answer):
        return Completeness(wanted=tuple(wanted), missing=tuple(missing))
    said = _stems(f"{answer} {question}")
    names = _names(expected)
    wanted += names
    missing += [name for name in names if not _stems(name) <= said]
    if not wanted:
        asked = _stems(question)
        words = {
            word.stem: word.text
            for word in content_words(expected)
            if word.stem not in asked and word.lower not in _BARE
        }
        if not words:
            return Completeness()
        wanted = [" ".join(words.values())]
        found = sum(stem in said for stem in words)
        missing = [] if found >= _MOST * len(words) else wanted
    return Completeness(wanted=tuple(wanted), missing=tuple(missing))


def has_value(text: str, value: Quantity) -> bool:
    """Whether a text gives a value, however it is written."""
    return _gives(find_quantities(text), value)


def _gives(have: Iterable[Quantity], value: Quantity) -> bool:
    return any(compare(value, other) in _SAME for other in have)


def _stems(text: str) -> set[str]:
    return {word.stem for word in content_words(text)}


def _names(text: str) -> list[str]:
    """Return words written like names: capitals inside a sentence, and codes."""
    starts = {span.start for span in split_sentences(text)}
    return [
        word.text
        for word in tokenize(text)
        if word.kind == "code" or (word.text[:1].isupper() and word.start not in starts)
        if _stems(word.text)
    ]
