import re

import pytest
from chatbot.passages import blocks, text_blocks
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.testing import make_chunk
from grounded_rag.types import Span

TABLE = "| a | b |\n|---|---|\n| c | d |"
TYPES = st.sampled_from(["text/markdown", "text/plain", "text/html"])
# Marks have no letters, or capital ones; words have small ones. So a test can tell them apart
# without knowing any rule of Markdown.
PLAIN = ["fee", " is", "ü", "口", "\n", "\n\n", "|", TABLE, "- x", "# t", "1. "]
MARKS = [
    *("**", "*", "_", "__", "`", "``", "> ", "    ", "\t", "\n```\n", "\n~~~\n", "\\", "[", "](#)"),
    *("<B>", "</B>", "<BR>", "<LI>", "</LI>", '<OL TYPE="I">', "<TD>", "<TR>", "<TABLE>", "</P>"),
    *("{:.LETTERS}", '{: .A ID="B"}', "<!-- -->", "&", "~~", "* ", "---\n", "===\n", "|---|\n"),
]
# The word behind a fence names a language: it is part of the mark.
NAMED_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^`\n]*\w", re.MULTILINE)
TEXTS = (
    st.lists(st.sampled_from([*PLAIN, *MARKS]), min_size=1, max_size=16)
    .map("".join)
    .filter(lambda text: not NAMED_FENCE.search(text))
)


def pieces(made):
    """Return all pieces of some blocks but those of table headers, in order."""
    for block in made:
        yield from block.segments
        for item in block.items:
            yield from item.segments
        for row in block.rows:
            for cell in row.cells:
                yield from cell


def marked(made):
    return "".join(piece.text for piece in pieces(made) if piece.quoted)


def words(text):
    return [c for c in text if c.isalpha() and not (c.isascii() and c.isupper())]


def within(part, whole):
    """Whether the characters of `part` stand in `whole` in their order."""
    rest = iter(whole)
    return all(character in rest for character in part)


@given(TEXTS, TYPES, st.data())
def test_the_blocks_mark_exactly_the_quote(text, media_type, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = Span(start=start, end=end)
    made = blocks(make_chunk(text), quote, media_type=media_type)
    marks, wanted = words(marked(made)), words(quote.of(text))
    # The header of a table is shown and never marked: it is no evidence of its own.
    header = any(block.header for block in made)
    assert within(marks, wanted) if header else marks == wanted


@given(TEXTS, TYPES)
def test_without_a_quote_every_word_is_shown_and_none_marked(text, media_type):
    made = blocks(make_chunk(text), media_type=media_type)
    assert marked(made) == ""
    shown = "".join(piece.text for piece in pieces(made))
    header = "".join(cell for block in made for cell in block.header)
    assert sorted(words(shown + header)) == sorted(words(text))


@given(TEXTS, st.data())
def test_a_quote_is_marked_whatever_stands_around_it(text, data):
    # Of a sentence without marks, each character counts.
    before, after = data.draw(TEXTS), "\n\n" + text
    sentence = "the fee is due, 12.50 a year"
    whole = before + "\n\n" + sentence + after
    start = len(before) + 2
    made = text_blocks(whole, Span(start=start, end=start + len(sentence)), media_type="text/html")
    assert marked(made) == sentence


def test_lists_are_lists_and_paragraphs_flow():
    made = blocks(make_chunk("Bring:\n- a towel\n- water\n\nHard\nwrapped text."))
    assert [block.kind for block in made] == ["text", "list", "text"]
    assert ["".join(p.text for p in item.segments) for item in made[1].items] == [
        "a towel",
        "water",
    ]
    assert made[2].segments[0].text == "Hard wrapped text."


def test_line_ends_of_a_web_page_are_kept():
    made = blocks(make_chunk("Main Street 1\nHarbour"), media_type="text/html")
    assert made[0].segments[0].text == "Main Street 1\nHarbour"


def test_headings_are_told_apart_and_lose_their_marks():
    chunk = make_chunk("## Hours\n\nWe open at nine.")
    inner = chunk.chunk.model_copy(update={"heading_spans": (Span(start=0, end=8),)})
    made = blocks(chunk.model_copy(update={"chunk": inner}))
    assert [(block.kind, block.segments[0].text) for block in made] == [
        ("heading", "Hours"),
        ("text", "We open at nine."),
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Use:\n\n    a = 1\n      b **c** <li>\n\nDone.", "a = 1\n  b **c** <li>"),
        ("Use:\n\n```sh\na = 1\n\n  b **c**\n```\nDone.", "a = 1\n\n  b **c**"),
        ("1. Use:\n\n       a &amp; b\n\n2. Done.", "a &amp; b"),
        ("- Use:\n\n  ~~~\n  a\n    b\n  ~~~\n- Done.", "a\n  b"),
        ("Use:\n\n\ta\n\t\tb\n\nDone.", "a\n\tb"),
    ],
)
def test_code_is_kept_as_it_is(text, code):
    made = text_blocks(text, media_type="text/markdown")
    assert ["".join(p.text for p in b.segments) for b in made if b.kind == "code"] == [code]


def test_the_text_of_an_item_is_no_code_however_deep():
    made = text_blocks("- a\n\n    - b\n\n      more\n", media_type="text/markdown")
    assert [block.kind for block in made] == ["list", "text"]
    assert [item.level for item in made[0].items] == [0, 1]


def test_lists_and_tables_of_html_in_markdown():
    text = (
        '<ol type="i"><li>10 days, by <b>post</b>.</li> <li>24 hours.</li></ol>\n'
        "<table><tr><th>Place</th><th>Crew</th></tr>\n<tr><td>Quay</td>\n<td>2<br>3</td></tr></table>"
        "\nThe end."
    )
    listed, table, end = text_blocks(text, media_type="text/markdown")
    assert [item.segments[0].text for item in listed.items] == ["10 days, by post.", "24 hours."]
    assert [[cell[0].text for cell in row.cells] for row in table.rows] == [
        ["Place", "Crew"],
        ["Quay", "2\n3"],
    ]
    assert end.segments[0].text == "The end."


def test_a_table_without_outer_pipes_is_a_table():
    (table,) = text_blocks("Place | Crew\n--- | ---\nQuay | **2**", media_type="text/markdown")
    assert table.header == ("Place", "Crew")
    assert [cell[0].text for cell in table.rows[0].cells] == ["Quay", "2"]


@pytest.mark.parametrize(
    "unit", ["[", "*a ", "<b ", "`", "{:.a ", "&#1", "|a", "- ", "<li>", "![[a]"]
)
def test_a_long_hostile_passage_is_cut_like_any_other(unit):
    # Far longer than a passage of the index: a rule that is not linear would not come back.
    text = unit * (40_000 // len(unit)) + "\n\nThe end."
    for media_type in ("text/markdown", "text/html"):
        made = text_blocks(text, media_type=media_type)
        assert made[-1].segments[-1].text.endswith("The end.")
