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
    "given",
    ["--split=dev", "eval.limit=5", "policy.k=2", "rag.judge=a/b", "eval.everything=true"],
)
def test_recorded_answers_take_no_options_of_asking(theirs, tmp_path, given):
    option = [given] if given.startswith("--") else ["--settings", given]
    result = run("--answers", theirs, "--run", tmp_path / "run", *option)
    assert result.exit_code == 1
    assert f"{given.partition('=')[0]} has no effect" in result.output
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
    for refusal, hits in (((), 0), (("--settings", "answers.refusal=No idea."), 1)):
        shown = run("--answers", path, "--run", tmp_path / f"run{hits}", "--json", *refusal)
        assert shown.exit_code == 0
        metrics = {one["name"]: one for one in json.loads(shown.stdout)["metrics"]}
        assert metrics["right_refusals"]["hits"] == hits


def test_asking_takes_no_options_of_judging(theirs):
    given = ("--corpus", "demo", "--settings", "answers.format=ragas")
    assert "answers.format has no effect" in run(theirs, *given).output


def test_what_is_judged_balanced_no_more_is_told_what_to_use(theirs, tmp_path):
    result = run(
        "--answers", theirs, "--run", tmp_path / "run", "--settings", "policy.support=balanced"
    )
    assert result.exit_code == 1
    assert 'support="balanced" is gone' in " ".join(result.output.split())
    assert not (tmp_path / "run").exists()
    wrong = run("--answers", theirs, "--run", tmp_path / "run", "--settings", "policy.support=lax")
    assert wrong.exit_code == 2
    assert "policy.support: Input should be 'strict' or" in wrong.output


def test_what_becomes_of_open_claims_is_chosen_on_the_command_line(theirs, tmp_path):
    given = ("--answers", theirs, "--json", "--run")
    shown = run(*given, tmp_path / "run", "--settings", "policy.unproven=refuse")
    assert json.loads(shown.stdout)["meta"]["policy"]["unproven"] == "refuse"
    assert run(*given, tmp_path / "other", "--settings", "policy.unproven=hide").exit_code == 2


def test_open_claims_are_a_third_group_in_the_terminal_and_in_json(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps({**LINE, "answer": "Four euros is what the fee comes to."}), "utf-8")
    shown = run("--answers", path, "--run", tmp_path / "a")
    assert "open claims: 1, neither shown nor rejected; mean support score" in shown.output
    whole = json.loads(run("--answers", path, "--run", tmp_path / "b", "--json").stdout)
    assert (whole["open_claims"]["claims"], whole["open_claims"]["calibrated"]) == (1, False)
    assert 0 < whole["open_claims"]["mean"] <= 1
    metrics = {one["name"]: one for one in whole["metrics"]}
    assert metrics["open_claims"]["hits"] == 1
    assert metrics["hallucinated_claims"]["trials"] == 0


def test_the_errors_of_recorded_answers_are_told_beside_the_json(tmp_path):
    path = tmp_path / "theirs.jsonl"
    path.write_text(json.dumps({**LINE, "id": "q7", "contexts": [None]}), "utf-8")
    shown = run("--answers", path, "--run", tmp_path / "run", "--json")
    assert shown.exit_code == 1
    assert json.loads(shown.stdout)["items"][0]["id"] == "q7"
    assert (
        "error: q7: InputError: line 1: contexts[0] holds no text. Each context is" in shown.stderr
    )
    assert "next: " in shown.stderr
    quiet = tmp_path / "good.jsonl"
    quiet.write_text(json.dumps(LINE), "utf-8")
    assert run("--answers", quiet, "--run", tmp_path / "good", "--json").stderr == ""


def test_a_metric_of_the_users_own_is_named_in_the_settings(theirs, tmp_path, monkeypatch):
    (tmp_path / "mine_metrics.py").write_text(
        "def short_answers(judged):\n    return len(judged.text.split()) <= 50, 1\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    given = ("--settings", 'eval.metrics=["mine_metrics:short_answers"]')
    shown = run("--answers", theirs, "--run", tmp_path / "run", "--json", *given)
    metrics = {one["name"]: one for one in json.loads(shown.stdout)["metrics"]}
    assert (metrics["short_answers"]["hits"], metrics["short_answers"]["trials"]) == (1, 1)
    broken = run("--answers", theirs, "--settings", 'eval.metrics=["mine_metrics:long_answers"]')
    assert broken.exit_code == 1
    assert "has no 'long_answers'" in broken.output
