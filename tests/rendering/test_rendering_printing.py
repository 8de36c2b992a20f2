"""What `print`, a log and a notebook show of an answer and of a verification."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rendering_answers import PAYLOADS, SENTENCE, answered, declined, everywhere, remark
from test_rendering_html import TAGS, Page

from grounded_rag import Verification, verify
from grounded_rag.testing import make_chunk, make_draft
from grounded_rag.types import Claim, ClaimStatus, ClaimVerdict, Flag, FlagKind, Outcome, Problem


def assert_plain(text):
    for character in text:
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs")
        assert character not in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069"


def test_a_printed_answer_is_what_a_terminal_shows_without_colours():
    flags = (remark(FlagKind.SUPERSEDED, "The source was superseded by new.", "new"),)
    answer = answered(flags=flags, unanswered=("and who pays?",))
    assert str(answer) == f"{answer}" == answer.to_terminal()
    for shown in (f"{SENTENCE} [1]", "not answered: and who pays?", "! superseded:", "“"):
        assert shown in str(answer)


def test_a_printed_refusal_says_why_and_what_next():
    lines = str(declined()).splitlines()
    assert lines[:2] == ["Who?", "I cannot say."]
    assert "  next: " in str(declined())


def test_the_repr_of_an_answer_is_one_short_line():
    answer = answered(question="Why? " * 100)
    shown = repr(answer)
    assert shown.startswith("Answer(question='Why? Why?")
    assert shown.endswith("status='answered', claims=1, sources=1)")
    assert len(shown) < 300
    assert "refusal='claims_failed'" in repr(declined())


def verdict(text, quote=SENTENCE):
    return verify(
        make_draft((text, "c1", quote)), [make_chunk(SENTENCE, id="c1", doc_id="leaving")]
    )


def test_a_printed_verification_says_what_became_of_each_claim():
    assert str(verdict(SENTENCE)).splitlines() == [
        "accepted: 1 of 1 claims supported",
        f"✓ {SENTENCE}",
        "    supported, verbatim: The claim is a statement of its source, word for word.",
        f"    “{SENTENCE}” (leaving)",
    ]
    shown = str(verdict("The notice period is seven weeks."))
    assert shown.splitlines()[1] == "✗ The notice period is seven weeks."
    assert "unsupported (number_mismatch): " in shown
    assert f"    may ship instead: {SENTENCE}" in shown
    assert str(verdict("You can leave after six weeks.")).splitlines()[1].startswith("? ")


def hostile_verification(text):
    claim = ClaimVerdict(claim=Claim(text=text), status=ClaimStatus.UNSUPPORTED, why=text)
    flag = Flag(kind=FlagKind.EXPIRED, claim=0, chunk_id="c", doc_id=text, detail=text)
    return Verification(
        claims=(claim,),
        outcome=Outcome.REJECTED,
        flags=(flag,),
        problems=(Problem(reason="uncited_prose", path=text, detail=text),),
        unanswered=(text,),
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_steer_nothing_however_they_are_printed(payload):
    for answer in (everywhere(payload), declined(payload, payload, payload)):
        assert_plain(str(answer))
        assert repr(answer).isprintable()
        html = answer._repr_html_()
        style, _, article = html.partition("</style>\n")
        assert style.startswith("<style>\n")
        assert payload not in style
        assert "<" not in style.removeprefix("<style>")
        assert Page(article).tags <= TAGS
        html.encode()
    assert_plain(str(hostile_verification(payload)))


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_text_is_printed_safely(text):
    answer = declined(text, text, text)
    # A tab is left as it is where a refusal stands on lines of its own.
    assert_plain(str(answer).replace("\t", ""))
    assert repr(answer).isprintable()
    shown = str(hostile_verification(text))
    assert_plain(shown)
    assert len(shown.split("\n")) == 6
    answer._repr_html_().encode()


def test_a_notebook_shows_the_article_and_its_own_style_alone():
    html = answered()._repr_html_()
    style = html[: html.index("</style>")]
    for line in style.splitlines()[1:]:
        assert line.strip().startswith((".gr-", "@media", "}")), line
    assert "http" not in style


def test_answers_in_one_notebook_have_ids_of_their_own():
    one, other = (answered(question=question)._repr_html_() for question in ("One?", "Other?"))
    assert Page(one).ids
    assert not set(Page(one).ids) & set(Page(other).ids)
    (mark, *_) = Page(one).links
    assert mark == f"#{Page(one).ids[0]}"
