import hashlib
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from grounded_rag.errors import ConfigError
from grounded_rag.ingest import chunk, embedded_text
from grounded_rag.ingest.readers import HtmlReader, MarkdownReader
from grounded_rag.ingest.readers.text import find_headings
from grounded_rag.ingest.structure import build_sections, heading_spans
from grounded_rag.resources import data_file
from grounded_rag.types import Document, Span


def words(text):
    """A tokenizer that is easy to reckon with: words of at most four letters, and signs."""
    return len(re.findall(r"[^\W_]{1,4}|[^\s\w]|_", text))


def make(text, *, title="", pages=(), doc_id="d"):
    headings = find_headings(text)
    return Document(
        id=doc_id,
        source=doc_id,
        title=title,
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        sections=build_sections(len(text), headings),
        headings=heading_spans(headings),
        pages=pages,
    )


def check(document, chunks, *, count, capacity):
    """Assert what holds for every document."""
    position = 0
    for one in chunks:
        assert one.text == one.span.of(document.text)
        assert one.text == one.text.strip() != ""
        assert one.span.start >= position
        assert not document.text[position : one.span.start].strip()
        position = one.span.end
        view = embedded_text(one, document.title)
        assert view.endswith(one.text)
        assert count(view) <= capacity
        for span in one.heading_spans:
            whole = span.shift(one.span.start)
            assert any(heading.contains(whole) for heading in document.headings)
    assert not document.text[position:].strip()
    assert len({one.id for one in chunks}) == len(chunks)


pieces = st.sampled_from(
    [
        "The rate is 2.15% gross a year. ",
        "Is it so? ",
        "word ",
        "Überweisung ",
        "\n",
        "\r\n",
        "\n\n",
        "# Heading\n",
        "## Under {#x}\n\n",
        "Set\n===\n",
        "- item one\n",
        "1. first:\n",
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        "| row | of a table |\n",
        "```\ncode # no\n```\n",
        "円建て送金の手数料は、7.50ユーロです。",
        "👨‍👩‍👧‍👦",
        "e\u0301",
        "\u00ad\u200b\ufeff",
        "\u00a0",
        "x" * 70,
        "\u0301" * 40,
        "\x0b\x0c\x85\u2028",
        "This is important.\n\n",
    ]
)


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.one_of(pieces, st.text(st.characters(exclude_categories=["Cs"])))).map("".join),
    st.sampled_from(["", "Savings rate sheet 2026", "長い題名" * 30]),
    st.sampled_from([(words, 100), (words, 400), (len, 230), (lambda t: len(t.encode()), 240)]),
)
def test_chunks_cover_the_text_with_exact_spans_inside_the_capacity(text, title, tokenizer):
    count, capacity = tokenizer
    document = make(text, title=title)
    check(
        document,
        chunk(document, count=count, capacity=capacity),
        count=count,
        capacity=capacity,
    )


@pytest.fixture(scope="module")
def minilm():
    tokenizer = Tokenizer.from_file(str(data_file("minilm-tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "lorem ipsum dolor " * 6_000,
        "円建て送金の手数料" * 2_000,
        "👨‍👩‍👧‍👦" * 1_500,
        "a" + "\u0301" * 3_000,
        "3.14159 26535, " * 2_000,
        "| " + "cell | " * 5_000,
        "# " + "heading " * 3_000 + "\ntext\n",
        "\u200b" * 3_000 + "x",
        "This is important.\n\n" * 400,
        "<a href='x'>y</a>" * 1_000,
    ],
    ids="line words cjk emoji marks digits row heading zero repeats tags".split(),
)
def test_texts_without_good_places_to_cut_stay_inside_the_models_window(text, minilm):
    document = make(text, title="Überlange Überschrift " * 10)
    chunks = chunk(document, count=minilm)
    check(document, chunks, count=minilm, capacity=220)
    assert len(chunks) < 4 + max(minilm(text) / 50, len(text) / 100)


def test_eight_copies_of_a_paragraph_have_eight_places():
    text = "This is important.\n\n" * 8
    document = make(text)
    chunks = chunk(document, count=len, capacity=30)
    assert [one.span.start for one in chunks] == list(range(0, 160, 20))
    check(document, chunks, count=len, capacity=30)


def test_grapheme_clusters_are_not_cut():
    family = "👨‍👩‍👧‍👦"
    for one in chunk(make(family * 200), count=len, capacity=100):
        assert one.text == family * (len(one.text) // len(family))


def sections(*bodies):
    return "".join(f"## Part {n}\n\n{body}\n\n" for n, body in enumerate(bodies))


BODY = "The fee is waived in every month in which enough is paid in. " * 6


def test_a_heading_starts_a_chunk_and_never_stands_alone():
    text = "# Title\n\n" + sections(BODY, BODY, BODY)
    chunks = chunk(make(text), count=words, capacity=120)
    assert [one.text.split("\n")[0] for one in chunks if one.heading_spans] == [
        "# Title",
        "## Part 1",
        "## Part 2",
    ]
    assert chunks[0].text.startswith("# Title\n\n## Part 0\n\nThe fee")
    assert all(len(one.text.splitlines()) > 1 for one in chunks if one.heading_spans)


def test_tiny_sections_join_their_neighbours():
    text = "# Title\n\nIntro.\n\n## A\n\nShort.\n\n## B\n\nAlso short.\n\n" + sections(BODY * 3)
    chunks = chunk(make(text), count=words, capacity=200)
    assert chunks[0].text.endswith("Also short.")
    assert chunks[0].headings == ("Title",)
    assert [span.of(chunks[0].text) for span in chunks[0].heading_spans] == [
        "# Title",
        "## A",
        "## B",
    ]


def test_sections_of_a_size_of_their_own_are_not_joined():
    chunks = chunk(make(sections("The limit is fifty euros a day and cannot be raised." * 2, BODY)),
                   count=words, capacity=400)  # fmt: skip
    assert [one.headings for one in chunks] == [("Part 0",), ("Part 1",)]


def test_sentences_are_kept_whole_also_across_wrapped_lines():
    sentence = "The holder may withdraw up to five hundred\neuros a day at any machine."
    chunks = chunk(make(f"{sentence}\n" * 40), count=words, capacity=90)
    assert len(chunks) > 5
    assert all(one.text.startswith("The holder") for one in chunks)
    assert all(one.text.endswith("machine.") for one in chunks)


def rows(number):
    return "| Term | Rate |\n|---|---|\n" + "".join(
        f"| {n} years | {n}.25% |\n" for n in range(number)
    )


def test_a_table_that_fits_stays_whole():
    text = "Introduction. " * 12 + "\n\n" + rows(8)
    chunks = chunk(make(text), count=words, capacity=110)
    assert chunks[-1].text == rows(8).strip()


def test_a_long_table_is_cut_between_rows_and_keeps_its_header_as_context():
    chunks = chunk(make("# Rates\n\n" + rows(60)), count=words, capacity=110)
    assert len(chunks) > 3
    assert all(line.startswith("|") for one in chunks[1:] for line in one.text.splitlines())
    assert all(one.headings == ("Rates", "Term | Rate") for one in chunks[1:])
    assert "Term | Rate" in embedded_text(chunks[1], "Sheet")


def test_a_line_that_introduces_a_list_stays_with_it():
    text = (
        "## A\n\n"
        + "Some words fill the chunk. " * 14
        + "\n\nThe period must:\n\n"
        + "".join(f"1. not exceed {n} months, or\n" for n in range(9))
    )
    chunks = chunk(make(text), count=words, capacity=100)
    assert not any(one.text.endswith(":") for one in chunks)


def test_ids_stay_when_other_parts_change():
    before = chunk(make("# T\n\n" + sections(BODY, BODY + "One.", BODY + "Two.")), count=words)
    after = chunk(
        make("# T\n\n" + sections(BODY * 3 + "New!", BODY + "One.", BODY + "Two.")), count=words
    )
    tail = {one.id for one in before if "Part 0" not in one.headings}
    assert len(tail) == 2
    assert tail <= {one.id for one in after}


def test_ids_tell_documents_titles_and_repeats_apart():
    text = "Same.\n\n"
    assert chunk(make(text, doc_id="a"), count=words)[0].id != (
        chunk(make(text, doc_id="b"), count=words)[0].id
    )
    assert chunk(make(text, title="a"), count=words)[0].id != (
        chunk(make(text, title="b"), count=words)[0].id
    )
    assert len(chunk(make(text), count=words)[0].id) == 20


def test_chunks_know_their_page():
    text = "First page text.\n\n# Second\n\nMore text."
    pages = (Span(start=0, end=18), Span(start=18, end=len(text)))
    chunks = chunk(make(text, pages=pages), count=len, capacity=60)
    assert [one.page for one in chunks] == [1, 2]


def test_the_embedded_view_names_title_and_headings_once():
    text = "# Sheet\n\n## Fixed\n\n" + BODY * 4
    first, second, *_ = chunk(make(text, title="Sheet"), count=words, capacity=150)
    assert embedded_text(first, "Sheet") == first.text
    assert embedded_text(first, "Other").startswith("Other\n\n# Sheet")
    assert embedded_text(second, "Sheet") == f"Sheet\nFixed\n\n{second.text}"
    assert embedded_text(second, "") == f"Sheet › Fixed\n\n{second.text}"


def test_the_header_of_the_embedded_view_is_bounded():
    text = "".join(f"{'#' * n} {'long heading ' * 9}{n}\n\n" for n in range(1, 5)) + BODY * 30
    last = chunk(make(text), count=words, capacity=300)[-1]
    header = embedded_text(last, "title " * 50).removesuffix(last.text)
    assert 60 < len(header.encode()) <= 165


def test_a_capacity_without_room_is_refused_with_the_next_step():
    with pytest.raises(ConfigError, match="too small") as caught:
        chunk(make(BODY, title="A title that takes all the room"), count=len, capacity=40)
    assert "Raise the capacity" in caught.value.hint


@pytest.mark.parametrize(
    ("reader", "data"),
    [
        (MarkdownReader(), b"# A\r\n\r\nOne.\r\n\r\n## B\r\n\r\nTwo.\r\n"),
        (HtmlReader(), b"<h1>A</h1><p>One.<h2>B</h2><p>Two."),
    ],
)
def test_documents_of_the_readers_are_cut_alike(reader, data):
    parsed = reader.read(data, source="a")
    document = Document(
        id="a",
        source="a",
        title="",
        text=parsed.text,
        content_hash="0",
        sections=parsed.sections,
        headings=parsed.headings,
    )
    chunks = chunk(document, count=words)
    check(document, chunks, count=words, capacity=220)
    assert [span.of(chunks[0].text).lstrip("# ") for span in chunks[0].heading_spans] == ["A", "B"]


def test_an_empty_document_has_no_chunks():
    assert chunk(make(" \n"), count=words) == ()


def test_a_huge_heading_is_not_carried_whole_by_every_chunk():
    chunks = chunk(make("# " + "word " * 20_000 + "\n\ntext\n"), count=words)
    assert len(chunks) > 100
    assert all(len("".join(one.headings)) <= 300 for one in chunks)
