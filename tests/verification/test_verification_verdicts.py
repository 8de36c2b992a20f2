"""Verdicts: what the checks see, what their signals mean, and what happens when they fail."""

import math

import pytest

from grounded_rag import ClaimStatus, FlagKind, Outcome, Reason, Signal, Tier, verify

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


@pytest.mark.parametrize(
    ("signals", "status", "tier"),
    [
        ([], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(True)], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(True, role="decider", check="nearness")], ClaimStatus.SUPPORTED, Tier.HIGH),
        ([signal(True, role="decider", check="entailment")], ClaimStatus.SUPPORTED, Tier.CHECKED),
        ([signal(True, role="decider", check="judge")], ClaimStatus.SUPPORTED, Tier.CHECKED),
        ([signal(True, role="decider", check="other")], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(True), signal(None, role="filter")], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(None, role="filter")], ClaimStatus.UNCHECKED, Tier.UNSUPPORTED),
        ([signal(False, role="filter")], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(False, role="info")], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(None, role="info")], ClaimStatus.SUPPORTED, Tier.LEXICAL),
        ([signal(False)], ClaimStatus.UNSUPPORTED, Tier.UNSUPPORTED),
        ([signal(None), signal(False)], ClaimStatus.UNSUPPORTED, Tier.UNSUPPORTED),
        ([signal(False, role="decider")], ClaimStatus.UNSUPPORTED, Tier.UNSUPPORTED),
        (
            [signal(False, reason=Reason.CONTRADICTED)],
            ClaimStatus.CONTRADICTED,
            Tier.UNSUPPORTED,
        ),
        (
            [signal(True, role="decider", check="nearness"), signal(False)],
            ClaimStatus.UNSUPPORTED,
            Tier.UNSUPPORTED,
        ),
        (
            [signal(True, role="decider", check="nearness"), signal(None, role="decider")],
            ClaimStatus.SUPPORTED,
            Tier.HIGH,
        ),
        ([signal(True), signal(None, role="decider")], ClaimStatus.UNCHECKED, Tier.UNSUPPORTED),
    ],
)
def test_signals_decide_by_their_role(signals, status, tier):
    verdict = judged(*[lambda case, s=s: s for s in signals])
    assert verdict.status is status
    assert verdict.tier is tier
    assert verdict.signals == tuple(signals)
    assert verdict.why


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


def sentence_of(text, quote):
    seen = []

    def look(case):
        seen.append(case.evidence[0])
        return signal(True)

    claim = {"text": quote, "chunk_id": "c1", "quote": quote}
    verify([claim], [{"id": "c1", "text": text}], checks=[look])
    assert seen[0].sentence_span.of(text) in seen[0].sentence
    return seen[0].sentence


def test_the_checks_see_the_whole_sentence():
    text = "Smoke outside. Guests are not permitted to smoke on the balconies, ever. Thank you."
    sentence = sentence_of(text, "permitted to smoke on the balconies")
    assert sentence == "Guests are not permitted to smoke on the balconies, ever."


TABLE = (
    "Prices:\n\n| Plan | GB | Price |\n|---|---|---|\n"
    "| Basic | 10 GB | 4 EUR |\n| Plus | 50 GB | 9 EUR |\n"
)


def test_a_row_stands_with_its_header_and_no_other_row():
    sentence = sentence_of(TABLE, "Plus 50 GB 9 EUR")
    assert sentence == "| Plan | GB | Price |\n| Plus | 50 GB | 9 EUR |"


def test_a_row_of_a_table_cut_off_above_has_no_header():
    text = TABLE[TABLE.index("| Basic") :]
    assert sentence_of(text, "Plus 50 GB 9 EUR") == "| Plus | 50 GB | 9 EUR |"


def test_a_table_of_tabs_has_its_first_row_without_figures_as_header():
    text = "Plan\tPrice\nBasic\t4 EUR\nPlus\t9 EUR"
    assert sentence_of(text, "Plus\t9 EUR") == "Plan\tPrice\nPlus\t9 EUR"


def test_a_list_item_stands_with_the_line_that_leads_in():
    text = (
        "We pay most things. The following are not\ncovered:\n\n"
        "- theft of cash\n- water damage from\n  below\n- war\n"
    )
    lead = "The following are not\ncovered:"
    assert sentence_of(text, "theft of cash") == f"{lead}\ntheft of cash"
    assert sentence_of(text, "water damage from below").startswith(lead)
    assert sentence_of(text, "- war").startswith(lead)


def test_a_heading_is_no_part_of_the_evidence():
    text = "# Not allowed things\nGuests may smoke here."
    assert sentence_of(text, "Guests may smoke here.") == "Guests may smoke here."


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
