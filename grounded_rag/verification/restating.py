"""The source's own statement in the place of a claim that nothing has shown.

What ships then is a claim of its own: one statement, in the source's words, with quotes that hold
all of it. Verified again, it is verbatim. So an honest paraphrase costs nobody an answer, and no
word of the generator ships unproven. A statement about another subject than the question's
answers nothing, and is not shown (`subject`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from grounded_rag.protocols import ClaimCase, EvidencePiece, SupportCheck
from grounded_rag.text.sentences import listed
from grounded_rag.types import (
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Reason,
    Restatement,
    Tier,
)
from grounded_rag.verification.checks import run_checks
from grounded_rag.verification.citations import place_in
from grounded_rag.verification.evidence import Ground
from grounded_rag.verification.passages import Passages
from grounded_rag.verification.statements import statements_at
from grounded_rag.verification.subject import missing_subject
from grounded_rag.verification.verbatim import Evidence
from grounded_rag.verification.wording import claim_cells

_NEVER = frozenset(
    {Reason.INJECTED_INSTRUCTION, Reason.NOT_ASSERTED, Reason.NOT_A_STATEMENT, Reason.EMPTY_CLAIM}
)


def with_restatements(
    verdict: ClaimVerdict,
    ground: Ground,
    passages: Passages,
    *,
    question: str | None,
    longest: int,
    checks: Sequence[SupportCheck] = (),
) -> ClaimVerdict:
    """Return a verdict with what may ship in the place of its claim, or why nothing may.

    Its quotes stand in the source; a statement must pass the `checks` as any claim must, and all
    statements together have at most `longest` characters.
    """
    if verdict.reason in _NEVER:
        return verdict.trusted_copy(withheld=verdict.reason)
    made: list[Restatement] = []
    withheld: Reason | None = None
    for each in _with_lists(ground.evidence):
        restated = _restated(each, verdict.claim.text)
        refused = _refused(each, restated, passages, question, checks)
        if refused is None:
            made.append(restated)
        else:
            withheld = withheld or refused
    usable = _outermost(made)
    if sum(len(each.text) for each in usable) > longest:
        usable, withheld = (), Reason.TOO_LONG
    if usable:
        return verdict.trusted_copy(restatements=usable)
    if verdict.supported and withheld is not Reason.BESIDE_QUESTION:
        return verdict
    return verdict.trusted_copy(withheld=withheld or Reason.CUT_CONTEXT)


def without_the_unasked(
    verdict: ClaimVerdict, ground: Ground, passages: Passages, *, question: str | None
) -> ClaimVerdict:
    """Return a verdict that may not ship where none of its statements is about the question."""
    beside = question is not None and all(
        missing_subject(question, each.found.statement, each.passage, passages) is not None
        for each in ground.evidence
    )
    return verdict.trusted_copy(withheld=Reason.BESIDE_QUESTION) if beside else verdict


def shipped_as(verdict: ClaimVerdict) -> tuple[ClaimVerdict, ...]:
    """Return verdicts that say in the source's words what a claim was not shown to say."""
    return tuple(
        ClaimVerdict(
            claim=Claim(
                text=restatement.text,
                citations=tuple(check.citation for check in restatement.citations),
            ),
            citations=restatement.citations,
            statements=(restatement.statement,),
            status=ClaimStatus.SUPPORTED,
            tier=Tier.VERBATIM,
            restated=True,
            why="The source's own words, in the place of a claim that nothing has shown.",
        )
        for restatement in verdict.restatements
    )


def _with_lists(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Put a list in the place of its items where all of them are there, so that it is told once."""
    items: dict[tuple[str, int], list[Evidence]] = {}
    for each in evidence:
        key = each.passage.id, each.found.statement.quotes[0].start
        items.setdefault(key, []).append(each)
    found: list[Evidence] = []
    for (_, start), group in items.items():
        whole = _list_of(group, start) if len(group) > 1 else None
        found += group if whole is None else [whole]
    return found


def _list_of(items: Sequence[Evidence], start: int) -> Evidence | None:
    """Return the list that begins at a place, if its items are these and no others."""
    passage, first = items[0].passage, items[0].found
    lead = first.statement.text.removesuffix(first.core).rstrip()
    told = listed([lead, *(item.found.core for item in items)])
    for found in statements_at(passage, start, start + 1):
        if lead and found.statement.text == told:
            return Evidence(found, passage)
    return None


def _outermost(made: Sequence[Restatement]) -> tuple[Restatement, ...]:
    """Leave out what another restatement says as part of its own, or says again.

    What another one says has its own sentence in one of that one's quotes: so only those are
    compared, and a quote of hundreds of items does not compare each with each.
    """

    def begins(at: int) -> tuple[str, int]:
        return made[at].statement.chunk_id, made[at].statement.span.start

    order = sorted(range(len(made)), key=begins)
    keys = [begins(at) for at in order]
    inside: set[int] = set()
    for at, other in enumerate(made):
        chunk_id = other.statement.chunk_id
        for quote in other.statement.quotes:
            first, last = (bisect_left(keys, (chunk_id, end)) for end in (quote.start, quote.end))
            for each in order[first:last]:
                if each == at or not _says(other, made[each]):
                    continue
                # Of two that say the same the first one stays.
                if at < each or not _says(made[each], other):
                    inside.add(each)
    return tuple(each for at, each in enumerate(made) if at not in inside)


def _says(other: Restatement, each: Restatement) -> bool:
    theirs, mine = other.statement, each.statement
    return theirs.chunk_id == mine.chunk_id and all(
        any(wide.start <= span.start and span.end <= wide.end for wide in theirs.quotes)
        for span in mine.quotes
    )


def _restated(evidence: Evidence, claim: str) -> Restatement:
    found, passage = evidence
    text = found.statement.text
    if found.row is not None and found.alone:
        # Of a row with many cells those that the claim speaks of are enough.
        text = found.row.reading(tuple(claim_cells(claim, found.row)) or None)
    citations = []
    for span in found.statement.quotes:
        located = place_in(passage, span.start, span.end)
        citation = Citation.trusted(chunk_id=located.chunk_id, quote=located.quote)
        citations.append(CitationCheck.trusted(citation=citation, located=located))
    return Restatement.trusted(text=text, statement=found.statement, citations=tuple(citations))


def _refused(
    evidence: Evidence,
    made: Restatement,
    passages: Passages,
    question: str | None,
    checks: Sequence[SupportCheck],
) -> Reason | None:
    """Return why a statement may not be shipped, or None where it may."""
    statement = evidence.found.statement
    if not statement.asserted:
        return Reason.NOT_ASSERTED
    if not statement.whole:
        return Reason.CUT_CONTEXT
    if question and missing_subject(question, statement, evidence.passage, passages) is not None:
        return Reason.BESIDE_QUESTION
    if not checks:
        return None
    pieces = tuple(
        EvidencePiece.trusted(
            citation=check.citation,
            located=check.located,
            sentence=made.text,
            sentence_span=statement.span,
            statements=(statement,),
            chunk=evidence.passage.retrieved,
        )
        for check in made.citations
    )
    case = ClaimCase.trusted(
        claim=Claim.trusted(text=made.text, citations=tuple(c.citation for c in made.citations)),
        evidence=pieces,
        question=question,
        verbatim=True,
    )
    for signal in run_checks(case, checks):
        if signal.role == "veto" and signal.passed is not True:
            return signal.reason or Reason.COULD_NOT_CHECK
    return None
