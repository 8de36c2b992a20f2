"""Splitting without a model: sentences in any script, and no word is lost."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.evaluation.decomposition import split_claim


def test_a_claim_is_split_into_sentences():
    claim = "The fee is 4 euros. The card is free and its PIN is sent in May."
    assert split_claim(claim).parts == (
        "The fee is 4 euros.",
        "The card is free and its PIN is sent in May.",
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
def test_no_word_is_lost_and_none_comes_in(claim):
    words = [word for part in split_claim(claim).parts for word in re.findall(r"\w+", part)]
    assert words == re.findall(r"\w+", claim)
    assert split_claim(claim) == split_claim(claim)


@given(st.text(max_size=200))
def test_any_text_can_be_split(text):
    parts = split_claim(text).parts
    assert parts
    assert all(parts) or parts == (text,)
