"""Sentences: boundaries in many scripts, units that never join, and the invariants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.text.sentences import enclosing_sentences, split_sentences
from grounded_rag.types import Span


def sentences(text: str) -> list[str]:
    return [span.of(text) for span in split_sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["Rates rise.", "They fall!", "Do they?", "Yes."],
        ["定員は24名です。", "入場は無料！", "本当？"],
        ["ما هو السعر؟", "السعر ثابت۔", "نعم."],
        ["यह है।", "वह है।"],
        ["Τι είναι\u037e", "Ναι."],
        ["Ինչ է սա։", "Այո։"],
        ["Dr. Smith paid 3.14 euros, e.g. for No. 5.", "He left."],
        ["Es gilt z. B. Die Regel.", "Siehe § 5 Abs. 2 der Satzung.", "Am 3. Mai ist frei."],
        ["J. R. Tolkien wrote it.", "George W. Bush read it."],
        ["It costs 5.", "Bring cash."],
        ["Open until 5 p.m.", "Bring a card."],
        ['He said "Stop!" loudly.', '"Go."', "She went."],
        ["(See annex 2.)", "The next one.”", "Then."],
        ["**Note.**", "Keep it."],
        ["Wait... no.", "Wait...", "Yes…", "Done."],
        ["Visit example.com/a.b today.", "Version 1.2.3 is out."],
        ["The plan is for tenants in block B.", "The rent is due."],
    ],
)
def test_ends_a_sentence_where_the_script_does(parts):
    assert sentences(" ".join(parts)) == parts


def test_cjk_needs_no_space_and_keeps_closing_quotes():
    assert sentences("彼は「もうだめだ。」と言った。次の日。") == [
        "彼は「もうだめだ。」と言った。",
        "次の日。",
    ]
    assert sentences("（注意。）次。") == ["（注意。）", "次。"]
    assert sentences("３．５円。") == ["３．５円。"]


def test_wrapped_lines_stay_together():
    text = "The pilot ran for eleven\nweeks, until day\r\n40 of the plan and on\n12. March."
    assert (
        sentences(text)[0]
        == "The pilot ran for eleven\nweeks, until day\r\n40 of the plan and on\n12. March."
    )


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n \t\n"])
def test_blank_lines_separate(blank):
    assert sentences(f"no stop here{blank}and here") == ["no stop here", "and here"]


def test_headings_items_rows_and_labels_are_units_of_their_own():
    text = (
        "# Fees\nThe fees are\nas follows\n- one euro for\n  a copy\n- two euros\n"
        "1. first\n2. second\n"
        "| Plan | Price |\n|---|---|\n| 1. Basic | 4 |\nAfter the table.\n\n"
        "Tenant A: 500\nTenant B: 700\n\nPlan\tPrice\nPlus\t9\n"
    )
    assert sentences(text) == [
        "# Fees",
        "The fees are\nas follows",
        "- one euro for\n  a copy",
        "- two euros",
        "1. first",
        "2. second",
        "| Plan | Price |",
        "|---|---|",
        "| 1. Basic | 4 |",
        "After the table.",
        "Tenant A: 500",
        "Tenant B: 700",
        "Plan\tPrice",
        "Plus\t9",
    ]


def test_pipes_without_outer_ones_form_rows_next_to_a_rule_or_each_other():
    text = "Plan | Price\n--- | ---\nBasic. One | 4"
    assert sentences(text) == ["Plan | Price", "--- | ---", "Basic. One | 4"]


def test_enclosing_goes_from_the_first_to_the_last_sentence_touched():
    text = "One is. Two is not allowed. Three is."
    start = text.index("allowed")
    assert (
        enclosing_sentences(text, Span(start=start, end=start + 7)).of(text)
        == "Two is not allowed."
    )
    both = enclosing_sentences(text, Span(start=text.index("not"), end=text.index("Three") + 5))
    assert both.of(text) == "Two is not allowed. Three is."
    gap = Span(start=7, end=8)
    assert enclosing_sentences(text, gap) == gap
    assert enclosing_sentences("", Span(start=0, end=0)) == Span(start=0, end=0)


texts = st.text(
    alphabet=st.sampled_from(list("aB1.!?。」\"'()|-#*: \t\n\r…۔é\u2028")), max_size=120
)


@given(texts | st.text(max_size=60))
def test_spans_are_ordered_disjoint_trimmed_and_cover_everything(text):
    spans = split_sentences(text)
    position = 0
    for span in spans:
        assert span.start >= position
        assert text[position : span.start].strip() == ""
        assert span.of(text) == span.of(text).strip() != ""
        position = span.end
    assert text[position:].strip() == ""


@given(texts, st.integers(0, 120), st.integers(0, 40))
def test_enclosing_contains_every_character_that_is_not_white_space(text, start, length):
    span = Span(start=min(start, len(text)), end=min(start + length, len(text)))
    enclosing = enclosing_sentences(text, span)
    inner = span.of(text)
    if inner.strip():
        first = span.start + len(inner) - len(inner.lstrip())
        last = span.start + len(inner.rstrip())
        assert enclosing.start <= first
        assert enclosing.end >= last
