"""Nearness: is the claim written in the words of its quote? Near-copies are the top tier.

A lexical check is strong only there: it sees what was swapped because nothing else moved.
"""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Signal
from grounded_rag.verification.support.alignment import Slot
from grounded_rag.verification.support.analysis import Analysis, Statement, analyse
from grounded_rag.verification.support.lexicon import CONDITIONS, LIGHT, NEGATIONS
from grounded_rag.verification.support.matching import covered
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


def near_statements(analysis: Analysis, least: float) -> tuple[Statement, ...]:
    """Return the statements that stand at least this near to their evidence."""
    return tuple(s for s in analysis.statements if s.best.near >= least)


def foreign(slot: Slot, analysis: Analysis) -> tuple[Term, ...]:
    """Return the content terms of a slot's claim side that no evidence has."""
    return tuple(t for t in slot.claim if t.content and not covered(t, analysis.whole))
