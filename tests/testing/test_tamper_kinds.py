import re
import unicodedata

import pytest

from grounded_rag.testing.tamper import (
    BENIGN,
    KINDS,
    TAMPERS,
    Corpus,
    Passage,
    draw_cases,
    load_corpus,
    pools_of,
)

COUNT = 12


@pytest.fixture(scope="module")
def pools():
    return pools_of(load_corpus("demo"))


@pytest.fixture(scope="module")
def cases(pools):
    return {kind.name: draw_cases(kind, pools, count=COUNT, seed=3) for kind in KINDS}


def test_there_are_enough_classes_and_their_names_differ():
    assert len(TAMPERS) >= 25
    assert len(BENIGN) >= 15
    assert len({kind.name for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_demo_corpus_has_material_for_every_class(kind, cases):
    assert len(cases[kind.name]) == COUNT


@pytest.mark.parametrize("kind", TAMPERS, ids=lambda kind: kind.name)
def test_a_tampered_quote_is_not_what_the_cited_chunk_says(kind, cases):
    for case in cases[kind.name]:
        assert case.label == "tamper"
        assert case.expected is None
        if kind.name in ("truncated_word", "truncated_number"):
            assert case.quote in case.cited_text
        else:
            assert case.quote not in case.cited_text


@pytest.mark.parametrize("kind", BENIGN, ids=lambda kind: kind.name)
def test_a_benign_quote_has_the_letters_of_its_span(kind, cases):
    for case in cases[kind.name]:
        assert case.label == "benign"
        place = case.expected.of(case.cited_text)
        assert place
        assert case.cited_text.count(place) == 1
        assert _letters(place) == _letters(case.quote)


def _letters(text):
    """An oracle of the tests alone, far coarser than any verifier may be."""
    text = re.sub(r"&#?\w+;", "", text.replace("&amp;", "")).replace("&", "")
    text = "".join(c for c in unicodedata.normalize("NFKC", text) if c.isalnum())
    # Entities stand for characters that are neither letters nor digits, but for accents.
    return re.sub(r"[éü]", "", text).casefold()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_same_seed_draws_the_same_and_another_seed_does_not(kind, pools, cases):
    assert draw_cases(kind, pools, count=COUNT, seed=3) == cases[kind.name]
    other = draw_cases(kind, pools, count=COUNT, seed=4)
    assert [case.quote for case in other] != [case.quote for case in cases[kind.name]]


def test_a_class_does_not_depend_on_how_many_are_drawn(pools, cases):
    for kind in KINDS[::7]:
        assert draw_cases(kind, pools, count=4, seed=3) == cases[kind.name][:4]


def _differences(case):
    """The words that only the original has, and those that only the quote has."""
    before, after = case.original.split(), case.quote.split()
    return [w for w in before if w not in after], [w for w in after if w not in before]


def test_digit_changes_one_digit_and_nothing_else(cases):
    for case in cases["digit"]:
        pairs = [(a, b) for a, b in zip(case.original, case.quote, strict=True) if a != b]
        assert len(pairs) == 1
        assert all(a.isdigit() and b.isdigit() for a, b in pairs)


def test_homoglyph_keeps_the_length_and_changes_the_script(cases):
    for case in cases["homoglyph"]:
        pairs = [(a, b) for a, b in zip(case.original, case.quote, strict=True) if a != b]
        assert len(pairs) == 1
        assert unicodedata.normalize("NFC", pairs[0][0]) != unicodedata.normalize(
            "NFC", pairs[0][1]
        )


def test_case_inside_differs_by_case_alone_and_not_at_the_first_letter(cases):
    for case in cases["case_inside"]:
        assert case.original != case.quote
        assert case.original.casefold() == case.quote.casefold()
        assert case.original[0] == case.quote[0]


def test_word_order_keeps_the_words(cases):
    for case in cases["word_order"]:
        assert sorted(re.findall(r"\w+", case.original)) == sorted(re.findall(r"\w+", case.quote))


def test_dropped_and_added_words_change_the_count_by_one(cases):
    for case in cases["dropped_word"]:
        assert len(case.quote.split(" ")) == len(case.original.split(" ")) - 1
    for case in cases["added_word"]:
        assert len(case.quote.split(" ")) == len(case.original.split(" ")) + 1


def test_sign_differs_by_one_sign(cases):
    for case in cases["sign"]:
        signs = "-+\N{MINUS SIGN}"
        left = [c for c in case.original if c not in signs]
        assert left == [c for c in case.quote if c not in signs]


def test_truncated_quotes_cut_a_word_or_a_number(cases):
    for name in ("truncated_word", "truncated_number"):
        for case in cases[name]:
            start = case.cited_text.index(case.quote)
            end = start + len(case.quote)
            text = case.cited_text
            around = text[max(0, start - 2) : start + 2], text[end - 2 : end + 2]
            assert any(re.search(r"\w[.,]?\w|[-\N{MINUS SIGN}]\d", edge) for edge in around)


def test_wrong_chunk_cites_a_chunk_without_the_words_and_another_has_them(cases):
    for case in cases["wrong_chunk"]:
        assert any(case.quote in chunk.text for chunk in case.chunks if chunk.id != case.cited)


def test_unknown_chunk_cites_none_of_the_chunks(cases):
    for case in cases["unknown_chunk"]:
        assert case.cited not in {chunk.id for chunk in case.chunks}


def test_other_version_is_true_of_the_other_version(cases):
    for case in cases["other_version"]:
        (other,) = [chunk for chunk in case.chunks if chunk.id != case.cited]
        assert case.quote in other.text
        assert case.original in case.cited_text


def test_joined_rows_are_in_no_single_row(cases):
    for name in ("two_cells", "row_join", "skipped_cell"):
        for case in cases[name]:
            quote = " ".join(case.quote.replace("|", " ").split())
            rows = case.cited_text.splitlines()
            assert all(quote not in " ".join(row.replace("|", " ").split()) for row in rows)


def test_an_edit_that_gives_another_true_quote_is_dropped():
    """Each word may be dropped from this sentence and still leave words that stand in the text."""
    text = (
        "ring the bell bell bell bell bell bell bell bell now. " + "Nothing else is of note. " * 3
    )
    pools = pools_of(Corpus(name="t", passages=(Passage(id="p", source="p", text=text),)))
    dropped = next(kind for kind in TAMPERS if kind.name == "dropped_word")
    for case in draw_cases(dropped, pools, count=50, seed=0):
        assert case.quote not in case.cited_text


def test_no_class_invents_material():
    pools = pools_of(Corpus(name="t", passages=(Passage(id="p", source="p", text="Too short."),)))
    assert all(draw_cases(kind, pools, count=3, seed=0) == () for kind in KINDS)
