"""Markdown: read back by a CommonMark parser, so that what is shown is what was meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rendering_answers import PAYLOADS, SENTENCE, answered, declined, everywhere, remark

from grounded_rag.render.markdown import escape_markdown
from grounded_rag.types import FlagKind
from grounded_rag.types.display import one_line

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
BLOCKS = {"paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close", "inline"}
INLINE = {"text", "strong_open", "strong_close", "link_open", "link_close", "hardbreak"}


def read(markdown):
    """Return text, links and bold texts; fails on any construct that we do not write."""
    text, links, bold = "", [], []
    for block in PARSER.parse(markdown):
        assert block.type in BLOCKS, block
        for token in block.children or ():
            assert token.type in INLINE, token
            text += {"hardbreak": "\n"}.get(token.type, token.content)
            if token.type == "link_open":
                links.append(token.attrs["href"])
            if token.type == "strong_open":
                bold.append("")
            elif token.type == "text" and token.level and bold:
                bold[-1] += token.content
        text += "\n"
    return text, links, bold


def test_claims_sources_and_quotes():
    answer = answered(before="Read this. ", page=2, source="a/leave.pdf", headings=("Staff",))
    text, links, bold = read(answer.to_markdown())
    assert f"{SENTENCE} [1]" in text
    assert "[1] Leaving · Staff · page 2 · a/leave.pdf" in text
    assert links == ["a/leave.pdf#page=2"]
    assert SENTENCE in "".join(bold)
    assert "Read this" not in text
    assert "As of 2026-11-29." in text


def test_badges_and_open_parts():
    flags = (remark(FlagKind.EXPIRED, "The source was valid until 2026-05-31."),)
    text, _, _ = read(answered(flags=flags, unanswered=("who pays?",)).to_markdown())
    assert "⚠ expired: The source was valid until 2026-05-31." in text
    assert "Not answered: “who pays?”" in text


def test_a_refusal_tells_why():
    text, links, _ = read(declined().to_markdown())
    assert "I cannot say." in text
    assert "Why: An answer was drafted" in text
    assert links == []


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_in_every_field_stay_text(payload):
    text, links, _ = read(everywhere(payload).to_markdown())
    assert text.count(one_line(payload)) >= 9
    assert all(link.startswith(("http://", "https://")) or ":" not in link for link in links), links
    text, links, _ = read(declined(payload, payload, payload).to_markdown())
    assert one_line(payload) in text
    assert links == []


@given(st.text(max_size=40))
def test_any_text_reads_back_as_it_was(text):
    shown, links, _ = read(f"x\n\n{escape_markdown(text)}\n\nx")
    assert links == []
    assert [line for line in shown.split("\n") if line] == [
        "x",
        *filter(None, [one_line(text)]),
        "x",
    ]


def test_bare_addresses_do_not_become_links():
    linkifying = MarkdownIt("commonmark")
    html = linkifying.render(escape_markdown("http://e.example www.e.example a@e.example"))
    assert html == "<p>http://e.example www.e.example a@e.example</p>\n"
    assert "http\\://" in escape_markdown("http://e.example")
    assert "www\\.e" in escape_markdown("www.e.example")
    assert "a\\@e" in escape_markdown("a@e.example")


@pytest.mark.parametrize(
    "source", ["https://e.example/a_(b)_*c*", "https://e.example/?a=1&copy;=2"]
)
def test_addresses_arrive_whole(source):
    _, links, _ = read(answered(source=source).to_markdown())
    assert links[0].partition("#")[0] == source
