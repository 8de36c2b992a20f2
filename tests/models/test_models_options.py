"""Entailment model and judge as options of `GroundedRAG` and of the command line."""

import json

import pytest
from typer.testing import CliRunner

from grounded_rag import GroundedRAG, LLMJudge, Policy, Tier
from grounded_rag.cli.app import app
from grounded_rag.errors import ConfigError, MissingKeyError
from grounded_rag.protocols import Grade, Judgement, Opinion
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, assert_grounded, make_draft
from grounded_rag.types import RefusalReason, Usage
from grounded_rag.verification.checks import role
from grounded_rag.verification.support import default_checks

TEXT = "Admission is priced at twelve euros. The museum is not open on Monday."
FREE = ("Priced at twelve euros: admission.", "c1", "Admission is priced at twelve euros.")
WRONG = ("The museum charge is twelve euros.", "c1", "Admission is priced at twelve euros.")
QUESTION = "What does admission cost?"


class FixedJudge:
    name = "fixed-judge"

    def __init__(self, grade, *words):
        self.opinion = Opinion(grade=grade, rests_on=words)
        self.requests = []

    async def judge(self, request):
        self.requests.append(request)
        usage = Usage(calls=1, input_tokens=40, output_tokens=2)
        return Judgement(opinions=(self.opinion,) * len(request.items), usage=usage)


@pytest.fixture
def ask():
    def run(*drafts, **options):
        generator = ScriptedGenerator(*(make_draft(draft) for draft in drafts))
        with GroundedRAG(StaticRetriever({"c1": TEXT}), generator=generator, **options) as rag:
            answer = rag.query(QUESTION)
        policy = options.get("policy", Policy())
        assert_grounded(answer, existence_only=policy.support == "spans-only")
        return answer, generator

    return run


def test_what_the_model_in_a_folder_confirms_ships_in_its_own_words(ask, tiny):
    restated, _ = ask(FREE)
    assert restated.text == f"{FREE[2]} [1]"
    assert restated.claims[0].restated
    answer, _ = ask(FREE, entailment=str(tiny))
    assert answer.text == f"{FREE[0]} [1]"
    assert answer.claims[0].tier is Tier.CONFIRMED
    assert "entailment model" in answer.claims[0].why


def test_what_the_model_rejects_ships_in_the_words_of_the_source(ask, tiny):
    answer, generator = ask(WRONG, entailment=tiny)
    assert answer.text == f"{WRONG[2]} [1]"
    assert len(generator.requests) == 1
    assert WRONG[0] not in answer.to_json()


def test_what_the_model_rejects_is_asked_again_with_its_reason(ask, tiny):
    answer, generator = ask(WRONG, FREE, entailment=tiny, policy=Policy(unproven="reask"))
    assert answer.text == f"{FREE[0]} [1]"
    (failed,) = generator.requests[1].reask.failed
    assert "entailment model" in failed.detail


@pytest.mark.parametrize("decider", [False, True])
def test_the_generator_knows_whether_anything_can_confirm_its_own_words(ask, tiny, decider):
    _, generator = ask(FREE, entailment=tiny if decider else None)
    assert generator.requests[0].own_words is decider


def test_balanced_is_gone_and_the_error_says_what_to_use_instead():
    with pytest.raises(ConfigError, match="balanced") as error:
        Policy(support="balanced")
    for said in ('unproven="restate"', "entailment=", "spans-only"):
        assert said in error.value.hint


def test_what_the_judge_cost_is_in_the_answers_usage(ask):
    judge = FixedJudge(Grade.SUPPORTED, "priced at twelve euros")
    answer, _ = ask(FREE, judge=judge)
    assert answer.claims[0].tier is Tier.CONFIRMED
    assert (answer.usage.calls, answer.usage.input_tokens) == (2, 140)
    assert answer.trace.attempts[0].usage == answer.usage
    assert judge.requests[0].question == QUESTION


def test_a_void_verdict_refuses_as_could_not_check(ask):
    judge = FixedJudge(Grade.SUPPORTED, "priced at nine euros")
    policy = Policy(unproven="reask")
    answer, _ = ask(FREE, FREE, judge=judge, policy=policy)
    assert answer.refusal.reason is RefusalReason.COULD_NOT_CHECK
    assert answer.usage.calls == 4
    restated, _ = ask(FREE, judge=judge)
    assert restated.text == f"{FREE[2]} [1]"


def test_a_judge_is_not_asked_beyond_the_budget_of_tokens(ask):
    judge = FixedJudge(Grade.SUPPORTED, "priced at twelve euros")
    policy = Policy(max_total_tokens=120, unproven="reask")
    answer, _ = ask(FREE, judge=judge, policy=policy)
    assert answer.refusal.reason is RefusalReason.COULD_NOT_CHECK
    assert judge.requests == []


def test_spans_only_asks_nobody(ask):
    judge = FixedJudge(Grade.NOT_MENTIONED)
    answer, _ = ask(FREE, judge=judge, policy=Policy(support="spans-only"))
    assert answer.text == f"{FREE[0]} [1]"
    assert [flag.kind for flag in answer.flags if flag.kind != "undated"] == ["unconfirmed"]
    assert judge.requests == []
    with GroundedRAG(StaticRetriever({}), judge=judge, policy=Policy(support="spans-only")) as rag:
        assert rag.verify(make_draft(WRONG), [{"id": "c1", "text": TEXT}]).claims[0].supported
        judge.opinion = Opinion(grade=Grade.CONTRADICTED, rests_on=("twelve euros",))
        assert rag.verify(make_draft(FREE), [{"id": "c1", "text": TEXT}]).claims[0].supported
    assert judge.requests == []
    with GroundedRAG(StaticRetriever({}), judge=judge) as rag:
        assert not rag.verify(make_draft(FREE), [{"id": "c1", "text": TEXT}]).claims[0].supported


def test_a_verbatim_claim_is_settled_without_a_judge(ask):
    judge = FixedJudge(Grade.NOT_MENTIONED)
    same = ("Admission is priced at twelve euros.", "c1", "Admission is priced at twelve euros.")
    answer, _ = ask(same, judge=judge)
    assert answer.claims[0].tier is Tier.VERBATIM
    assert judge.requests == []


def test_verify_of_the_facade_asks_the_deciders_too(tiny):
    with GroundedRAG(StaticRetriever({}), generator=ScriptedGenerator(), entailment=tiny) as rag:
        found = rag.verify(make_draft(FREE), [{"id": "c1", "text": TEXT}])
    assert found.claims[0].tier is Tier.CONFIRMED


def prints(**options):
    with GroundedRAG(StaticRetriever({}), generator=ScriptedGenerator(), **options) as rag:
        return rag._parts.fingerprint


def test_the_fingerprint_covers_the_stack(tiny):
    def mine(case):
        return None

    def other(case):
        return None

    class Versioned:
        def __init__(self, version):
            self.version = version

        def __call__(self, case):
            return None

    found = [
        prints(),
        prints(checks=[Versioned("1")]),
        prints(checks=[Versioned("2")]),
        prints(checks=[role(Versioned("1"), "veto")]),
        prints(checks=[role(Versioned("2"), "veto")]),
        prints(entailment=tiny),
        prints(judge=FixedJudge(Grade.SUPPORTED)),
        prints(judge=LLMJudge("openai/some-model")),
        prints(judge=LLMJudge("openai/other-model")),
        prints(checks=()),
        prints(checks=[mine]),
        prints(checks=[other]),
        prints(checks=[role(mine, "filter")]),
        prints(checks=[role(mine, "veto")]),
        prints(checks=[*default_checks(), role(mine, "veto")]),
    ]
    assert len(set(found)) == len(found)
    assert prints() == prints()
    assert prints(entailment=tiny) == prints(entailment=tiny)


@pytest.mark.parametrize("judge", ["", "clever", "openai/", "/model"])
def test_a_name_that_stands_for_no_judge_is_refused(judge):
    with pytest.raises(ConfigError, match="no judge named"):
        prints(judge=judge)


def test_a_named_judge_without_a_key_is_said_at_once(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    with pytest.raises(MissingKeyError, match="leave the judge out"):
        prints(judge="anthropic")
    result = run("verify", "-", "--settings", "rag.judge=anthropic", data=case(FREE))
    assert result.exit_code == 1
    assert "no key" in result.output
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    assert prints(judge="anthropic/a") != prints(judge="anthropic/b")


def test_a_folder_that_is_no_model_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"model\.onnx"):
        prints(entailment=tmp_path)


def run(*arguments, data):
    return CliRunner().invoke(app, list(arguments), input=json.dumps(data))


def case(claim):
    text, chunk_id, quote = claim
    return {
        "draft": {"claims": [{"text": text, "chunk_id": chunk_id, "quote": quote}]},
        "chunks": [{"id": "c1", "text": TEXT}],
    }


def test_the_command_verify_takes_a_model(tiny):
    named = ("--settings", f"rag.entailment={tiny}")
    result = run("verify", "-", *named, "--json", data=case(FREE))
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["claims"][0]["tier"] == "confirmed"
    rejected = run("verify", "-", *named, data=case(WRONG))
    assert rejected.exit_code == 3
    assert "entailment model" in " ".join(rejected.output.split())


@pytest.mark.parametrize(
    ("setting", "said"), [("rag.entailment=nowhere", "nowhere"), ("rag.judge=x", "PROVIDER")]
)
@pytest.mark.parametrize("command", [("verify", "-"), ("ask", "Why?", "--corpus", "demo")])
def test_the_command_line_says_what_is_wrong(setting, said, command, tmp_path, monkeypatch):
    monkeypatch.setenv("GROUNDED_RAG_HOME", str(tmp_path))
    result = run(*command, "--settings", setting, data=case(FREE))
    assert result.exit_code == 1
    assert said in result.output
