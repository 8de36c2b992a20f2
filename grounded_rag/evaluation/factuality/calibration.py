"""From labelled claims to a model with its figures: what `grounded-rag calibrate` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grounded_rag.errors import InputError
from grounded_rag.evaluation.factuality.builtin import builtin_scorers
from grounded_rag.evaluation.factuality.claims import LabelledClaim
from grounded_rag.evaluation.factuality.combine import Scorers
from grounded_rag.evaluation.factuality.fit import (
    Labelled,
    cross_fit,
    fit,
    label_scores,
    labels_hash,
    measure,
)
from grounded_rag.evaluation.factuality.model import FactualityModel, Measured, Variant
from grounded_rag.types import Frozen

ENOUGH = 200
"""Labelled claims below which the figures say little."""
_BATCH = 32


class Calibration(Frozen):
    """A fitted model, with the raw figures to compare its own with.

    Attributes:
        model: The model, fitted on all claims; its `held_out` is from cross-fitting.
        raw: The same figures of the raw combination, on the same parts.
        given: Number of labelled claims given, those without a score included.
        notes: What a reader of the figures should know.
    """

    model: FactualityModel
    raw: tuple[Measured, ...]
    given: int
    notes: tuple[str, ...] = ()


def calibrate_claims(
    claims: Sequence[LabelledClaim],
    *,
    fingerprint: str,
    variant: Variant = Variant.CONDITION_CALIBRATED,
    scorers: Scorers | None = None,
    folds: int = 5,
    resamples: int = 1000,
    progress: Callable[[int], object] | None = None,
) -> Calibration:
    """Fit a model on labelled claims and measure it on claims not fitted on.

    Args:
        claims: Labelled claims, made under one policy.
        fingerprint: Fingerprint of that policy.
        variant: What to calibrate.
        scorers: The scorers; None takes the built-in ones.
        folds: Parts of the cross-fit; a group is never split between them.
        resamples: Resamples of the bootstrap.
        progress: Told after each batch how many claims are scored.

    Raises:
        InputError: There are too few claims, or all have one label.
        MissingExtraError: scikit-learn is not installed, and something is to be calibrated.
    """
    used = scorers or builtin_scorers()
    if len({claim.true for claim in claims}) < 2:
        raise InputError(
            "The labelled claims are all true or all false; there is nothing to tell apart.",
            hint="Label both kinds.",
        )
    rows: list[Labelled] = []
    for start in range(0, len(claims), _BATCH):
        rows += label_scores(claims[start : start + _BATCH], scorers=used, first=start)
        if progress is not None:
            progress(min(start + _BATCH, len(claims)))
    model = fit(rows, variant=variant, scorers=used.names, fingerprint=fingerprint)
    labels = [row.true for row in rows]
    groups = [row.group for row in rows]
    figures = []
    for kind in (Variant.NONE, variant):
        crossed = cross_fit(rows, variant=kind, folds=folds)
        figures.append(
            measure(
                crossed.probabilities,
                labels,
                groups=groups,
                folds=crossed.folds,
                resamples=resamples,
            )
        )
    raw, held_out = figures
    return Calibration(
        model=model.model_copy(update={"held_out": held_out, "labels_hash": labels_hash(claims)}),
        raw=raw,
        given=len(claims),
        notes=_notes(rows, raw, held_out, model.base_rate),
    )


def _notes(
    rows: Sequence[Labelled],
    raw: Sequence[Measured],
    held_out: Sequence[Measured],
    base_rate: float,
) -> tuple[str, ...]:
    notes = []
    if len(rows) < ENOUGH:
        notes.append(f"{len(rows)} labelled claims are few; {ENOUGH} or more are advised.")
    brier, unfitted = (
        next(figure.value for figure in figures if figure.name == "brier")
        for figures in (held_out, raw)
    )
    if brier is not None and unfitted is not None and brier > unfitted:
        notes.append("The raw scores have the better Brier score: label more claims.")
    if brier is not None and brier >= base_rate * (1 - base_rate):
        notes.append("The Brier score is no better than the base rate's: the scores tell nothing.")
    return tuple(notes)
