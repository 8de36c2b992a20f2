import pytest
from chatbot.markup import cut, plain, shown
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.types import Span


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ("The CSP **SHALL** do it.", "The CSP SHALL do it."),
        ("*a* and __b__ and ***c***", "a and b and c"),
        ("**SHALL\nNOT** do", "SHALL NOT do"),
        ('see [the [SP800] page](refs.md#x){:target="_blank"}.', "see the [SP800] page."),
        ("![a picture](x.png) here", "a picture here"),
        ("24 hours.\n    {:.letter-list}", "24 hours."),
        ("one<br>two<br/>three", "one two three"),
        ("<b>✓</b> yes", "✓ yes"),
        ("last.</li> <li>If the code", "last. If the code"),
        ('<a name="x"></a>Fees &amp; rates&nbsp;2026', "Fees & rates 2026"),
        ("<https://example.org/a_b_c>", "https://example.org/a_b_c"),
        (r"5 \* 3 and \_x\_", "5 * 3 and _x_"),
        ("hidden <!-- note --> words", "hidden words"),
        # Content, not marks.
        ("2*3*4 and MAX_SIZE_MB", "2*3*4 and MAX_SIZE_MB"),
        ("put <your-key> and <T> there", "put <your-key> and <T> there"),
        ("10<sup>6</sup> euros, H<sub>2</sub>O", "10^6 euros, H2O"),
        ("`a**b` & `<br>`", "a**b & <br>"),
        ("~~old~~ <del>gone</del>", "~~old~~ <del>gone</del>"),
        ("a < b > c, 5 * 3", "a < b > c, 5 * 3"),
        ("the tuple {:ok, value}", "the tuple {:ok, value}"),
        ("unclosed **bold and a_", "unclosed **bold and a_"),
        # Nobody would see that it turns the line round.
        ("12 &#x202e;34", "12 &#x202e;34"),
    ],
)
def test_marks_go_and_words_stay(source, read):
    assert plain(source, markdown=True) == read


def test_other_text_is_shown_as_it_is():
    assert plain("a **b** <br> &amp;", markdown=False) == "a **b** <br> &amp;"


def test_the_mark_lies_on_the_characters_of_the_quote():
    text = "It **SHALL** be &lt;5&gt; `days` old."
    for quote, marked in (("SHALL", "SHALL"), ("be &lt;5", "be <5"), ("days", "days")):
        start = text.index(quote)
        pieces = shown(text, Span(start=0, end=len(text)), markdown=True)
        made = cut(pieces, Span(start=start, end=start + len(quote)))
        assert "".join(piece.text for piece in made if piece.quoted) == marked
        assert "".join(piece.text for piece in made) == "It SHALL be <5> days old."


@given(st.text(alphabet="ab*_`<>/[]()!&;#{}:.\\ \n", max_size=60))
def test_what_is_shown_stands_in_the_source_in_its_order(text):
    at = 0
    for piece in shown(text, Span(start=0, end=len(text)), markdown=True):
        assert at <= piece.start < piece.end <= len(text)
        at = piece.end
        if len(piece.text) == piece.end - piece.start and piece.text != "\n":
            assert text[piece.start : piece.end] == piece.text
