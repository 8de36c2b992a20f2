"""Properties that hold for every text: the promises about places, folding, failing and order."""

import json
import unicodedata

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grounded_rag import ClaimStatus, Signal, verify
from grounded_rag.verification.folding import fold
from grounded_rag.verification.locate import cuts_token

# Characters of many scripts, with everything that folding touches well represented.
ALPHABET = st.sampled_from(
    list("abcdeXYZ0123456789.,:;!?-'\"()[]|*_`#&/%€$ \n\t")
    + list("éüßñçøÆαβγδжщабвгдежзאבגדהابتثนี้คือ日本語中文字漢이다한국")
    + list("’“”«»–—…\u00a0\u00ad\u200b\u200c\u200d\u200e\u202f\u2028\ufb01\ufb02\uff11\uff12ＡＢ")
    + ["\u0301", "\u0323", "\r\n", "&amp;", "e\u0301", "👩\u200d🔬", "\ufffd", "🚚", "⁵", "½", "|"]
)
TEXTS = st.lists(ALPHABET, max_size=80).map("".join) | st.text(max_size=60)
WORDS = st.lists(
    st.sampled_from(
        "the lift must stop at floor 12 until 08:30 when a fire-fighter opens it Größe café "
        "naïve 3.14 bar Αθήνα Москва don't stay".split()
    ),
    min_size=6,
    max_size=40,
)


def cite(quote, chunk_id="c"):
    return {"text": quote, "chunk_id": chunk_id, "quote": quote}


def locate(text, quote):
    return verify([cite(quote)], [{"id": "c", "text": text}], checks=()).claims[0].citations[0]


@given(TEXTS, st.integers(0, 100), st.integers(1, 60), st.integers(0, 500))
@settings(max_examples=400, deadline=None)
def test_every_substring_that_cuts_no_token_is_found_where_the_text_reads_so(
    text, start, length, offset
):
    start = min(start, len(text))
    end = min(start + length, len(text))
    quote = text[start:end]
    assume(quote and not cuts_token(text, start) and not cuts_token(text, end))
    document = "x" * offset + text
    chunk = {"id": "c", "text": text, "metadata": {"doc_id": "d", "doc_start": offset}}
    found = verify([cite(quote)], [chunk], checks=()).claims[0].citations[0]
    if found.located is None:
        assert found.problem in ("empty_quote", "empty_chunk")
        return
    assert found.located.exact
    assert found.located.quote == quote
    assert found.located.chunk_span.of(text) == quote
    assert found.located.document_span.of(document) == quote
    for place in found.located.occurrences:
        assert place.of(text) == quote


@given(WORDS, st.integers(0, 30), st.integers(3, 20))
@settings(deadline=None)
def test_every_run_of_whole_words_is_found(words, first, count):
    text = " ".join(words)
    quote = " ".join(words[first : first + count])
    assume(quote)
    assert locate(text, quote).located.quote == quote


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_whatever_is_located_reads_as_the_source_does(text, quote):
    located = locate(text, quote).located
    if located is not None:
        assert located.chunk_span.of(text) == located.quote
        assert located.quote
        assert located.exact == (located.quote == quote)
        assert not cuts_token(text, located.chunk_span.start)


# Written for this test alone: presentation as documents and models really change it.
CHANGES = {
    "newlines": lambda text: text.replace(" ", "\n"),
    "spaces": lambda text: text.replace(" ", "   "),
    "no-break": lambda text: text.replace(" ", "\u00a0"),
    "crlf": lambda text: text.replace(" ", "\r\n", 2),
    "zero width": lambda text: text.replace(" ", " \u200b"),
    "marks": lambda text: text.replace(" ", "\u200e \u200f"),
    "soft hyphens": lambda text: text.replace("t", "t\u00ad").replace("\u00ad ", " "),
    "curly": lambda text: text.replace("'", "’"),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "emphasis": lambda text: "**" + text.replace(" ", "** **") + "**",
    "ligatures": lambda text: text.replace("fi", "\ufb01").replace("fl", "\ufb02"),
    "wide": lambda text: "".join(chr(ord(c) + 0xFEE0) if "0" <= c <= "9" else c for c in text),
    "entities": lambda text: text.replace("'", "&#39;").replace(" ", "&nbsp;", 1),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@given(words=WORDS, first=st.integers(0, 10), count=st.integers(4, 12))
@settings(max_examples=60, deadline=None)
def test_a_change_of_presentation_is_found_on_either_side(change, words, first, count):
    run = words[first : first + count]
    assume(len(run) >= 4)
    plain = " ".join(run)
    assume(" ".join(words).count(plain) == 1)
    before, after = " ".join(words[:first]), " ".join(words[first + count :])
    changed = change(plain)
    text = f"{before} {changed} {after}"
    located = locate(text, plain).located
    assert located is not None
    assert located.chunk_span.of(text) == located.quote
    assert fold(located.quote).text.strip() == fold(plain).text
    other = f"{before} {plain} {after}"
    assert locate(other, changed).located.quote == plain


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_the_offset_map_is_right_for_every_prefix(text):
    view = fold(text)
    done = 0
    for end in range(1, len(view.text) + 1):
        place = view.to_source(0, end)
        if place is None:
            continue
        assert done <= place.end <= len(text)
        done = place.end
        # What is folded from the prefix alone begins as the whole does.
        assert place.start <= place.end
    whole = view.to_source(0, len(view.text))
    assert whole is None or view.text == "" or whole.end <= len(text)


@given(st.lists(st.sampled_from(["ab", " ", "\n", "\u00ad", "ﬁ", "e\u0301", "&amp;", "１", "’"])))
@settings(deadline=None)
def test_each_folded_character_maps_to_what_it_was_folded_from(parts):
    text = "".join(parts)
    view = fold(text)
    for position in range(len(view.text)):
        place = view.to_source(position, position + 1)
        if place is not None and view.text[position] != " ":
            assert fold(text[place.start : place.end]).text == view.text[position]


def crash(case):
    raise RuntimeError


def nothing(case):
    return Signal.model_construct(
        check="mine", passed=True, score=float("nan"), role="decider", reason=None, detail=""
    )


@given(WORDS, st.sampled_from([crash, nothing, lambda case: 1]), st.booleans())
@settings(deadline=None)
def test_a_check_that_fails_never_supports(words, bad, first):
    text = "Guests may enter: " + " ".join(words)
    good = lambda case: Signal(check="judge", passed=True, role="decider")  # noqa: E731
    checks = [bad, good] if first else [good, bad]
    verdict = verify([cite(text)], [{"id": "c", "text": text}], checks=checks).claims[0]
    assert verdict.status is ClaimStatus.UNCHECKED


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["claims", "answer", "text", "chunk_id", "quote", "citations", "unanswered"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(json_values, TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_model_output_raises(value, text):
    chunks = [{"id": "c", "text": text}, {"id": "0", "text": "The lift must stop."}]
    for output in (json.dumps(value), json.dumps(value)[:-1], text):
        verification = verify(output, chunks, question=text, as_of="2026-01-01")
        assert verification.model_dump_json()
    if isinstance(value, dict | list):
        assert verify(value, chunks).outcome


@given(
    st.lists(st.tuples(TEXTS, st.sampled_from("abc")), max_size=5),
    st.lists(st.tuples(TEXTS, st.sampled_from("abcd")), min_size=1, max_size=3),
    st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_the_order_of_the_chunks_means_nothing(chunks, claims, random):
    built = [
        {"id": chunk_id, "text": text, "metadata": {"doc_id": f"{i}", "valid_until": "2020-01-01"}}
        for i, (text, chunk_id) in enumerate(chunks)
    ]
    draft = [cite(quote or "x", chunk_id) for quote, chunk_id in claims]
    shuffled = random.sample(built, len(built))
    assert verify(draft, built, as_of="2026-01-01") == verify(draft, shuffled, as_of="2026-01-01")
