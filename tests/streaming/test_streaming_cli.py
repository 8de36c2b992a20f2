"""`ask --stream`: what is told on the way, and JSON Lines for programs."""

import json

import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from grounded_rag.cli.app import app
from grounded_rag.events import Event

QUESTION = "How long is the notice period?"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    (folder / "handbook").mkdir()
    (folder / "handbook" / "leaving.md").write_text(
        "# Leaving \x1b[2J\n\nThe notice period is six weeks.\n", encoding="utf-8"
    )
    run("ingest", str(folder / "handbook"), "--index", str(folder / "index"), "--words-only")
    return str(folder / "index")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result


def test_a_person_sees_claims_on_the_way_and_the_answer_alone_on_standard_output(index):
    result = run("ask", QUESTION, "-i", index, "--stream")
    assert "✓ The notice period is six weeks." in result.stderr
    assert "1 passage found" in result.stderr
    assert "✓" not in result.stdout
    assert "The notice period is six weeks." in result.stdout
    assert "\x1b[2J" not in result.output


def test_a_program_reads_one_event_a_line(index):
    lines = run("ask", QUESTION, "-i", index, "--stream", "--json").stdout.splitlines()
    events = [TypeAdapter(Event).validate_json(line) for line in lines]
    assert [event.kind for event in events][-2:] == ["claim_verified", "final"]
    assert "trace" not in json.loads(lines[-1])["answer"]
    traced = run("ask", QUESTION, "-i", index, "--stream", "--json", "--trace").stdout.splitlines()
    assert json.loads(traced[-1])["answer"]["trace"]["attempts"]


def test_a_refusal_exits_three_here_too(index):
    assert run("ask", "Who painted the ceiling?", "-i", index, "--stream", code=3).stdout
