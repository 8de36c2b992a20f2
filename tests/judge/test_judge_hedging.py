"""Hedging in the model's own words is flagged, what the source says itself is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag import FlagKind, Signal, Tier, verify
from grounded_rag.verification.checks import role
from grounded_rag.verification.flags import own_hedge

SOURCE = "The dam was built in 1962."


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("I think the dam was built in 1962.", "i think"),
        ("The dam was probably built in 1962.", "probably"),
        ("As far as I can tell, the dam was built in 1962.", "as far as i can tell"),
        ("I’m not sure, but the dam was built in 1962.", "i'm not sure"),
        ("It  seems that the dam was built in 1962.", "it  seems"),
        ("Vermutlich wurde der Damm 1962 gebaut.", "vermutlich"),
        ("Le barrage a sans doute été construit en 1962.", "sans doute"),
        ("The dam was built in 1962.", None),
        ("The I thinker was built in 1962.", None),
        ("The unlikely dam was built.", None),
    ],
)
def test_words_of_doubt_are_found(claim, words):
    assert own_hedge(claim, [SOURCE]) == words


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The dam was probably built in 1962.", "The dam was probably built in 1962."),
        ("The dam probably holds.", "The dam is expected to hold."),
        ("Perhaps the dam breaks.", "The dam may break."),
        ("“I believe in dams,” he said.", "He said: I believe in dams."),
    ],
)
def test_what_the_source_says_itself_is_no_hedge_of_the_model(claim, source):
    assert own_hedge(claim, [source]) is None


def test_a_stance_is_the_models_own_even_where_the_source_speaks_of_chance():
    assert own_hedge("I think the dam may break.", ["The dam may break."]) == "i think"


def hedged(*checks):
    claims = [
        {"text": f"I think {SOURCE}", "chunk_id": "c1", "quote": SOURCE},
        {"text": SOURCE, "chunk_id": "c1", "quote": SOURCE},
    ]
    return verify(claims, [{"id": "c1", "text": SOURCE}], checks=checks)


def test_a_confirmed_claim_that_hedges_carries_a_flag():
    found = hedged(role(lambda case: Signal(check="yes", passed=True), "decider"))
    assert [claim.tier for claim in found.claims] == [Tier.CONFIRMED, Tier.VERBATIM]
    (flag,) = found.flags
    assert (flag.kind, flag.claim, flag.chunk_id) == (FlagKind.HEDGED, 0, "c1")
    assert "i think" in flag.detail


def test_what_ships_in_the_words_of_its_source_hedges_with_nobody():
    found = hedged()
    assert found.claims[0].restatement == SOURCE
    assert found.flags == ()


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_claim_never_hedges_beyond_itself(claim, source):
    assert own_hedge(claim, [claim, source]) is None
    found = own_hedge(claim, [source])
    assert found is None or found in claim.lower().replace("’", "'")
