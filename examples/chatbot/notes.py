"""Remarks on an answer: outdated sources, conflicts, and others."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from chatbot.markup import plain
from chatbot.page_types import DateLine, Note, Side
from chatbot.passages import MARKDOWN
from grounded_rag import Answer, Flag, FlagKind
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import STALENESS_KINDS, RetrievedChunk, Span, Validity

if TYPE_CHECKING:
    from chatbot.corpora import Corpus

STATES = {
    FlagKind.SUPERSEDED: "Superseded",
    FlagKind.EXPIRED: "Expired",
    FlagKind.NOT_YET_EFFECTIVE: "Not yet in force",
    FlagKind.TOO_OLD: "Not reviewed for long",
}
"""What a state of a source is called."""


def notes_of(answer: Answer, corpus: Corpus) -> list[Note]:
    """Return one note a kind and document, so that nobody reads the same thing once a claim."""
    grouped: dict[tuple[FlagKind, frozenset[str]], list[Flag]] = {}
    for flag in answer.flags:
        # Two cited sources that disagree are one conflict, whichever of them a claim rests on.
        about = {flag.chunk_id, *flag.related} if _is_conflict(flag) else {flag.doc_id}
        grouped.setdefault((flag.kind, frozenset(about)), []).append(flag)
    replaced = {flag.doc_id for flag in answer.flags if flag.kind is FlagKind.SUPERSEDED}
    return [
        _note(answer, corpus, flags)
        for (kind, _), flags in grouped.items()
        # What was replaced has also run out: one note says it.
        if not (kind is FlagKind.EXPIRED and flags[0].doc_id in replaced)
        and kind is not FlagKind.UNDATED
    ]


def undated_of(answer: Answer) -> str:
    """Return one sentence about all cited sources without a date; "" where there is none."""
    undated = {flag.chunk_id for flag in answer.flags if flag.kind is FlagKind.UNDATED}
    numbers = [ref.number for ref in answer.references if ref.located.chunk_id in undated]
    if not numbers:
        return ""
    if len(numbers) == len(answer.references):
        return "No date is known for these sources." if numbers[1:] else "Its date is not known."
    return f"No date is known for {', '.join(map(str, numbers))}."


def _is_conflict(flag: Flag) -> bool:
    return flag.kind is FlagKind.CONFLICT


def _note(answer: Answer, corpus: Corpus, flags: list[Flag]) -> Note:
    flag = flags[0]
    cited = {one.chunk_id for one in flags}
    numbers = tuple(ref.number for ref in answer.references if ref.located.chunk_id in cited)
    if _is_conflict(flag):
        return Note(
            kind="conflict",
            label="Sources disagree",
            detail=flag.detail,
            numbers=numbers,
            sides=_sides(answer, corpus, flag),
        )
    if flag.kind in STALENESS_KINDS:
        return _stale(answer, corpus, flag, numbers)
    label = flag.kind.replace("_", " ").capitalize()
    return Note(kind=str(flag.kind), label=label, detail=flag.detail, numbers=numbers)


def _stale(answer: Answer, corpus: Corpus, flag: Flag, numbers: tuple[int, ...]) -> Note:
    title = corpus.title_of(flag.doc_id)
    detail = {
        FlagKind.SUPERSEDED: f"“{title}” has been replaced.",
        FlagKind.EXPIRED: f"“{title}” is out of date.",
        FlagKind.NOT_YET_EFFECTIVE: f"“{title}” is not in force yet.",
    }.get(flag.kind, flag.detail)
    successor = corpus.successor(flag.doc_id, as_of=answer.as_of) if answer.as_of else None
    return Note(
        kind=str(flag.kind),
        label="Outdated source" if flag.kind is FlagKind.SUPERSEDED else STATES[flag.kind],
        detail=detail,
        since=str(flag.since) if flag.since is not None else None,
        numbers=numbers,
        current=corpus.title_of(successor.doc_id) if successor is not None else None,
    )


def _sides(answer: Answer, corpus: Corpus, flag: Flag) -> tuple[Side, ...]:
    chunks = {chunk.chunk.id: chunk for chunk in (*answer.evidence, *answer.trace.retrieved)}
    mine = next(ref for ref in answer.references if flag.claim in ref.claims)
    cited = {ref.located.chunk_id: ref for ref in reversed(answer.references)}
    sides = [_side(chunks[flag.chunk_id], corpus, mine.located.quote, mine.number)]
    for chunk_id in flag.related:
        rival, reference = chunks.get(chunk_id), cited.get(chunk_id)
        if rival is not None:
            text = _nearest(rival, mine.located.quote)
            number = reference.number if reference and text in reference.located.quote else None
            sides.append(_side(rival, corpus, text, number))
    return tuple(sides)


def _side(chunk: RetrievedChunk, corpus: Corpus, text: str, number: int | None) -> Side:
    return Side(
        number=number,
        title=corpus.title_of(chunk.chunk.doc_id),
        text=plain(text, markdown=corpus.media_type_of(chunk.chunk.doc_id) == MARKDOWN),
        dates=dates_of(chunk.validity)[:2],
    )


def _nearest(chunk: RetrievedChunk, quote: str) -> str:
    """Return the sentence of a chunk that is most like the quote."""
    words = quote.split()
    spans = split_sentences(chunk.chunk.text) or (Span(start=0, end=len(chunk.chunk.text)),)
    sentences = [span.of(chunk.chunk.text).strip() for span in spans]
    return max(
        sentences,
        key=lambda sentence: difflib.SequenceMatcher(None, words, sentence.split()).ratio(),
    )


def dates_of(validity: Validity) -> tuple[DateLine, ...]:
    """Return the dates of a document in words, those that decide first."""
    known = (
        ("Superseded on", validity.superseded_on),
        ("In force from", validity.effective_from),
        ("Valid until", validity.valid_until),
        ("Last reviewed", validity.reviewed_on),
        ("Last changed", validity.updated_at),
    )
    return tuple(DateLine(label=label, date=str(date)) for label, date in known if date is not None)
