"""What a reader is told about the support of each sentence, the same on every surface."""

import pytest
from rendering_answers import PAYLOADS, SENTENCE, answered

from grounded_rag.render.markdown import escape_markdown
from grounded_rag.testing import make_chunk, make_draft
from grounded_rag.types import ClaimStatus, Signal, Tier
from grounded_rag.types.display import one_line
from grounded_rag.verification import verify

MARK = "(in the source’s words)"
TEXT = f"{SENTENCE} It ends with a month."


def shown(answer):
    return answer.to_terminal(width=200), answer.to_markdown(), answer.to_html()


def confirmed(by, check="judge", text="Six weeks are the notice period."):
    """A claim in words of its own that a decider confirmed, over the passage of `answered`."""
    draft = make_draft((text, "c1", SENTENCE))
    verdict = verify(draft, [make_chunk(SENTENCE, id="c1", doc_id="leaving")]).claims[0]
    signal = Signal(check=check, passed=True, role="decider", decided_by=by)
    update = {"tier": Tier.CONFIRMED, "signals": (signal,)}
    return verdict.model_copy(update={**update, "status": ClaimStatus.SUPPORTED})


def test_a_sentence_of_the_source_is_called_word_for_word():
    assert all("word for word from the source" in text for text in shown(answered()))
    assert not any(MARK in text for text in shown(answered()))


def test_an_answer_that_is_restated_as_a_whole_says_so_once():
    for text in shown(answered(restated=True)):
        assert text.count("in the source’s words") == 1
        assert MARK not in text


def test_a_restated_sentence_among_others_carries_its_own_mark():
    answer = answered(restated=True, more=(confirmed("acme/judge-1"),))
    terminal, markdown, html = shown(answer)
    assert f"{SENTENCE} [1] {MARK} Six weeks are the notice period. [1]" in terminal
    assert f"{SENTENCE} [1] *{MARK}* Six weeks" in markdown
    assert html.count('data-restated="true"') == html.count(MARK) == 1
    told = "[1] in the source’s words; [1] confirmed by the judge acme/judge-1"
    assert told in terminal
    assert told in html


@pytest.mark.parametrize(
    ("check", "by", "told"),
    [
        ("judge", "acme/judge-1", "confirmed by the judge acme/judge-1"),
        ("entailment", "nli.onnx", "confirmed by the entailment model nli.onnx"),
        ("rule", "house_rule", "confirmed by the check house_rule"),
    ],
)
def test_who_confirmed_a_sentence_is_named(check, by, told):
    claim = confirmed(by, check)
    assert told in answered(more=(claim,)).to_terminal(width=200)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_name_of_a_model_is_text_on_every_surface(payload):
    terminal, markdown, html = shown(answered(more=(confirmed(f"v {payload} v"),)))
    assert one_line(f"v {payload} v") in " ".join(terminal.split())
    assert escape_markdown(f"v {payload} v") in markdown
    assert "<script" not in html
    assert "<img" not in html


def test_what_only_quotes_a_place_is_not_called_checked():
    claim = answered().claims[0].model_copy(update={"tier": Tier.NONE})
    answer = answered().model_copy(update={"claims": (claim,)})
    assert all("not checked further" in text for text in shown(answer))


def test_the_headings_that_govern_a_statement_are_shown_with_its_quote():
    answer = answered(headings=("Staff",))
    found = answer.claims[0].statements[0]
    claim = answer.claims[0].model_copy(
        update={"statements": (found.model_copy(update={"headings": ("Staff", "Not covered")}),)}
    )
    for text in shown(answer.model_copy(update={"claims": (claim,)})):
        assert "Staff" in text
        assert "Not covered" in text


def test_a_heading_inside_a_passage_is_shown_with_the_quote_below_it():
    text = "Night bus\n\nA ticket costs 4 euros.\n"
    chunk = make_chunk(text, id="c1", doc_id="leaving", title="Leaving")
    claim = verify(
        make_draft(("A ticket costs 4 euros.", "c1", "A ticket costs 4 euros.")), [chunk]
    ).claims[0]
    answer = answered().model_copy(update={"claims": (claim,), "evidence": (chunk,)})
    assert all("Night bus" in shown_text for shown_text in shown(answer))


def test_table_cells_and_list_items_stand_on_lines_of_their_own():
    cell = confirmed("j", text="Notice, Staff: six weeks")
    answer = answered(more=(cell, cell))
    terminal, markdown, html = shown(answer)
    assert f"{SENTENCE} [1]\nNotice, Staff: six weeks [1]\nNotice" in terminal
    assert f"{SENTENCE} [1]\\\nNotice, Staff: six weeks [1]\\\nNotice" in markdown
    assert html.count('class="gr-text"') == 3
