"""Taking a question apart."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.generate.overlap import is_typo
from grounded_rag.generate.question import Wanted, analyse, holds_kind
from grounded_rag.text.sentences import question_parts


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When does the branch open?", Wanted.DATE),
        ("What time does the branch close?", Wanted.TIME),
        ("How long is the notice period?", Wanted.DURATION),
        ("How many days do I have?", Wanted.DURATION),
        ("How much does a new card cost?", Wanted.MONEY),
        ("What's the fee for a transfer?", Wanted.MONEY),
        ("What is the overdraft rate?", Wanted.PERCENT),
        ("How much interest do I earn?", Wanted.PERCENT),
        ("How many cards can I have?", Wanted.NUMBER),
        ("What's the daily limit?", Wanted.NUMBER),
        ("Who can sign?", Wanted.PERSON),
        ("Where is the vault?", Wanted.PLACE),
        ("Why was my card blocked?", Wanted.REASON),
        ("Can I cancel a transfer?", Wanted.YES_NO),
        ("Is it free when I travel?", Wanted.YES_NO),
        ("What happens to my mandate when I move?", Wanted.ANYTHING),
        ("Wann öffnet die Filiale?", Wanted.DATE),
        ("Was kostet eine Überweisung?", Wanted.MONEY),
    ],
)
def test_the_kind_of_answer(question, wanted):
    assert analyse(question).wanted is wanted


@pytest.mark.parametrize(
    ("question", "holding", "lacking"),
    [
        ("When was it founded?", "It was founded in 1887.", "It was founded by merchants."),
        ("What's the fee?", "The fee is €5.", "The fee is charged monthly."),
        ("What is the rate?", "The rate is 4.1%.", "The rate is variable."),
        ("How long is the notice?", "The notice is 60 days.", "The notice is in writing."),
        ("Who leads it?", "It is led by Ada Marlow.", "It is led from Tarnwick street 4."),
        ("What time does it close?", "It closes at 17:00.", "It closes on Friday."),
        ("Why is it closed?", "It is closed because of works.", "It is closed."),
    ],
)
def test_whether_a_sentence_holds_the_kind(question, holding, lacking):
    asked = analyse(question)
    assert holds_kind(asked, holding) == 1.0
    assert holds_kind(asked, holding) > holds_kind(asked, lacking) or asked.wanted is Wanted.PERSON


def test_a_figure_of_the_question_is_no_answer():
    asked = analyse("How many of the 12 branches are open?")
    assert holds_kind(asked, "The bank has 12 branches.") < 1.0
    assert holds_kind(asked, "Of the 12 branches 9 are open.") == 1.0


def test_names_numbers_and_heads_are_told_apart():
    terms = {term.word.lower: term for term in analyse("Which fee of 5 has Quill QX-2?").terms}
    assert terms["fee"].head
    assert terms["5"].number
    assert terms["quill"].name
    assert terms["qx-2"].name
    assert not terms["fee"].name


def test_capitals_everywhere_name_nothing():
    assert not any(term.name for term in analyse("WHAT IS THE FEE FOR CARDS").terms)


def test_rare_words_weigh_more():
    terms = {term.word.lower: term.weight for term in analyse("time of bereavement").terms}
    assert terms["bereavement"] > terms["time"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the fee and when is it paid?", ["What is the fee", "when is it paid?"]),
        ("What does it cost? Who pays?", ["What does it cost?", "Who pays?"]),
        ("How do I open it, and also what do I need?", ["How do I open it", "what do I need?"]),
        ("What is the rate and the term?", ["What is the rate and the term?"]),
        ("  Is it free? ", ["Is it free?"]),
        ("Was kostet das und wann zahle ich?", ["Was kostet das", "wann zahle ich?"]),
        ("", [""]),
    ],
)
def test_parts_of_a_question(question, parts):
    assert [span.of(question) for span in question_parts(question)] == parts


@given(st.text(st.sampled_from("ab ?.,and what is"), max_size=60) | st.text(max_size=40))
def test_parts_are_ordered_and_disjoint(question):
    spans = question_parts(question)
    assert spans
    assert all(left.end <= right.start for left, right in pairwise(spans))


@pytest.mark.parametrize(
    ("left", "right", "typo"),
    [
        ("interest", "intrest", True),
        ("everyday", "everyady", True),
        ("overdraft", "overdraff", True),
        ("overdraft", "overdrafts", True),
        ("interest", "unterest", False),
        ("rate", "rat", False),
        ("transfer", "transport", False),
        ("10000", "10001", False),
    ],
)
def test_typing_errors(left, right, typo):
    assert is_typo(left, right) is typo
