import json

from typer.testing import CliRunner

import grounded_rag
from grounded_rag.cli.app import app
from grounded_rag.testing.tamper import CLAIM_KINDS, KINDS
from grounded_rag.types import Outcome, Verification


def test_the_demo_corpus_passes_and_prints_a_row_a_class():
    result = CliRunner().invoke(app, ["fuzz", "--corpus", "demo", "--per-class", "1", "--support"])
    assert result.exit_code == 0, result.output
    for kind in KINDS:
        assert kind.name in result.output
    assert "tampered quotes accepted" in " ".join(result.output.split())


def test_json_holds_counts_and_intervals():
    result = CliRunner().invoke(app, ["fuzz", "--per-class", "1", "--json"])
    report = json.loads(result.stdout)
    assert {row["kind"] for row in report["results"]} == {kind.name for kind in KINDS}
    assert report["failed"] is False


def test_a_bad_verifier_gives_exit_code_one(monkeypatch):
    def deaf(draft, chunks, *, checks=None):
        return Verification(outcome=Outcome.REJECTED)

    monkeypatch.setattr(grounded_rag, "verify", deaf)
    result = CliRunner().invoke(app, ["fuzz", "--per-class", "1"])
    assert result.exit_code == 1


def test_two_sources_at_once_are_an_error(tmp_path):
    result = CliRunner().invoke(app, ["fuzz", "--corpus", "demo", "--data", str(tmp_path)])
    assert result.exit_code != 0


def test_claims_have_a_row_a_class_and_fail_with_a_bad_verifier(monkeypatch):
    def deaf(draft, chunks, *, checks=None):
        return Verification(outcome=Outcome.REJECTED)

    monkeypatch.setattr(grounded_rag, "verify", deaf)
    result = CliRunner().invoke(app, ["fuzz", "--claims", "--per-class", "1", "--json"])
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [row["kind"] for row in report["results"]] == [kind.name for kind in CLAIM_KINDS]
    assert all(row["refused"] == row["made"] == 1 for row in report["results"])


def test_claims_and_cases_are_an_error_together(tmp_path):
    result = CliRunner().invoke(app, ["fuzz", "--claims", "--cases", str(tmp_path / "none.jsonl")])
    assert result.exit_code != 0
