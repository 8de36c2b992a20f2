"""Passages as a model reads them: cut words are whole, and quotes from there are still found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounded_rag import verify
from grounded_rag.generate.passages import readable


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("The re-\nfund is due.", "The refund is due."),
        ("Eine Rückerstat-\r\n  tung folgt.", "Eine Rückerstattung folgt."),
        ("The in\xadsurance covers it.", "The insurance covers it."),
        ("The in\xad\nsurance covers it.", "The insurance covers it."),
        ("a well-\nknown firm, well-known to us", "a well-known firm, well-known to us"),
        ("the Anglo-\nSaxon kings", "the Anglo-Saxon kings"),
        ("a state-of-the-\nart lock", "a state-of-the-art lock"),
    ],
)
def test_a_cut_word_is_made_whole(stored, shown):
    assert readable(stored) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Haus-\nund Grundbesitz",
        "pre-\nand post-war",
        "long-\nterm plans; the term ends",
        "| a- |\n| b |",
        "5-\n7 days",
        "- one\n- two\n-\nthree",
        "one line\nand the next",
        "a dash -\nand a word",
        "",
    ],
)
def test_what_is_no_cut_word_stays_as_it_is(text):
    assert readable(text) == text


def test_the_passage_decides_for_a_sentence_of_it():
    assert readable("long-\nterm plans", within="long-\nterm plans. A long-term view.") == (
        "long-term plans"
    )


words = st.text(st.sampled_from("abeinrstü"), min_size=2, max_size=7)


@pytest.mark.parametrize("cuts", [(" ", "-\n", "\n"), (" ", "\xad", "\xad\n", "\n")])
@settings(deadline=None)
@given(data=st.data())
def test_a_quote_from_what_is_shown_is_found_in_what_is_stored(cuts, data):
    pairs = data.draw(st.lists(st.tuples(words, st.sampled_from(cuts), words), min_size=2))
    stored = (
        "The fee " + "".join(f"{head}{mark}{tail} " for head, mark, tail in pairs) + "end of it."
    )
    quote = " ".join(readable(stored).split())
    result = verify(
        {"claims": [{"text": quote, "chunk_id": "c", "quote": quote}]},
        [{"id": "c", "text": stored}],
    )
    located = result.claims[0].located
    assert located, (stored, quote, result.claims[0].why)
    assert located[0].quote == stored
