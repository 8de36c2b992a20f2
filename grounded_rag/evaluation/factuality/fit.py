"""Fitting a factuality model on labelled claims, and measuring it on claims not fitted on.

`calibrate_claims` does all of it; the functions below are its steps.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from grounded_rag.errors import InputError, MissingExtraError
from grounded_rag.evaluation.factuality import calibration_metrics
from grounded_rag.evaluation.factuality.claims import LabelledClaim
from grounded_rag.evaluation.factuality.factuality_model import (
    Curve,
    FactualityModel,
    Measured,
    Variant,
)
from grounded_rag.evaluation.factuality.scorers import ClaimScores, Scorers, builtin_scorers
from grounded_rag.types import Frozen

_ADVISED = 200
"""Labelled claims below which a note says that the figures are uncertain, as the docs do."""
_BATCH = 32
"""Claims scored between two calls of `progress`."""


class Calibration(Frozen):
    """A fitted model, with the raw figures to compare its own with."""

    model: FactualityModel = Field(description="Fitted on all claims; measured by cross-fitting.")
    raw: tuple[Measured, ...] = Field(description="The same figures of the raw combination.")
    given: int = Field(description="Labelled claims, those without a score included.")
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

    All claims are made under one policy, whose fingerprint is given. A group is never split between
    the `folds` of the cross-fit. `progress` is called with the number of claims scored so far.

    Raises:
        InputError: There are too few claims, or all have one label.
        MissingExtraError: scikit-learn is not installed, and something is to be calibrated.
    """
    used = scorers or builtin_scorers()
    if len({claim.true for claim in claims}) < 2:
        raise InputError(
            "The labelled claims are all true or all false; there is nothing to distinguish.",
            hint="Label both kinds.",
        )
    rows: list[LabelledScores] = []
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
    rows: Sequence[LabelledScores],
    raw: Sequence[Measured],
    held_out: Sequence[Measured],
    base_rate: float,
) -> tuple[str, ...]:
    notes = []
    if len(rows) < _ADVISED:
        notes.append(f"{len(rows)} labelled claims are few; {_ADVISED} or more are advised.")
    brier, unfitted = (
        next(figure.value for figure in figures if figure.name == "brier")
        for figures in (held_out, raw)
    )
    if brier is not None and unfitted is not None and brier > unfitted:
        notes.append("The raw scores have the better Brier score: label more claims.")
    if brier is not None and brier >= base_rate * (1 - base_rate):
        notes.append(
            "The Brier score is no better than the base rate's: the scores carry no information."
        )
    return tuple(notes)


class LabelledScores(Frozen):
    """Raw scores of one labelled claim: the input of a fit."""

    scores: ClaimScores
    true: bool
    group: str


def label_scores(
    claims: Sequence[LabelledClaim], *, scorers: Scorers | None = None, first: int = 0
) -> tuple[LabelledScores, ...]:
    """Score labelled claims; those that lack a score are left out.

    A claim without a group becomes a group alone, named by its number; `first` is the number of
    the first claim, for claims that are scored batch by batch.
    """
    raw = (scorers or builtin_scorers()).score(claims)
    return tuple(
        LabelledScores(scores=scores, true=claim.true, group=claim.group or f"row-{number}")
        for number, (claim, scores) in enumerate(zip(claims, raw, strict=True), start=first)
        if scores.complete
    )


_BOUNDARY = 0.5
"""Raw faithfulness above which a claim counts as faithful. Only the fit of the variant
`condition-calibrated` uses it."""


def fit(
    rows: Sequence[LabelledScores],
    *,
    variant: Variant,
    scorers: tuple[str, str, str],
    fingerprint: str,
) -> FactualityModel:
    """Fit the curves of a variant on scored claims that were made under one policy.

    Raises:
        InputError: There are no claims, or none that look faithful, or none that do not.
        MissingExtraError: scikit-learn is not installed, and something is to be calibrated.
    """
    variant = Variant(variant)
    if not rows:
        raise InputError(
            "No labelled claim has all three scores.",
            hint="Give the fields that the scorers read, or choose other scorers.",
        )
    about: dict[str, Any] = {
        "variant": variant,
        "scorers": scorers,
        "fingerprint": fingerprint,
        "fitted_on": len(rows),
        "base_rate": sum(row.true for row in rows) / len(rows),
    }
    if variant is Variant.NONE:
        return FactualityModel(**about)
    split = variant is Variant.CONDITION_CALIBRATED
    faithful = [row for row in rows if not split or _looks_faithful(row)]
    unfaithful = [row for row in rows if not split or not _looks_faithful(row)]
    return FactualityModel(
        **about,
        if_faithful=fit_curve(
            [row.scores.if_faithful or 0.0 for row in faithful], [row.true for row in faithful]
        ),
        if_unfaithful=fit_curve(
            [row.scores.if_unfaithful or 0.0 for row in unfaithful],
            [row.true for row in unfaithful],
        ),
    )


def _looks_faithful(row: LabelledScores) -> bool:
    return (row.scores.faithful or 0.0) > _BOUNDARY


def fit_curve(scores: Sequence[float], labels: Sequence[bool]) -> Curve:
    """Fit centred isotonic regression; it needs the extra `calibration` (scikit-learn).

    Each level stretch of the isotonic fit becomes one knot at the mean of its scores (Oron and
    Flournoy, arXiv 1701.05964). Between knots the curve rises, so that claims keep the order of
    their scores. Plain isotonic regression turns them into ties, which cost .01 to .02 of ROC-AUC
    (`benchmarks/NOTES.md`).

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


class CrossFit(Frozen):
    """Probabilities of claims from models that were fitted on other groups of claims."""

    probabilities: tuple[float, ...] = Field(description="P(true) of each claim, in order.")
    folds: tuple[int, ...] = Field(description="The part that each claim was left out with.")


def cross_fit(
    rows: Sequence[LabelledScores], *, variant: Variant, folds: int = 5, seed: int = 0
) -> CrossFit:
    """Return P(true) of each claim from a model that was not fitted on its group.

    The groups are divided into `folds` parts at random, and one part is left out at a time.

    Raises:
        InputError: There are fewer groups than folds, or `fit` lacks claims.
    """
    groups = sorted({row.group for row in rows})
    if len(groups) < folds:
        raise InputError(
            f"{len(groups)} groups of claims cannot be measured in {folds} parts.",
            hint="Label more claims, or claims of more answers.",
        )
    random.Random(seed).shuffle(groups)  # noqa: S311 - statistics, no secret
    fold_of = {group: place % folds for place, group in enumerate(groups)}
    models = [
        fit(
            [row for row in rows if fold_of[row.group] != fold],
            variant=variant,
            scorers=("", "", ""),
            fingerprint="cross-fit",
        )
        for fold in range(folds)
    ]
    places = tuple(fold_of[row.group] for row in rows)
    return CrossFit(
        probabilities=tuple(
            models[place].combine(row.scores).p_true or 0.0
            for place, row in zip(places, rows, strict=True)
        ),
        folds=places,
    )


_FIGURES: dict[str, calibration_metrics.Metric] = {
    "roc_auc": calibration_metrics.roc_auc,
    "pr_auc": calibration_metrics.pr_auc,
    "prr": calibration_metrics.prr,
    "ece": calibration_metrics.ece,
    "brier": calibration_metrics.brier,
}
"""What a factuality model is measured by."""

_RANKING = frozenset({"roc_auc", "pr_auc", "prr"})
"""Figures that compare claims with one another. Within a cross-fit they are taken per part: claims
of two parts were scored by two models, whose base rates differ."""


def measure(
    probabilities: Sequence[float],
    labels: Sequence[bool],
    *,
    groups: Sequence[str] | None = None,
    folds: Sequence[int] | None = None,
    resamples: int = 1000,
) -> tuple[Measured, ...]:
    """Return ROC-AUC, PR-AUC, PRR, ECE and Brier with bootstrap intervals.

    Claims of one group are drawn together. With the folds of a cross-fit, ranking figures are the
    mean over its parts. No resamples leave the intervals out.
    """
    all_claims = range(len(labels))
    measured = []
    for name, figure in _FIGURES.items():
        parts = folds if folds is not None and name in _RANKING else [0] * len(labels)
        value = partial(_mean_of_parts, figure, probabilities, labels, parts)
        interval = calibration_metrics.bootstrap(
            value, len(labels), groups=groups, resamples=resamples
        )
        measured.append(Measured(name=name, value=value(all_claims), interval=interval))
    return tuple(measured)


def _mean_of_parts(
    figure: calibration_metrics.Metric,
    probabilities: Sequence[float],
    labels: Sequence[bool],
    parts: Sequence[int],
    chosen: Sequence[int],
) -> float | None:
    members: dict[int, list[int]] = {}
    for index in chosen:
        members.setdefault(parts[index], []).append(index)
    values = [
        value
        for part in members.values()
        if (value := figure([probabilities[at] for at in part], [labels[at] for at in part]))
        is not None
    ]
    return sum(values) / len(values) if values else None


def labels_hash(claims: Sequence[LabelledClaim]) -> str:
    """Return the SHA-256, hexadecimal, over labelled claims in order."""
    digest = hashlib.sha256()
    for claim in claims:
        digest.update(claim.model_dump_json().encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
