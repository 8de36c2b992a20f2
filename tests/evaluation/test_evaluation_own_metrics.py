"""Metrics of a user's own: counted, shown, bounded, compared; one that breaks spoils no run."""

import datetime as dt
import io
import json

import pytest
from defusedxml import ElementTree
from evaluation_records import FEE, RIGHT, answered, item, refused, without_context
from rich.console import Console

from grounded_rag import GroundedRAG
from grounded_rag.errors import ConfigError, InputError
from grounded_rag.evaluation import (
    Run,
    RunMeta,
    check_gate,
    compare,
    evaluate,
    evaluate_answers,
    junit_xml,
    load_gate,
    load_metric,
    markdown,
    replay,
    report_of,
    write_html,
)
from grounded_rag.evaluation.metrics import own_metrics
from grounded_rag.evaluation.report import ReportBuilder
from grounded_rag.evaluation.text_reports import terminal_report
from grounded_rag.protocols import Metric
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft


def brief(judged):
    """Answers of at most six words."""
    return (len(judged.text.split()) <= 6, 1) if judged.answered else None


class Overlap:
    """A mean of values between 0 and 1, as a class."""

    name, title, unit, kind = "overlap", "Words shared | <b>", "answers", "mean"

    def __call__(self, judged):
        return (0.25, 1) if judged.answered else None


def report(*records, metrics=(brief,), name="r"):
    meta = RunMeta(id=name, started=dt.datetime(2026, 11, 29, tzinfo=dt.UTC), items=len(records))
    builder = ReportBuilder(meta, metrics=metrics)
    for record in records:
        builder.add(record)
    return builder.result()


def some(count, record):
    return [
        record.model_copy(update={"item": record.item.model_copy(update={"id": f"i{n:02}"})})
        for n in range(count)
    ]


def test_hits_trials_and_the_three_states():
    def fussy(judged):
        return len(judged.claims), len(judged.item.note)

    found = report(answered(RIGHT), refused(of=item(id="b")), without_context(item(id="c")))
    result = found.metric("brief")
    assert (result.hits, result.trials, result.not_applicable, result.failed) == (0, 1, 1, 1)
    assert (result.group, result.title, result.unit) == ("own metrics", "Brief", "things")
    assert "NoContext" in result.failures[0].why
    odd = report(answered(RIGHT), metrics=[fussy]).metric("fussy")
    assert (odd.trials, odd.failed) == (0, 1)
    assert "(1, 0) is not (hits, trials)" in odd.failures[0].why


@pytest.mark.parametrize(
    "returned", [3, "ab", (0.5, 1), (2, 1), (-1, 1), (float("nan"), 1), (1, 2, 3)]
)
def test_what_is_no_count_fails_to_score(returned):
    def strange(judged):
        return returned

    result = report(answered(RIGHT), metrics=[strange]).metric("strange")
    assert (result.trials, result.failed) == (0, 1)


def test_what_a_metric_raises_fails_one_record_and_not_the_run():
    def careless(judged):
        return 1 // len(judged.claims), 1

    found = report(answered(RIGHT), refused(of=item(id="b")), metrics=[careless])
    result = found.metric("careless")
    assert (result.hits, result.trials, result.failed) == (1, 1, 1)
    assert result.failures[0].why.startswith("ZeroDivisionError: ")
    assert found.metric("correct_answers").failed == 0
    assert [row.unscored for row in found.items if row.id == "b"] == [result.failures[0].why]


def test_a_mean_has_fractions_and_its_own_interval():
    result = report(answered(RIGHT), metrics=[Overlap()]).metric("overlap")
    assert (result.value, result.kind, result.title) == (0.25, "mean", Overlap.title)


class Nameless:
    def __call__(self, judged):
        return 1, 1


async def later(judged):
    return 1, 1


@pytest.mark.parametrize(
    "foreign", ["brief", 7, None, Overlap, Nameless(), lambda j: (1, 1), later]
)
def test_a_foreign_object_is_an_error_that_says_what_a_metric_is(foreign):
    with pytest.raises(ConfigError) as raised:
        report(metrics=[foreign])
    assert raised.value.hint


def test_a_foreign_object_is_found_before_anything_is_asked(tmp_path):
    generator = ScriptedGenerator()
    with (
        GroundedRAG(StaticRetriever({"fees.md": FEE}), generator=generator) as rag,
        pytest.raises(ConfigError, match="no metric") as raised,
    ):
        evaluate(rag, [item()], run=tmp_path / "run", metrics=["brief"])
    assert "takes one judged record and returns (hits, trials)" in raised.value.hint
    assert not (tmp_path / "run").exists()


def test_a_name_that_is_taken_is_an_error():
    def correct_answers(judged):
        return 1, 1

    for metrics in ([correct_answers], [brief, brief]):
        with pytest.raises(ConfigError, match="Two metrics are named"):
            report(metrics=metrics)


def test_every_way_to_a_report_takes_them(tmp_path):
    draft = make_draft((FEE, "fees.md", FEE))
    with GroundedRAG(StaticRetriever({"fees.md": FEE}), generator=ScriptedGenerator(draft)) as rag:
        asked = evaluate(rag, [item()], run=tmp_path / "a", metrics=[brief])
    again = replay(tmp_path / "a", run=tmp_path / "b", metrics=[brief])
    later_on = report_of(Run.open(tmp_path / "a"), metrics=[brief])
    answers = tmp_path / "theirs.jsonl"
    answers.write_text(json.dumps({"question": "?", "answer": FEE, "contexts": [FEE]}), "utf-8")
    other = evaluate_answers(answers, metrics=[brief])
    for found in (asked, again, later_on, other):
        assert found.metric("brief").trials == 1
        assert found.model_dump(mode="json")["metrics"][-1]["name"] == "brief"


def test_they_stand_in_every_report_and_their_title_is_data(tmp_path):
    records = [answered(RIGHT)]
    found = report(*records, metrics=[Overlap()])
    with Run.create(tmp_path / "run", found.meta) as run:
        run.append(records[0])
    write_html(tmp_path / "r.html", run, found)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Words shared | &lt;b&gt;" in page
    assert "own metrics" in page
    assert "| Words shared \\| \\<b\\> | 0.250 | 1 |" in markdown(found)
    suite = ElementTree.fromstring(junit_xml(found)).find("testsuite[@name='questions']")
    shown = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert shown["overlap"].startswith("0.250 (1 answers")
    screen = Console(width=120, record=True, file=io.StringIO())
    screen.print(terminal_report(found, run=tmp_path / "run"))
    assert "Words shared | <b>" in screen.export_text()


def test_the_gate_bounds_them_by_name(tmp_path):
    gate = tmp_path / "gate.toml"
    gate.write_text("[bounds.brief]\nmin = 0.9\n", encoding="utf-8")
    with pytest.raises(InputError, match="brief"):
        load_gate(gate)
    rules = load_gate(gate, metrics=[brief])
    failed = [c for c in check_gate(report(answered(RIGHT)), rules).checks if not c.passed]
    assert [check.name for check in failed] == ["brief >= 0.9"]
    (check,) = (
        c for c in check_gate(report(answered(RIGHT), metrics=[]), rules).checks if not c.passed
    )
    assert check.detail.startswith("no metric of the run has that name")


def test_the_gate_compares_them_with_a_baseline_in_their_direction(tmp_path):
    def wordy(judged):
        return (len(judged.text.split()) > 6, 1) if judged.answered else None

    wordy.better = "lower"
    short = answered(("It is 2 euros.", "fees.md", FEE))
    before = report(*some(9, short), metrics=[wordy], name="before")
    now = report(*some(9, answered(RIGHT)), metrics=[wordy], name="now")
    comparison = compare(now, before)
    assert (comparison.metric("wordy").worse, comparison.metric("wordy").better) == (9, 0)
    gate = tmp_path / "gate.toml"
    gate.write_text('[baseline]\nmetrics = ["wordy"]\n', encoding="utf-8")
    rules = load_gate(gate, metrics=[wordy])
    assert not check_gate(now, rules, comparison=comparison).passed
    assert check_gate(before, rules, comparison=compare(before, now)).passed
    with pytest.raises(InputError, match="item by item"):
        load_gate(gate)
    without = compare(now, report(*some(9, short), metrics=[]))
    (check,) = (c for c in check_gate(now, rules, comparison=without).checks if not c.passed)
    assert check.detail == "no item has a yes or no of this metric in both reports"


def test_a_metric_is_found_by_its_place(tmp_path, monkeypatch):
    (tmp_path / "house_metrics.py").write_text(
        "def brief(judged):\n    return 1, 1\n\nLIMIT = 3\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    loaded = load_metric("house_metrics:brief")
    assert isinstance(loaded, Metric)
    assert own_metrics([loaded])[0].name == "brief"
    for named, message in (
        ("house_metrics", "names no metric"),
        ("absent_metrics:brief", "cannot be loaded"),
        ("house_metrics:none", "has no 'none'"),
        ("house_metrics:LIMIT", "is no metric"),
    ):
        with pytest.raises(ConfigError, match=message) as raised:
            load_metric(named)
        assert raised.value.hint
