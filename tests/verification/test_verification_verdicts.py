"""Verdicts: what the checks see, what their signals mean, and what happens when they fail."""

import math

import pytest

from grounded_rag import ClaimStatus, FlagKind, Outcome, Reason, Signal, Tier, verify
from grounded_rag.verification.rules import Rules

TEXT = "The dam was built in 1962. It is not open to visitors."
CLAIM = {"text": "The dam was built in 1962.", "chunk_id": "c1", "quote": "dam was built in 1962"}


def signal(passed, *, role="veto", check="mine", reason=None, score=None):
    return Signal(check=check, passed=passed, role=role, reason=reason, detail="why", score=score)


def judged(*checks, text=TEXT, claim=CLAIM):
    return verify([claim], [{"id": "c1", "text": text}], checks=checks).claims[0]


def crash(case):
    raise ZeroDivisionError


def late(case):
    raise TimeoutError


def no_number(case):
    return Signal.model_construct(
        check="mine", passed=True, score=math.nan, role="decider", reason=None, detail=""
    )


@pytest.mark.parametrize("check", [crash, late, no_number, lambda case: "yes", lambda case: True])
@pytest.mark.parametrize(
    "beside", [(), (lambda case: signal(True, role="decider", check="judge"),)]
)
def test_a_check_that_fails_leaves_the_claim_unchecked(check, beside):
    verdict = judged(check, *beside)
    assert verdict.status is ClaimStatus.UNCHECKED
    assert verdict.reason is Reason.COULD_NOT_CHECK
    assert not verdict.supported
    assert verdict.signals[0].passed is None


OTHER = {**CLAIM, "text": "They built the dam in 1962."}
OPEN = (ClaimStatus.OPEN, Tier.NONE)
VERBATIM = (ClaimStatus.SUPPORTED, Tier.VERBATIM)
CONFIRMED = (ClaimStatus.SUPPORTED, Tier.CONFIRMED)
REJECTED = (ClaimStatus.UNSUPPORTED, Tier.NONE)
UNCHECKED = (ClaimStatus.UNCHECKED, Tier.NONE)


@pytest.mark.parametrize(
    ("signals", "copy", "other"),
    [
        ([], VERBATIM, OPEN),
        ([signal(True)], VERBATIM, OPEN),
        ([signal(True, role="decider", check="entailment")], VERBATIM, CONFIRMED),
        ([signal(True, role="decider", check="judge")], VERBATIM, CONFIRMED),
        ([signal(True, role="decider", check="unnamed")], VERBATIM, OPEN),
        ([signal(False, role="filter")], OPEN, OPEN),
        (
            [signal(False, role="filter"), signal(True, role="decider", check="judge")],
            CONFIRMED,
            CONFIRMED,
        ),
        ([signal(False, role="info")], VERBATIM, OPEN),
        ([signal(None, role="info")], VERBATIM, OPEN),
        ([signal(False)], REJECTED, REJECTED),
        ([signal(None), signal(False)], REJECTED, REJECTED),
        ([signal(None)], UNCHECKED, UNCHECKED),
        ([signal(False), signal(True, role="decider", check="judge")], REJECTED, REJECTED),
        ([signal(False, role="decider")], REJECTED, REJECTED),
        (
            [signal(False, reason=Reason.CONTRADICTED)],
            (ClaimStatus.CONTRADICTED, Tier.NONE),
            (ClaimStatus.CONTRADICTED, Tier.NONE),
        ),
        ([signal(None, role="decider")], VERBATIM, UNCHECKED),
    ],
)
def test_signals_decide_by_their_role(signals, copy, other):
    checks = [lambda case, s=s: s for s in signals]
    for claim, expected in ((CLAIM, copy), (OTHER, other)):
        verdict = judged(*checks, claim=claim)
        assert (verdict.status, verdict.tier) == expected
        assert verdict.signals == tuple(signals)
        assert verdict.why


def test_an_open_claim_says_what_stands_apart_and_what_may_ship_in_its_place():
    verdict = judged(claim=OTHER)
    assert verdict.reason is Reason.UNPROVEN
    assert set(verdict.apart) >= {"they", "was"}
    assert verdict.restatement == "The dam was built in 1962."
    assert not verdict.restated


def test_an_open_claim_accepts_nothing():
    assert verify([OTHER], [{"id": "c1", "text": TEXT}]).outcome is Outcome.REJECTED
    assert verify([CLAIM, OTHER], [{"id": "c1", "text": TEXT}]).outcome is Outcome.PARTIAL


def test_spans_only_ships_what_quotes_something_that_exists_with_a_flag():
    found = verify([OTHER], [{"id": "c1", "text": TEXT}], rules=Rules(spans_only=True))
    assert found.claims[0].supported
    assert found.claims[0].tier is Tier.NONE
    assert [flag.kind for flag in found.flags] == [FlagKind.UNCONFIRMED]


def test_a_check_with_nothing_to_say_leaves_no_signal():
    assert judged(lambda case: None).signals == ()


def test_checks_run_only_when_every_citation_has_its_place():
    cited = [{"chunk_id": "c1", "quote": "dam was built in 1962"}, {"chunk_id": "c9", "quote": "x"}]
    verdict = judged(crash, claim={"text": CLAIM["text"], "citations": cited})
    assert verdict.status is ClaimStatus.UNSUPPORTED
    assert verdict.reason is Reason.UNKNOWN_CHUNK
    assert verdict.signals == ()
    assert len(verdict.located) == 1


def test_a_claim_without_citations_is_uncited():
    verdict = judged(claim={"text": "It is so."})
    assert verdict.status is ClaimStatus.UNCITED


def test_the_checks_see_the_whole_statement():
    text = "Smoke out. Guests are not permitted to smoke on the balconies, ever. Bring a towel."
    seen = []

    def look(case):
        seen.append(case.evidence[0].sentence)

    claim = {"text": "Smoke!", "chunk_id": "c1", "quote": "permitted to smoke on the balconies"}
    verify([claim], [{"id": "c1", "text": text}], checks=[look])
    assert seen[0] == "Guests are not permitted to smoke on the balconies, ever."


def test_a_quote_that_is_the_whole_chunk_is_flagged_only_where_that_hides_something():
    long = " ".join(
        f"Rule {n} says that members must book desk {n} a week ahead." for n in range(9)
    )
    claim = {"text": "Members must book desk 3.", "chunk_id": "c1", "quote": long}
    flags = verify([claim], [{"id": "c1", "text": long}], checks=()).flags
    assert [flag.kind for flag in flags] == [FlagKind.OVERSIZED_QUOTE]
    short = "The dam was built in 1962."
    claim = {"text": short, "chunk_id": "c1", "quote": short}
    assert verify([claim], [{"id": "c1", "text": short}], checks=()).flags == ()
    brief = "Dogs may swim. Cats may not. Birds may sing. Fish may swim too."
    claim = {"text": "Cats may not swim.", "chunk_id": "c1", "quote": brief}
    assert not verify([claim], [{"id": "c1", "text": brief}], checks=()).flags


def test_damaged_text_inside_a_literal_quote_is_flagged():
    text = "The \ufffdnal inspection takes place on day 40."
    claim = {"text": text, "chunk_id": "c1", "quote": text}
    flags = verify([claim], [{"id": "c1", "text": text}], checks=()).flags
    assert [flag.kind for flag in flags] == [FlagKind.DAMAGED_TEXT]


def test_a_conflict_names_the_other_chunk_once_and_never_costs_the_claim():
    chunks = [
        {"id": "a", "text": "The ladder holds 120 kg.", "metadata": {"doc_id": "1"}},
        {"id": "b", "text": "The ladder holds 100 kg.", "metadata": {"doc_id": "2"}},
    ]
    claim = {"text": "The ladder holds 120 kg.", "chunk_id": "a", "quote": chunks[0]["text"]}
    verification = verify([claim], chunks)
    assert verification.outcome is Outcome.ACCEPTED
    assert [flag.related for flag in verification.flags] == [("b",)]
