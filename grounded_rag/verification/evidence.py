"""What a claim is judged on: the statements that its quotes stand in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase, EvidencePiece
from grounded_rag.types import CitationCheck, Claim, Span, Statement
from grounded_rag.verification.passages import Passage, Passages
from grounded_rag.verification.statements import Found, statements_at
from grounded_rag.verification.verbatim import Evidence, Verbatim, compare


class Ground(NamedTuple):
    """What one claim is judged on.

    Attributes:
        case: The claim with its evidence, for support checks and deciders.
        evidence: The statements, each with its passage.
        verbatim: How the claim compares with them.
    """

    case: ClaimCase
    evidence: tuple[Evidence, ...]
    verbatim: Verbatim

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements alone."""
        return tuple(each.found.statement for each in self.evidence)


class Stated(NamedTuple):
    """What a source states where a quote stands.

    Attributes:
        text: The statements, as a reader gets them.
        span: From the first to the last of their own sentences, in code points of the chunk.
        reach: From the first to the last of all that `text` is made of.
    """

    text: str
    span: Span
    reach: Span


def stated_at(passage: Passage, span: Span) -> Stated:
    """Return what a passage states at a range of its text: what a quote there is shown with."""
    return _stated(statements_at(passage, span.start, span.end), passage, span)


def ground_of(
    claim: Claim,
    citations: tuple[CitationCheck, ...],
    passages: Passages,
    *,
    question: str | None,
) -> Ground | None:
    """Return what a claim is judged on; None where one of its citations has no usable place."""
    pieces: list[EvidencePiece] = []
    evidence: dict[tuple[str, Span], Evidence] = {}
    for check in citations:
        located = check.located
        if located is None or check.problem is not None:
            return None
        passage = passages.get(located.chunk_id)[0]
        span = located.chunk_span
        found = statements_at(passage, span.start, span.end)
        for each in found:
            evidence.setdefault((passage.id, each.statement.span), Evidence(each, passage))
        stated = _stated(found, passage, span)
        pieces.append(
            EvidencePiece.trusted(
                citation=check.citation,
                located=located,
                sentence=stated.text,
                sentence_span=stated.span,
                statements=tuple(each.statement for each in found),
                chunk=passage.retrieved,
            )
        )
    if not pieces:
        return None
    all_of_it = tuple(evidence.values())
    verbatim = compare(claim.text, all_of_it)
    case = ClaimCase.trusted(
        claim=claim, evidence=tuple(pieces), question=question, verbatim=verbatim.same
    )
    return Ground(case, all_of_it, verbatim)


def _stated(found: tuple[Found, ...], passage: Passage, span: Span) -> Stated:
    statements = [each.statement for each in found]
    told = [statement for statement in statements if statement.asserted] or statements
    text = " ".join(dict.fromkeys(statement.text for statement in told))
    if not text:
        return Stated(span.of(passage.text), span, span)
    spans = [statement.span for statement in statements]
    quotes = [quote for statement in statements for quote in statement.quotes]
    return Stated(text, _around(spans), _around([*spans, *quotes]))


def _around(spans: Sequence[Span]) -> Span:
    return Span.trusted(
        start=min(span.start for span in spans), end=max(span.end for span in spans)
    )
