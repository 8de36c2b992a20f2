"""Sampling live answers: never in the way, bounded, counted, and closed cleanly."""

from __future__ import annotations

import datetime as dt
import json
import threading

import pytest

from grounded_rag import GroundedRAG
from grounded_rag.answer import Answer
from grounded_rag.evaluation.factuality import (
    FactualityModel,
    LexicalSupport,
    Scorers,
    Variant,
)
from grounded_rag.evaluation.production import (
    Budget,
    LiveSampler,
    LiveScores,
    ReviewQueue,
    ReviewReason,
    each,
    factuality_score,
    review_reasons,
)
from grounded_rag.evaluation.production.review import ReviewItem
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.types import AnswerStatus, Draft, Flag, FlagKind, Tier, Usage

FEE = "The fee is 4 euros a month."
MAY = "The fee may be 4 euros a month."
NOW = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)


def ask(text: str | None, **options) -> Answer:
    draft = Draft() if text is None else make_draft((text, "c", text))
    with GroundedRAG(
        StaticRetriever({"c": f"{FEE} {MAY}"}), generator=ScriptedGenerator(draft), **options
    ) as rag:
        return rag.query("What is the fee?")


ANSWER = ask(FEE)
REFUSAL = ask(None)


def score(_: Answer) -> LiveScores:
    return LiveScores(scores={"x": 0.5}, usage=Usage(calls=1, input_tokens=10))


class Gate:
    """A scorer that waits until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go = threading.Event()

    def __call__(self, answer: Answer) -> LiveScores:
        self.entered.set()
        assert self.go.wait(30)
        return score(answer)


def test_every_answer_reaches_the_hook_refusals_too():
    seen = []
    answers = [ask(FEE, on_answer=seen.append), ask(None, on_answer=seen.append)]
    assert seen == answers
    assert [answer.answered for answer in answers] == [True, False]


def test_chosen_answers_are_scored_in_another_thread():
    threads, told = [], []

    def here(answer: Answer) -> LiveScores:
        threads.append(threading.current_thread().name)
        return score(answer)

    with LiveSampler(here, share=1, on_scored=lambda a, s: told.append((a, s))) as sampler:
        for _ in range(3):
            sampler(ANSWER)
        sampler.drain()
        stats = sampler.stats
    assert (stats.seen, stats.scored, stats.dropped, stats.usage.input_tokens) == (3, 3, 0, 30)
    assert set(threads) == {"grounded-rag-sampler"}
    assert told == [(ANSWER, score(ANSWER))] * 3


def test_the_share_is_kept_and_repeatable():
    def chosen(seed: int) -> int:
        with LiveSampler(score, share=0.2, waiting=1000, seed=seed) as sampler:
            for _ in range(500):
                sampler(ANSWER)
            sampler.drain()
            return sampler.stats.scored

    assert chosen(1) == chosen(1)
    assert 60 < chosen(1) < 140
    with LiveSampler(score, share=0) as sampler:
        sampler(ANSWER)
        assert sampler.stats.model_dump()["seen"] == 1
    assert sampler.stats.scored == 0


def test_a_full_queue_drops_and_counts_and_never_waits():
    gate = Gate()
    with LiveSampler(gate, share=1, waiting=2) as sampler:
        sampler(ANSWER)
        assert gate.entered.wait(30)
        for _ in range(5):
            sampler(ANSWER)
        assert sampler.stats.dropped_full == 3
        gate.go.set()
        sampler.drain()
        assert sampler.stats.scored == 3


def test_answers_beyond_the_budget_are_dropped_until_the_window_ends():
    time = [0.0]
    budget = Budget(answers=2, seconds=60)
    with LiveSampler(score, share=1, budget=budget, clock=lambda: time[0]) as sampler:
        for _ in range(5):
            sampler(ANSWER)
            sampler.drain()
        assert (sampler.stats.scored, sampler.stats.dropped_budget) == (2, 3)
        time[0] = 61.0
        sampler(ANSWER)
        sampler.drain()
        assert sampler.stats.scored == 3


def test_tokens_are_bounded_also_for_those_that_wait():
    gate = Gate()
    with LiveSampler(gate, share=1, budget=Budget(tokens=15)) as sampler:
        for _ in range(4):
            sampler(ANSWER)
        gate.go.set()
        sampler.drain()
        # 10 tokens leave room for one more, 20 do not.
        assert (sampler.stats.scored, sampler.stats.dropped_budget) == (2, 2)
        sampler(ANSWER)
        assert sampler.stats.dropped_budget == 3


def test_a_failing_scorer_is_counted_and_the_next_answer_scored(caplog):
    calls = []

    def fragile(answer: Answer) -> LiveScores:
        calls.append(answer)
        if len(calls) == 1:
            raise OSError("down")
        return score(answer)

    with LiveSampler(fragile, share=1) as sampler:
        sampler(ANSWER)
        sampler(ANSWER)
        sampler.drain()
        assert (sampler.stats.failed, sampler.stats.scored) == (1, 1)
    assert "could not be scored" in caplog.text


def test_closing_finishes_what_waits_and_drops_what_comes_later():
    sampler = LiveSampler(score, share=1)
    for _ in range(3):
        sampler(ANSWER)
    sampler.close()
    sampler.close()
    sampler(ANSWER)
    assert (sampler.stats.scored, sampler.stats.dropped_closed) == (3, 1)
    assert not any(thread.name == "grounded-rag-sampler" for thread in threading.enumerate())


def test_closing_does_not_wait_longer_than_it_may():
    gate = Gate()
    sampler = LiveSampler(gate, share=1, waiting=2)
    sampler(ANSWER)
    assert gate.entered.wait(30)
    sampler(ANSWER)
    sampler(ANSWER)
    sampler.close(timeout=0)
    assert sampler.stats.dropped_closed == 2
    gate.go.set()
    sampler._thread.join(30)
    assert not sampler._thread.is_alive()


@pytest.mark.parametrize("options", [{"share": 1.5}, {"share": -0.1}, {"waiting": 0}])
def test_nonsense_is_refused(options):
    with pytest.raises(ValueError, match="no sampling"):
        LiveSampler(score, **options)


def test_hooks_go_together():
    first, second = [], []
    each(first.append, second.append)(ANSWER)
    assert first == second == [ANSWER]


def test_answers_are_scored_by_a_factuality_model():
    scorers = Scorers(
        faithful=LexicalSupport(), if_faithful=LexicalSupport(), if_unfaithful=LexicalSupport()
    )
    model = FactualityModel(
        variant=Variant.NONE, scorers=scorers.names, fingerprint=ANSWER.fingerprint
    )
    found = factuality_score(model, scorers=scorers)(ANSWER)
    expected = model.score_answer(ANSWER, scorers=scorers)[0].factuality
    assert found.scores == {"p_true": expected.p_true}
    assert factuality_score(model, scorers=scorers)(REFUSAL).scores == {"p_true": None}


@pytest.mark.parametrize(
    ("answer", "probability", "reasons"),
    [
        (ANSWER, None, ()),
        (ANSWER, 0.9, ()),
        (ANSWER, 0.3, (ReviewReason.LOW_PROBABILITY,)),
        (REFUSAL, None, (ReviewReason.REFUSED,)),
        (ask(MAY), None, (ReviewReason.HEDGED,)),
        (
            ANSWER.model_copy(
                update={
                    "status": AnswerStatus.PARTIAL,
                    "flags": (Flag(kind=FlagKind.EXPIRED, claim=0, chunk_id="c", doc_id="c"),),
                    "claims": tuple(
                        claim.model_copy(update={"tier": Tier.NONE}) for claim in ANSWER.claims
                    ),
                }
            ),
            None,
            (ReviewReason.PARTIAL, ReviewReason.FLAGGED, ReviewReason.UNPROVEN),
        ),
    ],
)
def test_why_a_person_should_look(answer, probability, reasons):
    # The demo-like chunk carries no date, which is flagged for every answer.
    bare = answer
    if ReviewReason.FLAGGED not in reasons:
        bare = answer.model_copy(update={"flags": ()})
    assert review_reasons(bare, probability=probability) == reasons


def test_the_review_queue_is_a_file(tmp_path):
    path = tmp_path / "review.jsonl"
    queue = ReviewQueue(path, now=lambda: NOW)
    ask(None, on_answer=queue)
    queue(ANSWER.model_copy(update={"flags": ()}))
    queue(ANSWER.model_copy(update={"flags": ()}), probability=0.1)
    first, second = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert first["reasons"] == ["refused"]
    assert first["refusal"] == "generator_declined"
    assert (second["reasons"], second["sources"]) == (["low_probability"], ["c"])
    assert ReviewItem.model_validate(second).probability == 0.1
    assert (queue.queued, queue.dropped) == (2, 0)


def test_the_review_queue_can_be_a_callback():
    items = []
    ReviewQueue(items.append)(REFUSAL)
    assert [item.status for item in items] == [AnswerStatus.REFUSED]


def test_a_queue_that_fails_or_is_full_costs_no_answer(tmp_path, caplog):
    def broken(_: ReviewItem) -> None:
        raise OSError("down")

    queue = ReviewQueue(broken)
    assert not ask(None, on_answer=queue).answered
    nowhere = ReviewQueue(tmp_path / "no" / "folder.jsonl")
    nowhere(REFUSAL)
    small = ReviewQueue(tmp_path / "small.jsonl", most_bytes=10)
    small(REFUSAL)
    assert [q.dropped for q in (queue, nowhere, small)] == [1, 1, 1]
    assert "could not be queued" in caplog.text
