"""The generator of false and true claims about literal quotes."""

import pytest

from grounded_rag.testing.tamper import load_corpus, pools_of
from grounded_rag.testing.tamper.claims import FALSE_CLAIMS, TRUE_CLAIMS, draw_claims

COUNT = 10


@pytest.fixture(scope="module")
def pools():
    return pools_of(load_corpus("demo"))


@pytest.mark.parametrize("kind", FALSE_CLAIMS, ids=lambda kind: kind.name)
def test_false_claims_keep_a_literal_quote_and_say_something_else(kind, pools):
    drawn = draw_claims(kind, pools, count=COUNT, seed=1)
    assert len(drawn) == COUNT
    for item in drawn:
        assert item.quote in item.passage.text
        assert item.claim not in item.passage.text
        assert not item.true


@pytest.mark.parametrize("kind", TRUE_CLAIMS, ids=lambda kind: kind.name)
def test_true_claims_keep_a_literal_quote(kind, pools):
    drawn = draw_claims(kind, pools, count=COUNT, seed=1)
    assert len(drawn) == COUNT
    assert all(item.true and item.quote in item.passage.text for item in drawn)
    assert kind.name == "copy" or all(item.claim != item.quote for item in drawn)


def test_the_same_seed_gives_the_same_claims(pools):
    kind = FALSE_CLAIMS[0]
    first, again = (draw_claims(kind, pools, count=COUNT, seed=4) for _ in range(2))
    assert first == again
    assert first != draw_claims(kind, pools, count=COUNT, seed=5)
