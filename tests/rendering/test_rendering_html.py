"""HTML: what a reader sees, and that nothing of a document, model or person runs."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rendering_answers import PAYLOADS, SENTENCE, answered, declined, everywhere, remark

from grounded_rag.types import FlagKind

TAGS = set("article h2 p span bdi a q ol li cite blockquote mark strong time".split())
PAGE_TAGS = TAGS | set("html head meta title style body".split())
ATTRIBUTES = set(
    "class dir href id value rel datetime aria-label data-status data-reason data-restated".split()
)


class Page(HTMLParser):
    """Reads HTML into tags, attributes and text."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.links, self.ids = set(), set(), [], []
        self.text, self.marked, self._in = "", [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        values = dict(attrs)
        if tag == "a":
            self.links.append(values["href"])
        self.ids.extend(value for name, value in attrs if name == "id")
        self._in.append(tag)
        if tag == "mark":
            self.marked.append("")

    def handle_endtag(self, tag):
        self._in.pop()

    def handle_data(self, data):
        self.text += data
        if "mark" in self._in:
            self.marked[-1] += data


def test_the_quote_is_marked_in_its_sentence_with_place_and_link():
    answer = answered(
        before="Read this. ", after=" Return your badge.", page=2, headings=("Staff",)
    )
    page = Page(answer.to_html())
    assert page.marked == [SENTENCE]
    assert "page 2" in page.text
    assert "Staff" in page.text
    assert "Read this" not in page.text
    assert page.links == ["#answer-source-1", "handbook/leaving.md"]
    assert page.ids == ["answer-source-1"]
    assert f"{SENTENCE} [1]" in page.text


def test_a_partial_quote_is_marked_inside_the_whole_sentence():
    from grounded_rag.render.cards import segments
    from grounded_rag.types import Span

    cut = segments("One. Not before noon, ever. Two.", Span(start=9, end=20))
    assert [(piece.text, piece.quoted) for piece in cut] == [
        ("Not ", False),
        ("before noon", True),
        (", ever.", False),
    ]


def test_a_paged_source_is_opened_at_its_page_and_a_web_page_at_its_quote():
    pdf = Page(answered(source="guides/leave.pdf", page=4).to_html())
    assert pdf.links[1] == "guides/leave.pdf#page=4"
    web = Page(answered(source="https://example.org/leave").to_html())
    assert web.links[1].startswith("https://example.org/leave#:~:text=The%20notice")


def test_badges_tell_staleness_and_conflicts_and_name_the_other_source():
    from grounded_rag.testing import make_chunk

    new = make_chunk("x", id="n1", doc_id="leaving-2026", title="Leaving 2026")
    flags = (
        remark(FlagKind.SUPERSEDED, "The source was superseded by leaving-2026.", "leaving-2026"),
        remark(FlagKind.CONFLICT, "Contracts says “four”.", "n1"),
    )
    html = answered(flags=flags, others=(new,)).to_html()
    page = Page(html)
    assert 'data-kind="stale"' in html
    assert 'data-kind="conflict"' in html
    assert page.text.count("Leaving 2026") == 2
    assert "Contracts says “four”." in page.text


def test_the_same_badge_is_shown_once():
    flags = (remark(FlagKind.UNDATED, "No date."), remark(FlagKind.UNDATED, "No date."))
    assert answered(flags=flags).to_html().count("No date.") == 1


def test_a_refusal_shows_the_fixed_sentence_and_why_and_nothing_else():
    html = declined(text="I cannot say.").to_html()
    page = Page(html)
    assert "I cannot say." in page.text
    assert "citations did not carry it" in page.text
    assert 'data-reason="claims_failed"' in html
    assert not page.tags & {"blockquote", "mark", "ol"}


def test_the_open_part_is_named():
    assert (
        "Not answered: and who pays?"
        in Page(answered(unanswered=("and who pays?",)).to_html()).text
    )


def test_rejected_text_is_not_in_it():
    from grounded_rag.types import Attempt, Claim, Draft, StopReason, Trace

    attempt = Attempt(
        number=1, stop=StopReason.COMPLETE, draft=Draft(claims=(Claim(text="REJECTED"),))
    )
    answer = answered().model_copy(update={"trace": Trace(attempts=(attempt,))})
    for shown in (answer.to_html(standalone=True), answer.to_markdown(), answer.to_terminal()):
        assert "REJECTED" not in shown


def assert_inert(html, tags=TAGS):
    page = Page(html)
    assert page.tags <= tags
    allowed = ATTRIBUTES | {"data-kind", "charset", "http-equiv", "content", "name"}
    assert page.attributes <= allowed
    for link in page.links:
        assert link.startswith(("#answer-source-", "http://", "https://")) or (
            ":" not in link and not link.startswith(("/", "\\"))
        ), link
        assert not set(link) & set(" \n\t\"'<>\\")
    return page


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_in_every_field_stay_text(payload):
    answer = everywhere(payload)
    page = assert_inert(answer.to_html())
    if payload.isprintable():
        assert page.text.count(payload) >= 9
    assert_inert(answer.to_html(standalone=True), PAGE_TAGS)
    assert_inert(declined(payload, payload, payload).to_html())


@given(st.text(max_size=60))
def test_any_text_in_a_question_and_a_refusal_stays_text(text):
    page = assert_inert(declined(text, text, text).to_html())
    if text.isprintable() and not set(text) & set("\u202a\u202b\u2066"):
        assert page.text.count(text.strip()) >= 2


def test_a_whole_page_lets_nothing_run():
    html = answered().to_html(standalone=True)
    assert "default-src 'none'" in html
    assert html.startswith("<!doctype html>")


def test_control_and_override_characters_are_shown_as_replacements():
    html = declined(question="a\x00b\u202ec\ud800d\x9be").to_html()
    assert "a\ufffdb\ufffdc\ufffdd\ufffde" in html
    html.encode("utf-8")


def test_the_direction_of_each_text_is_its_own():
    html = everywhere("قانون العمل").to_html()
    assert '<blockquote dir="auto">' in html
    assert '<bdi class="gr-origin">قانون العمل</bdi>' in html


def test_ids_of_several_answers_do_not_collide():
    assert 'id="turn2-source-1"' in answered().to_html(id_prefix="turn2")
    for bad in ("", "1x", 'a"b', "a b", "a>"):
        with pytest.raises(ValueError, match="id_prefix"):
            answered().to_html(id_prefix=bad)
