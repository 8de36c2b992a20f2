import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.statistics import at_most, clopper_pearson


def _at_least(hits, trials, share):
    return sum(
        math.comb(trials, k) * share**k * (1 - share) ** (trials - k)
        for k in range(hits, trials + 1)
    )


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 24, 0.0, 0.142473),
        (17, 18, 0.727056, 0.998594),
        (5, 10, 0.187086, 0.812914),
        (0, 20_000, 0.0, 0.000184427),
        (1, 1, 0.025, 1.0),
    ],
)
def test_known_intervals(hits, trials, low, high):
    interval = clopper_pearson(hits, trials)
    assert interval.low == pytest.approx(low, abs=1e-6)
    assert interval.high == pytest.approx(high, abs=1e-6)


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_are_where_the_tails_hold_two_and_a_half_percent(counts):
    hits, trials = counts
    interval = clopper_pearson(hits, trials)
    assert interval.low <= hits / trials <= interval.high
    if hits:
        assert _at_least(hits, trials, interval.low) == pytest.approx(0.025, abs=1e-9)
    if hits < trials:
        assert 1 - _at_least(hits + 1, trials, interval.high) == pytest.approx(0.025, abs=1e-9)


def test_nothing_is_known_without_trials():
    interval = clopper_pearson(0, 0)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="no interval"):
        clopper_pearson(3, 2)


def test_more_confidence_is_wider():
    assert clopper_pearson(5, 50, confidence=0.99).high > clopper_pearson(5, 50).high


@given(trials=st.integers(1, 60), share=st.floats(0.01, 0.99), data=st.data())
def test_the_tail_is_the_sum_of_the_binomial_distribution(trials, share, data):
    hits = data.draw(st.integers(0, trials))
    assert at_most(hits, trials, share) == pytest.approx(
        1 - _at_least(hits + 1, trials, share), abs=1e-9
    )


def test_without_trials_nothing_is_shown():
    assert at_most(0, 0, 0.2) == 1
