"""Conflict: another retrieved, current document says something else of the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.number_words import may_begin
from grounded_rag.text.quantities import Agreement, Quantity, compare
from grounded_rag.text.sentences import split_sentences, told_row
from grounded_rag.text.words import tokenize
from grounded_rag.types import Frozen, Instant, RetrievedChunk, Span, Statement
from grounded_rag.validity import current
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import statements_at
from grounded_rag.verification.support.contrast import Contrast, contrast
from grounded_rag.verification.support.quoted import injected_spans
from grounded_rag.verification.support.readings import Asked, Side, asked, read_side, weekdays
from grounded_rag.verification.support.stances import negative, opposes
from grounded_rag.verification.support.terms import ReadText, read

# A sentence that shares fewer words with the evidence and the question is not read at all.
_SHARED = 2
# Each sentence of each chunk is compared: bounds the cost of hostile input.
_MAX_CHUNKS = 50
_MAX_SENTENCES = 80
_MAX_CELLS = 12
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
    mine = _stated(case)
    sides = [read_side(each.text, each.headings) for each in mine]
    sought = _Sought(
        said=frozenset(word for side in sides for word in side.stems),
        wanted=question.stems if question else frozenset(),
        value=any(side.values for side in sides),
        other=(question is not None and question.names) or any(map(opposes, sides)),
    )
    found: list[Conflict] = []
    rivals = [p for p in passages if p.chunk.doc_id not in cited and _current(p.retrieved, as_of)]
    for passage in rivals[:_MAX_CHUNKS]:
        for other in _speaking(passage, sought):
            told = (_differs(claim, ours, other, question) for ours in mine)
            differs = next(filter(None, told), None)
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


def disagree(ours: Statement, theirs: Statement, *, question: str) -> bool:
    """Whether two statements say different things of the same thing, which the question asks."""
    return _differs(read(ours.text), ours, theirs, asked(question)) is not None


def _stated(case: ClaimCase) -> list[Statement]:
    """Return what the evidence states, but for what nobody asserts."""
    return [s for piece in case.evidence for s in piece.statements if s.asserted]


def _current(chunk: RetrievedChunk, as_of: Instant | None) -> bool:
    """Whether a rival is in force; without a moment, whether nothing is said to replace it."""
    if as_of is None:
        return chunk.validity.superseded_by is None
    return current(chunk.validity, as_of=as_of)


class _Sought(NamedTuple):
    """What a sentence must have to be a rival of the evidence.

    Attributes:
        said: Words of the evidence.
        wanted: Words of the question.
        value: Whether the evidence has a value that another one could differ from.
        other: Whether a sentence without a value or a denial could differ as well, in a name, or
            because the evidence itself denies something.
    """

    said: frozenset[str]
    wanted: frozenset[str]
    value: bool
    other: bool


class _Sentence(NamedTuple):
    """A sentence that may speak, with its words, and whether it has a value or a denial."""

    span: Span
    stems: frozenset[str]
    value: bool
    denies: bool


def _speaking(passage: Passage, sought: _Sought) -> Iterator[Statement]:
    """Yield the statements that could differ from the evidence, by a look at their words."""
    done = -1
    for span, stems, value, denies in _sentences(passage.text):
        differs = (value and sought.value) or denies
        shared = len(stems & sought.said)
        if span.start < done or not shared or not (differs or sought.other):
            continue
        # What lacks words may have them in its title and headings.
        if shared + len((stems & sought.wanted) - sought.said) < _SHARED and not (
            differs and not stems.isdisjoint(sought.wanted)
        ):
            continue
        for found in statements_at(passage, span.start, span.end):
            if found.statement.asserted and found.statement.span.start >= done:
                done = found.statement.span.end
                yield found.statement


@lru_cache(maxsize=512)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    """Return the sentences of a text that may speak: what addresses the assistant may not."""
    hostile = injected_spans(text)
    found: list[_Sentence] = []
    for span in split_sentences(text)[:_MAX_SENTENCES]:
        if not any(span.overlaps(other) for other in hostile):
            words = tokenize(span.of(text))
            found.append(
                _Sentence(
                    span=span,
                    stems=frozenset(word.stem for word in words if word.content),
                    value=any(
                        word.kind in ("number", "code")
                        or word.lower in weekdays()
                        or (word.content and may_begin(word.lower))
                        for word in words
                    ),
                    denies=any(negative(word.lower) for word in words),
                )
            )
    return tuple(found)


def _differs(
    claim: ReadText, ours: Statement, theirs: Statement, question: Asked | None
) -> Contrast | None:
    """Return what a rival says otherwise, where it is something that the claim says.

    Two table rows are compared cell by cell, each cell with its column and the row's label.
    """
    if ours.cells and theirs.cells:
        pairs = [(a, b) for a in _cells(ours) for b in _cells(theirs)]
        asks = None
    else:
        pairs = [(read_side(ours.text, ours.headings), read_side(theirs.text, theirs.headings))]
        asks = question
    found = (contrast(a, b, asks) for a, b in pairs)
    differs = (each for each in found if each is not None)
    return next((d for d in differs if d.quantity is None or _states(claim, d.quantity)), None)


def _cells(row: Statement) -> list[Side]:
    (_, label), *cells = row.cells
    told = [told_row(label, [cell]) for cell in cells[:_MAX_CELLS] if all(cell)]
    return [read_side(text, row.headings) for text in told]


def _states(claim: ReadText, ours: Quantity) -> bool:
    return any(compare(stated, ours) in _FOLLOWS for stated in claim.quantities)
