"""The demo as a newcomer sees it: each scene shows what its heading says."""

import pytest
from typer.testing import CliRunner

from grounded_rag.cli.app import app
from grounded_rag.resources import default_refusal


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    result = CliRunner().invoke(app, ["demo"], env={"GROUNDED_RAG_HOME": str(home)})
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("A fact", "within 120 days of the payment. [1]"),
        ("The current rate", "The Everyday Saver pays 2.15% gross a year"),
        ("The same question as of an earlier date", "1.85% [1]"),
        ("Something that only an expired document says", "BLOSSOM26. [1]"),
        ("Something that only an expired document says", "! expired:"),
        ("From a PDF", "page 1"),
        ("A cell of a table", "Limit: Cash machine, each day; Quill Plus Account: €1,000 ["),
        ("Two current documents that disagree", "! conflict: Branch opening hours says “12:30”"),
        ("Two questions in one", "not answered: who is the chief executive?"),
        ("Not in the documents", default_refusal()),
        ("A literal quote is not enough", "not shown: We can dispute a payment"),
        ("A literal quote is not enough", "The claim says “730 days”"),
        ("A literal quote is not enough", "in the source’s words: In no case can we dispute"),
        ("A literal quote is not enough", "passes: In no case can we dispute a payment"),
        ("The bank learns which customers", "superseded"),
        ("Now you", "--generator anthropic"),
    ],
)
def test_each_scene_shows_what_its_heading_says(shown, heading, expected):
    scene = shown.split(heading, 1)[1]
    assert expected in scene[:1800]


def test_the_hostile_mail_changes_nothing(shown):
    scene = shown.split("A hostile e-mail", 1)[1][:600]
    assert default_refusal() in scene
    assert "injected_instruction" in scene


def test_whatever_is_drafted_over_a_literal_quote_the_reader_gets_the_source(shown):
    scene = shown.split("A literal quote is not enough", 1)[1].split("The bank learns", 1)[0]
    assert scene.count("not shown: ") == 3
    assert scene.count("in the source’s words: In no case can we dispute a payment") == 3


def test_each_answer_says_on_what_it_rests(shown):
    assert shown.count("support: ") == 8
    assert "support: word for word from the source" in shown
