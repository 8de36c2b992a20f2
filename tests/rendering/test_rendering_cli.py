"""`ask --format`: the same answer in each form, on standard output alone."""

import json

import pytest
from typer.testing import CliRunner

from grounded_rag.cli.app import app

QUESTION = "How long is the notice period?"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("formats")
    (folder / "handbook").mkdir()
    (folder / "handbook" / "leaving.md").write_text(
        "# Leaving\n\nThe notice period is six weeks.\n", encoding="utf-8"
    )
    run("ingest", str(folder / "handbook"), "--index", str(folder / "index"), "--words-only")
    return str(folder / "index")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.stdout


def test_each_format_is_printed_alone(index):
    assert run("ask", QUESTION, "-i", index, "--format", "html").startswith("<!doctype html>")
    markdown = run("ask", QUESTION, "-i", index, "--format", "markdown")
    assert markdown.startswith(f"**{QUESTION}**\n\nThe notice period is six weeks. [1]\n")
    assert json.loads(run("ask", QUESTION, "-i", index, "--format", "json"))["status"] == "answered"
    assert "as of" in run("ask", QUESTION, "-i", index, "--format", "terminal")


def test_a_refusal_is_rendered_too_and_still_exits_three(index):
    text = run("ask", "Who painted the ceiling?", "-i", index, "--format", "markdown", code=3)
    assert "Why: " in text


def test_an_unknown_format_is_wrong_usage(index):
    run("ask", QUESTION, "-i", index, "--format", "pdf", code=2)
