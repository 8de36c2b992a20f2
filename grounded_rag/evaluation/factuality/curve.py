"""Isotonic regression: from a score to a share, without assuming a shape but its direction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Self

from pydantic import model_validator

from grounded_rag.errors import InputError, MissingExtraError
from grounded_rag.types import Frozen


class Curve(Frozen):
    """A rising curve through knots, linear between them and level beyond the last.

    Attributes:
        x: Scores of the knots, rising.
        y: Calibrated shares at the knots, between 0 and 1, never falling.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if not self.x or len(self.x) != len(self.y):
            raise ValueError("a curve needs as many values as scores, and at least one")
        if any(not a < b for a, b in zip(self.x, self.x[1:], strict=False)):
            raise ValueError("the scores of a curve must rise")
        if any(not a <= b for a, b in zip(self.y, self.y[1:], strict=False)):
            raise ValueError("a calibration curve must not fall")
        if any(not 0 <= value <= 1 for value in self.y):
            raise ValueError("the values of a calibration curve lie between 0 and 1")
        return self

    def at(self, score: float) -> float:
        """Return the calibrated share at a score."""
        right = bisect_left(self.x, score)
        if right == 0:
            return self.y[0]
        if right == len(self.x):
            return self.y[-1]
        left = right - 1
        part = (score - self.x[left]) / (self.x[right] - self.x[left])
        return self.y[left] + part * (self.y[right] - self.y[left])


def fit_curve(scores: Sequence[float], labels: Sequence[bool]) -> Curve:
    """Fit centred isotonic regression; it needs the extra `calibration` (scikit-learn).

    Each level stretch of the isotonic fit becomes one knot at the mean of its scores (Oron and
    Flournoy, arXiv 1701.05964). Between knots the curve rises, so that claims keep the order that
    their scores gave them; level stretches would make ties of them.

    Args:
        scores: Scores, higher meaning surer.
        labels: Whether each claim is true.

    Raises:
        MissingExtraError: scikit-learn is not installed.
        InputError: There is nothing to fit on.
    """
    if not scores:
        raise InputError(
            "There are no labelled claims to fit a curve on.",
            hint="Label more claims; some must have high and some low faithfulness.",
        )
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError as error:
        raise MissingExtraError(
            "Fitting a calibration needs scikit-learn.",
            hint='Install it: pip install "grounded-rag[calibration]". Using a fitted model '
            "does not need it.",
        ) from error
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0)
    levels = fitted.fit_transform(list(scores), [float(label) for label in labels])
    stretches: dict[float, list[float]] = {}
    for score, level in zip(scores, levels, strict=True):
        stretches.setdefault(min(1.0, max(0.0, float(level))), []).append(score)
    knots = sorted((level, sum(part) / len(part)) for level, part in stretches.items())
    return Curve(x=tuple(score for _, score in knots), y=tuple(level for level, _ in knots))
