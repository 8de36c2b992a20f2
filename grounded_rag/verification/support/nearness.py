"""Nearness: is the claim written in the words of its quote? Near-copies are the top tier.

A lexical check is strong only there: it sees what was swapped because nothing else moved.
"""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.quantities import UPPER_BOUNDS
from grounded_rag.types import Signal
from grounded_rag.verification.support.analysis import Statement, analyse
from grounded_rag.verification.support.lexicon import (
    CONDITIONS,
    DOWNWARD,
    LIGHT,
    NEGATIONS,
    QUANTIFIERS,
)
from grounded_rag.verification.support.matching import matches
from grounded_rag.verification.support.negation import is_negation
from grounded_rag.verification.support.signals import listed
from grounded_rag.verification.support.terms import Term

NEAR = 0.75
"""Least aligned share of a near-copy."""


def nearness(case: ClaimCase) -> Signal | None:
    """Say whether the claim is a near-copy of its evidence; a decider, silent across languages."""
    analysis = analyse(case)
    if not analysis.comparable or not any(s.reading.content for s in analysis.statements):
        return None
    near = analysis.near
    strays = [term for statement in analysis.statements for term in unlicensed(statement)]
    for statement in analysis.statements:
        strays += [*_turned(statement), *_narrowed(statement), *_alternatives(statement)]
    if near >= NEAR and not strays:
        return Signal(
            check="nearness",
            passed=True,
            score=near,
            detail=f"The claim is written in the words of its quote ({near:.0%} in place).",
            role="decider",
        )
    detail = f"{near:.0%} of the claim stands in the words of its quote"
    if strays:
        detail += f"; {listed(strays)} stands apart"
    return Signal(check="nearness", passed=None, score=near, detail=detail + ".", role="filter")


def unlicensed(statement: Statement) -> tuple[Term, ...]:
    """Return the content terms of a statement that its evidence has in no form."""
    return tuple(
        term
        for term in statement.uncovered
        if term.stem not in LIGHT or term.lower in NEGATIONS | CONDITIONS
    )


def _turned(statement: Statement) -> tuple[Term, ...]:
    """Return what differs where dropping a word makes a sentence stronger, not weaker.

    "No guest may smoke on the balcony" does not say "No guest may smoke".
    """
    terms = statement.reading.terms
    turned = any(is_negation(t) or t.lower in DOWNWARD for t in terms) or any(
        t.quantity is not None and t.quantity.bound in UPPER_BOUNDS for t in terms
    )
    if not turned:
        return ()
    return tuple(
        term
        for slot in statement.best.slots
        for term in (*slot.evidence, *slot.claim)
        if term.content and term.stem not in LIGHT and term.lower not in DOWNWARD
    )


def _narrowed(statement: Statement) -> tuple[Term, ...]:
    """Return words dropped right before the first noun: "Business customers pay" is not all."""
    best = statement.best
    first = next(((i, j) for i, j in best.pairs if best.claim.terms[i].content), None)
    if first is None or any(t.content for t in best.claim.terms[: first[0]]):
        return ()
    aligned = {theirs for _, theirs in best.pairs}
    dropped: list[Term] = []
    for position in range(first[1] - 1, -1, -1):
        term = best.evidence.terms[position]
        if position in aligned or not term.content or term.lower in QUANTIFIERS:
            break
        dropped.append(term)
    return tuple(dropped)


def _alternatives(statement: Statement) -> tuple[Term, ...]:
    """Return other values of one kind in the sentence: which of them holds depends on the rest."""
    ours = [term for term in statement.reading.terms if term.quantity is not None]
    kinds = {(t.quantity.kind, t.quantity.unit) for t in ours if t.quantity is not None}
    return tuple(
        term
        for term in statement.best.evidence.terms
        if term.quantity is not None
        and (term.quantity.kind, term.quantity.unit) in kinds
        and not any(matches(own, term) for own in ours)
    )
