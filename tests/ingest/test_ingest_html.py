import pytest

from grounded_rag.errors import NoTextError, ReadError
from grounded_rag.ingest.readers import HtmlReader


def read(html):
    return HtmlReader().read(html.encode(), source="a.html")


@pytest.mark.parametrize(
    "node",
    [
        "<!-- SECRET -->",
        "<script>SECRET</script>",
        "<style>SECRET{}</style>",
        "<template><p>SECRET</p></template>",
        "<noscript>SECRET</noscript>",
        "<p hidden>SECRET</p>",
        "<div style='color:red; DISPLAY : none !important'>SECRET</div>",
        "<span style='visibility:hidden'>SECRET</span>",
        "<span style='font-size:0'>SECRET</span>",
        "<dialog>SECRET</dialog>",
        "<select><option>SECRET</select>",
        "<input value=SECRET><img alt=SECRET>",
        "<del>SECRET</del>",
        "<s>SECRET</s>",
        "<table><tr hidden><td>SECRET<td>x<tr><td>a<td>b</table>",
        "<ul><li hidden>SECRET<li>a</ul>",
    ],
)
def test_what_nobody_sees_is_left_out(node):
    assert "SECRET" not in read(f"<p>before</p>{node}<p>after</p>").text


def test_hidden_and_struck_text_is_told():
    warnings = read("<p>a<p hidden>b</p><del>c</del>").warnings
    assert [warning.split(": ", 1)[1] for warning in warnings] == [
        "1 hidden elements with text were left out.",
        "1 struck-out passages were left out.",
    ]


def test_entities_are_decoded_once_and_white_space_collapses():
    assert read("<p>a &amp;lt;b&gt;\n  c&nbsp;d <b> e</b>f").text == "a &lt;b> c\u00a0d ef"


def test_blocks_lists_and_lines():
    html = (
        "<p>one<br>two<div>three</div>four<ul><li>a<li>b<ol start=3><li>c<li value=7>d</ol></ul>"
        "<pre>\n  x\n y</pre><h2>He <i>ad</i></h2>end"
    )
    assert read(html).text == (
        "one\ntwo\n\nthree\n\nfour\n\n- a\n- b\n  3. c\n  7. d\n\n      x\n     y\n\nHe ad\n\nend"
    )


def test_lines_that_count_are_moved_in_and_fenced_where_they_are_code():
    assert read("<p>Run:</p><pre>a\n\n  b</pre>end").text == "Run:\n\n    a\n\n      b\n\nend"
    assert read("<pre><code>if x:\n  y</code></pre>").text == "```\nif x:\n  y\n```"


def test_tables_become_rows_with_a_rule_under_the_header():
    html = (
        "<table><caption>Rates</caption><thead><tr><th>Term<th colspan=2>Interest</thead>"
        "<tr><td rowspan=2>1 year<td>2%<td>a|b<tr><td>3%<td>4%</table>"
    )
    assert read(html).text == (
        "Rates\n\n| Term | Interest | Interest |\n| --- | --- | --- |\n"
        "| 1 year | 2% | a\\|b |\n| 1 year | 3% | 4% |"
    )


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>left<td><table><tr><td>x<td>y</table></table>",
        "<table><tr><td><h2>left</h2><td>x</table>",
        "<table role=presentation><tr><td>left<td>x</table>",
        "<table><tr><td>left<tr><td>x</table>",
    ],
)
def test_tables_for_layout_flow(html):
    assert read(html).text.startswith("left\n\n")


def test_huge_spans_do_not_multiply_and_no_cell_is_lost():
    html = "<table>" + "<tr><td colspan=1000 rowspan=65000>word<td>b" * 5000 + "</table>"
    text = read(html).text
    assert len(text) < 2 * len(html)
    assert text.count("b") == 5000
    wide = "".join(f"<td>c{n}" for n in range(300))
    assert "| c299 |" in read(f"<table><tr>{wide}</table>").text


@pytest.mark.parametrize(
    ("raised", "told"), [("5", "10⁵"), ("-3", "10⁻³"), ("th", "10th"), ("[1]", "10[1]")]
)
def test_powers_stay_powers(raised, told):
    assert read(f"<p>10<sup>{raised}</sup>").text == told


def test_headings_open_sections_and_the_title_is_found():
    parsed = read("<title> The  &amp; page </title><h1>A</h1>x<h3>B</h3>y<h2>C</h2>z")
    assert parsed.title == "The & page"
    assert [section.path for section in parsed.sections] == [("A",), ("A", "B"), ("A", "C")]
    assert [span.of(parsed.text) for span in parsed.headings] == ["A", "B", "C"]
    assert read("<h2>x</h2><h1>Only</h1>y").title == "Only"


def test_the_charset_of_the_page_is_used():
    html = '<meta http-equiv="content-type" content="text/html; charset=windows-1251"><p>Привет'
    parsed = HtmlReader().read(html.encode("cp1251"), source="a.html")
    assert parsed.text == "Привет"
    assert parsed.warnings == ()


def test_unclosed_tags_are_read_as_browsers_do():
    assert read("<ul><li>a<li>b<p>c</ul><p>d").text == "- a\n- b\n\nc\n\nd"


def test_character_references_that_are_no_text_cannot_get_in():
    text = read("<p>a&#0;b&#xD800;c").text
    assert text == "a\ufffdb\ufffdc"


def test_a_page_without_text_is_refused():
    with pytest.raises(NoTextError):
        read("<script>x</script>")


def test_deep_nesting_is_an_error_and_no_crash():
    with pytest.raises(ReadError, match="nested too deeply"):
        read("<div>" * 20_000 + "x")
