import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.text.words import STOPWORDS, content_words, related, stem, tokenize


def words(text):
    return [word.lower for word in tokenize(text)]


@given(st.text())
def test_words_are_places_in_the_text_in_order(text):
    end = 0
    for word in tokenize(text):
        assert word.start < word.end
        assert word.span.of(text) == word.text
        assert word.start >= end or word.kind == "cjk"
        end = word.end


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Staff must re-sign the log.", ["staff", "must", "re-sign", "the", "log"]),
        ("don’t wait", ["don't", "wait"]),
        ("Model QX-2, IP67", ["model", "qx-2", "ip67"]),
        ("_return scan_ of MAX_SIZE_MB", ["return", "scan", "of", "max_size_mb"]),
        ("approxi-\nmately six", ["approximately", "six"]),
        ("9kg or 9 kg", ["9", "kg", "or", "9", "kg"]),
        ("1,500 at 22:00, 3.14", ["1,500", "at", "22:00", "3.14"]),
        ("Ver\u00adsand", ["versand"]),
        ("con\ufb01rm \uff12\uff14", ["confirm", "24"]),
        ("定員は24名", ["定員", "員は", "24", "名"]),
        ("End.Next", ["end", "next"]),
        ("U.S. law", ["u.s", "law"]),
    ],
)
def test_tokens(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [("QX-2", "code"), ("IP67", "code"), ("21st", "number"), ("10⁵", "number"), ("½", "number"),
     ("well-known", "word"), ("हिन्दी", "word"), ("定員", "cjk")],
)  # fmt: skip
def test_kind(text, kind):
    (word,) = tokenize(text)
    assert word.kind == kind


@pytest.mark.parametrize(
    "forms",
    ["close closes closed closing", "run ran running", "city cities", "take took taken",
     "stop stopped", "study studies studied", "quick quickly", "inspect inspected inspects",
     "lift lift's", "study's study"],
)  # fmt: skip
def test_inflections_share_a_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "pair", ["news new", "organ organization", "re-sign resign", "need ne", "bus bu"]
)
def test_different_words_keep_different_stems(pair):
    left, right = pair.split()
    assert stem(left) != stem(right)


def test_german_endings():
    assert stem("berge", "de") == stem("bergen", "de")


def test_composed_and_decomposed_accents_share_a_stem():
    assert [w.stem for w in tokenize("café")] == [w.stem for w in tokenize("cafe\u0301")]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [("inspect", "inspection", True), ("pay", "payment", False), ("approv", "approval", True),
     ("harm", "harmless", False), ("contract", "contrast", False), ("norway", "norwegian", False)],
)  # fmt: skip
def test_derivations(left, right, same):
    assert related(stem(left), stem(right)) is same


def test_content_words_take_hyphens_apart_and_drop_function_words():
    assert [w.lower for w in content_words("It is a twenty-minute delay")] == [
        "twenty", "minute", "delay",
    ]  # fmt: skip


def test_words_that_decide_what_a_sentence_says_are_content():
    assert STOPWORDS.isdisjoint("not no never may only all some most until before".split())
