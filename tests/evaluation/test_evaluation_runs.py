"""Runs on disk: append, resume, a cut last line, errors kept, items not asked twice."""

import datetime as dt

import pytest
from evaluation_records import FEE, item

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import InputError
from grounded_rag.evaluation.datasets import select
from grounded_rag.evaluation.records import EvalRecord, Prices, RecordError, RunMeta
from grounded_rag.evaluation.report import Standing, report_of
from grounded_rag.evaluation.runner import Options, aevaluate, evaluate
from grounded_rag.evaluation.runs import RECORDS, Run
from grounded_rag.protocols import Generation
from grounded_rag.relevance import relevance
from grounded_rag.testing import StaticRetriever, make_draft
from grounded_rag.types import Draft, Signal, Usage

META = RunMeta(id="r1", started=dt.datetime(2026, 11, 29, tzinfo=dt.UTC), items=2)
GOLDEN = [
    item(id="a"),
    item(id="b", question="What does a card cost?"),
    item("no", id="c", question="Who owns the bank?"),
]


class ByQuestion:
    """A generator that answers by the question, and raises where it is told to."""

    name = "by-question"

    def __init__(self, **script):
        self.script = script
        self.asked = []

    async def generate(self, request):
        self.asked.append(request.question)
        for words, reply in self.script.items():
            if words in request.question:
                if isinstance(reply, Exception):
                    raise reply
                return Generation(
                    draft=reply, usage=Usage(calls=1, input_tokens=1000, output_tokens=100)
                )
        return Generation(draft=Draft(), usage=Usage(calls=1, input_tokens=1000))


def rag_of(generator, **options):
    return GroundedRAG(StaticRetriever({"fees.md": FEE}), generator=generator, **options)


GOOD = make_draft((FEE, "fees.md", FEE))


def test_what_was_appended_is_read_again_with_its_trace(tmp_path):
    draft = make_draft(("Each month two euros are due.", "fees.md", FEE))
    with rag_of(ByQuestion(account=draft)) as rag:
        evaluate(rag, GOLDEN[:1], run=tmp_path / "run")
    (record,) = Run.open(tmp_path / "run").records()
    assert record.answer.text == f"{FEE} [1]"
    assert record.answer.claims[0].restated
    assert record.answer.trace.attempts[0].draft == draft
    verdict = record.answer.trace.attempts[0].verification.claims[0]
    assert verdict.signals
    assert verdict.restatement == FEE
    assert record.answer.trace.retrieved[0].chunk.text == FEE


def test_a_run_is_not_started_twice_in_one_folder(tmp_path):
    Run.create(tmp_path, META)
    with pytest.raises(InputError, match="already"):
        Run.create(tmp_path, META)
    with pytest.raises(InputError, match="no run"):
        Run.open(tmp_path / "other")


def test_a_line_that_a_crash_cut_short_is_dropped_and_overwritten(tmp_path):
    with Run.create(tmp_path, META) as run:
        run.append(EvalRecord(item=item(id="a")))
    with (tmp_path / RECORDS).open("ab") as file:
        file.write(b'{"item": {"id": "b", "quest')
    assert [r.item.id for r in Run.open(tmp_path).records()] == ["a"]
    with Run.open(tmp_path) as run:
        run.append(EvalRecord(item=item(id="b")))
    assert [r.item.id for r in Run.open(tmp_path).records()] == ["a", "b"]


def test_another_broken_line_is_an_error_that_names_it(tmp_path):
    Run.create(tmp_path, META)
    (tmp_path / RECORDS).write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        list(Run.open(tmp_path).records())


def test_one_bad_record_does_not_lose_the_run(tmp_path):
    generator = ByQuestion(account=GOOD, card=RuntimeError("boom"))
    seen = []
    with rag_of(generator) as rag:
        report = evaluate(rag, GOLDEN, run=tmp_path / "run", options=Options(progress=seen.append))
    standings = {row.id: row.standing for row in report.items}
    assert standings == {
        "a": Standing.RIGHT,
        "b": Standing.ERROR,
        "c": Standing.RIGHT_REFUSAL,
    }
    assert report.errors == 1
    assert report.metric("correct_answers").failed == 1
    assert (seen[0].done, seen[-1].done, seen[-1].total, seen[-1].errors) == (0, 3, 3, 1)


def test_a_run_is_continued_and_only_what_failed_is_asked_again(tmp_path):
    with rag_of(ByQuestion(account=GOOD, card=RuntimeError("boom"))) as rag:
        evaluate(rag, GOLDEN, run=tmp_path / "run")
    again = ByQuestion(account=GOOD, card=GOOD)
    with rag_of(again) as rag:
        report = evaluate(rag, GOLDEN, run=tmp_path / "run")
    assert again.asked == ["What does a card cost?"]
    assert report.errors == 0
    assert len(report.items) == 3
    assert len(list(Run.open(tmp_path / "run").records())) == 3


def test_what_a_broken_check_left_open_is_asked_again(tmp_path):
    """A judge that is down for a while must not spoil a run for good."""
    down = True

    def judge(case):
        return Signal(check="judge", passed=None if down else True, role="veto", detail="down")

    with rag_of(ByQuestion(account=GOOD), checks=[judge]) as rag:
        report = evaluate(rag, GOLDEN[:1], run=tmp_path / "run")
        assert report.items[0].standing is Standing.ERROR
        down = False
        report = evaluate(rag, GOLDEN[:1], run=tmp_path / "run")
    assert report.items[0].standing is not Standing.ERROR
    assert len(list(Run.open(tmp_path / "run").records())) == 1


def test_an_item_that_two_processes_recorded_counts_once(tmp_path):
    with rag_of(ByQuestion(account=GOOD)) as rag:
        evaluate(rag, GOLDEN, run=tmp_path / "run")
        path = tmp_path / "run" / RECORDS
        path.write_bytes(path.read_bytes() * 2)
        assert report_of(Run.open(tmp_path / "run")).metric("false_refusals").trials == 2
        report = evaluate(rag, GOLDEN, run=tmp_path / "run")
    assert [row.id for row in report.items] == ["a", "b", "c"]


def test_a_run_mixes_no_settings(tmp_path):
    with rag_of(ByQuestion()) as rag:
        evaluate(rag, GOLDEN, run=tmp_path / "run")
    with (
        rag_of(ByQuestion(), policy=Policy(support="spans-only")) as rag,
        pytest.raises(InputError, match="policy"),
    ):
        evaluate(rag, GOLDEN, run=tmp_path / "run")
    scored = Options(relevance=lambda texts: [[1.0] for _ in texts])
    with rag_of(ByQuestion()) as rag, pytest.raises(InputError, match="relevance"):
        evaluate(rag, GOLDEN, run=tmp_path / "run", options=scored)
    with rag_of(ByQuestion()) as rag, pytest.raises(InputError, match="golden set"):
        evaluate(rag, GOLDEN[:2], run=tmp_path / "run")


def test_prices_may_be_given_later(tmp_path):
    with rag_of(ByQuestion()) as rag:
        assert evaluate(rag, GOLDEN, run=tmp_path / "run").costs.money is None
        priced = Options(prices=Prices(input=1000))
        report = evaluate(rag, GOLDEN, run=tmp_path / "run", options=priced)
    assert report.costs.money == pytest.approx(3.0)
    assert report_of(Run.open(tmp_path / "run")).costs.money == pytest.approx(3.0)


def test_no_more_questions_are_under_way_than_asked_for():
    import anyio

    running = 0
    most = 0

    class Counting(ByQuestion):
        async def generate(self, request):
            nonlocal running, most
            running += 1
            most = max(most, running)
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            running -= 1
            return await super().generate(request)

    items = [item(id=f"q{number}") for number in range(12)]
    with rag_of(Counting(account=GOOD)) as rag:
        report = evaluate(rag, items, options=Options(concurrency=3))
    assert most == 3
    assert len(report.items) == 12


def test_the_asynchronous_twin_gives_the_same():
    import asyncio

    async def run():
        with rag_of(ByQuestion(account=GOOD)) as rag:
            return await aevaluate(rag, GOLDEN)

    report = asyncio.run(run())
    assert report.metric("correct_answers").hits == 1


def test_costs_are_summed_and_priced():
    bad = make_draft(("The account costs 9 euros a month.", "fees.md", FEE))
    policy = Policy(max_attempts=2, unproven="refuse")
    with rag_of(ByQuestion(account=bad), policy=policy) as rag:
        report = evaluate(
            rag, GOLDEN[:1], options=Options(prices=Prices(input=3, output=15, currency="EUR"))
        )
    costs = report.costs
    assert (costs.usage.calls, costs.reasks, costs.reasked) == (2, 1, 1)
    assert costs.money == pytest.approx((2000 * 3 + 200 * 15) / 1e6)
    assert {stage.stage for stage in costs.latency} == {"retrieve", "generate", "verify", "total"}
    assert report.metric("drafted_hallucinations").hits == 1
    found = report.items[0].diagnosis
    assert (found.kind, found.reason, found.area) == ("wrong_refusal", "number_mismatch", "prompt")


def test_a_split_that_is_not_there_is_an_error_that_names_those_that_are():
    with pytest.raises(InputError, match="dev"):
        select([item(split="dev")], split="test")
    some = [item(id=str(number)) for number in range(10)]
    assert [i.id for i in select(some, limit=3)] == ["0", "3", "6"]
    assert len(select(some, limit=20)) == 10


def test_a_report_says_what_is_missing(tmp_path):
    with Run.create(tmp_path, META) as run:
        run.append(EvalRecord(item=item(id="a"), error=RecordError(kind="E", message="m")))
    report = report_of(Run.open(tmp_path))
    assert (report.missing, report.errors) == (1, 1)
    assert report.failed > 0


class Axes:
    """An embedding that knows two words."""

    def get_query_embedding(self, query, /):
        return [1.0, 0.0]

    def get_text_embedding(self, text, /):
        return [1.0, 0.0] if "fee" in text else [0.0, 1.0]


class Says:
    def __init__(self, word):
        self.word = word
        self.asked = 0

    async def relevant(self, question, answer):
        self.asked += 1
        if isinstance(self.word, Exception):
            raise self.word
        return self.word


@pytest.mark.anyio
async def test_the_judge_of_relevance_is_asked_about_doubtful_answers_only():
    judge = Says(True)
    near = await relevance("q", "the fee", Axes(), judge=judge)
    far = await relevance("q", "the weather", Axes(), judge=judge)
    assert (near.score, near.asked, judge.asked) == (1.0, False, 1)
    assert (far.score, far.confirmed, far.asked) == (0.0, True, True)
    broken = await relevance("q", "the weather", Axes(), judge=Says(RuntimeError()))
    assert (broken.asked, broken.confirmed) == (True, None)


def test_relevance_is_recorded_and_measured():
    with rag_of(ByQuestion(account=GOOD)) as rag:
        report = evaluate(
            rag, GOLDEN[:1], options=Options(relevance=Axes(), threshold=0.5, judge=Says(None))
        )
    result = report.metric("relevant_answers")
    assert (result.trials, result.failed) == (0, 1)
    with rag_of(ByQuestion(account=GOOD)) as rag:
        report = evaluate(rag, GOLDEN[:1], options=Options(relevance=Axes(), threshold=0.5))
    assert (report.metric("relevant_answers").hits, report.items[0].confidence) == (0, 0.0)
