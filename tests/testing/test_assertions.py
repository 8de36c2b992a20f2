"""`assert_grounded`: what passes, and what a failing test of an application is told."""

import pytest

from grounded_rag import ClaimStatus, GroundedRAG, Policy, Tier
from grounded_rag.testing import (
    ScriptedGenerator,
    StaticRetriever,
    assert_grounded,
    make_draft,
)

TEXT = "The museum opens at 10:00 every day. A ticket costs 12 euros."
TICKET = "A ticket costs 12 euros."
OWN_WORDS = "Visitors pay twelve euros."


def answered(*claims, **policy):
    generator = ScriptedGenerator(make_draft(*claims))
    retriever = StaticRetriever({"c1": TEXT})
    with GroundedRAG(retriever, generator=generator, policy=Policy(**policy)) as rag:
        return rag.query("What does a ticket cost?")


def changed(answer, **update):
    claim = answer.claims[0].model_copy(update=update)
    return answer.model_copy(update={"claims": (claim,)})


def test_verbatim_and_restated_answers_are_grounded():
    assert_grounded(answered((TICKET, "c1", TICKET)))
    restated = answered((OWN_WORDS, "c1", TICKET))
    assert restated.claims[0].restated
    assert_grounded(restated)


def test_a_claim_that_a_decider_confirmed_is_grounded():
    answer = answered((OWN_WORDS, "c1", TICKET), support="spans-only")
    assert_grounded(changed(answer, tier=Tier.CONFIRMED))


def test_a_quote_that_exists_is_not_enough_unless_the_test_says_so():
    answer = answered((OWN_WORDS, "c1", TICKET), support="spans-only")
    with pytest.raises(AssertionError, match=r"neither verbatim nor confirmed.*strict"):
        assert_grounded(answer)
    assert_grounded(answer, existence_only=True)


def test_an_open_claim_is_named_with_what_decided():
    answer = changed(
        answered((TICKET, "c1", TICKET)), status=ClaimStatus.OPEN, why="Nothing confirmed it."
    )
    with pytest.raises(AssertionError, match=r"claim .A ticket.* is open: Nothing confirmed it"):
        assert_grounded(answer)


def test_a_claim_that_only_says_that_it_is_verbatim_is_found_out():
    answer = answered((OWN_WORDS, "c1", TICKET), support="spans-only")
    with pytest.raises(AssertionError, match=r"called verbatim and is not.*stand"):
        assert_grounded(changed(answer, tier=Tier.VERBATIM))
    with pytest.raises(AssertionError, match=r"restated claim .* is called verbatim and is not"):
        assert_grounded(changed(answer, tier=Tier.VERBATIM, restated=True))


def test_a_restated_claim_is_never_merely_confirmed():
    answer = answered((OWN_WORDS, "c1", TICKET))
    with pytest.raises(AssertionError, match="source's own words are verbatim"):
        assert_grounded(changed(answer, tier=Tier.CONFIRMED))


def test_a_refusal_with_a_reason_is_grounded():
    assert_grounded(answered(("Entry is free.", "c1", "Entry is free."), max_attempts=1))
