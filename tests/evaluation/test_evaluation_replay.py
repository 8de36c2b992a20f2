"""Replay: no model call, unchanged signals played back, changed checks and policies take effect."""

import pytest
from evaluation_records import FEE, TODAY, item

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import InputError
from grounded_rag.evaluation import runs as checks_module
from grounded_rag.evaluation.certificate import certify_run
from grounded_rag.evaluation.gate import compare
from grounded_rag.evaluation.rejudging import replay
from grounded_rag.evaluation.report import report_of
from grounded_rag.evaluation.runner import evaluate
from grounded_rag.evaluation.runs import (
    Run,
    check_identities,
    check_name,
    policy_of,
    verifier_fingerprint,
)
from grounded_rag.protocols import Generation
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.types import (
    AnswerStatus,
    Flag,
    FlagKind,
    Reason,
    Refusal,
    RefusalReason,
    Signal,
    StopReason,
    Usage,
)
from grounded_rag.verification.support import default_checks

GOOD = make_draft((FEE, "fees.md", FEE))
BAD = make_draft(("The account costs 9 euros a month.", "fees.md", FEE))
LOOSE = make_draft(("Each month two euros are due for the account.", "fees.md", FEE))


class Model:
    """A check that stands for a paid model: it counts how often it is asked."""

    name = "entailment"

    def __init__(self, fingerprint="model-1", passed=True):
        self.fingerprint = fingerprint
        self.passed = passed
        self.asked = 0

    def __call__(self, case):
        self.asked += 1
        return Signal(check="entailment", passed=self.passed, score=0.9, role="decider")


def record(folder, *script, checks=None, **policy):
    """Record one question with a scripted generator."""
    options = {} if checks is None else {"checks": checks}
    with GroundedRAG(
        StaticRetriever({"fees.md": FEE}),
        generator=ScriptedGenerator(*script),
        policy=Policy(**policy),
        **options,
    ) as rag:
        evaluate(rag, [item(as_of=TODAY)], run=folder)
    return folder


def only(folder):
    (found,) = Run.open(folder).records()
    return found


def test_nothing_changed_and_the_records_stay_as_they_were(tmp_path):
    source = record(tmp_path / "a", GOOD)
    report = replay(source, run=tmp_path / "b")
    assert only(tmp_path / "b") == only(source)
    assert Run.open(tmp_path / "b").meta.replay_of == Run.open(source).meta.id
    assert report.metric("correct_answers").hits == 1


def test_all_checks_again_give_the_same_verdicts(tmp_path):
    source = record(tmp_path / "a", BAD, GOOD, unproven="reask")
    assert only(source).answer.attempts == 2
    replay(source, run=tmp_path / "b", everything=True)
    assert only(tmp_path / "b") == only(source)


def test_an_unchanged_model_is_not_asked_again(tmp_path):
    checks = [*default_checks(), Model()]
    source = record(tmp_path / "a", LOOSE, checks=checks)
    assert only(source).answer.answered
    same = Model()
    report = replay(source, run=tmp_path / "b", checks=[*default_checks(), same])
    assert same.asked == 0
    assert report.metric("correct_answers").hits == 1
    again = Model()
    replay(source, run=tmp_path / "c", checks=[*default_checks(), again], everything=True)
    assert again.asked == 1


def test_a_changed_model_is_asked_and_its_word_counts(tmp_path):
    source = record(tmp_path / "a", LOOSE, checks=[*default_checks(), Model()], unproven="refuse")
    assert only(source).answer.claims[0].tier == "confirmed"
    other = Model(fingerprint="model-2", passed=False)
    replay(source, run=tmp_path / "b", checks=[*default_checks(), other])
    answer = only(tmp_path / "b").answer
    assert other.asked >= 1
    assert answer.refusal.reason is RefusalReason.CLAIMS_FAILED


def test_a_changed_verifier_runs_the_rules_again_and_leaves_the_model_alone(tmp_path, monkeypatch):
    source = record(tmp_path / "a", LOOSE, checks=[*default_checks(), Model()])
    monkeypatch.setattr(checks_module, "verifier_fingerprint", lambda: "another")
    monkeypatch.setattr("grounded_rag.evaluation.rejudging.verifier_fingerprint", lambda: "another")
    model = Model()
    replay(source, run=tmp_path / "b", checks=[*default_checks(), model])
    assert model.asked == 0
    assert only(tmp_path / "b").answer.answered


def test_a_models_signals_are_kept_where_no_check_of_that_name_is_given(tmp_path):
    source = record(tmp_path / "a", LOOSE, checks=[*default_checks(), Model()])
    meta = Run.open(source).meta
    Run.open(source).rewrite(
        meta.model_copy(update={"checks": check_identities(None)})
    )  # as of a model that is no support check, and so is not listed
    replay(source, run=tmp_path / "b", policy=Policy(max_attempts=2))
    assert only(tmp_path / "b").answer.answered


def test_another_policy_decides_anew_over_the_recorded_drafts(tmp_path):
    source = record(tmp_path / "a", *[LOOSE] * 3, unproven="refuse")
    assert not only(source).answer.answered
    report = replay(source, run=tmp_path / "b", policy=Policy(unproven="restate"))
    answer = only(tmp_path / "b").answer
    assert (answer.text, answer.claims[0].restated) == (f"{FEE} [1]", True)
    assert answer.policy["unproven"] == "restate"
    assert report.meta.policy["unproven"] == "restate"
    assert report.metric("restated_claims").hits == 1
    strict = replay(tmp_path / "b", policy=Policy(unproven="refuse"))
    assert strict.metric("false_refusals").hits == strict.metric("refused_claims").hits == 1
    assert strict.items[0].diagnosis.reason == "unproven"


def test_usage_and_timings_of_the_record_stay(tmp_path):
    source = record(tmp_path / "a", *[LOOSE] * 3, unproven="reask")
    replay(source, run=tmp_path / "b", policy=Policy())
    before, now = only(source).answer, only(tmp_path / "b").answer
    assert now.answered
    assert not before.answered
    assert (now.usage, now.timings, now.attempts) == (
        before.usage, before.timings, before.attempts
    )  # fmt: skip


@pytest.mark.parametrize("stop", [StopReason.TRUNCATED, StopReason.REFUSED])
def test_a_generation_that_did_not_complete_is_refused_again(tmp_path, stop):
    cut = Generation(draft=None, stop=stop, usage=Usage(calls=1))
    source = record(tmp_path / "a", cut)
    replay(source, run=tmp_path / "b", everything=True)
    assert only(tmp_path / "b") == only(source)


def test_checks_are_told_apart_by_their_code():
    def one(case):
        return None

    first = check_identities([one])[0].fingerprint

    def one(case):
        return Signal(check="one", passed=True)

    assert first
    assert check_identities([one])[0].fingerprint != first
    limit = 3
    assert check_identities([lambda case: limit])[0].fingerprint == ""
    assert check_identities([Model()])[0].fingerprint == "model-1"


def test_the_signals_of_the_built_in_checks_carry_their_names(tmp_path):
    source = record(tmp_path / "a", LOOSE)
    signals = only(source).answer.trace.attempts[0].verification.claims[0].signals
    assert signals
    assert {signal.check for signal in signals} <= {check_name(c) for c in default_checks()}


def test_the_fingerprint_of_the_verifier_is_stable():
    assert verifier_fingerprint() == verifier_fingerprint()
    assert len(verifier_fingerprint()) == 64


def test_a_staged_check_keeps_its_stage_and_is_told_by_what_it_wraps(tmp_path):
    from grounded_rag.verification.checks import role

    checks = [*default_checks(), role(Model(), "decider")]
    source = record(tmp_path / "a", LOOSE, checks=checks, unproven="refuse")
    assert only(source).answer.answered
    same = Model()
    replay(source, run=tmp_path / "b", checks=[*default_checks(), role(same, "decider")])
    assert same.asked == 0
    assert only(tmp_path / "b").answer.answered
    other = Model(fingerprint="model-2", passed=False)
    replay(source, run=tmp_path / "c", checks=[*default_checks(), role(other, "decider")])
    assert other.asked == 1
    assert not only(tmp_path / "c").answer.answered


class Judge:
    """A judge that supports every claim, and counts its calls."""

    name = "judge-1"

    def __init__(self):
        self.calls = 0

    async def judge(self, request):
        from grounded_rag.protocols import Grade, Judgement, Opinion

        self.calls += 1
        opinions = [
            Opinion(grade=Grade.SUPPORTED, rests_on=(one.evidence[0],)) for one in request.items
        ]
        return Judgement(opinions=tuple(opinions), usage=Usage(calls=1, input_tokens=10))


def test_a_judges_word_is_on_record_and_counts_without_asking_it(tmp_path):
    judge = Judge()
    with GroundedRAG(
        StaticRetriever({"fees.md": FEE}), generator=ScriptedGenerator(LOOSE), judge=judge
    ) as rag:
        evaluate(rag, [item(as_of=TODAY)], run=tmp_path / "a")
    assert only(tmp_path / "a").answer.answered
    assert [d.fingerprint for d in Run.open(tmp_path / "a").meta.deciders] == ["judge-1"]
    for name, options in (("b", {"policy": Policy(k=3)}), ("c", {"everything": True})):
        replay(tmp_path / "a", run=tmp_path / name, **options)
        assert only(tmp_path / name).answer.answered
    assert judge.calls == 1


def test_a_run_of_an_unknown_policy_is_one_error(tmp_path):
    source = record(tmp_path / "a", GOOD)
    run = Run.open(source)
    run.rewrite(run.meta.model_copy(update={"policy": {"colour": "blue"}}))
    with pytest.raises(InputError, match="policy"):
        replay(source)


def test_what_the_verifier_finds_itself_is_found_once(tmp_path):
    """That a quote is asserted by nobody is no check's signal, and none is played back."""
    asked = "Is the account free of charge for everybody?"
    draft = make_draft(("The account is free of charge for everybody.", "fees.md", asked))
    with GroundedRAG(
        StaticRetriever({"fees.md": f"{asked} {FEE}"}),
        generator=ScriptedGenerator(*[draft] * 3),
    ) as rag:
        evaluate(rag, [item(as_of=TODAY)], run=tmp_path / "a")
    (verdict,) = only(tmp_path / "a").answer.trace.attempts[0].verification.claims
    assert verdict.reason is Reason.NOT_ASSERTED
    replay(tmp_path / "a", run=tmp_path / "b", everything=True)
    assert only(tmp_path / "b") == only(tmp_path / "a")


def test_a_restated_answer_comes_out_the_same_again(tmp_path):
    source = record(tmp_path / "a", LOOSE)
    assert only(source).answer.claims[0].restated
    replay(source, run=tmp_path / "b", everything=True)
    assert only(tmp_path / "b") == only(source)


def test_a_run_of_version_0_1_is_read_and_judged_again(tmp_path):
    """Its tiers proved nothing: what no decider had confirmed is open until judged again."""
    source = record(tmp_path / "a", GOOD, LOOSE)
    records = source / "records.jsonl"
    old = records.read_text(encoding="utf-8").replace('"tier":"verbatim"', '"tier":"high"')
    old = old.replace('"reason":"unproven"', '"reason":"far_from_quote"')
    records.write_text(old, encoding="utf-8")
    (claim,) = only(source).answer.claims
    assert (claim.tier, claim.supported) == ("none", True)
    assert "judge the run again" in claim.why
    assert report_of(Run.open(source)).metric("open_claims").hits == 1
    again = replay(source, run=tmp_path / "b", everything=True)
    assert again.metric("verbatim_claims").hits == 1


def test_a_run_under_balanced_says_what_to_do_and_can_be_judged_again(tmp_path):
    source = record(tmp_path / "a", GOOD)
    meta = Run.open(source).meta
    Run.open(source).rewrite(
        meta.model_copy(update={"policy": {**meta.policy, "support": "balanced"}})
    )
    with pytest.raises(InputError, match="policy that is no more") as raised:
        replay(source)
    assert 'support="balanced" is gone' in raised.value.message
    assert "--settings policy.support=strict" in raised.value.hint
    policy = policy_of(Run.open(source).meta, support="strict")
    assert replay(source, policy=policy).metric("verbatim_claims").hits == 1


def test_a_veto_under_another_name_is_never_lost(tmp_path, monkeypatch):
    def odd(case):
        return Signal(check="house_rule", passed=False, reason=Reason.NOT_ENTAILED, detail="No.")

    checks = [*default_checks(), odd]
    source = record(tmp_path / "a", *[GOOD] * 3, checks=checks, unproven="refuse")
    assert not only(source).answer.answered
    monkeypatch.setattr(checks_module, "verifier_fingerprint", lambda: "another")
    monkeypatch.setattr("grounded_rag.evaluation.rejudging.verifier_fingerprint", lambda: "another")
    replay(source, run=tmp_path / "b", checks=[*default_checks(), odd])
    assert not only(tmp_path / "b").answer.answered


def test_answers_of_other_systems_are_judged_again_as_well(tmp_path):
    import json

    from grounded_rag.evaluation.other_systems import evaluate_answers

    answers = tmp_path / "answers.jsonl"
    rows = [
        {"id": "a", "question": "What?", "answer": FEE, "contexts": [FEE], "expected": "2 euros"},
        {"id": "b", "question": "Who?", "refused": True, "answer": "", "contexts": [FEE]},
    ]
    answers.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    evaluate_answers(answers, run=tmp_path / "a")

    def house_rule(case):
        return Signal(check="house_rule", passed=False, reason=Reason.NOT_ENTAILED, detail="No.")

    report = replay(tmp_path / "a", run=tmp_path / "b", checks=[*default_checks(), house_rule])
    faithful = report.metric("faithful_answers")
    assert (faithful.hits, faithful.trials) == (0, 1)
    assert replay(tmp_path / "a").metric("faithful_answers").hits == 1


def test_remarks_of_a_model_are_kept_and_an_exhausted_budget_stays_one(tmp_path):
    source = record(tmp_path / "a", GOOD)
    found = only(source)
    place = found.answer.claims[0].located[0]
    flag = Flag(
        kind=FlagKind.BESIDE_QUESTION, claim=0, chunk_id=place.chunk_id, doc_id=place.doc_id
    )
    answer = found.answer.model_copy(update={"flags": (*found.answer.flags, flag)})
    late = found.answer.model_copy(
        update={
            "status": AnswerStatus.REFUSED,
            "claims": (),
            "refusal": Refusal(reason=RefusalReason.BUDGET_EXHAUSTED, detail="late"),
        }
    )
    meta = Run.open(source).meta.model_copy(update={"items": 2})
    with Run.create(tmp_path / "b", meta) as run:
        run.append(found.model_copy(update={"answer": answer}))
        run.append(found.model_copy(update={"item": item(id="late"), "answer": late}))
    replay(tmp_path / "b", run=tmp_path / "c", everything=True)
    first, second = Run.open(tmp_path / "c").records()
    assert flag in first.answer.flags
    assert second.answer.refusal.reason is RefusalReason.BUDGET_EXHAUSTED


def test_another_policy_has_another_fingerprint_and_a_certificate_tells_them_apart(tmp_path):
    source = record(tmp_path / "a", GOOD)
    given = only(source).answer
    replay(source, run=tmp_path / "same", everything=True)
    replay(source, run=tmp_path / "b", policy=Policy(support="spans-only"))
    loose = Run.open(tmp_path / "b")
    assert only(tmp_path / "b").answer.fingerprint == loose.meta.fingerprint != given.fingerprint
    assert certify_run(Run.open(tmp_path / "same")).covers(given)
    assert not certify_run(loose).covers(given)
    differences = compare(report_of(loose), report_of(Run.open(source))).differences
    assert any(line.startswith("policy and prompts") for line in differences)
