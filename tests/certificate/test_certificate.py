"""Certificates: exact bounds, what counts as an error, and what they are bound to."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest
from typer.testing import CliRunner

from grounded_rag import Policy
from grounded_rag.cli.app import app
from grounded_rag.errors import InputError
from grounded_rag.evaluation.certificate import (
    certificate_markdown,
    certify_run,
    items_missing,
    load_certificate,
    make_bound,
    upper_bound,
)
from grounded_rag.evaluation.datasets import GoldenItem, GoldPiece, GoldQuote
from grounded_rag.evaluation.gate import GateRules, check_gate
from grounded_rag.evaluation.other_systems import evaluate_answers
from grounded_rag.evaluation.records import (
    EvalRecord,
    GoldPlace,
    IndexIdentity,
    RecordError,
    RunMeta,
)
from grounded_rag.evaluation.report import report_of
from grounded_rag.evaluation.runs import Run
from grounded_rag.rag import GroundedRAG
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.testing.tamper import load_corpus, run_fuzz
from grounded_rag.types import Draft, Span

FEE = "The fee is 4 euros a month."
CLOSING = "Closing the account costs nothing at all."
NOW = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)


def ask(draft: Draft):
    with GroundedRAG(
        StaticRetriever({"fee": FEE, "closing": CLOSING}), generator=ScriptedGenerator(draft)
    ) as rag:
        return rag.query("What is the fee?")


ANSWER = ask(make_draft((FEE, "fee", FEE)))
REFUSAL = ask(make_draft())


def record(name, answer, *, answerable, gold=None):
    quotes = () if gold is None else (GoldPiece(any_of=(GoldQuote(file=gold, quote="x"),)),)
    places = () if gold is None else ((GoldPlace(doc_id=gold, span=Span(start=0, end=10)),),)
    item = GoldenItem(
        id=name, question="What is the fee?", answerable="yes" if answerable else "no", gold=quotes
    )
    if answer is None:
        return EvalRecord(item=item, error=RecordError(kind="OSError", message="down"))
    return EvalRecord(item=item, answer=answer, places=places)


RECORDS = (
    *(record(f"right-{at}", ANSWER, answerable=True, gold="fee") for at in range(5)),
    record("wrong-place", ANSWER, answerable=True, gold="closing"),
    record("refused", REFUSAL, answerable=True, gold="fee"),
    record("no-gold", ANSWER, answerable=True),
    *(record(f"declined-{at}", REFUSAL, answerable=False) for at in range(3)),
    record("answered", ANSWER, answerable=False),
    record("broken", None, answerable=True, gold="fee"),
)


@pytest.fixture
def folder(tmp_path):
    return make_run(tmp_path / "run", RECORDS)


def make_run(path, records, **more):
    about = {
        "id": "r1",
        "started": NOW,
        "items": len(records),
        "fingerprint": ANSWER.fingerprint,
        "generator": "scripted",
        "policy": Policy().model_dump(mode="json"),
        **more,
    }
    with Run.create(path, RunMeta(**about)) as run:
        for each in records:
            run.append(each)
    return path


def certify(folder, **options):
    return certify_run(Run.open(folder), now=NOW, **options)


def run_cli(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_rule_of_three_is_exact_here():
    # Without errors the bound is 1 - (1 - confidence)^(1/n): 299 items rule out 1 %.
    assert upper_bound(0, 299, confidence=0.95) == pytest.approx(1 - 0.05 ** (1 / 299))
    assert upper_bound(0, 0, confidence=0.95) == 1.0
    assert items_missing(0, 0, wanted=0.01, confidence=0.95) == 299
    assert items_missing(0, 200, wanted=0.01, confidence=0.95) == 99
    assert items_missing(0, 299, wanted=0.01, confidence=0.95) == 0


@pytest.mark.parametrize(("errors", "trials", "confidence"), [(3, 40, 0.95), (1, 9, 0.9)])
def test_a_bound_is_where_so_few_errors_become_rare(errors, trials, confidence):
    rate = upper_bound(errors, trials, confidence=confidence)
    at_most = sum(
        math.comb(trials, hits) * rate**hits * (1 - rate) ** (trials - hits)
        for hits in range(errors + 1)
    )
    assert at_most == pytest.approx(1 - confidence)


def test_the_items_missing_are_the_fewest():
    missing = items_missing(2, 50, wanted=0.05, confidence=0.95)
    assert upper_bound(2, 50 + missing, confidence=0.95) <= 0.05
    assert upper_bound(2, 50 + missing - 1, confidence=0.95) > 0.05


def test_what_counts_as_an_error(folder):
    certificate = certify(folder)
    counted = {b.name: (b.errors, b.unscored, b.trials) for b in certificate.bounds}
    assert counted == {
        # Answered although unanswerable, cited elsewhere, and one that could not be scored.
        "false_pass": (3, 1, 12),
        "answered_unanswerable": (1, 0, 4),
        "wrong_citation": (2, 1, 8),
        "false_refuse": (2, 1, 9),
    }
    bound = certificate.bound("false_pass")
    assert bound.upper == upper_bound(3, 12, confidence=0.95)
    assert bound.missing is None
    with pytest.raises(KeyError):
        certificate.bound("other")


def test_it_is_bound_to_policy_and_golden_set(folder, tmp_path):
    certificate = certify(folder)
    assert certificate.covers(ANSWER)
    assert not certificate.covers(ANSWER.model_copy(update={"fingerprint": "other"}))
    assert certificate.id == certify(folder, confidence=0.9).id
    other = make_run(tmp_path / "other", RECORDS, golden_hash="another")
    assert certify(other).id != certificate.id


def test_wanted_bounds_say_what_is_missing(folder):
    certificate = certify(folder, wanted=0.1)
    bound = certificate.bound("false_pass")
    assert not certificate.reached
    assert not bound.reached
    assert bound.missing == items_missing(3, 12, wanted=0.1, confidence=0.95)
    assert certificate.bound("wrong_citation").wanted is None
    assert certify(folder, wanted=0.9).reached


def test_a_fuzz_run_goes_in_with_bounds(folder, tmp_path):
    (tmp_path / "texts").mkdir()
    text = " ".join(f"The account number {n} pays {n}.5 % a year in Oslo." for n in range(30))
    (tmp_path / "texts" / "a.txt").write_text(text, encoding="utf-8")
    report = run_fuzz(load_corpus(str(tmp_path / "texts")), per_class=2)
    found = certify(folder, fuzz=report).fuzz
    assert found.accepted.trials == report.total("tamper").made > 0
    assert found.accepted.errors == 0
    assert found.passed is not report.failed
    worse = report.model_copy(update={"results": ()})
    assert not certify(folder, fuzz=worse).reached


def test_incomplete_and_unlabelled_runs_prove_nothing(tmp_path):
    short = make_run(tmp_path / "short", RECORDS, items=99)
    with pytest.raises(InputError, match="13 of 99"):
        certify(short)
    item = GoldenItem(id="a", question="What?")
    unlabelled = make_run(tmp_path / "none", [EvalRecord(item=item, answer=ANSWER)])
    with pytest.raises(InputError, match="can be answered"):
        certify(unlabelled)
    broken = make_run(tmp_path / "broken", RECORDS, policy={"k": "many"})
    with pytest.raises(InputError, match="policy that this version does not know"):
        certify(broken)


def test_other_systems_and_replays_are_said(tmp_path):
    path = make_run(tmp_path / "foreign", RECORDS, fingerprint="", replay_of="r0")
    notes = " ".join(certify(path).notes)
    assert "another system" in notes
    assert "r0" in notes


def test_markdown_is_a_table_nothing_can_leave(tmp_path):
    path = make_run(tmp_path / "run", RECORDS, generator="a | b <script> `x`\n# c")
    text = certificate_markdown(certify(path, wanted=0.1))
    assert (
        "| labelled questions that got a wrong answer (1 could not be scored and count) | 3 | 12"
        in text
    )
    assert "a \\| b \\<script\\> \\`x\\` \\# c" in text
    assert "fuzzer was not run" in text


def test_the_command_writes_and_judges(folder, tmp_path):
    out, page = tmp_path / "c.json", tmp_path / "c.md"
    result = run_cli("certify", folder, "--bound", 0.05, "--out", out, "--markdown", page)
    assert result.exit_code == 3, result.output
    assert "3 of 12, 1 not scored" in result.output
    assert "without error" in " ".join(result.output.split())
    certificate = load_certificate(out)
    assert certificate.run == "r1"
    assert page.read_text(encoding="utf-8").startswith(f"# Certificate {certificate.id}")
    fine = run_cli("certify", folder, "--json")
    assert fine.exit_code == 0
    assert json.loads(fine.output)["subject"]["fingerprint"] == ANSWER.fingerprint
    assert run_cli("certify", tmp_path / "nothing").exit_code == 1
    with pytest.raises(InputError, match="no certificate"):
        load_certificate(page)


def test_bounds_count_what_could_not_be_scored():
    bound = make_bound("x", "y", errors=1, unscored=2, trials=10, confidence=0.95)
    assert (bound.errors, bound.unscored) == (3, 2)
    assert bound.reached


def test_another_systems_answers_are_certified_for_no_policy(tmp_path):
    answers = tmp_path / "theirs.jsonl"
    line = {"question": "What is the fee?", "answer": FEE, "contexts": [FEE], "answerable": "no"}
    answers.write_text(json.dumps(line), encoding="utf-8")
    evaluate_answers(answers, run=tmp_path / "run")
    certificate = certify(tmp_path / "run")
    assert certificate.subject.fingerprint == ""
    assert "another system" in certificate.notes[0]
    assert not certificate.covers(ANSWER)
    assert not certificate.covers(ANSWER.model_copy(update={"fingerprint": ""}))
    shown = run_cli("certify", tmp_path / "run").output
    assert "policy unknown" in shown
    assert "another system" in shown


def test_what_another_system_left_out_is_missing_and_nothing_is_certified(tmp_path):
    answers, golden = tmp_path / "theirs.jsonl", tmp_path / "golden.jsonl"
    asked = {"question": "What is the fee?", "answerable": "yes", "expected": "4 euros"}
    hard = {"question": "Who set it?", "answerable": "no"}
    golden.write_text(f"{json.dumps(asked)}\n{json.dumps(hard)}\n", encoding="utf-8")
    answers.write_text(
        json.dumps({"question": "What is the fee?", "answer": FEE, "contexts": [FEE]}),
        encoding="utf-8",
    )
    report = evaluate_answers(answers, golden=golden, run=tmp_path / "run")
    assert (report.missing, report.meta.items) == (1, 2)
    assert not check_gate(report, GateRules()).passed
    assert report_of(Run.open(tmp_path / "run")).missing == 1
    with pytest.raises(InputError, match="1 of 2"):
        certify(tmp_path / "run")


def test_measuring_that_was_interrupted_proves_nothing(tmp_path):
    """How many answers a file holds is known when it has been read."""
    with pytest.raises(InputError, match="never finished"):
        certify(make_run(tmp_path / "run", RECORDS, items=0))


@pytest.mark.parametrize(
    ("confidence", "shown"), [(0.95, "95%"), (0.975, "97.5%"), (0.9999, "99.99%"), (0.57, "57%")]
)
def test_a_confidence_is_never_rounded_up(folder, confidence, shown):
    assert f"at {shown}." in certificate_markdown(certify(folder, confidence=confidence))
    assert f"at {shown}\n" in run_cli("certify", folder, "--confidence", confidence).output


def test_the_id_is_the_same_wherever_index_and_golden_set_lie(tmp_path):
    made = [
        certify(
            make_run(
                tmp_path / f"run-{home}",
                RECORDS,
                golden=f"/home/{home}/golden.jsonl",
                index=IndexIdentity(name=f"/home/{home}/my-index", content_hash="c"),
            )
        )
        for home in ("ann", "bob")
    ]
    assert made[0].id == made[1].id
    assert "ann" not in certificate_markdown(made[0])
    assert "my-index" in certificate_markdown(made[0])
