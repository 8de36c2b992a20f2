"""Taking a question apart."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.generate.overlap import is_typo
from grounded_rag.generate.question import analyse
from grounded_rag.text.sentences import question_parts


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
