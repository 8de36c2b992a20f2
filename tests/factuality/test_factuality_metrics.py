"""The figures, against examples computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.evaluation.factuality import (
    bootstrap,
    brier,
    ece,
    pr_auc,
    prr,
    reliability,
    risk_coverage,
    roc_auc,
)
from grounded_rag.evaluation.factuality.fit import measure

SCORES = [0.9, 0.8, 0.7, 0.6]


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        (SCORES, [True, False, True, False], 0.75),
        (SCORES, [True, True, False, False], 1.0),
        (SCORES, [False, False, True, True], 0.0),
        ([0.5, 0.5], [True, False], 0.5),
        ([0.9, 0.5, 0.5, 0.1], [True, True, False, False], 0.875),
        (SCORES, [True] * 4, None),
        ([], [], None),
    ],
)
def test_roc_auc_by_hand(scores, labels, expected):
    assert roc_auc(scores, labels) == expected


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        (SCORES, [True, False, True, False], 0.5 * 1 + 0.5 * 2 / 3),
        ([0.5, 0.5], [True, False], 0.5),
        (SCORES, [False] * 4, None),
    ],
)
def test_pr_auc_by_hand(scores, labels, expected):
    assert pr_auc(scores, labels) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("scores", "labels", "expected"),
    [
        (SCORES, [True, True, False, False], 1.0),
        # Rejecting one removes a true claim: (1/2 + 1/3)/2 on the scale from 1/2 to (1/2 + 2/3)/2.
        (SCORES, [True, False, False, True], -1.0),
        ([0.5] * 4, [True, False, False, True], 0.0),
        (SCORES, [True] * 4, None),
        ([0.5], [True], None),
    ],
)
def test_prr_by_hand(scores, labels, expected):
    assert prr(scores, labels) == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_ece_by_hand():
    assert ece([0.95, 0.85, 0.15, 0.25], [True, False, False, True]) == pytest.approx(0.45)
    assert ece([0.92, 0.98], [True, False]) == pytest.approx(0.45)
    assert ece([0.5, 0.5], [True, False]) == 0.0
    assert ece([], []) is None


def test_reliability_puts_the_ends_into_the_outer_bins():
    low, high = reliability([0.0, 0.1, 0.95, 1.0], [False, True, True, True])
    assert (low.low, low.high, low.count, low.share_true) == (0.0, 0.1, 2, 0.5)
    assert (high.count, high.mean_score) == (2, 0.975)


def test_brier_by_hand():
    assert brier([0.9, 0.2], [True, False]) == pytest.approx(0.025)
    assert brier([], []) is None


def test_risk_coverage_by_hand():
    points = risk_coverage([0.9, 0.8, 0.7], [True, False, True])
    assert [(p.coverage, p.risk, p.threshold) for p in points] == [
        (pytest.approx(1 / 3), 0.0, 0.9),
        (pytest.approx(2 / 3), 0.5, 0.8),
        (1.0, pytest.approx(1 / 3), 0.7),
    ]


def test_what_is_no_probability_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        ece([1.2], [True])
    with pytest.raises(ValueError, match="no number"):
        brier([math.nan], [True])
    with pytest.raises(ValueError, match="2 scores for 1"):
        roc_auc([0.1, 0.2], [True])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=40))
def test_an_order_kept_is_a_ranking_kept(rows):
    labels = [label for _, label in rows]
    plain = [score / 10 for score, _ in rows]
    bent = [score**2 / 100 for score, _ in rows]
    for figure in (roc_auc, pr_auc, prr):
        assert figure(plain, labels) == figure(bent, labels)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_the_base_rate_is_calibrated_and_ranks_nothing(labels):
    rate = sum(labels) / len(labels)
    constant = [rate] * len(labels)
    assert ece(constant, labels) == pytest.approx(0, abs=1e-12)
    assert brier(constant, labels) == pytest.approx(rate * (1 - rate))
    assert roc_auc(constant, labels) in (0.5, None)


def test_a_bootstrap_interval_holds_the_figure_and_repeats_itself():
    labels = [True] * 30 + [False] * 70

    def mean(chosen):
        return sum(labels[at] for at in chosen) / len(chosen)

    first = bootstrap(mean, 100, resamples=400)
    assert first.low < 0.3 < first.high
    assert first == bootstrap(mean, 100, resamples=400)
    # The normal approximation: 0.3 ± 1.96 · sqrt(0.21 / 100).
    assert first.low == pytest.approx(0.21, abs=0.03)
    assert first.high == pytest.approx(0.39, abs=0.03)


def test_claims_of_a_group_are_drawn_together():
    labels = [True] * 50 + [False] * 50

    def mean(chosen):
        return sum(labels[at] for at in chosen) / len(chosen)

    groups = ["a"] * 50 + ["b"] * 50
    together = bootstrap(mean, 100, groups=groups, resamples=200)
    assert (together.low, together.high) == (0.0, 1.0)
    assert bootstrap(lambda _: None, 3) is None
    assert bootstrap(mean, 0) is None


def test_ranking_is_measured_within_the_parts_of_a_cross_fit():
    # Each part ranks perfectly; pooled, the second part's scores lie above the first's.
    scores = [0.2, 0.1, 0.9, 0.8]
    labels = [True, False, True, False]
    figures = {
        each.name: each for each in measure(scores, labels, folds=[0, 0, 1, 1], resamples=50)
    }
    assert figures["roc_auc"].value == 1.0
    assert roc_auc(scores, labels) == 0.75
    assert figures["brier"].value == brier(scores, labels)
    assert measure(scores, labels, resamples=0)[0].interval is None
