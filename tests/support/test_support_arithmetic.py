"""Declared arithmetic: what a claim computes from its quotes is computed again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounded_rag import verify
from grounded_rag.text.calculation import (
    CalculationError,
    ExpressionError,
    calculate,
    parse_expression,
)
from grounded_rag.text.numbers import find_quantities
from grounded_rag.types import Reason

FEES = "The joining fee is 35 euros. The yearly fee is 120 euros, after 96 euros in 2023."
TERM = "The contract began on 1 March 2024. It ends on 15 April 2024."
TABLE = (
    "Figures in millions of US dollars.\n\n"
    "| | 2019 | 2018 |\n|---|---|---|\n| Sales | $1,496.5 | $1,202.9 |"
)


def judge(text, claim, arithmetic, *quotes):
    citations = [{"chunk_id": "c", "quote": quote} for quote in quotes or (text,)]
    draft = {"claims": [{"text": claim, "citations": citations, "arithmetic": arithmetic}]}
    return verify(draft, [{"id": "c", "text": text}]).claims[0]


@pytest.mark.parametrize(
    ("text", "claim", "arithmetic"),
    [
        (FEES, "The joining fee and the yearly fee are 155 euros together.", "35 + 120"),
        (FEES, "The yearly fee rose by 24 euros.", "120 - 96"),
        (FEES, "The yearly fee rose by 25 %.", "(120 - 96) / 96 * 100"),
        (FEES, "The yearly fee rose by 25 %.", "percent_change(96, 120)"),
        (FEES, "The yearly fee rose by 25 %.", "120 / 96 - 1 = 25 %"),
        (FEES, "The yearly fee averages 108 euros.", "(120 + 96) / 2"),
        (FEES, "The yearly fee averages 108 euros.", "average(120 euros, 96 euros)"),
        (FEES, "The joining fee is 29.2 % of the yearly fee.", "35 / 120"),
        (TERM, "The contract lasts 45 days.", "days(2024-03-01, 2024-04-15)"),
        (TERM, "The contract lasts 45 days.", "15 April 2024 - 1 March 2024"),
        (TABLE, "Sales rose by $293.6 million.", "1,496.5 - 1,202.9"),
        (TABLE, "Sales rose by 24.4 percent.", "(1,496.5-1,202.9)/1,202.9"),
    ],
)
def test_what_comes_out_right_is_accepted(text, claim, arithmetic):
    verdict = judge(text, claim, arithmetic)
    numbers = next(signal for signal in verdict.signals if signal.check == "arithmetic")
    assert numbers.passed is True, numbers.detail
    assert "computed again" in numbers.detail
    # Without its arithmetic the same claim has a number of its own.
    assert judge(text, claim, None).reason is Reason.NUMBER_MISMATCH


@pytest.mark.parametrize(
    ("claim", "arithmetic", "why"),
    [
        ("The two fees are 156 euros together.", "35 + 120", "comes to 155"),
        ("The two fees are 155 euros together.", "35 + 121", "“121” is not in its quotes"),
        ("The yearly fee fell by 25 %.", "(120 - 96) / 96", "comes to"),
        ("The yearly fee rose by 24 euros.", "96 - 120", "comes to -24"),
        ("The yearly fee rose by 24 %.", "120 - 96", "comes to 24 EUR"),
        ("The yearly fee rose by 24 dollars.", "120 - 96", "comes to 24 EUR"),
        ("The yearly fee averages 72 euros.", "(120 + 96) / 3", "“3” is not in its quotes"),
        ("The fee is 12 euros.", "__import__('os').getcwd()", "cannot be read"),
        ("The fee is 12 euros.", "120 / (96 - 96)", "divides by 0"),
        ("The fee is 12 euros.", "(" * 80 + "120", "cannot be read"),
        ("The fee is 12 euros.", "12", "is not in its quotes|computes nothing"),
    ],
)
def test_what_does_not_is_refused_with_the_reason(claim, arithmetic, why):
    verdict = judge(FEES, claim, arithmetic)
    assert verdict.reason is Reason.NUMBER_MISMATCH
    assert any(part in verdict.why for part in why.split("|")), verdict.why


def test_operands_come_from_the_quotes_not_from_the_rest_of_the_passage():
    verdict = judge(FEES, "The fees are 155 euros.", "35 + 120", "The joining fee is 35 euros.")
    assert "“120” is not in its quotes" in verdict.why


@settings(deadline=None)
@given(st.integers(2, 10**6), st.integers(2, 10**6), st.integers(2, 10**6))
def test_the_result_is_that_of_exact_fractions(first, second, third):
    evidence = find_quantities(f"There were {first}, then {second}, at last {third}.")
    found = calculate(parse_expression(f"-({first} - {second}) * {third} + {first}"), evidence)
    assert found.number == -(first - second) * third + first


@settings(deadline=None)
@given(st.text(alphabet="0123456789+-*/(). ,;%$days", max_size=60))
def test_any_text_is_computed_or_refused(text):
    evidence = find_quantities("1 of 2 and 3.5 % of $40, on 2024-03-01")
    try:
        found = calculate(parse_expression(text), evidence)
    except (ExpressionError, CalculationError):
        return
    assert abs(found.number) <= 10**60
    assert found.shown


TWO = "The joining fee is 35 euros. The yearly fee is 120 euros."
ROSE = "The fee rose from 96 euros to 120 euros."


def signal(text, claim, arithmetic):
    return next(s for s in judge(text, claim, arithmetic).signals if s.check == "arithmetic")


@pytest.mark.parametrize(
    ("text", "claim", "arithmetic"),
    [
        (TWO, "The joining fee and the yearly fee are 155 euros together.", "35 + 120"),
        (TWO, "Together, the joining fee and the yearly fee are 155 euros.", "sum(35; 120)"),
        (TWO, "The joining fee and the yearly fee differ by 85 euros.", "120 - 35"),
        (TWO, "The average of the joining fee and the yearly fee is 77.50 euros.", "(35+120)/2"),
        (ROSE, "The fee rose by 24 euros.", "120 - 96"),
        (ROSE, "The fee rose from 96 euros to 120 euros, by 25 %.", "(120 - 96) / 96"),
    ],
)
def test_the_program_confirms_a_calculation_in_the_words_of_its_statements(text, claim, arithmetic):
    found = signal(text, claim, arithmetic)
    assert (found.passed, found.role, found.decided_by) == (True, "decider", "arithmetic")


@pytest.mark.parametrize(
    ("text", "claim", "arithmetic"),
    [
        (TWO, "The joining fee is 155 euros in total.", "35 + 120"),
        (TWO, "The fee is 155 euros in total.", "35 + 120"),
        (TWO, "The joining fee and the yearly fee are 155 euros.", "35 + 120"),
        (TWO, "The joining fee and the yearly fee are not 155 euros together.", "35 + 120"),
        (TWO, "The joining fee and the yearly fee of students are 155 euros together.", "35 + 120"),
        (TWO, "The joining fee rose by 85 euros.", "120 - 35"),
        (TWO, "The joining fee is 85 euros higher than the yearly fee.", "120 - 35"),
        (TWO, "The yearly fee is 29.2 % of the joining fee.", "35 / 120"),
        (TWO, "The yearly fee is 35 euros, the joining fee 120 euros, 155 euros together.",
         "35 + 120"),
        ("The joining fee is 35 euros.", "The joining fee is 70 euros in total.", "35 + 35"),
        ("The fee is 35 euros. The fee is 35 euros now.", "The fee is now 70 euros in total.",
         "35 + 35"),
        (ROSE, "The fee rose to 24 euros.", "120 - 96"),
        (ROSE, "The fee rose by 20 %.", "(120 - 96) / 120"),
        (ROSE, "The fee rose from 120 euros to 96 euros, by 25 %.", "(120 - 96) / 96"),
        ("Arden paid Berit 35 euros. Arden paid Berit 120 euros on Monday.",
         "Berit paid Arden 155 euros on Monday in total.", "35 + 120"),
        ("The yearly fee is 35 euros. The joining fee is 120 euros except for students.",
         "The yearly fee and the joining fee are 155 euros together.", "35 + 120"),
    ],
)  # fmt: skip
def test_a_right_calculation_in_other_words_is_left_open(text, claim, arithmetic):
    found = signal(text, claim, arithmetic)
    assert (found.passed, found.role) == (True, "veto")


def test_arithmetic_without_a_number_in_the_claim_is_refused():
    assert judge(TWO, "The fees differ.", "120 - 35").reason is Reason.NUMBER_MISMATCH


def test_brackets_nest_only_so_deep():
    assert parse_expression("(" * 5 + "1" + ")" * 5)
    with pytest.raises(ExpressionError, match="nests too deep"):
        parse_expression("(" * 20 + "1" + ")" * 20)
