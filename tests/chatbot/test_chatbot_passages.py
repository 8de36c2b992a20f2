from chatbot.passages import blocks
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.testing import make_chunk
from grounded_rag.types import Span

TABLE = "| a | b |\n|---|---|\n| c | d |"
WORDS = st.sampled_from(["fee", " is", "\n", "\n\n", "|", TABLE, "- x", "ü", "口", "# T"])


def marked(made):
    """Return the text that the blocks mark, in order."""
    parts = []
    for block in made:
        parts += [segment.text for segment in block.segments if segment.quoted]
        for row in block.rows:
            parts += [one.text for cell in row.cells for one in cell if one.quoted]
    return "".join(parts)


def bare(text):
    return "".join(c for c in text if not c.isspace() and c not in "|-:#")


def within(part, whole):
    """Whether the characters of `part` stand in `whole` in their order."""
    rest = iter(whole)
    return all(character in rest for character in part)


@given(st.lists(WORDS, min_size=1, max_size=12).map("".join), st.data())
def test_the_blocks_mark_exactly_the_quote(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = Span(start=start, end=end)
    made = blocks(make_chunk(text), quote)
    header = "".join(cell for block in made for cell in block.header)
    marks = bare(marked(made))
    wanted = bare(quote.of(text))
    # The header of a table is shown and never marked: it is no evidence of its own.
    assert within(marks, wanted) if header else marks == wanted


@given(st.lists(WORDS, min_size=1, max_size=12).map("".join))
def test_without_a_quote_everything_is_shown_and_nothing_marked(text):
    made = blocks(make_chunk(text))
    assert marked(made) == ""
    shown = "".join(
        [segment.text for block in made for segment in block.segments]
        + [cell for block in made for cell in block.header]
        + [s.text for block in made for row in block.rows for cell in row.cells for s in cell]
    )
    assert sorted(bare(shown)) == sorted(bare(text))


def test_lists_keep_their_lines_and_paragraphs_do_not():
    made = blocks(make_chunk("Bring:\n- a towel\n- water\n\nHard\nwrapped text."))
    assert [block.kind for block in made] == ["lines", "text"]


def test_headings_are_told_apart_and_lose_their_marks():
    chunk = make_chunk("## Hours\n\nWe open at nine.")
    inner = chunk.chunk.model_copy(update={"heading_spans": (Span(start=0, end=8),)})
    made = blocks(chunk.model_copy(update={"chunk": inner}))
    assert [(block.kind, block.segments[0].text) for block in made] == [
        ("heading", "Hours"),
        ("text", "We open at nine."),
    ]
