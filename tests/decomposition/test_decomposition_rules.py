"""Splitting by rules: what is split, what stays whole, and that no word is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.evaluation.decomposition import split_claim, split_clauses


def texts(sentence: str) -> list[str]:
    return [clause.text for clause in split_clauses(sentence)]


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        (
            "The account is free of charge and costs the bank 4 euros.",
            ["The account is free of charge.", "The account costs the bank 4 euros."],
        ),
        (
            "TagMaster is a public company and its shares are traded in Stockholm.",
            ["TagMaster is a public company.", "Its shares are traded in Stockholm."],
        ),
        (
            "They became engaged in 2015 and married in 2017.",
            ["They became engaged in 2015.", "They married in 2017."],
        ),
        (
            "He was jailed for fraud and released in April 2010.",
            ["He was jailed for fraud.", "He was released in April 2010."],
        ),
        (
            "The tour began in 2006; the band played in Oslo.",
            ["The tour began in 2006.", "The band played in Oslo."],
        ),
        (
            "If you give notice, the account is closed and the card is blocked.",
            [
                "If you give notice, the account is closed.",
                "If you give notice, the card is blocked.",
            ],
        ),
        (
            "She wrote the book in 1990, sold it in 1991 and moved to Rome in 1992.",
            [
                "She wrote the book in 1990, sold it in 1991.",
                "She moved to Rome in 1992.",
            ],
        ),
    ],
)
def test_coordinations_are_split_with_their_subject(sentence, parts):
    assert texts(sentence) == parts


@pytest.mark.parametrize(
    "sentence",
    [
        "The fee covers cards and refunds.",
        "You may cancel the contract and keep the card if you give notice.",
        "The bank does not charge a fee and pays the interest.",
        "The offer is open to all customers and ends in May.",
        "The Center for Disease Control and Prevention was founded in 1946.",
        "The minister said that the tax is too high and the law was changed.",
        "Epigenetic inheritance is encoded in the way that the DNA is packed and stored in cells.",
        "She has directed and created many works.",
        "Chen was born and raised in New York.",
        "The rate is between 3 and 4 percent.",
        'He wrote "the sun is low and the moon is high" in his diary.',
        "The house (it was built in 1900 and sold in 1950) is red.",
        "The concept can apply to economics, business, and politics[1].",
        "Das Konto ist kostenlos und die Karte kostet 4 Euro.",
        "",
    ],
)
def test_what_could_change_its_meaning_stays_whole(sentence):
    assert texts(sentence) == [sentence]


def test_spans_are_the_parts_own_words():
    sentence = "They became engaged in 2015 and married in 2017."
    first, second = split_clauses(sentence)
    assert first.span.of(sentence) == "They became engaged in 2015"
    assert second.span.of(sentence) == "married in 2017."


def test_a_claim_is_split_into_sentences_first():
    claim = "The fee is 4 euros. The card is free and its PIN is sent in May."
    assert split_claim(claim).parts == (
        "The fee is 4 euros.",
        "The card is free.",
        "Its PIN is sent in May.",
    )
    assert split_claim("料金は四ユーロです。カードは無料です。").parts == (
        "料金は四ユーロです。",
        "カードは無料です。",
    )


def test_a_claim_of_one_part_is_itself():
    claim = "  The fee is 4 euros "
    assert split_claim(claim).parts == (claim,)
    assert split_claim("...").parts == ("...",)


_WORDS = (
    "the bank and but is was charged pays fees if not , ; ( ) said that moved Rome 4 . costs a "
    "founded in 1901 its card were sold"
).split()


@given(st.lists(st.sampled_from(_WORDS), max_size=24).map(" ".join))
def test_no_word_but_a_conjunction_is_lost_and_none_comes_in(claim):
    def words(text: str) -> list[str]:
        return [word for word in re.findall(r"\w+", text.lower()) if word not in ("and", "but")]

    parts = split_claim(claim).parts
    spoken = [word for part in parts for word in words(part)]
    assert set(spoken) == set(words(claim))
    for word in set(words(claim)):
        assert spoken.count(word) >= words(claim).count(word)
    assert split_claim(claim) == split_claim(claim)


@given(st.text(max_size=200))
def test_any_text_can_be_split(text):
    parts = split_claim(text).parts
    assert parts
    assert all(parts) or parts == (text,)
