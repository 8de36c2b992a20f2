"""A population whose probabilities are known: they are recovered, and both parts are beaten."""

from __future__ import annotations

import random

import pytest

from grounded_rag.errors import InputError, MissingExtraError
from grounded_rag.evaluation.factuality import (
    ClaimScores,
    Curve,
    LabelledScores,
    Variant,
    brier,
    cross_fit,
    ece,
    fit,
    fit_curve,
    franq,
    roc_auc,
)

NAMES = ("a", "b", "c")


def population(count: int, seed: int = 7) -> list[tuple[LabelledScores, float]]:
    """Claims with their true probability; the regimes differ in level and in what tells."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        faithful = draw.choice((0.01, 0.02, 0.98, 0.99))
        first, second = draw.random(), draw.random()
        # Raw scores say the order only: the shares lie elsewhere.
        if_faithful = 0.65 + 0.34 * first**2
        if_unfaithful = 0.6 * second**3
        probability = franq(faithful, if_faithful, if_unfaithful)
        is_faithful = draw.random() < faithful
        true = draw.random() < (if_faithful if is_faithful else if_unfaithful)
        scores = ClaimScores(faithful=faithful, if_faithful=first, if_unfaithful=second)
        made.append((LabelledScores(scores=scores, true=true, group=str(number)), probability))
    return made


@pytest.fixture(scope="module")
def fitted():
    rows = [row for row, _ in population(6000)]
    return {
        variant: fit(rows, variant=variant, scorers=NAMES, fingerprint="p") for variant in Variant
    }


@pytest.fixture(scope="module")
def fresh():
    return population(6000, seed=8)


def probabilities(model, fresh):
    return [model.combine(row.scores).p_true for row, _ in fresh]


def test_known_probabilities_are_recovered(fitted, fresh):
    found = probabilities(fitted[Variant.CONDITION_CALIBRATED], fresh)
    distance = [abs(ours - truth) for ours, (_, truth) in zip(found, fresh, strict=True)]
    assert sum(distance) / len(distance) < 0.02
    assert ece(found, [row.true for row, _ in fresh]) < 0.02


def test_each_step_of_calibration_helps(fitted, fresh):
    labels = [row.true for row, _ in fresh]
    raw, calibrated, conditional = (
        brier(probabilities(fitted[variant], fresh), labels) for variant in Variant
    )
    assert conditional < calibrated < raw


def test_condition_calibrated_beats_both_parts(fitted, fresh):
    model = fitted[Variant.CONDITION_CALIBRATED]
    labels = [row.true for row, _ in fresh]
    whole = probabilities(model, fresh)
    for part in (
        [model.if_faithful.at(row.scores.if_faithful) for row, _ in fresh],
        [model.if_unfaithful.at(row.scores.if_unfaithful) for row, _ in fresh],
        [row.scores.faithful for row, _ in fresh],
    ):
        assert brier(whole, labels) < brier(part, labels) - 0.01
        assert roc_auc(whole, labels) > roc_auc(part, labels) + 0.01


def test_raw_scores_are_combined_as_they_are(fitted):
    scores = ClaimScores(faithful=0.75, if_faithful=0.8, if_unfaithful=0.4)
    found = fitted[Variant.NONE].combine(scores)
    assert found.p_true == pytest.approx(0.75 * 0.8 + 0.25 * 0.4)
    assert found.scores == found.raw == scores


def test_a_missing_score_gives_no_probability(fitted):
    scores = ClaimScores(faithful=0.75, if_faithful=None, if_unfaithful=0.4)
    assert fitted[Variant.CALIBRATED].combine(scores).p_true is None


def test_cross_fitting_leaves_groups_whole_and_out():
    rows = [row for row, _ in population(300)]
    # One group whose labels are all wrong: a model that had seen it would follow them.
    odd = [
        row.model_copy(update={"group": "odd", "true": not row.true}) if number < 60 else row
        for number, row in enumerate(rows)
    ]
    crossed = cross_fit(odd, variant=Variant.CONDITION_CALIBRATED)
    assert len({crossed.folds[at] for at in range(60)}) == 1
    assert roc_auc(crossed.probabilities[:60], [row.true for row in odd[:60]]) < 0.3
    assert crossed == cross_fit(odd, variant=Variant.CONDITION_CALIBRATED)


def test_too_few_groups_cannot_be_parted():
    rows = [row.model_copy(update={"group": "one"}) for row, _ in population(20)]
    with pytest.raises(InputError, match="1 groups"):
        cross_fit(rows, variant=Variant.NONE)


def test_a_regime_without_claims_is_said():
    rows = [row for row, _ in population(40) if row.scores.faithful > 0.5]
    with pytest.raises(InputError, match="no labelled claims"):
        fit(rows, variant=Variant.CONDITION_CALIBRATED, scorers=NAMES, fingerprint="p")
    with pytest.raises(InputError, match="all three"):
        fit([], variant=Variant.NONE, scorers=NAMES, fingerprint="p")


def test_a_curve_is_fitted_by_hand():
    # Violators 0.2 (true) and 0.3 (false) are pooled to 1/2 at their mean score.
    curve = fit_curve([0.1, 0.2, 0.3, 0.4], [False, True, False, True])
    assert curve.x == pytest.approx((0.1, 0.25, 0.4))
    assert curve.y == pytest.approx((0.0, 0.5, 1.0))
    assert [curve.at(s) for s in (0.0, 0.1, 0.175, 0.25, 0.9)] == pytest.approx(
        [0.0, 0.0, 0.25, 0.5, 1.0]
    )


def test_a_curve_through_one_score_is_level():
    curve = fit_curve([0.5, 0.5, 0.5, 0.5], [True, False, False, False])
    assert curve == Curve(x=(0.5,), y=(0.25,))
    assert curve.at(0.0) == curve.at(1.0) == 0.25


@pytest.mark.parametrize(
    ("x", "y"), [((), ()), ((0.1,), ()), ((0.2, 0.1), (0, 1)), ((0, 1), (1, 0)), ((0.1,), (2,))]
)
def test_what_is_no_curve_is_refused(x, y):
    with pytest.raises(ValueError):
        Curve(x=x, y=y)


def test_the_missing_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sklearn.isotonic", None)
    with pytest.raises(MissingExtraError, match=r"grounded-rag\[calibration\]"):
        fit_curve([0.1, 0.2], [True, False])
    with pytest.raises(InputError):
        fit_curve([], [])
