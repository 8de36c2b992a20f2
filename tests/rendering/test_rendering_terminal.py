"""Terminal text: readable without colours, and without control characters of others."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rendering_answers import PAYLOADS, SENTENCE, answered, declined, everywhere, remark

from grounded_rag.testing import make_chunk, make_draft
from grounded_rag.types import FlagKind
from grounded_rag.types.display import one_line, safe
from grounded_rag.verification import verify

OUR_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def assert_inert(text):
    for character in text:
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs")
        assert character not in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069"


def test_an_answer_reads_without_colours():
    flags = (remark(FlagKind.SUPERSEDED, "The source was superseded by new.", "new"),)
    shown = answered(before="One. ", after=" Two.", page=2, flags=flags).to_terminal()
    assert shown.splitlines() == [
        "How long is the notice period?",
        f"{SENTENCE} [1]",
        "  support: word for word from the source",
        "  [1] Leaving · page 2 · handbook/leaving.md",
        f"      “{SENTENCE}”",
        "  ! superseded: The source was superseded by new.",
    ]


def of_two_sources(*flags):
    """An answer whose second claim cites another chunk than the first."""
    chunk = make_chunk("A badge is returned.", id="c2", doc_id="badges", title="Badges")
    draft = make_draft(("A badge is returned.", "c2", "A badge is returned."))
    first = answered(flags=flags, more=verify(draft, [chunk]).claims)
    return first.model_copy(update={"evidence": (*first.evidence, chunk)})


def test_all_sources_without_a_date_are_one_line():
    flags = [remark(FlagKind.UNDATED, "No date.", chunk_id=chunk) for chunk in ("c1", "c2", "c1")]
    lines = of_two_sources(*flags).to_terminal().splitlines()
    assert [line for line in lines if "date" in line] == ["  undated: No date: [1] [2]."]
    assert lines[-1].startswith("  undated")
    lines = of_two_sources(flags[1]).to_terminal().splitlines()
    assert lines[-1] == "  undated: No date: [2]."
    assert answered(flags=(flags[0],)).to_terminal().splitlines()[-1] == "  undated: No date."


def test_a_refusal_tells_why_and_what_next():
    lines = declined().to_terminal(width=200).splitlines()
    assert lines[1] == "I cannot say."
    assert lines[2].startswith("  why: ")
    assert lines[2].endswith("[claims_failed]")
    assert lines[3].startswith("  next: ")


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_in_every_field_steer_nothing(payload):
    answer = everywhere(payload)
    assert_inert(answer.to_terminal(width=2_000))
    assert_inert(OUR_COLOURS.sub("", answer.to_terminal(color=True, width=2_000)))
    assert answer.to_terminal(width=2_000).count(one_line(payload)) >= 8
    assert_inert(declined(payload, payload, payload).to_terminal())


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_is_made_safe(text):
    assert_inert(safe(text).replace("\t", ""))
    assert_inert(one_line(text))
    assert_inert(declined(text, text, text).to_terminal().replace("\t", ""))


def test_lines_are_wrapped_by_columns_also_where_characters_are_wide():
    shown = answered(sentence="解約予告期間は六週間です。" * 6).to_terminal(width=40)
    assert all(sum(2 if ord(c) > 0x2E80 else 1 for c in line) <= 40 for line in shown.splitlines())
    assert shown.replace("\n", "").replace(" ", "").count("解約予告期間は六週間です。") == 12
