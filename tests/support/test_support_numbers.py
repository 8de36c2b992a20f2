"""Numbers with their units: what stands in the passage is no mismatch, what does not is."""

from __future__ import annotations

import pytest

from grounded_rag.types import Reason
from grounded_rag.verification.support import numbers

FEES = "Our fees. A card costs 5 euros. A second card costs 8 euros."


def reason(signal):
    return None if signal is None else signal.reason


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("A child of 14 can use the card.", "From the 14th birthday the card can be used."),
        ("The talk takes half an hour.", "The talk takes 30 minutes."),
        ("You have up to 13 months.", "You have until 13 months after the charge."),
        ("The bus leaves at half past seven.", "The bus leaves at 7:30."),
        ("Up to a hundred and eighty euros are insured.", "Up to 180 euros are insured."),
        ("25 % of patients relapsed.", "One in four patients relapsed."),
        ("Chapter 4 covers appeals.", "Chapter IV covers appeals."),
        ("BRCA 1 raises the risk.", "The gene BRCA1 raises the risk."),
        ("She won at 31.", "The 31-year-old won."),
        ("Call 020-555-0100 for help.", "Call 020 555 0100 for help."),
        ("The fair ran on 3 May 2024.", "The fair in 2024 ran on 3 May."),
        ("Sales were 3.2 million.", "Sales (in millions): 3.2"),
        ("Loans fell by 3.2 %.", "| Loans | 402 | 389 | −3.2 % |"),
        ("A hire costs 12 EUR.", "| Item | Price in EUR |\n| Hire | 12 |"),
        ("1. May 2024 is the first day.", "It opens on 1 May 2024."),
        ("The two plans differ.", "Plan A is dear. Plan B costs 2 % less."),
    ],
)
def test_the_same_number_in_another_form_is_no_mismatch(case, claim, text):
    assert reason(numbers(case(claim, text))) is None


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("30 % of patients relapsed.", "One in four patients relapsed."),
        ("The fair ran on 3 May 2023.", "The fair in 2024 ran on 3 May."),
        ("Sales were 3.2 billion.", "Sales (in millions): 3.2"),
        ("Loans rose by 3.2 %.", "| Loans | 402 | 389 | −3.2 % |"),
        ("There are 12 members.", "The members vote [12]."),
        ("There are 3 ways.", "How to join:\n\n3. Open a saver.\n4. Pay in."),
        ("14 members voted.", "The members met.\n- 14 -\nThey voted."),
        ("86 scans were made.", "All scans were\n86\nmade before noon."),
        ("There are 3 charts.", "The charts follow.\nPage 3 of 10\nThey are small."),
    ],
)
def test_a_number_that_the_passage_does_not_give_is_named(case, claim, text):
    signal = numbers(case(claim, text))
    assert signal.reason is Reason.NUMBER_MISMATCH
    assert "stands nowhere in the cited passage" in signal.detail


def test_the_rest_of_the_passage_its_title_and_headings_account_for_numbers(case):
    quote = "A card costs 5 euros."
    assert numbers(case("A second card costs 8 euros.", FEES, quote)).passed
    for context in ({"title": "Notice 60 Saver 2026"}, {"headings": ("Notice 60 Saver", "2026")}):
        claim = "In 2026 a card of the Notice 60 Saver costs 5 euros."
        assert numbers(case(claim, FEES, quote, **context)).passed
        assert numbers(case(claim, FEES, quote)).passed is False


def test_the_question_is_no_source_of_numbers(case):
    signal = numbers(case("A card costs 7 euros.", FEES, question="Does a card cost 7 euros?"))
    assert signal.reason is Reason.NUMBER_MISMATCH
    assert "“7 euros”" in signal.detail


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The rate is 5.4 a year.", "The rate is 5.4 % a year."),
        ("The bag weighs 5 kg.", "The bag weighs 5."),
        ("Claims take 5 calendar days.", "Claims take 5 business days."),
    ],
)
def test_a_unit_that_was_lost_or_added_is_named(case, claim, text):
    assert numbers(case(claim, text)).reason is Reason.UNIT_MISMATCH


def test_a_claim_of_very_many_numbers_is_not_checked(case):
    claim = ", ".join(str(number) for number in range(1000, 1300))
    assert numbers(case(claim, FEES)).passed is None


def test_up_to_three_in_words_may_count_what_the_passage_lists(case):
    text = "Windows were broken in the north wing and the south wing, and a door."
    assert reason(numbers(case("Three windows were broken.", text))) is None
    assert reason(numbers(case("Four windows were broken.", text))) is Reason.NUMBER_MISMATCH
    assert reason(numbers(case("3 windows were broken.", text))) is Reason.NUMBER_MISMATCH


def test_the_hour_24_is_a_time_and_25_is_none(case):
    text = "The gate closes at 23:00."
    assert reason(numbers(case("The gate closes at 24:00.", text))) is Reason.NUMBER_MISMATCH
    assert numbers(case("The gate closes at 24:00.", "The gate closes at 0:00.")).passed is True
