"""Conflict: another retrieved, current document says something else of the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.quantities import Agreement, Quantity, compare
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import tokenize
from grounded_rag.types import Frozen, Instant, RetrievedChunk, Span, Statement
from grounded_rag.validity import current
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import statements_at
from grounded_rag.verification.support.contrast import Asked, Side, asked, contrast, read_side
from grounded_rag.verification.support.quoted import injected_spans
from grounded_rag.verification.support.terms import ReadText, read

# A sentence that shares fewer words with the statement and the question is not read at all.
_SHARED = 2
# Each sentence of each chunk is compared: bounds the cost of hostile input.
_MAX_CHUNKS = 50
_MAX_SENTENCES = 80
_FOLLOWS = {Agreement.SAME, Agreement.WEAKER}


class Conflict(Frozen):
    """Another source that says something else.

    Attributes:
        chunk_id: The chunk that disagrees.
        doc_id: Its document.
        text: Its statement.
        detail: One sentence for a person.
    """

    chunk_id: str
    doc_id: str
    text: str
    detail: str


def find_conflicts(
    case: ClaimCase, passages: Iterable[Passage], *, as_of: Instant | None = None
) -> tuple[Conflict, ...]:
    """Return the retrieved passages whose documents contradict the evidence of a claim.

    A document that its metadata marks as superseded, expired or not yet effective is no rival.

    Args:
        case: The claim with its evidence.
        passages: Everything that was retrieved.
        as_of: Moment for which currency counts; None looks at supersession only.
    """
    cited = {piece.chunk.chunk.doc_id for piece in case.evidence}
    claim = read(case.claim.text)
    question = asked(case.question) if case.question else None
    mine = [read_side(each.text, each.headings) for each in _stated(case)]
    known = frozenset(word for each in mine for word in each.stems)
    known |= question.stems if question else frozenset()
    found: list[Conflict] = []
    rivals = [p for p in passages if p.chunk.doc_id not in cited and _current(p.retrieved, as_of)]
    for passage in rivals[:_MAX_CHUNKS]:
        for other in _speaking(passage, known):
            detail = _detail(claim, mine, read_side(other.text, other.headings), question)
            if detail:
                found.append(
                    Conflict(
                        chunk_id=passage.id,
                        doc_id=passage.chunk.doc_id,
                        text=other.text,
                        detail=detail,
                    )
                )
                # One statement is enough to send a reader there.
                break
    return tuple(found)


def _stated(case: ClaimCase) -> list[Statement]:
    """Return what the evidence states, but for what nobody asserts."""
    return [s for piece in case.evidence for s in piece.statements if s.asserted]


def _current(chunk: RetrievedChunk, as_of: Instant | None) -> bool:
    """Whether a rival is in force; without a moment, whether nothing is said to replace it."""
    if as_of is None:
        return chunk.validity.superseded_by is None
    return current(chunk.validity, as_of=as_of)


def _speaking(passage: Passage, known: frozenset[str]) -> Iterator[Statement]:
    """Yield the statements that share words with what is known, as far as they may speak."""
    done = -1
    for span, stems in _sentences(passage.text):
        if span.start < done or len(stems & known) < _SHARED:
            continue
        for found in statements_at(passage, span.start, span.end):
            if found.statement.asserted and found.statement.span.start >= done:
                done = found.statement.span.end
                yield found.statement


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[tuple[Span, frozenset[str]], ...]:
    """Return the sentences of a text that may speak: what addresses the assistant may not."""
    hostile = injected_spans(text)
    return tuple(
        (span, frozenset(word.stem for word in tokenize(span.of(text)) if word.content))
        for span in split_sentences(text)[:_MAX_SENTENCES]
        if not any(span.overlaps(other) for other in hostile)
    )


def _detail(
    claim: ReadText, mine: Iterable[Side], other: Side, question: Asked | None
) -> str | None:
    """Return what a rival says otherwise, for a person."""
    for ours in mine:
        found = contrast(ours, other, question)
        if found.why:
            continue
        if found.denial:
            return "This source denies what the cited one affirms, or the other way round."
        if found.quantity is None or _states(claim, found.quantity):
            return f"says “{found.theirs}”, not “{found.ours}”."
    return None


def _states(claim: ReadText, ours: Quantity) -> bool:
    return any(compare(stated, ours) in _FOLLOWS for stated in claim.quantities)
