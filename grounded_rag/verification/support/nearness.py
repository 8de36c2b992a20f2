"""Nearness: is the claim written in the words of its quote? Near-copies are the top tier.

A lexical check is strong only there: it sees what was swapped because nothing else moved.
"""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.quantities import UPPER_BOUNDS
from grounded_rag.types import Signal
from grounded_rag.verification.support.analysis import Statement, analyse
from grounded_rag.verification.support.lexicon import CONDITIONS, LIGHT, NEGATIONS
from grounded_rag.verification.support.negation import is_negation
from grounded_rag.verification.support.signals import listed
from grounded_rag.verification.support.terms import Term

_DOWNWARD = frozenset("every each all any few only if unless when kein alle jeder".split())
NEAR = 0.75
"""Least aligned share of a near-copy."""


def nearness(case: ClaimCase) -> Signal | None:
    """Say whether the claim is a near-copy of its evidence; a decider, silent across languages."""
    analysis = analyse(case)
    if not analysis.comparable or not any(s.reading.content for s in analysis.statements):
        return None
    near = analysis.near
    strays = [term for statement in analysis.statements for term in unlicensed(statement)]
    strays += [term for statement in analysis.statements for term in _turned(statement)]
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
        detail += f"; {listed(strays)} does not"
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
    turned = any(is_negation(t) or t.lower in _DOWNWARD for t in terms) or any(
        t.quantity is not None and t.quantity.bound in UPPER_BOUNDS for t in terms
    )
    if not turned:
        return ()
    return tuple(
        term
        for slot in statement.best.slots
        for term in (*slot.evidence, *slot.claim)
        if term.content and term.stem not in LIGHT and term.lower not in _DOWNWARD
    )
