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
from grounded_rag.verification.support.contrast import Contrast, contrast
from grounded_rag.verification.support.quoted import injected_spans
from grounded_rag.verification.support.readings import Asked, Side, asked, read_side
from grounded_rag.verification.support.score import denies_by
from grounded_rag.verification.support.terms import ReadText, read

# A sentence that shares fewer words with the evidence and the question is not read at all.
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
        ours: What the evidence says, or "" where one source denies the other.
        theirs: What the rival says instead.
    """

    chunk_id: str
    doc_id: str
    text: str
    ours: str = ""
    theirs: str = ""

    @property
    def detail(self) -> str:
        """The end of a sentence for a person; it begins with the rival's title."""
        if not self.ours:
            return "denies what the cited source affirms, or the other way round."
        return f"says “{self.theirs}”, not “{self.ours}”."


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
    said = frozenset(word for each in mine for word in each.stems)
    wanted = question.stems if question else frozenset()
    found: list[Conflict] = []
    rivals = [p for p in passages if p.chunk.doc_id not in cited and _current(p.retrieved, as_of)]
    for passage in rivals[:_MAX_CHUNKS]:
        for other in _speaking(passage, said, wanted):
            theirs = read_side(other.text, other.headings)
            differs = next(
                filter(None, (_differs(claim, ours, theirs, question) for ours in mine)), None
            )
            if differs is not None:
                found.append(
                    Conflict(
                        chunk_id=passage.id,
                        doc_id=passage.chunk.doc_id,
                        text=other.text,
                        ours=differs.ours,
                        theirs=differs.theirs,
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


def _speaking(
    passage: Passage, said: frozenset[str], wanted: frozenset[str]
) -> Iterator[Statement]:
    """Yield the statements that share words with the evidence and the question.

    A sentence with a figure or a negation may have the question's words in its title and headings.
    """
    done = -1
    titled: bool | None = None
    for span, stems, marked in _sentences(passage.text):
        shared = len(stems & said)
        if span.start < done or not shared:
            continue
        if shared + len((stems & wanted) - said) < _SHARED:
            if not marked or stems.isdisjoint(wanted):
                continue
            if titled is None:
                titled = not wanted.isdisjoint(_title_stems(passage))
            if not titled:
                continue
        for found in statements_at(passage, span.start, span.end):
            if found.statement.asserted and found.statement.span.start >= done:
                done = found.statement.span.end
                yield found.statement


def _title_stems(passage: Passage) -> frozenset[str]:
    titles = (passage.retrieved.title, *passage.chunk.headings)
    return frozenset(word.stem for title in titles for word in tokenize(title))


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[tuple[Span, frozenset[str], bool], ...]:
    """Return the sentences of a text that may speak, with their words and whether marked.

    What addresses the assistant may not speak. Marked is a sentence with a figure or a negation.
    """
    hostile = injected_spans(text)
    found: list[tuple[Span, frozenset[str], bool]] = []
    for span in split_sentences(text)[:_MAX_SENTENCES]:
        if not any(span.overlaps(other) for other in hostile):
            words = tokenize(span.of(text))
            marked = any(w.kind in ("number", "code") or denies_by(w.lower) for w in words)
            found.append((span, frozenset(w.stem for w in words if w.content), marked))
    return tuple(found)


def _differs(claim: ReadText, ours: Side, theirs: Side, question: Asked | None) -> Contrast | None:
    """Return what a rival says otherwise, where it is something that the claim says."""
    found = contrast(ours, theirs, question)
    if found is None or found.quantity is None or _states(claim, found.quantity):
        return found
    return None


def _states(claim: ReadText, ours: Quantity) -> bool:
    return any(compare(stated, ours) in _FOLLOWS for stated in claim.quantities)
