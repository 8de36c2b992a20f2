"""The gate and the comparison: unfavourable ends, exact McNemar, what flipped, CI formats."""

import datetime as dt

import pytest
from defusedxml import ElementTree
from evaluation_records import (
    LOOSE,
    RIGHT,
    WRONG,
    answered,
    could_not_check,
    item,
    refused,
    without_context,
)

from grounded_rag.errors import InputError
from grounded_rag.evaluation.gate import check_gate, compare, load_gate, mcnemar
from grounded_rag.evaluation.records import RunMeta
from grounded_rag.evaluation.report import ReportBuilder
from grounded_rag.evaluation.text_reports import junit_xml, markdown
from grounded_rag.resources import demo_corpus_dir

HOSTILE = '</script>| <img src=x onerror=alert(1)> @someone **bold** \x00\x1b[2J "q'


def report(*records, name="r", items=None):
    builder = ReportBuilder(
        RunMeta(
            id=name,
            started=dt.datetime(2026, 11, 29, tzinfo=dt.UTC),
            items=len(records) if items is None else items,
        )
    )
    for record in records:
        builder.add(record)
    return builder.result()


def many(count, record, *, start=0, **fields):
    """Return `count` records of one outcome under their own ids."""
    return [
        record.model_copy(
            update={"item": record.item.model_copy(update={"id": f"i{start + n:03}", **fields})}
        )
        for n in range(count)
    ]


@pytest.fixture
def gate(tmp_path):
    def write(text):
        path = tmp_path / "gate.toml"
        path.write_text(text, encoding="utf-8")
        return load_gate(path)

    return write


def test_the_unfavourable_end_counts_and_not_the_point(gate):
    rules = gate("[bounds.correct_answers]\nmin = 0.9\n")
    few = check_gate(report(*many(10, answered(RIGHT))), rules)
    assert not few.passed
    assert "10 of 10" in next(c for c in few.checks if not c.passed).detail
    assert check_gate(report(*many(60, answered(RIGHT))), rules).passed


def test_an_upper_bound_holds_for_the_upper_end(gate):
    rules = gate("[bounds.false_refusals]\nmax = 0.1\n")
    assert not check_gate(report(*many(10, answered(RIGHT))), rules).passed
    assert check_gate(report(*many(60, answered(RIGHT))), rules).passed


def test_a_metric_without_anything_counted_fails_its_bound(gate):
    rules = gate("[bounds.right_refusals]\nmin = 0.1\n")
    result = check_gate(report(*many(5, answered(RIGHT))), rules)
    assert not result.passed
    assert "not_applicable" in next(c for c in result.checks if not c.passed).detail


def test_what_could_not_be_scored_fails_the_gate(gate):
    records = [*many(5, answered(RIGHT)), *many(2, without_context(), start=50)]
    assert not check_gate(report(*records), gate("")).passed
    assert check_gate(report(*records), gate("max_failed = 2")).passed


def test_what_could_not_be_scored_is_named_in_words(gate):
    (check,) = (c for c in check_gate(report(without_context()), gate("")).checks if not c.passed)
    assert "; the first is q1: NoContext: The answer comes without any context" in check.detail


def test_too_few_trials_fail_a_bound_that_the_interval_would_keep(gate):
    found = report(*many(60, answered(RIGHT)))
    for trials, passed in ((60, True), (61, False)):
        rules = gate(f"[bounds.correct_answers]\nmin = 0.9\ntrials = {trials}\n")
        result = check_gate(found, rules)
        assert result.passed is passed
    (check,) = (one for one in result.checks if not one.passed)
    assert check.detail == "only 60 questions were counted (scored); 61 are needed"


@pytest.mark.parametrize("broken", [51, 60])
def test_every_item_that_could_not_be_scored_counts_and_not_only_those_that_are_named(gate, broken):
    """A report names the first 50 failures of a metric, and the gate counts all of them."""
    found = report(*many(5, answered(RIGHT)), *many(broken, without_context(), start=100))
    assert len(found.metric("correct_answers").failures) == 50
    assert check_gate(found, gate(f"max_failed = {broken}")).passed
    result = check_gate(found, gate(f"max_failed = {broken - 1}"))
    (check,) = (one for one in result.checks if not one.passed)
    assert check.detail.startswith(f"{broken} items could not be scored; the first is i100: ")
    assert len(check.items) == broken


def test_items_that_different_metrics_could_not_score_count_together(gate):
    unsure = many(30, answered(RIGHT, checks=(could_not_check,)))
    other = many(40, answered(RIGHT), start=200)
    other = [one.model_copy(update={"judged": {"relevance": None}}) for one in other]
    result = check_gate(report(*unsure, *other), gate("max_failed = 69"))
    (check,) = (one for one in result.checks if not one.passed)
    assert check.detail.startswith("70 items")


def test_the_earlier_name_of_the_gate_still_works():
    from grounded_rag import evaluation

    assert evaluation.judge_gate is evaluation.check_gate


def test_items_that_only_one_run_has_are_said():
    before = report(*many(3, answered(RIGHT)), name="before")
    now = report(*many(4, answered(RIGHT), start=2), name="now")
    found = compare(now, before)
    assert found.metric("correct_answers").both == 1
    assert found.differences == (
        "items not compared: 2 in the baseline alone, 3 in this run alone",
    )


def test_items_without_a_record_fail_the_gate(gate):
    assert not check_gate(report(*many(5, answered(RIGHT)), items=6), gate("")).passed


@pytest.mark.parametrize(
    "text",
    ["[bounds.faithfullness]\nmin = 0.9", "[bounds.correct_answers]", "max_failed = -1", "= 3"],
)
def test_a_broken_gate_file_is_an_error(gate, text):
    with pytest.raises(InputError):
        gate(text)


def test_the_gate_file_that_is_shipped_can_be_read():
    rules = load_gate(demo_corpus_dir() / "gate.toml")
    assert rules.bounds["faithful_answers"].min


@pytest.mark.parametrize(
    ("worse", "better", "expected"),
    [(0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (8, 1, 20 / 512), (3, 3, 1.0)],
)
def test_mcnemar_is_exact(worse, better, expected):
    assert mcnemar(worse, better) == pytest.approx(expected)
    assert mcnemar(better, worse) == pytest.approx(expected)


def test_a_run_that_got_worse_fails_and_names_what_flipped(gate):
    before = report(*many(30, answered(RIGHT)), name="before")
    now = report(*many(8, refused()), *many(22, answered(RIGHT), start=8), name="now")
    comparison = compare(now, before)
    result = check_gate(now, gate(""), comparison=comparison)
    failed = {check.name: check for check in result.checks if not check.passed}
    assert set(failed) == {
        "correct_answers no worse than the baseline",
        "false_refusals no worse than the baseline",
    }
    named = failed["false_refusals no worse than the baseline"].items
    assert named == tuple(f"i{n:03}" for n in range(8))
    flip = comparison.metric("correct_answers").flips[0]
    assert (flip.change, flip.before, flip.now) == ("worse", "right", "false refusal")
    assert "rank 1" in flip.why


def test_the_same_run_is_no_worse_than_itself_and_a_better_one_passes(gate):
    before = report(*many(8, refused()), *many(22, answered(RIGHT), start=8))
    now = report(*many(30, answered(RIGHT)))
    assert check_gate(before, gate(""), comparison=compare(before, before)).passed
    assert check_gate(now, gate(""), comparison=compare(now, before)).passed
    assert compare(now, before).metric("correct_answers").better == 8


def test_few_flips_are_chance_unless_a_number_is_set(gate):
    before = report(*many(30, answered(RIGHT)))
    now = report(*many(2, refused()), *many(28, answered(RIGHT), start=2))
    comparison = compare(now, before)
    assert check_gate(now, gate(""), comparison=comparison).passed
    assert not check_gate(now, gate("[baseline]\nmax_worse = 1"), comparison=comparison).passed


def test_runs_without_a_common_item_cannot_be_compared():
    with pytest.raises(InputError, match="in common"):
        compare(report(*many(3, refused())), report(*many(3, refused(), start=10)))


def hostile_report():
    of = item(id=HOSTILE.replace("\x00", ""), question=HOSTILE, kind=HOSTILE)
    return report(answered(WRONG, of=of), without_context(item(id="x")))


def test_the_shares_stand_in_every_report_with_their_intervals():
    found = report(*many(3, answered(RIGHT)), *many(1, answered(LOOSE), start=9))
    suite = ElementTree.fromstring(junit_xml(found)).find("testsuite[@name='questions']")
    told = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert told["verbatim_claims"].startswith("75.0% (3/4 claims, 95 % interval ")
    assert told["refused_answers"].startswith("0.0% (0/4 questions")
    assert set(told) == {metric.name for metric in found.metrics}
    assert "| Verbatim: statements of the source | 75.0% | 3/4 |" in markdown(found)


def test_junit_is_well_formed_whatever_the_questions_hold(gate):
    found = hostile_report()
    text = junit_xml(found, check_gate(found, gate("[bounds.correct_answers]\nmin = 0.9")))
    root = ElementTree.fromstring(text)
    suites = {suite.get("name"): suite for suite in root}
    assert int(suites["gate"].get("failures")) == 2
    assert len(suites["gate"].findall("testcase/failure")) == 2
    assert suites["questions"].get("errors") == "1"
    assert suites["questions"].find("testcase/error") is not None


def test_junit_names_the_items_of_a_failed_rule(gate):
    before = report(*many(30, answered(RIGHT)))
    now = report(*many(8, refused()), *many(22, answered(RIGHT), start=8))
    text = junit_xml(now, check_gate(now, gate(""), comparison=compare(now, before)))
    assert "i003: What does the account cost?" in text


def test_markdown_escapes_what_could_be_markup(gate):
    found = hostile_report()
    before = report(answered(RIGHT, of=found_item(found)))
    text = markdown(found, gate=check_gate(found, gate("")), comparison=compare(found, before))
    assert "\\<img" in text
    assert "<img" not in text.replace("\\<", "")
    assert "@someone" not in text
    assert "\x1b" not in text
    rows = [line for line in text.splitlines() if line.startswith("| worse")]
    assert len(rows) == 2
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
    assert "| error | error | NoContext" in text.replace("\\", "")


def found_item(found):
    row = next(row for row in found.items if row.id != "x")
    return item(id=row.id, question=row.question)


def test_markdown_shows_counts_intervals_and_the_verdict(gate):
    found = report(*many(30, answered(RIGHT)))
    text = markdown(found, gate=check_gate(found, gate("")))
    assert "**Gate passed.**" in text
    assert "| Answered with a gold citation | 100.0% | 30/30 | 88.4% – 100.0% |" in text
