"""Every metric on every outcome: counted, not applicable, or failed to score; never NaN."""

import math
from pathlib import Path

import pytest
from evaluation_records import (
    CARD,
    FEE,
    LOOSE,
    QUESTION,
    RIGHT,
    WRONG,
    answered,
    could_not_check,
    item,
    outcomes,
    refused,
    see,
    without_context,
)

from grounded_rag import GroundedRAG
from grounded_rag.answer import Answer
from grounded_rag.evaluation.catalogue import catalogue
from grounded_rag.evaluation.metrics import MetricState, Tally, interval
from grounded_rag.evaluation.records import EvalRecord
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.types import AnswerStatus, Refusal, RefusalReason, Signal, Trace, Validity
from grounded_rag.verification import verify
from grounded_rag.verification.checks import role
from grounded_rag.verification.support import default_checks

RESTS = ("verbatim", "confirmed", "restated", "open", "rejected", "refused")
METRICS = {metric.name: metric for metric in catalogue(relevance_threshold=0.3)}
DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"

# empty answer, no claims, no context, refusal, all wrong, all right, judge failure;
# "-" says nothing, "F" failed to score, else hits/trials.
ANSWERABLE = {
    "faithful_answers": "0/1 0/1 F - 0/1 1/1 F",
    "faithful_claims": "- - F - 0/1 1/1 F",
    "correct_answers": "0/1 0/1 F 0/1 0/1 1/1 1/1",
    "wrong_answers": "1/1 1/1 F 0/1 1/1 0/1 0/1",
    "false_refusals": "0/1 0/1 F 1/1 0/1 0/1 0/1",
    "complete_answers": "0/1 0/1 F - 0/1 1/1 1/1",
    "open_parts_named": "- - - - - - -",
    "citation_precision": "- - F - 0/1 1/1 1/1",
    "citation_recall": "- 0/1 F - 0/1 1/1 1/1",
    "right_refusals": "- - - - - - -",
    "quoted_misses": "- - - - - - -",
    "hallucinated_claims": "- - F - 1/1 0/1 F",
    "drafted_hallucinations": "- - - - - - -",
    "quote_exactness": "- - F - 1/1 1/1 1/1",
    "relevant_answers": "0/1 - F - 0/1 1/1 1/1",
    "outdated_answers": "- - F - 0/1 0/1 0/1",
    "unflagged_outdated_answers": "- - F - - - -",
    "verbatim_answers": "- - F 0/1 0/1 1/1 F",
    "confirmed_answers": "- - F 0/1 0/1 0/1 F",
    "restated_answers": "- - F 0/1 0/1 0/1 F",
    "open_answers": "- - F 0/1 0/1 0/1 F",
    "rejected_answers": "- - F 0/1 1/1 0/1 F",
    "refused_answers": "- - F 1/1 0/1 0/1 F",
    "verbatim_claims": "- - F - 0/1 1/1 F",
    "confirmed_claims": "- - F - 0/1 0/1 F",
    "restated_claims": "- - F - 0/1 0/1 F",
    "open_claims": "- - F - 0/1 0/1 F",
    "rejected_claims": "- - F - 1/1 0/1 F",
    "refused_claims": "- - F - 0/1 0/1 F",
    "open_support": "- - F - - - -",
    "parts_apart": "- - F - - - -",
    "hit_at_1": "1/1 1/1 F 1/1 1/1 1/1 1/1",
    "hit_at_3": "1/1 1/1 F 1/1 1/1 1/1 1/1",
    "hit_at_5": "1/1 1/1 F 1/1 1/1 1/1 1/1",
    "hit_at_k": "1/1 1/1 F 1/1 1/1 1/1 1/1",
    "mrr": "1/1 1/1 F 1/1 1/1 1/1 1/1",
    "evidence_recall": "1/1 1/1 F 1/1 1/1 1/1 1/1",
}
UNANSWERABLE = {
    **{
        f"{name}_{of}": ANSWERABLE[f"{name}_{of}"] for name in RESTS for of in ("claims", "answers")
    },
    "open_support": "- - F - - - -",
    "parts_apart": "- - F - - - -",
    "right_refusals": "0/1 0/1 F 1/1 0/1 0/1 0/1",
    "quoted_misses": "0/1 0/1 F - 0/1 1/1 F",
    "hallucinated_claims": "- - F - 1/1 0/1 F",
    "quote_exactness": "- - F - 1/1 1/1 1/1",
    "relevant_answers": "0/1 - F - 0/1 1/1 1/1",
    "outdated_answers": "- - F - 0/1 0/1 0/1",
    "unflagged_outdated_answers": "- - F - - - -",
}


def measure(records, metrics=None):
    tallies = [Tally(metric) for metric in (catalogue() if metrics is None else metrics)]
    for record in records:
        for tally in tallies:
            tally.add(record)
    return tuple(tally.result() for tally in tallies)


def shown(observation):
    if observation.trials:
        return f"{observation.hits:g}/{observation.trials}"
    return "F" if observation.failed else "-"


def rows(label):
    records = [see(record) for record in outcomes(item(label)).values()]
    return {
        name: " ".join(shown(metric.observe(record)) for record in records)
        for name, metric in METRICS.items()
    }


def test_every_metric_on_every_outcome_of_an_answerable_question():
    assert rows("yes") == ANSWERABLE


def test_every_metric_on_every_outcome_of_an_unanswerable_question():
    found = rows("no")
    assert {name: row for name, row in found.items() if set(row) - set("- ")} == UNANSWERABLE


def test_the_open_part_counts_only_where_it_is_named():
    named = answered(RIGHT, of=item("part"), unanswered=("who set it",))
    named = named.model_copy(
        update={
            "other": None,
            "answer": Answer(
                question=named.item.question,
                status=AnswerStatus.PARTIAL,
                text=FEE,
                claims=named.other.verification.claims,
                unanswered=("who set it",),
            ),
        }
    )
    silent = answered(RIGHT, of=item("part"))
    assert shown(METRICS["open_parts_named"].observe(see(named))) == "1/1"
    assert shown(METRICS["open_parts_named"].observe(see(silent))) == "0/1"


def test_one_wrong_claim_makes_an_answer_unfaithful_and_costs_one_claim():
    record = see(answered(RIGHT, WRONG))
    assert shown(METRICS["faithful_answers"].observe(record)) == "0/1"
    assert shown(METRICS["faithful_claims"].observe(record)) == "1/2"
    assert shown(METRICS["hallucinated_claims"].observe(record)) == "1/2"


def test_a_claim_that_could_not_be_checked_beside_a_good_one_is_counted_apart():
    good = answered(RIGHT).other.verification.claims[0]
    unsure = answered(RIGHT, checks=(could_not_check,)).other.verification.claims[0]
    mixed = answered(RIGHT)
    verification = mixed.other.verification.model_copy(update={"claims": (good, unsure)})
    other = mixed.other.model_copy(update={"verification": verification})
    found = METRICS["faithful_claims"].observe(see(mixed.model_copy(update={"other": other})))
    assert (found.hits, found.trials, found.failed) == (1, 1, 1)
    assert "judge" in found.why


def test_an_open_claim_is_neither_support_nor_a_miss():
    record = see(answered(LOOSE))
    for name in ("faithful_answers", "faithful_claims", "hallucinated_claims"):
        assert shown(METRICS[name].observe(record)) == "-"
    assert shown(METRICS["open_answers"].observe(record)) == "1/1"
    assert shown(METRICS["open_claims"].observe(record)) == "1/1"


def test_an_open_claim_hides_no_rejected_one_and_costs_no_supported_one():
    record = see(answered(RIGHT, WRONG, LOOSE))
    assert shown(METRICS["faithful_answers"].observe(record)) == "0/1"
    assert shown(METRICS["faithful_claims"].observe(record)) == "1/2"
    assert shown(METRICS["rejected_answers"].observe(record)) == "1/1"


def test_a_claim_that_cites_nothing_is_open():
    record = answered(RIGHT)
    uncited = verify([{"text": "The bank has a park."}], record.other.contexts)
    other = record.other.model_copy(update={"verification": uncited})
    found = see(record.model_copy(update={"other": other}))
    assert shown(METRICS["hallucinated_claims"].observe(found)) == "-"
    assert shown(METRICS["open_claims"].observe(found)) == "1/1"


def shares(of, *records):
    """Hits of the six shares, and the one number of trials that they all have."""
    found = {name: [METRICS[f"{name}_{of}"].observe(see(r)) for r in records] for name in RESTS}
    (trials,) = {sum(one.trials for one in each) for each in found.values()}
    return {name: sum(one.hits for one in each) for name, each in found.items()}, trials


def test_the_shares_by_what_they_rest_on_add_up_to_one():
    records = [answered(RIGHT, WRONG, LOOSE), answered(RIGHT), answered(LOOSE), refused()]
    for of in ("claims", "answers"):
        hits, trials = shares(of, *records)
        assert sum(hits.values()) == trials
    assert shares("answers", *records)[0] == {
        "verbatim": 1, "confirmed": 0, "restated": 0, "open": 1, "rejected": 1, "refused": 1
    }  # fmt: skip
    assert shares("claims", *records) == (
        {"verbatim": 2, "confirmed": 0, "restated": 0, "open": 2, "rejected": 1, "refused": 0},
        5,
    )


def ours(*script, **options):
    """The record of an answer of our own pipeline."""
    with GroundedRAG(
        StaticRetriever({"fees.md": FEE}), generator=ScriptedGenerator(*script), **options
    ) as rag:
        return EvalRecord(item=item(), answer=rag.query(QUESTION))


def test_what_ships_of_our_own_answers_is_told_apart():
    right, loose = make_draft((FEE, "fees.md", FEE)), make_draft((LOOSE[0], "fees.md", FEE))
    gone = make_draft((FEE, "fees.md", "The account is free."))
    confirming = {"checks": [*default_checks(), role(yes, "decider")]}
    records = {
        "verbatim": ours(right),
        "restated": ours(loose),
        "confirmed": ours(loose, **confirming),
        "refused": ours(*[gone] * 3),
    }
    for name, record in records.items():
        for of in ("claims", "answers"):
            hits, trials = shares(of, record)
            assert (hits[name], trials) == (1, 1), (name, of, hits)
    assert shown(METRICS["faithful_answers"].observe(see(records["restated"]))) == "1/1"


def yes(case):
    """A decider that confirms whatever it is asked about."""
    return Signal(check="yes", passed=True)


def test_a_refusal_because_a_check_broke_down_is_neither_right_nor_wrong():
    for label in ("yes", "no"):
        answer = Answer(
            question="x",
            status=AnswerStatus.REFUSED,
            text="no",
            refusal=Refusal(reason=RefusalReason.COULD_NOT_CHECK, detail="broken"),
        )
        record = see(EvalRecord(item=item(label), answer=answer))
        name = "false_refusals" if label == "yes" else "right_refusals"
        assert shown(METRICS[name].observe(record)) == "F"


def test_nothing_retrieved_is_a_miss_of_retrieval():
    answer = Answer(question="x", status=AnswerStatus.REFUSED, text="no", trace=Trace())
    record = see(EvalRecord(item=item(), answer=answer))
    for name in ("hit_at_1", "hit_at_k", "mrr", "evidence_recall"):
        assert shown(METRICS[name].observe(record)) == "0/1"


@pytest.mark.parametrize(
    ("order", "hits", "reciprocal"),
    [
        (("fees.md", "cards.md"), (1, 1), 1.0),
        (("cards.md", "hours.md", "fees.md"), (0, 1), 1 / 3),
        (("cards.md", "hours.md"), (0, 0), 0.0),
    ],
)
def test_retrieval_metrics_look_at_the_rank_of_the_gold(order, hits, reciprocal):
    record = see(refused(retrieved=order))
    assert METRICS["hit_at_1"].observe(record).hits == hits[0]
    assert METRICS["hit_at_3"].observe(record).hits == hits[1]
    assert METRICS["mrr"].observe(record).hits == pytest.approx(reciprocal)


def test_evidence_recall_counts_needed_pieces():
    two = item(
        gold=[
            {"any_of": [{"file": "fees.md", "quote": FEE}]},
            {"any_of": [{"file": "cards.md", "quote": CARD}]},
        ]
    )
    record = see(answered(RIGHT, of=two, retrieved=("fees.md", "hours.md")))
    assert shown(METRICS["evidence_recall"].observe(record)) == "1/2"
    assert shown(METRICS["citation_recall"].observe(record)) == "1/2"


def test_outdated_evidence_is_found_from_metadata_and_counts_unflagged_where_nobody_said_so():
    import datetime as dt

    expired = {"fees.md": Validity(valid_until=dt.date(2026, 1, 1))}
    record = answered(RIGHT, validity=expired)
    assert shown(METRICS["outdated_answers"].observe(see(record))) == "1/1"
    assert shown(METRICS["unflagged_outdated_answers"].observe(see(record))) == "1/1"
    told = Answer(
        question=record.item.question,
        status=AnswerStatus.ANSWERED,
        text=FEE,
        claims=record.other.verification.claims,
        flags=record.other.verification.flags,
        as_of=record.item.as_of,
        trace=Trace(retrieved=record.other.contexts),
    )
    flagged = see(record.model_copy(update={"other": None, "answer": told}))
    assert shown(METRICS["unflagged_outdated_answers"].observe(flagged)) == "0/1"


def test_the_judge_of_relevance_overrules_the_first_pass_and_may_fail():
    low = answered(RIGHT, scores={"relevance": 0.1})
    cleared = low.model_copy(update={"judged": {"relevance": True}})
    broken = low.model_copy(update={"judged": {"relevance": None}})
    observed = [METRICS["relevant_answers"].observe(see(r)) for r in (low, cleared, broken)]
    assert [shown(o) for o in observed] == ["0/1", "1/1", "F"]


def test_results_carry_counts_interval_and_three_states():
    records = [see(answered(RIGHT)), see(refused()), see(without_context())]
    results = {result.name: result for result in measure(records)}
    right = results["correct_answers"]
    assert (right.hits, right.trials, right.failed) == (1, 2, 1)
    assert right.failures[0].item == "q1"
    assert right.state is MetricState.SCORED
    assert 0 < right.interval.low < right.value < right.interval.high < 1
    assert results["right_refusals"].state is MetricState.NOT_APPLICABLE
    assert results["right_refusals"].value is None
    assert results["citation_precision"].not_applicable == 1


def test_a_metric_that_could_score_nothing_has_failed():
    (result,) = measure([see(without_context())], [METRICS["faithful_answers"]])
    assert result.state is MetricState.FAILED
    assert result.value is None


def test_no_result_is_ever_nan():
    for label in ("yes", "no", "part"):
        for result in measure([see(record) for record in outcomes(item(label)).values()]):
            assert result.value is None or not math.isnan(result.value)


def test_the_interval_of_a_mean_is_hoeffdings():
    found = interval(50.0, 100, kind="mean")
    half = math.sqrt(math.log(2 / 0.05) / 200)
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))


def test_the_docs_define_every_metric_and_no_other():
    headings = [
        line.split("`")[1]
        for line in DOCS.read_text(encoding="utf-8").splitlines()
        if line.startswith("### `")
    ]
    assert sorted(headings) == sorted(METRICS)
