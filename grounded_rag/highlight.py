"""Cuts source text into segments, so that any surface can show a quote inside its sentence."""

from __future__ import annotations

from grounded_rag.text.sentences import enclosing_sentences
from grounded_rag.types import Answer, Frozen, Reference, RetrievedChunk, Span


class Segment(Frozen):
    """A piece of source text.

    Attributes:
        text: The source's own characters.
        quoted: Whether they belong to the quote.
    """

    text: str
    quoted: bool


class Highlight(Frozen):
    """One numbered reference of an answer with its quote in context.

    Attributes:
        reference: The number and the place.
        chunk: The chunk that it lies in.
        segments: The enclosing sentence(s), cut at the edges of the quote.
    """

    reference: Reference
    chunk: RetrievedChunk
    segments: tuple[Segment, ...]


def segments(text: str, quote: Span, *, context: Span | None = None) -> tuple[Segment, ...]:
    """Cut `text` into before, quote and after; empty pieces are left out.

    Args:
        text: Source text.
        quote: The quote's place in it.
        context: Part to show; by default the sentence(s) that enclose the quote.
    """
    shown = context or enclosing_sentences(text, quote)
    start, end = min(shown.start, quote.start), max(shown.end, quote.end)
    pieces = (
        Segment(text=text[start : quote.start], quoted=False),
        Segment(text=quote.of(text), quoted=True),
        Segment(text=text[quote.end : end], quoted=False),
    )
    return tuple(piece for piece in pieces if piece.text)


def highlight(answer: Answer) -> tuple[Highlight, ...]:
    """Return every reference of an answer with its quote highlighted in its sentence(s)."""
    chunks = {chunk.chunk.id: chunk for chunk in answer.evidence}
    return tuple(
        Highlight(
            reference=reference,
            chunk=chunks[reference.located.chunk_id],
            segments=segments(
                chunks[reference.located.chunk_id].chunk.text, reference.located.chunk_span
            ),
        )
        for reference in answer.references
    )
