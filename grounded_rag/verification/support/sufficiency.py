"""Sufficiency: the quote with its sentence carries the claim, not the rest of the passage."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import weight
from grounded_rag.verification.support.analysis import analyse
from grounded_rag.verification.support.lexicon import LIGHT
from grounded_rag.verification.support.matching import covered
from grounded_rag.verification.support.signals import listed, veto

_ENOUGH = 0.5


def sufficiency(case: ClaimCase) -> Signal | None:
    """Say whether most of the claim stands elsewhere in the passage than in the cited sentence."""
    analysis = analyse(case)
    if not analysis.comparable:
        return None
    for statement in analysis.statements:
        elsewhere = [
            term
            for term in statement.uncovered
            if term.stem not in LIGHT
            and not term.name
            and covered(term, analysis.chunk)
            and not covered(term, analysis.question)
        ]
        content = sum(weight(term) for term in statement.reading.content)
        moved = sum(weight(term) for term in elsewhere)
        if len(elsewhere) > 1 and statement.coverage < _ENOUGH and moved >= content * (1 - _ENOUGH):
            return veto(
                "sufficiency",
                Reason.LOW_OVERLAP,
                f"{listed(elsewhere)} stands elsewhere in the passage: cite that sentence.",
            )
    return None
