"""Exact binomial intervals and tests, with the standard library alone."""

from __future__ import annotations

import math

from grounded_rag.types import Frozen

_STEPS = 200
_TINY = 1e-300


class Interval(Frozen):
    """A confidence interval of a share, both ends between 0 and 1."""

    low: float
    high: float


def clopper_pearson(hits: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Return the exact (Clopper–Pearson) interval of a share.

    Args:
        hits: Number of successes, between 0 and `trials`.
        trials: Number of trials; with 0 nothing is known and the interval is 0 to 1.
        confidence: Share of repetitions in which the interval covers the truth, above 0 and
            below 1; half of the rest lies on each side.

    Raises:
        ValueError: A number is outside its range.
    """
    if not 0 <= hits <= trials or not 0 < confidence < 1:
        raise ValueError(f"no interval for {hits} of {trials} at {confidence}")
    if trials == 0:
        return Interval(low=0.0, high=1.0)
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _beta_quantile(tail, hits, trials - hits + 1)
    high = 1.0 if hits == trials else _beta_quantile(1 - tail, hits + 1, trials - hits)
    return Interval(low=low, high=high)


def at_most(hits: int, trials: int, rate: float) -> float:
    """Return the probability of at most so many successes, each of which has the chance `rate`.

    It is the p-value of the test whether the true rate is below `rate`.
    """
    return 1.0 if hits >= trials else 1 - _beta(rate, hits + 1, trials - hits)


def _beta_quantile(share: float, a: int, b: int) -> float:
    """Return where the beta distribution reaches `share`, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _beta(middle, a, b) < share:
            low = middle
        else:
            high = middle
        if high - low < 1e-15:
            break
    return (low + high) / 2


def _beta(x: float, a: int, b: int) -> float:
    """Return the regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    logarithm = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    # The continued fraction converges fast on this side of the mean only.
    if x < (a + 1) / (a + b + 2):
        return math.exp(logarithm) * _fraction(x, a, b) / a
    return 1 - math.exp(logarithm) * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: int, b: int) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    result = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + numerator * d
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = 1 + numerator / c
            c = c if abs(c) > _TINY else _TINY
            result *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return result
