"""P(true) in the HTML report of `eval`: of each claim, and under the model's policy alone."""

import json
import re

import pytest
from typer.testing import CliRunner

from grounded_rag import GroundedRAG
from grounded_rag.cli.app import app
from grounded_rag.evaluation.factuality import FactualityModel, Measured, builtin_scorers
from grounded_rag.evaluation.records import GoldenItem
from grounded_rag.evaluation.runner import evaluate
from grounded_rag.evaluation.runs import fingerprint_of, policy_fingerprint
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft

FEE = "The fee is 4 euros a month."


def command(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def scored_by(model):
    return "--settings", f"eval.factuality={model}"


@pytest.fixture
def recorded(tmp_path):
    with GroundedRAG(
        StaticRetriever({"fee": FEE}), generator=ScriptedGenerator(make_draft((FEE, "fee", FEE)))
    ) as rag:
        evaluate(rag, [GoldenItem(question="What is the fee?")], run=tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def model(tmp_path):
    return FactualityModel(
        variant="none",
        scorers=builtin_scorers().names,
        fingerprint=policy_fingerprint(),
        fitted_on=60,
        base_rate=0.5,
        held_out=(Measured(name="brier", value=0.125),),
    ).save(tmp_path / "model.json")


def test_each_claim_shows_its_probability_and_what_it_rests_on(recorded, model, tmp_path):
    page = tmp_path / "report.html"
    given = ("eval", "--replay", recorded, "--html", page)
    shown = command(*given, "--run", tmp_path / "again", *scored_by(model))
    assert shown.exit_code == 0, shown.output
    text = page.read_text(encoding="utf-8")
    assert re.findall(r">P\(true\) (\d\.\d\d)<", text) == ["1.00"]
    assert "fitted on 60 labelled claims" in text
    assert "brier 0.125" in text
    command(*given, "--run", tmp_path / "without")
    assert "P(true)" not in page.read_text(encoding="utf-8")


def test_a_model_of_another_policy_is_refused(recorded, model, tmp_path):
    shown = command(
        "eval", "--replay", recorded, "--run", tmp_path / "again",
        "--settings", "policy.support=spans-only", *scored_by(model),
        "--html", tmp_path / "report.html",
    )  # fmt: skip
    assert shown.exit_code == 1
    assert "was fitted under the policy" in shown.output
    assert not (tmp_path / "report.html").exists()


def test_without_a_report_there_is_nowhere_to_show_it(recorded, model, tmp_path):
    shown = command("eval", "--replay", recorded, "--run", tmp_path / "a", *scored_by(model))
    assert shown.exit_code == 1
    assert "--html FILE" in shown.output
    assert not (tmp_path / "a").exists()


def test_open_claims_of_another_system_show_their_probability(tmp_path):
    """With a model fitted under the run's policy it is P(true), without one the raw score."""
    answers, page = tmp_path / "theirs.jsonl", tmp_path / "report.html"
    given = {"question": "What is the fee?", "answer": "Four euros are due.", "contexts": [FEE]}
    answers.write_text(json.dumps(given), encoding="utf-8")
    said = ("eval", "--answers", answers, "--html", page, "--run")
    assert command(*said, tmp_path / "a").exit_code == 0
    assert re.findall(r">support score \d\.\d\d<", page.read_text(encoding="utf-8"))
    fitted = FactualityModel(
        variant="none", scorers=builtin_scorers().names, fingerprint=fingerprint_of(tmp_path / "a")
    ).save(tmp_path / "model.json")
    shown = command(*said, tmp_path / "b", *scored_by(fitted))
    assert shown.exit_code == 0, shown.output
    assert "mean P(true)" in shown.output
    assert re.findall(r">P\(true\) \d\.\d\d<", page.read_text(encoding="utf-8"))
    refusing = ("--settings", "policy.unproven=refuse")
    other = command(*said, tmp_path / "c", *refusing, *scored_by(fitted))
    assert "was fitted under the policy" in other.output
