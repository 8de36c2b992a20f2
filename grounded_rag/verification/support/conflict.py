"""Conflict: another retrieved, current document says the same sentence with another value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.quantities import Agreement, Quantity, compare
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Frozen, Instant, RetrievedChunk
from grounded_rag.validity import current
from grounded_rag.verification.support.quoted import injected_spans
from grounded_rag.verification.support.score import denies
from grounded_rag.verification.support.terms import ReadText, TextTerm, read

# Shares of the words of a statement that another sentence has in the same places: to differ in a
# number, and (a near-copy) to deny it; and words that it shares at all.
_NEAR = 0.6
_COPY = 0.8
_SHARED = 2
# A rival that shares fewer words need not be laid side by side, which costs most.
_SIEVE = 0.4
# Each sentence of each chunk is compared: bounds the cost of hostile input.
_MAX_CHUNKS = 50
_MAX_SENTENCES = 80
_FOLLOWS = {Agreement.SAME, Agreement.WEAKER}


class Conflict(Frozen):
    """Another source that says something else.

    Attributes:
        chunk_id: The chunk that disagrees.
        doc_id: Its document.
        text: Its sentence.
        detail: One sentence for a person.
    """

    chunk_id: str
    doc_id: str
    text: str
    detail: str


def find_conflicts(
    case: ClaimCase, chunks: Sequence[RetrievedChunk], *, as_of: Instant | None = None
) -> tuple[Conflict, ...]:
    """Return the retrieved chunks whose documents contradict the evidence of a claim.

    A document that its metadata marks as superseded, expired or not yet effective is no rival.

    Args:
        case: The claim with its evidence.
        chunks: Everything that was retrieved.
        as_of: Moment for which currency counts; None looks at supersession only.
    """
    cited = {piece.chunk.chunk.doc_id for piece in case.evidence}
    claim = read(case.claim.text)
    words = _content_stems(claim)
    statements = [
        sentence
        for piece in case.evidence
        for sentence in _sentences(piece.sentence)
        if words & _content_stems(sentence)
    ]
    found: list[Conflict] = []
    for rival in chunks[:_MAX_CHUNKS]:
        if rival.chunk.doc_id in cited or not _current(rival, as_of):
            continue
        pairs = ((mine, other) for other in _sentences(rival.chunk.text) for mine in statements)
        for mine, other in pairs:
            if detail := _differs(claim, mine, other):
                found.append(
                    Conflict(
                        chunk_id=rival.chunk.id,
                        doc_id=rival.chunk.doc_id,
                        text=other.text.strip(),
                        detail=detail,
                    )
                )
                # One sentence is enough to send a reader there.
                break
    return tuple(found)


def _current(chunk: RetrievedChunk, as_of: Instant | None) -> bool:
    """Whether a rival is in force; without a moment, whether nothing is said to replace it."""
    if as_of is None:
        return chunk.validity.superseded_by is None
    return current(chunk.validity, as_of=as_of)


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[ReadText, ...]:
    """Return the sentences of a text that may speak: what addresses the assistant may not."""
    hostile = injected_spans(text)
    return tuple(
        read(span.of(text))
        for span in split_sentences(text)[:_MAX_SENTENCES]
        if not any(span.overlaps(other) for other in hostile)
    )


@lru_cache(maxsize=2048)
def _content_stems(reading: ReadText) -> frozenset[str]:
    return frozenset(t.stem for t in reading.terms if t.content and t.quantity is None)


def _differs(claim: ReadText, mine: ReadText, other: ReadText) -> str | None:
    """Return what differs between two sentences that say nearly the same, or None."""
    words = _content_stems(mine)
    shared = len(words & _content_stems(other))
    if shared < max(_SHARED, len(words) * _SIEVE) or _names(mine) != _names(other):
        return None
    pairs = list(_laid(mine.terms, other.terms))
    in_place = len({a.stem for a, _ in pairs if a.content and a.quantity is None})
    if in_place < max(_SHARED, len(words) * _NEAR):
        return None
    for ours, theirs in pairs:
        if ours.quantity and theirs.quantity and _disagree(ours.quantity, theirs.quantity, claim):
            return f"says “{theirs.text}”, not “{ours.text}”."
    if in_place >= len(words) * _COPY and denies(mine.terms) != denies(other.terms):
        return "This source denies what the cited one affirms, or the other way round."
    return None


def _names(reading: ReadText) -> set[str]:
    return {term.stem for term in reading.terms if term.name}


def _laid(
    mine: Sequence[TextTerm], other: Sequence[TextTerm]
) -> Iterator[tuple[TextTerm, TextTerm]]:
    """Lay two sentences side by side: words by stem, a number on a number of the same unit."""
    ours, theirs = [_key(term) for term in mine], [_key(term) for term in other]
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        yield from zip(
            mine[block.a : block.a + block.size], other[block.b : block.b + block.size],
            strict=True,
        )  # fmt: skip


def _key(term: TextTerm) -> str:
    quantity = term.quantity
    return term.stem if quantity is None else f"#{quantity.kind} {quantity.unit} {quantity.per}"


def _disagree(ours: Quantity, theirs: Quantity, claim: ReadText) -> bool:
    """Whether two numbers in one place are not the same, and the claim has ours."""
    return compare(ours, theirs) not in _FOLLOWS and any(
        compare(stated, ours) in _FOLLOWS for stated in claim.quantities
    )
