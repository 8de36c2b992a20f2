"""What is cut from a claim's text before it is verified, and what stays."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grounded_rag.verification.cleaning import (
    clean_text,
    is_clean,
    is_question,
    names_nothing,
    spoofs,
    without_marks,
    without_unseen,
)

FACT = "A ticket costs 12 euros"
QUOTES = (f"{FACT}.",)

MARKS = [
    "[1]",
    "[1][2]",
    "[1] [2]",
    "[1, 2]",
    "[1-3]",
    "[^1]",
    "[^prices]",
    "[[1]]",
    "{1}",
    "［1］",
    "【4:0†source】",
    "【3†L1-L5】",
    "[Source 1]",
    "[source]",
    "[Source 1; Source 2]",
    "[Doc 1, Doc 2]",
    "[chunk-7]",
    "[citation:3]",
    "[Quelle 3]",
    "[出典1]",
    "[XQ7P-3]",
    "[K2.1]",
    "[lido-prices]",
    "[prices.md]",
    "[docs/prices.md#L3-L5]",
    "[prices.md, p. 3]",
    "[1](https://lido.example/prices)",
    "([lido.example](https://lido.example/prices))",
    "(Source: prices.md)",
    "(Sources: [1], [2])",
    "(Quelle: Preise 2026)",
    "(source 1)",
    "(see [1])",
    "([1])",
    "(passages 1 and 2)",
    "(prices.md)",
    "(1)",
    "<sup>1</sup>",
    "\ue200cite\ue202turn0search0\ue201",
]


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize(
    "text",
    [f"{FACT} {{}}.", f"{FACT}. {{}}", f"{FACT}.{{}}", f"{FACT}. {{}}.", f"{FACT} {{}}. {{}}"],
)
def test_a_mark_before_or_behind_the_final_stop_is_cut_and_one_stop_stays(text, mark):
    marked = text.replace("{}", mark)
    assert clean_text(marked, quotes=QUOTES, chunk_ids=("lido-prices",)) == f"{FACT}."


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (f"{FACT} [1]", FACT),
        (f"{FACT}[1].", f"{FACT}."),
        (f"{FACT}.¹", f"{FACT}."),
        (f"**{FACT} [1].**", f"**{FACT}.**"),
        ("Is it open? [1]", "Is it open?"),
        ("He said: “It is open.” [1]", "He said: “It is open.”"),
        ("チケットは12ユーロです[1]。", "チケットは12ユーロです。"),
        ("チケットは12ユーロです。（出典：料金表）", "チケットは12ユーロです。"),
        ("[1]", ""),
    ],
)
def test_what_stands_around_a_mark_stays(marked, plain):
    assert clean_text(marked) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Take the exit (12).",
        "It follows from section 4(a).",
        "It follows from Article 7(2).",
        "Tick the box [x].",
        "He sued the U.S. (2019)",
        "The report came late (2019).",
        "The room has 5 beds (2 double).",
        "Pay by card (Visa).",
        "It has vitamin (B12).",
        "It counts 10⁵.",
        "The room has 12 m².",
        "Members pay less (note: not on Mondays).",
        "It is said to be old (source unknown).",
        "See the [price list](https://lido.example).",
        "He wrote [sic].",
        "It was a long day […].",
        "He lived long (1820 †1900).",
        "The [1] mark in the middle stays.",
    ],
)
@pytest.mark.parametrize("quoted", ["nothing", "all", "a part"])
def test_a_bracket_that_is_content_stays(text, quoted):
    quotes = {"nothing": (), "all": (text,), "a part": (text[: len(text) // 2],)}[quoted]
    assert clean_text(text, quotes=quotes) == text


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Saline was given [53].", "Saline was given [53]."),
        ("Read the list items[1].", "Read the list\nitems[1]."),
        ("Change the file (config.yaml).", "Change the file config.yaml."),
        ("Use the adapter [USB-3].", "The adapter is called USB-3."),
        ("It is open (Source: city).", "It is open (Source: city)."),
    ],
)
def test_what_a_quote_holds_is_no_mark(text, quote):
    assert clean_text(text, quotes=(quote,)) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\u2067abc\u2069\u200e", "abc"),
        ("1\u200b2\u200d3\u20604\ufeff", "1234"),
        ("2\u20623 so\xadft", "23 soft"),
        ("a\ufe0fb\U000e0101\u034f", "ab"),
        ("\x1b[31mred\x08\x00", "[31mred"),
        ("می\u200e\u200cخواهم", "می\u200cخواهم"),
        ("می\u200c\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_characters_that_nobody_sees_are_taken_out(text, seen):
    assert clean_text(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "ക്\u200d",
        "क्\u200dष",
        "👨\u200d👩\u200d👧",
        "❤\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "☎\ufe0e",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "葛\U000e0100城",
        "\u1100\u1160\u11a8",
        "\u0600١٢",
        "two\nlines\tand a\xa0blank",
    ],
)
def test_characters_that_shape_their_neighbours_stay(text):
    assert clean_text(text) == text


@pytest.mark.parametrize("text", ["costs \u202e12\u202c euros", "free\U000e0068\U000e0069"])
def test_characters_that_turn_round_or_hide_text_are_told_and_stay(text):
    assert spoofs(text)
    assert spoofs(clean_text(text))


def test_the_tags_of_a_flag_hide_nothing():
    assert not spoofs("🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f")


pieces = st.sampled_from(
    [*MARKS, *"[](){}.?! 1a*²", "\u200d", "\u200c", "\ufe0f", "\u202e", "👩", "می", "क", "\u1160"]
)
texts = st.lists(pieces | st.text(max_size=3), max_size=12).map("".join)


@given(texts, st.lists(texts, max_size=2))
@example("👩\u200d*[1]", [])
@example("1\ufe0f[1]\u20e3", [])
def test_cleaning_again_changes_nothing_and_nothing_gets_longer(text, quotes):
    cleaned = clean_text(text, quotes=quotes)
    assert clean_text(cleaned, quotes=quotes) == cleaned
    assert len(cleaned) <= len(text)
    if is_clean(text):
        assert cleaned == text


@given(st.text(st.characters(categories=("L", "Nd", "Zs"), exclude_characters="ᅠㅤﾠᅟ")))
def test_words_alone_are_never_touched(text):
    assert clean_text(text) == text


@given(texts)
def test_cleaning_only_takes_away(text):
    remaining = iter(text)
    assert all(character in remaining for character in without_unseen(text))
    remaining = iter(text)
    assert all(character in remaining for character in without_marks(text))


@pytest.mark.parametrize(
    "text",
    [
        "Does a ticket cost 12 euros?",
        "Does it? ",
        "“Is it open?”",
        "(Is it open?)",
        "**Is it open?**",
        'What is "Lido"?',
        "Is it open?!",
        "Is it open? 🙂",
        "¿Está abierto?",
        "「開いていますか？」",
        "هل المتحف مفتوح؟",
        "Είναι ανοιχτό;",
        "Πόσο κάνει\u037e",
        "Արդյո՞ք այն բաց է։",
    ],
)
def test_a_claim_that_asks_is_a_question(text):
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{FACT}.",
        'The form asks "Do you smoke?"',
        "The form asks “Do you smoke?”.",
        "The pool is open (really?)",
        "It is open;",
        "“Who knows?” is the title.",
        "See https://lido.example/?q",
        "",
        "12",
    ],
)
def test_a_claim_that_states_is_none(text):
    assert not is_question(text)


@pytest.mark.parametrize("part", ["none", "None.", "N/A", "nothing", "-", "[]", "keine", "なし"])
def test_words_for_nothing_leave_nothing_open(part):
    assert names_nothing(part)


@pytest.mark.parametrize("part", ["", " ", "who paid for it", "none of the fees", "?"])
def test_other_words_do_not(part):
    assert not names_nothing(part)
