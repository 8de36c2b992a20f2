"""The command `eval`: an option that can have no effect is an error, never dropped in silence."""

import json

import pytest
from typer.testing import CliRunner

from grounded_rag.cli.app import app

LINE = {"question": "What?", "answer": "The fee is 4 euros.", "contexts": ["The fee is 4 euros."]}


def run(*arguments):
    return CliRunner().invoke(app, ["eval", *(str(argument) for argument in arguments)])


@pytest.fixture
def theirs(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps(LINE), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "option",
    [("--split", "dev"), ("--limit", "5"), ("-k", "2"), ("--judge", "a/b"), ("--everything",)],
)
def test_recorded_answers_take_no_options_of_asking(theirs, tmp_path, option):
    result = run("--answers", theirs, "--run", tmp_path / "run", *option)
    assert result.exit_code == 1
    assert f"{option[0]} has no effect" in result.output
    assert not (tmp_path / "run").exists()


def test_a_replay_takes_no_golden_set_of_its_own(theirs, tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDED_RAG_INDEX", str(tmp_path / "index"))
    assert run("--answers", theirs, "--run", tmp_path / "run").exit_code == 0
    result = run(theirs, "--replay", tmp_path / "run", "--run", tmp_path / "again")
    assert result.exit_code == 1
    assert "GOLDEN has no effect" in result.output
    assert run("--replay", tmp_path / "run", "--run", tmp_path / "again").exit_code == 0


def test_the_refusal_of_another_system_is_told_on_the_command_line(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps({**LINE, "answer": "No idea.", "answerable": "no"}), "utf-8")
    for refusal, hits in (((), 0), (("--refusal", "No idea."), 1)):
        shown = run("--answers", path, "--run", tmp_path / f"run{hits}", "--json", *refusal)
        assert shown.exit_code == 0
        metrics = {one["name"]: one for one in json.loads(shown.stdout)["metrics"]}
        assert metrics["right_refusals"]["hits"] == hits


def test_asking_takes_no_options_of_judging(theirs):
    assert "--format has no effect" in run(theirs, "--corpus", "demo", "--format", "ragas").output
