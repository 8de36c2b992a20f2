"""Overlap: does the evidence speak of what the claim speaks of? A cheap first filter.

Coverage saturates: an edited-in error is a near-copy, an honest rewording is not, so above a cap
more shared words prove nothing.
"""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import weight
from grounded_rag.verification.support.analysis import Analysis, analyse
from grounded_rag.verification.support.matching import covered
from grounded_rag.verification.support.signals import fine, listed, veto
from grounded_rag.verification.support.terms import Term

CAP = 0.75
"""Coverage above this counts no more."""
FLOOR = 0.2
"""Least coverage of a claim's content by its evidence."""


def coverage(analysis: Analysis) -> float:
    """Return the share of the claim's content found in the evidence, 0 to 1.

    What the question or the title already names is left out: an answer may repeat it.
    """
    total = missing = 0.0
    for statement in analysis.statements:
        for term in statement.reading.content:
            found = term not in statement.uncovered
            if not found and term.quantity is None and _given(term, analysis):
                continue
            total += weight(term)
            missing += 0.0 if found else weight(term)
    return 1.0 - missing / total if total else 1.0


def _given(term: Term, analysis: Analysis) -> bool:
    return covered(term, analysis.question) or covered(term, analysis.context)


def overlap(case: ClaimCase) -> Signal | None:
    """Say whether enough of the claim's words stand in the evidence; silent across languages."""
    analysis = analyse(case)
    if not analysis.comparable:
        return None
    share = coverage(analysis)
    score = min(share, CAP) / CAP
    missing = [term for statement in analysis.statements for term in statement.uncovered]
    if share < FLOOR:
        return veto(
            "overlap",
            Reason.LOW_OVERLAP,
            f"Only {share:.0%} of the claim is in the cited sentence; {listed(missing)} is not.",
            score=score,
        )
    return fine(
        "overlap", f"{share:.0%} of the claim's words are in the cited sentence.", score=score
    )
