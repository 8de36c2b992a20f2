"""The untrained rule: coverage that saturates, less a price for each flag. It orders, no more."""

from __future__ import annotations

from collections.abc import Iterable

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Signal
from grounded_rag.verification.support.added_content import added_content
from grounded_rag.verification.support.analysis import analyse
from grounded_rag.verification.support.injected import injected
from grounded_rag.verification.support.names import names
from grounded_rag.verification.support.numbers import numbers
from grounded_rag.verification.support.operators import operators
from grounded_rag.verification.support.overlap import CAP, coverage
from grounded_rag.verification.support.polarity import polarity
from grounded_rag.verification.support.strength import strength
from grounded_rag.verification.support.units import units

_PRICED = (injected, numbers, units, names, polarity, operators, strength, added_content)
_PRICES = {
    "injected": 0.6,
    "numbers": 0.25,
    "units": 0.25,
    "names": 0.15,
    "polarity": 0.25,
    "operators": 0.25,
    "strength": 0.15,
    "added_content": 0.1,
}
_WORDS = 0.5
_MEANING = 0.6


def support_score(
    case: ClaimCase,
    signals: Iterable[Signal] | None = None,
    *,
    similarity: float | None = None,
) -> float:
    """Return a score between 0 and 1 by which claims can be ordered; it is no probability.

    Args:
        case: The claim with its evidence.
        signals: What the built-in checks said, where they have run already.
        similarity: What `similarity_check` said; without it words alone count.
    """
    if signals is None:
        signals = [found for check in _PRICED if (found := check(case)) is not None]
    score = min(coverage(analyse(case)), CAP)
    score = score / CAP if similarity is None else _WORDS * score + _MEANING * similarity
    rejected = {signal.check for signal in signals if signal.passed is False}
    score -= sum(price for name, price in _PRICES.items() if name in rejected)
    return min(1.0, max(0.0, score))
