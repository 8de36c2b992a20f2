"""Conflict: another retrieved, current document says the same sentence with another value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Frozen, Instant, RetrievedChunk
from grounded_rag.validity import current
from grounded_rag.verification.support.alignment import Alignment, Slot, align
from grounded_rag.verification.support.injected import injected_spans
from grounded_rag.verification.support.lexicon import LIGHT, antonyms
from grounded_rag.verification.support.matching import covered, matches
from grounded_rag.verification.support.negation import negations
from grounded_rag.verification.support.terms import Reading, Term, read

_NEAR = 0.6
_SHARED = 2
_SIEVE = 0.4
_MAX_CHUNKS = 50
_MAX_SENTENCES = 80


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
    sentences = [
        read(span.of(piece.sentence))
        for piece in case.evidence
        for span in split_sentences(piece.sentence)
    ]
    relevant = [text for text in sentences if any(covered(term, text) for term in claim.content)]
    found: list[Conflict] = []
    for rival in list(chunks)[:_MAX_CHUNKS]:
        if rival.chunk.doc_id in cited or not _current(rival, as_of):
            continue
        conflict = _conflict(claim, relevant, rival)
        if conflict:
            found.append(conflict)
    return tuple(found)


def _conflict(
    claim: Reading, evidence: Sequence[Reading], rival: RetrievedChunk
) -> Conflict | None:
    for other, stems in _sentences(rival.chunk.text):
        for mine in evidence:
            if not _alike(mine, stems):
                continue
            detail = _differs(claim, mine, other.reading)
            if detail:
                return Conflict(
                    chunk_id=rival.chunk.id,
                    doc_id=rival.chunk.doc_id,
                    text=other.text,
                    detail=detail,
                )
    return None


class _Sentence(NamedTuple):
    text: str
    reading: Reading


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[tuple[_Sentence, frozenset[str]], ...]:
    """Return the sentences of a chunk that may speak, each with its solid stems; read once."""
    hostile = injected_spans(text)
    found = []
    for span in split_sentences(text)[:_MAX_SENTENCES]:
        if not any(span.overlaps(other) for other in hostile):
            sentence = span.of(text)
            reading = read(sentence)
            found.append((_Sentence(sentence.strip(), reading), _stems(reading)))
    return tuple(found)


@lru_cache(maxsize=2048)
def _stems(reading: Reading) -> frozenset[str]:
    return frozenset(term.stem for term in reading.terms if _solid(term))


def _alike(mine: Reading, stems: frozenset[str]) -> bool:
    """Whether enough words are shared for two sentences to be worth laying side by side."""
    own = _stems(mine)
    return len(own & stems) >= max(_SHARED, len(own) * _SIEVE)


def _differs(claim: Reading, mine: Reading, other: Reading) -> str | None:
    """Return what differs between two sentences that say nearly the same, or None."""
    laid = align(mine, other)
    shared = {mine.terms[i].stem for i, _ in laid.pairs if _solid(mine.terms[i])}
    if len(shared) < _SHARED or not _same_subject(mine, other):
        return None
    if laid.near < _NEAR and _without_values(laid) < _NEAR:
        return None
    for slot in laid.slots:
        ours, theirs = _values(slot.claim), _values(slot.evidence)
        if len(ours) == len(theirs) == 1 and not matches(ours[0], theirs[0]):
            first, second = ours[0].quantity, theirs[0].quantity
            if first and second and first.unit == second.unit and covered(ours[0], claim):
                return f"says “{theirs[0].text}”, not “{ours[0].text}”."
        pair = _opposites(slot)
        if pair:
            return f"says “{pair[1].text}”, not “{pair[0].text}”."
    if laid.near >= 0.8 and bool(negations(mine)) != bool(negations(other)):
        return "This source denies what the cited one affirms, or the other way round."
    return None


def _solid(term: Term) -> bool:
    return term.content and term.quantity is None and term.stem not in LIGHT


def _same_subject(mine: Reading, other: Reading) -> bool:
    """Whether neither sentence has a name or code that the other lacks."""
    ours = [t for t in mine.terms if t.name]
    theirs = [t for t in other.terms if t.name]
    return all(covered(t, other) for t in ours) and all(covered(t, mine) for t in theirs)


def _without_values(laid: Alignment) -> float:
    words = [t for t in laid.claim.terms if _solid(t)]
    kept = [laid.claim.terms[i] for i, _ in laid.pairs if _solid(laid.claim.terms[i])]
    return len(kept) / len(words) if words else 0.0


def _values(terms: Sequence[Term]) -> list[Term]:
    return [t for t in terms if t.quantity is not None and t.quantity.kind != "label"]


def _opposites(slot: Slot) -> tuple[Term, Term] | None:
    return next(
        ((a, b) for a in slot.claim for b in slot.evidence if antonyms(a.stem, b.stem)), None
    )


def _current(chunk: RetrievedChunk, as_of: Instant | None) -> bool:
    """Whether a rival is in force; without a moment, whether nothing is said to replace it."""
    if as_of is None:
        return chunk.validity.superseded_by is None
    return current(chunk.validity, as_of=as_of)
