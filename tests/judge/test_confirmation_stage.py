"""The stage that confirms: who is asked about which claims, and what becomes of what they say."""

import asyncio
import threading

import anyio
import pytest

from grounded_rag import ClaimStatus, Reason, Tier, averify, verify
from grounded_rag.errors import ConfigError
from grounded_rag.protocols import EntailmentScores, Grade, Judgement, Opinion
from grounded_rag.types import Outcome, Signal, Usage
from grounded_rag.verification.checks import role
from grounded_rag.verification.support import default_checks

TEXT = "Visitors pay twelve euros for a ticket. The dam is not open on Mondays."
CHUNKS = [{"id": "c1", "text": TEXT}]
NEAR = {
    "text": "Visitors pay twelve euros for a ticket.",
    "chunk_id": "c1",
    "quote": "Visitors pay twelve euros for a ticket.",
}
FREE = {
    "text": "A ticket costs visitors twelve euros.",
    "chunk_id": "c1",
    "quote": "Visitors pay twelve euros for a ticket.",
}
FALSE = {"text": "The dam is open.", "chunk_id": "c1", "quote": "The dam is not open on Mondays."}
REFUSED = {
    "text": "A ticket costs visitors thirteen euros.",
    "chunk_id": "c1",
    "quote": "Visitors pay twelve euros for a ticket.",
}
UNCITED = {"text": "Visitors like the dam.", "citations": []}


class Model:
    """An entailment model that says the same of every pair, and remembers who asked."""

    name = "fixed-model"

    def __init__(self, entailment=0.0, contradiction=0.0, error=None):
        self.scores = EntailmentScores(
            entailment=entailment,
            neutral=max(0.0, 1 - entailment - contradiction),
            contradiction=contradiction,
        )
        self.error = error
        self.batches = []
        self.threads = []

    def score(self, pairs):
        self.batches.append(tuple(pairs))
        self.threads.append(threading.current_thread())
        if self.error:
            raise self.error
        return [self.scores] * len(pairs)


class FixedJudge:
    """A judge with one opinion of every claim."""

    name = "fixed-judge"

    def __init__(self, opinion=None, error=None, wait=False):
        self.opinion = opinion
        self.error = error
        self.wait = wait
        self.requests = []

    async def judge(self, request):
        self.requests.append(request)
        if self.wait:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        return Judgement(
            opinions=(self.opinion,) * len(request.items),
            usage=Usage(calls=1, input_tokens=7, output_tokens=3),
        )


def opinion(grade, *rests_on):
    return Opinion(grade=grade, rests_on=rests_on)


def confirmed(*claims, **options):
    async def run():
        return await averify({"claims": list(claims)}, CHUNKS, **options)

    return anyio.run(run)


def test_without_deciders_it_is_verify():
    found = confirmed(NEAR, FREE, FALSE)
    assert found == verify({"claims": [NEAR, FREE, FALSE]}, CHUNKS)
    assert [claim.status for claim in found.claims] == ["supported", "open", "open"]
    assert found.outcome is Outcome.PARTIAL


def test_all_that_is_open_is_asked_about_in_one_batch_and_in_a_thread():
    model = Model(entailment=0.9)
    found = confirmed(NEAR, FREE, REFUSED, UNCITED, FALSE, entailment=model)
    assert [claim.tier for claim in found.claims] == [
        Tier.VERBATIM,
        Tier.CONFIRMED,
        Tier.NONE,
        Tier.NONE,
        Tier.CONFIRMED,
    ]
    assert found.claims[2].reason is Reason.NUMBER_MISMATCH
    assert found.claims[3].reason is Reason.UNCITED
    (batch,) = model.batches
    assert [pair.hypothesis for pair in batch] == [FREE["text"], FALSE["text"]]
    assert [pair.premise for pair in batch] == [FREE["quote"], FALSE["quote"]]
    assert model.threads[0] is not threading.main_thread()
    assert "entailment model" in found.claims[1].why


def test_the_largest_scores_are_exposed():
    found = confirmed(FREE, entailment=Model(entailment=0.75, contradiction=0.125))
    scores = {signal.check: signal.score for signal in found.claims[0].signals}
    assert (scores["entailment"], scores["contradiction"]) == (0.75, 0.125)


@pytest.mark.parametrize(
    ("model", "status", "reason"),
    [
        (Model(entailment=0.2), ClaimStatus.UNSUPPORTED, Reason.NOT_ENTAILED),
        (Model(contradiction=0.9), ClaimStatus.CONTRADICTED, Reason.CONTRADICTED),
        (
            Model(entailment=0.6, contradiction=0.7),
            ClaimStatus.CONTRADICTED,
            Reason.CONTRADICTED,
        ),
        (Model(error=ValueError("x")), ClaimStatus.UNCHECKED, Reason.COULD_NOT_CHECK),
    ],
)
def test_what_a_model_does_not_confirm_is_not_shown(model, status, reason):
    (verdict,) = confirmed(FREE, entailment=model).claims
    assert (verdict.status, verdict.reason) == (status, reason)
    assert verdict.tier is Tier.NONE
    assert verdict.restatement == FREE["quote"]


def test_a_premise_of_two_quotes_is_also_read_whole():
    both = {
        "text": "A ticket is twelve euros; Mondays see the dam shut.",
        "citations": [
            {"chunk_id": "c1", "quote": NEAR["quote"]},
            {"chunk_id": "c1", "quote": FALSE["quote"]},
        ],
    }
    model = Model(entailment=0.9)
    confirmed(both, entailment=model, checks=())
    premises = [pair.premise for pair in model.batches[0]]
    assert premises == [NEAR["quote"], FALSE["quote"], f"{NEAR['quote']}\n{FALSE['quote']}"]


def test_a_model_with_too_few_scores_could_not_check():
    class Short(Model):
        def score(self, pairs):
            return super().score(pairs)[:-1]

    (verdict,) = confirmed(FREE, entailment=Short(entailment=0.9)).claims
    assert verdict.status is ClaimStatus.UNCHECKED


def test_a_judge_confirms_by_words_of_the_evidence():
    judge = FixedJudge(opinion(Grade.SUPPORTED, "pay twelve euros"))
    (verdict,) = confirmed(FREE, judge=judge, question="How much?").claims
    assert verdict.tier is Tier.CONFIRMED
    assert "judge" in verdict.why
    assert "pay twelve euros" in verdict.why
    (request,) = judge.requests
    assert request.items[0].evidence == (FREE["quote"],)
    assert request.context == (TEXT,)
    assert request.question == "How much?"


@pytest.mark.parametrize("grade", [Grade.SUPPORTED, Grade.CONTRADICTED])
@pytest.mark.parametrize(
    "words", [(), ("pay thirteen euros",), ("The dam is not open",), ("a",), ("…",), ("for ", "x")]
)
def test_a_verdict_that_rests_on_nothing_is_void(grade, words):
    (verdict,) = confirmed(FREE, judge=FixedJudge(opinion(grade, *words))).claims
    assert verdict.status is ClaimStatus.UNCHECKED
    assert "void" in verdict.why


@pytest.mark.parametrize(
    ("judge", "status"),
    [
        (FixedJudge(opinion(Grade.NOT_MENTIONED)), ClaimStatus.UNSUPPORTED),
        (FixedJudge(opinion(Grade.CONTRADICTED, "Visitors pay")), ClaimStatus.CONTRADICTED),
        (FixedJudge(Opinion(grade=None)), ClaimStatus.UNCHECKED),
        (FixedJudge(error=ZeroDivisionError()), ClaimStatus.UNCHECKED),
        (FixedJudge(wait=True), ClaimStatus.UNCHECKED),
    ],
)
def test_a_judge_that_does_not_confirm_never_supports(judge, status):
    (verdict,) = confirmed(FREE, judge=judge, timeout=0.05 if judge.wait else None).claims
    assert verdict.status is status
    assert not verdict.supported


def test_our_own_errors_keep_their_next_step():
    judge = FixedJudge(error=ConfigError("No key.", hint="Set it."))
    assert "Set it." in confirmed(FREE, judge=judge).claims[0].why


def test_with_both_the_model_takes_the_clear_claims_and_the_judge_the_rest():
    judge = FixedJudge(opinion(Grade.SUPPORTED, "twelve euros"))
    assert confirmed(FREE, entailment=Model(0.9), judge=judge).claims[0].tier is Tier.CONFIRMED
    assert confirmed(FREE, entailment=Model(0, 0.9), judge=judge).claims[0].supported is False
    assert judge.requests == []
    unclear = confirmed(FREE, entailment=Model(0.3), judge=judge).claims[0]
    assert unclear.tier is Tier.CONFIRMED
    assert len(judge.requests) == 1
    failed = confirmed(FREE, entailment=Model(0.3), judge=FixedJudge(error=ValueError())).claims[0]
    assert failed.status is ClaimStatus.UNCHECKED


def test_a_model_that_crashed_is_made_up_for_by_a_judge():
    judge = FixedJudge(opinion(Grade.SUPPORTED, "twelve euros"))
    found = confirmed(FREE, entailment=Model(error=OSError()), judge=judge)
    assert found.claims[0].tier is Tier.CONFIRMED


def test_flags_and_outcome_follow_the_last_word():
    found = confirmed(FREE, entailment=Model(0.9), as_of="2026-11-29")
    assert found.outcome is Outcome.ACCEPTED
    assert {flag.kind for flag in found.flags} == {"undated"}
    lost = confirmed(FREE, entailment=Model(0.1), as_of="2026-11-29")
    assert lost.outcome is Outcome.REJECTED
    # What is said of its source holds for the statement that may ship in its place.
    assert {flag.kind for flag in lost.flags} == {"undated"}
    cut = {**FREE, "quote": "Nobody pays."}
    assert confirmed(cut, entailment=Model(0.1), as_of="2026-11-29").flags == ()


def says(passed, **fields):
    return Signal(check="mine", passed=passed, detail="so it is", **fields)


def test_a_check_of_ones_own_decides_only_about_open_claims():
    asked = []

    def mine(case):
        asked.append(case.claim.text)
        return says(True)

    checks = [*default_checks(), role(mine, "decider")]
    claims = [NEAR, FREE, REFUSED]
    for run in (
        lambda: confirmed(*claims, checks=checks),
        lambda: verify(claims, CHUNKS, checks=checks),
    ):
        found = run()
        assert [claim.tier for claim in found.claims] == ["verbatim", "confirmed", "none"]
        assert asked == [FREE["text"]]
        assert found.claims[1].signals[-1].decided_by == "mine"
        asked.clear()


def test_a_filter_sends_even_what_is_verbatim_to_the_deciders():
    checks = [*default_checks(), role(lambda case: says(False), "filter", name="doubt")]
    alone = verify([NEAR], CHUNKS, checks=checks).claims[0]
    assert (alone.status, alone.tier) == (ClaimStatus.OPEN, Tier.NONE)
    assert "so it is" in alone.why
    assert confirmed(NEAR, checks=checks, entailment=Model(0.9)).claims[0].tier is Tier.CONFIRMED
    assert not confirmed(NEAR, checks=checks, entailment=Model(0.1)).claims[0].supported


@pytest.mark.parametrize(
    ("plays", "verbatim", "other"),
    [
        ("veto", ClaimStatus.UNSUPPORTED, ClaimStatus.UNSUPPORTED),
        ("info", ClaimStatus.SUPPORTED, ClaimStatus.OPEN),
        ("filter", ClaimStatus.OPEN, ClaimStatus.OPEN),
        ("decider", ClaimStatus.SUPPORTED, ClaimStatus.UNSUPPORTED),
    ],
)
def test_the_role_counts_not_what_the_check_says_of_itself(plays, verbatim, other):
    check = role(lambda case: says(False, role="info"), plays)
    found = verify([NEAR, FREE], CHUNKS, checks=[check]).claims
    assert [claim.status for claim in found] == [verbatim, other]


@pytest.mark.parametrize("plays", ["veto", "info", "filter"])
def test_only_a_decider_confirms_by_passing(plays):
    check = role(lambda case: says(True, role="decider", decided_by="me"), plays)
    assert verify([FREE], CHUNKS, checks=[check]).claims[0].status is ClaimStatus.OPEN


def test_what_only_informs_decides_nothing_by_crashing_either():
    def crash(case):
        raise ZeroDivisionError

    checks = [*default_checks(), role(crash, "info")]
    found = verify([NEAR], CHUNKS, checks=checks).claims[0]
    assert found.tier is Tier.VERBATIM
    assert found.signals[-1].detail == "The check failed: ZeroDivisionError."


def test_a_crashing_decider_leaves_the_claim_unchecked():
    def crash(case):
        raise ZeroDivisionError

    for found in (
        confirmed(FREE, checks=[role(crash, "decider")]),
        verify([FREE], CHUNKS, checks=[role(crash, "decider")]),
    ):
        assert found.claims[0].status is ClaimStatus.UNCHECKED


def test_a_decider_that_crashed_is_made_up_for_but_a_veto_is_not():
    def crash(case):
        raise ZeroDivisionError

    model = Model(0.9)
    beside = confirmed(FREE, checks=[role(crash, "decider")], entailment=model).claims[0]
    assert beside.tier is Tier.CONFIRMED
    for plays in ("veto", "filter"):
        alone = confirmed(FREE, checks=[role(crash, plays)], entailment=model).claims[0]
        assert alone.status is ClaimStatus.UNCHECKED


def test_output_that_cannot_be_read_or_refuses_is_asked_about_by_nobody():
    model = Model(0.9)

    async def run(draft):
        return await averify(draft, CHUNKS, entailment=model)

    assert anyio.run(run, "not json at all {").outcome is not Outcome.ACCEPTED
    refusing = {"answer": "I don't have enough information to answer that.", "claims": [FREE]}
    anyio.run(run, refusing)
    assert model.batches == []
