"""The untrained rule: coverage that saturates, less a price for each flag. It orders, no more."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.verification.support.added_content import added_content
from grounded_rag.verification.support.analysis import analyse
from grounded_rag.verification.support.injected import injected
from grounded_rag.verification.support.names import names
from grounded_rag.verification.support.numbers import numbers
from grounded_rag.verification.support.overlap import CAP, coverage
from grounded_rag.verification.support.polarity import polarity
from grounded_rag.verification.support.strength import strength
from grounded_rag.verification.support.units import units

_PRICES = (
    (injected, 0.6),
    (numbers, 0.25),
    (units, 0.25),
    (names, 0.15),
    (polarity, 0.25),
    (strength, 0.15),
    (added_content, 0.1),
)


def support_score(case: ClaimCase) -> float:
    """Return a score between 0 and 1 by which claims can be ordered; it is no probability."""
    score = min(coverage(analyse(case)), CAP) / CAP
    for check, price in _PRICES:
        signal = check(case)
        if signal is not None and signal.passed is False:
            score -= price
    return min(1.0, max(0.0, score))
