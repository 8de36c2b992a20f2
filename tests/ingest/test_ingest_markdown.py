import pytest

from grounded_rag.errors import ManifestError
from grounded_rag.ingest.readers import MarkdownReader


def read(text):
    return MarkdownReader().read(text.encode(), source="a.md")


def titles(text):
    return [section.title for section in read(text).sections]


def test_text_stays_byte_for_byte_and_front_matter_leaves_it():
    body = "# Rates\r\n\r\nThe rate is  2.15%.\u00a0\r\n"
    parsed = read(f"---\r\ntitle: Sheet\r\nvalid_until: 03/04/2026\r\n---\r\n{body}")
    assert parsed.text == body
    assert parsed.metadata == {"title": "Sheet", "valid_until": "03/04/2026"}
    assert parsed.title == "Rates"
    assert parsed.headings[0].of(body) == "# Rates"


def test_headings_have_levels_paths_and_spans():
    parsed = read("intro\n\n# One #\n\nTwo *x*\n---\ntext\n\n#### Four {#id}\nend\n\n# Last\n")
    assert [section.path for section in parsed.sections] == [
        ("One",),
        ("One", "Two *x*"),
        ("One", "Two *x*", "Four"),
        ("Last",),
    ]
    ends = [section.span.end for section in parsed.sections]
    assert [section.span.start for section in parsed.sections][1:] == ends[:-1]
    assert ends[-1] == len(parsed.text)


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~~\n~~~\n# no\n~~~~\n",
        "    # no\n",
        "#no\n",
        "####### no\n",
        "---\nafter a rule\n",
        "- item\n---\n",
        "| a | b |\n---\n",
        "\n---\n",
    ],
)
def test_what_looks_like_a_heading_and_is_none(text):
    assert titles(text) == []


def test_a_fence_that_never_closes_hides_the_rest():
    assert titles("# Yes\n```\n# no\n") == ["Yes"]


def test_markup_is_taken_off_titles_only():
    text = '## <a name="x"></a> 4 [Levels](l.md) of **trust**\n'
    parsed = read(text)
    assert parsed.text == text
    assert titles(text) == ["4 Levels of trust"]


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ("a: !!python/object/apply:os.system ['x']", "line 2: could not determine"),
        ("a: 1\na: 2", "line 3: key 'a' is there twice"),
        ("a: [1", "line 3"),
        ("a: &a [1]\n" + "\n".join(f"k{n}: *a" for n in range(30)), "too many aliases"),
        ("a: &a [*a]", "nested too deeply"),
        ("a: !!binary aGk=", "bytes is no metadata"),
        ("a: " + "[" * 3000, "cannot be read"),
        ("a: " + "x" * 70_000, "too long"),
    ],
    ids=["object", "double", "broken", "aliases", "cycle", "binary", "deep", "long"],
)
def test_hostile_front_matter_is_an_error_that_names_the_file(front, told):
    with pytest.raises(ManifestError, match=told) as caught:
        read(f"---\n{front}\n---\ntext\n")
    assert caught.value.message.startswith("a.md")


def test_aliases_cannot_multiply_through_merges():
    levels = "\n".join(
        f"l{n}: &l{n} {{<<: [{', '.join([f'*l{n - 1}'] * 9)}]}}" for n in range(1, 9)
    )
    with pytest.raises(ManifestError, match="too many aliases"):
        read(f"---\nl0: &l0 {{a: 1}}\n{levels}\n---\ntext\n")


@pytest.mark.parametrize("text", ["---\nwords, no mapping\n---\nmore\n", "---\nnever closed: 1\n"])
def test_a_ruled_line_at_the_start_is_text(text):
    parsed = read(text)
    assert parsed.text == text
    assert parsed.metadata == {}


def test_empty_front_matter_leaves_only_the_body():
    assert read("---\n---\nbody\n").text == "body\n"


def test_dates_and_numbers_of_front_matter_are_json():
    values = read("---\na: 2026-04-03\nb: .inf\nc: {d: [1, null]}\n---\nx").metadata
    assert values == {"a": "2026-04-03", "b": "inf", "c": {"d": [1, None]}}


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (
            "We take:\n<ul><li>a <b>cat</b></li>\n<li>a dog</li></ul>\nNext.",
            "We take:\n- a cat\n- a dog\nNext.",
        ),
        ("<h2 align=center>Rates</h2>\n\nx", "## Rates\n\nx"),
        ("<div hidden>no</div>\n\nyes", "\n\nyes"),
        # What is not closed, stands inside a line or is code stays as it is.
        ("<div>\n\nopen", "<div>\n\nopen"),
        ("a <b>bold</b> word", "a <b>bold</b> word"),
        ("```\n<p>x</p>\n```", "```\n<p>x</p>\n```"),
    ],
)
def test_html_in_markdown_is_read_as_html(written, text):
    assert read(f"start\n\n{written}").text == f"start\n\n{text}"


def test_what_is_left_out_of_html_in_markdown_is_said():
    assert read("x\n\n<div hidden>no</div>\n").warnings
