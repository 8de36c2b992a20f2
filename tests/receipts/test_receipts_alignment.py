"""Differences by word and by value, and what resembles a text most."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grounded_rag.receipts import differences
from grounded_rag.receipts.differences import (
    CurrentDocument,
    kept_share,
    number_changes,
    similarity,
    word_diff,
)
from grounded_rag.receipts.standing import link_count, without_targets, word_count
from grounded_rag.types import Document, Validity

TEXT = """# Rates

The Everyday Saver pays 2.15% gross a year. The Young Saver pays 3.10% gross a year.

The notice period is six weeks, unless both sides agree in writing on another one before it begins.
"""


def current(text, **more):
    document = Document(id="d", source="d", title="", text=text, content_hash="x", **more)
    return CurrentDocument(document, Validity())


def changes(old, new):
    return [(change.old, change.new) for change in number_changes(old, new)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("It costs $70 today.", "It costs $75 today.", [("$70", "$75")]),
        ("within two weeks", "within 2 weeks", []),
        ("It costs €12.", "It is free.", [("€12", None)]),
        ("It is free.", "It costs €12.", [(None, "€12")]),
        ("guide-1-book", "guide-2-book", [("1", "2")]),
        ("5 kg", "5 lb", [("5 kg", "5 lb")]),
        ("on 1 March 2025", "on 1 May 2025", [("1 March 2025", "1 May 2025")]),
        ("no number", "none here", []),
    ],
)
def test_numbers_are_compared_by_value(old, new, expected):
    found = changes(old, new)
    assert [(bool(o), bool(n)) for o, n in found] == [(bool(o), bool(n)) for o, n in expected]
    for (old_found, new_found), (old_wanted, new_wanted) in zip(found, expected, strict=True):
        assert (old_wanted or "") in (old_found or "")
        assert (new_wanted or "") in (new_found or "")


@given(old=st.text(max_size=80), new=st.text(max_size=80))
def test_a_word_diff_gives_both_texts_but_for_white_space(old, new):
    parts = word_diff(old, new)
    assert "".join(p.text for p in parts if p.kind != "removed") == new
    before = "".join(p.text for p in parts if p.kind != "added")
    assert before.split() == old.split()


@given(text=st.text(max_size=1500))
def test_a_text_is_wholly_similar_to_itself(text):
    assert similarity(text, text) == 1.0
    assert kept_share(text, text, text) in (0.0, 1.0)


def test_the_new_wording_of_a_sentence():
    old = "The Everyday Saver pays 1.85% gross a year."
    found = current(TEXT).nearest(old, old)
    assert found.span.of(TEXT) == "The Everyday Saver pays 2.15% gross a year."


def test_a_few_words_are_found_by_their_sentence():
    old = "The notice period is four weeks, unless both sides agree in writing on another one."
    found = current(TEXT).nearest("four weeks", old)
    assert found.span.of(TEXT).startswith("The notice period is six weeks")
    assert current(TEXT).nearest("four weeks", "Holidays last four weeks in summer.") is None


def test_what_resembles_nothing_is_not_found():
    old = "Parking is forbidden in front of the fire brigade's exit."
    assert current(TEXT).nearest(old, old) is None
    assert current("").nearest(old, old) is None


def test_headings_are_no_passages():
    text = "# The Everyday Saver pays interest\n\nNothing else is here.\n"
    old = "The Everyday Saver pays interest"
    assert current(text, headings=({"start": 0, "end": 34},)).nearest(old, old) is None


def test_another_document_is_searched_by_the_words_of_the_claim():
    row = "| Everyday Saver | 1.85% | €1 |"
    found = current(TEXT).nearest_by_words("Everyday Saver: gross a year 1.85%", row)
    assert found.span.of(TEXT) == "The Everyday Saver pays 2.15% gross a year."
    assert current(TEXT).nearest_by_words("Parking in the yard costs nothing", row) is None


@given(st.lists(st.sampled_from(["[a](x)", "[b](y(z))", "word ", "(", ")", "\n"])))
def test_texts_without_link_targets_lead_back(pieces):
    text = "".join(pieces)
    bare = without_targets(text)
    for at in range(len(bare.text)):
        span = bare.span(at, at + 1)
        assert bare.text[at] == text[span.end - 1]
    assert link_count(bare.text) == link_count(text)


def test_words_of_targets_do_not_count():
    assert word_count("see [the list](https://bank.example/a/b/c) now") == 4


def aligned(left, right):
    """Return the common items of both sequences after checking that every block holds them."""
    at_left = at_right = kept = 0
    for block in differences.common_blocks(left, right):
        assert block.left >= at_left
        assert block.right >= at_right
        at_left, at_right = block.left + block.size, block.right + block.size
        assert left[block.left : at_left] == right[block.right : at_right]
        kept += block.size
    return kept


@pytest.fixture
def long(monkeypatch):
    """Treat even short sequences as long ones."""
    monkeypatch.setattr(differences, "_DIFFLIB_AT_MOST", 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(left=st.text("abcdefg .", max_size=60), right=st.text("abcdefg .", max_size=60))
def test_blocks_of_long_sequences_are_in_order_and_the_same_on_both_sides(long, left, right):
    aligned(left, right)
    assert aligned(left, left) == len(left)
    for step in differences.steps(left, right):
        assert (step.kind == "same") == (left[step.left] == right[step.right])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(left=st.text("ab", max_size=30), right=st.text("ab", max_size=30))
def test_a_piece_is_aligned_by_its_longest_common_subsequence(long, left, right):
    lengths = [0] * (len(right) + 1)
    for item in left:
        before = lengths[:]
        for at, other in enumerate(right, start=1):
            lengths[at] = before[at - 1] + 1 if item == other else max(before[at], lengths[at - 1])
    assert aligned(left, right) == lengths[-1]


def test_one_change_in_a_long_text_is_one_change_in_its_diff():
    old = " ".join(f"The fee of account {number} is {number % 7} euros." for number in range(2000))
    new = old.replace("account 1234 is", "account 1234 was")
    changed = [part for part in word_diff(old, new) if part.kind != "same"]
    assert [(part.kind, part.text) for part in changed] == [("removed", "is"), ("added", "was")]
    assert similarity(old, new) > 0.999


@pytest.mark.parametrize("unit", ["1 ", ".", "The fee is 12 euros. ", "a b\n"])
def test_the_work_of_a_diff_grows_with_the_length_of_its_texts(monkeypatch, unit):
    compared = []
    once = differences.longest_common_subsequence

    def counted(left, right, within, within_right):
        compared.append(len(within) * len(within_right))
        return once(left, right, within, within_right)

    monkeypatch.setattr(differences, "longest_common_subsequence", counted)
    work = []
    for size in (20_000, 80_000):
        compared.clear()
        old = unit * (size // len(unit))
        new = (unit.replace("12", "13") + "x ") * (size // (len(unit) + 2))
        word_diff(old, new)
        work.append(sum(compared))
    assert 0 < work[1] < 5 * work[0]
