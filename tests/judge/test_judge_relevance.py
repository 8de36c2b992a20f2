"""Relevance to the question: a flag of its own, apart from faithfulness."""

import anyio
import pytest

from grounded_rag import FlagKind, GroundedRAG, Policy
from grounded_rag.errors import ConfigError, PromptError
from grounded_rag.judge.llm import LLMRelevanceJudge
from grounded_rag.protocols import Generation, TokenLogprob
from grounded_rag.relevance import RelevanceCheck, Ruling
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, assert_grounded, make_draft
from grounded_rag.types import RefusalReason, Usage

TEXT = "Notice must be given in writing. The notice period is six weeks."
PERIOD = ("The notice period is six weeks.", "c1", "The notice period is six weeks.")
WRITING = ("Notice must be given in writing.", "c1", "Notice must be given in writing.")
QUESTION = "How long is the notice period?"


class Embedding:
    """Tells only whether a text speaks of a period."""

    def get_query_embedding(self, query):
        return [1.0, 0.0]

    def get_text_embedding(self, text):
        return [1.0, 0.0] if "period" in text else [0.1, 1.0]


class Broken:
    def get_query_embedding(self, query):
        raise OSError


class FixedJudge:
    def __init__(self, said):
        self.said = said
        self.asked = []

    async def relevant(self, question, answer):
        self.asked.append((question, answer))
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.fixture
def ask():
    def run(claim, **options):
        generator = ScriptedGenerator(make_draft(claim) if claim else make_draft())
        with GroundedRAG(StaticRetriever({"c1": TEXT}), generator=generator, **options) as rag:
            answer = rag.query(QUESTION)
        assert_grounded(answer)
        return answer

    return run


def beside(answer):
    return [flag for flag in answer.flags if flag.kind is FlagKind.BESIDE_QUESTION]


def test_an_answer_to_the_point_has_no_flag_and_costs_no_judge(ask):
    judge = FixedJudge(False)
    answer = ask(PERIOD, relevance=RelevanceCheck(embedding=Embedding(), judge=judge))
    assert beside(answer) == []
    assert judge.asked == []


def test_a_score_at_the_threshold_needs_no_judge(ask):
    judge = FixedJudge(False)
    check = RelevanceCheck(embedding=Embedding(), judge=judge, threshold=1.0)
    assert beside(ask(PERIOD, relevance=check)) == []
    assert judge.asked == []


@pytest.mark.parametrize(
    ("said", "flagged", "words"),
    [
        (False, True, "the judge agrees"),
        (Ruling(relevant=False, usage=Usage(calls=1, input_tokens=7)), True, "agrees"),
        (None, True, "could not say"),
        (ValueError(), True, "could not say"),
        ("no", True, "could not say"),
        (0, True, "could not say"),
        ("yes", True, "could not say"),
        (True, False, ""),
    ],
)
def test_a_judge_confirms_or_clears_what_the_embedding_doubts(ask, said, flagged, words):
    judge = FixedJudge(said)
    answer = ask(WRITING, relevance=RelevanceCheck(embedding=Embedding(), judge=judge))
    assert answer.answered
    assert judge.asked == [(QUESTION, WRITING[0])]
    assert [words in flag.detail for flag in beside(answer)] == [True] * flagged
    assert answer.usage.calls == 1 + isinstance(said, Ruling)


def test_without_a_judge_the_embedding_stands_and_review_is_called(ask):
    reviewed = []
    check = RelevanceCheck(embedding=Embedding())
    answer = ask(WRITING, relevance=check, on_review=reviewed.append)
    (flag,) = beside(answer)
    assert (flag.claim, flag.chunk_id) == (0, "c1")
    assert "similarity 0.10" in flag.detail
    assert reviewed == [answer]


def test_an_embedding_that_fails_is_said_and_loses_no_answer(ask):
    answer = ask(WRITING, relevance=RelevanceCheck(embedding=Broken()))
    assert answer.answered
    assert "could not be checked (OSError)" in beside(answer)[0].detail


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300])
def test_an_embedding_that_returns_no_number_could_not_check_and_says_no_unlikeness(ask, number):
    class Numberless(Embedding):
        def get_text_embedding(self, text):
            return [number, number]

    judge = FixedJudge(False)
    answer = ask(PERIOD, relevance=RelevanceCheck(embedding=Numberless(), judge=judge))
    assert "could not be checked" in beside(answer)[0].detail
    assert judge.asked == []


@pytest.mark.parametrize(("most", "asked"), [(1_001, 1), (1_000, 0)])
def test_no_judge_is_asked_once_the_tokens_are_spent(most, asked):
    judge = FixedJudge(True)
    spent = Generation(draft=make_draft(WRITING), usage=Usage(calls=1, input_tokens=1_000))
    with GroundedRAG(
        StaticRetriever({"c1": TEXT}),
        generator=ScriptedGenerator(spent),
        relevance=RelevanceCheck(embedding=Embedding(), judge=judge),
        policy=Policy(max_total_tokens=most),
    ) as rag:
        answer = rag.query(QUESTION)
    assert len(judge.asked) == asked
    assert ["no tokens were left" in flag.detail for flag in beside(answer)] == [True] * (1 - asked)


def test_a_refusal_is_never_beside_the_question(ask):
    answer = ask(None, relevance=RelevanceCheck(embedding=Broken()))
    assert not answer.answered
    assert answer.flags == ()


def test_the_built_in_embedding_tells_the_topic_from_another(ask):
    assert beside(ask(PERIOD, relevance=True)) == []
    assert beside(ask(WRITING, relevance=False)) == []
    with GroundedRAG(
        StaticRetriever({"c1": "The museum shop sells postcards."}),
        generator=ScriptedGenerator(
            make_draft(
                ("The museum shop sells postcards.", "c1", "The museum shop sells postcards.")
            )
        ),
        relevance=True,
    ) as rag:
        assert len(beside(rag.query(QUESTION))) == 1


def ruled(provider, **options):
    async def run():
        return await LLMRelevanceJudge(client=provider.client(), **options).relevant("Q?", "A.")

    return anyio.run(run)


@pytest.mark.parametrize(
    ("verdict", "stop", "relevant"),
    [
        ("RELEVANT", "tool_use", True),
        ("BESIDE_THE_QUESTION", "tool_use", False),
        ("beside the question", "tool_use", False),
        ("GREAT", "tool_use", None),
        ("RELEVANT", "refusal", None),
    ],
)
def test_the_judge_over_the_real_sdk(judging, verdict, stop, relevant):
    provider = judging.provider(judging.tool("RelevanceVerdict", {"verdict": verdict}, stop))
    ruling = ruled(provider)
    assert ruling.relevant is relevant
    assert ruling.usage.calls == 1
    assert provider.sent() == {"question": "Q?", "answer": "A."}


def test_a_named_judge_is_the_one_that_confirms(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    with GroundedRAG(
        StaticRetriever({}), generator=ScriptedGenerator(), relevance=True, judge="anthropic/some"
    ) as rag:
        assert rag._parts.relevance.judge.name.startswith("anthropic/some relevance@")


def test_a_prompt_of_ones_own_must_name_both_verdicts(tmp_path):
    (tmp_path / "relevance.md").write_text("<!-- mine, version 1 -->\nRELEVANT", encoding="utf-8")
    with pytest.raises(PromptError, match="BESIDE_THE_QUESTION"):
        LLMRelevanceJudge(prompts=tmp_path)


def test_without_the_built_in_embedding_true_says_what_to_do(monkeypatch):
    import grounded_rag.options

    monkeypatch.setattr(grounded_rag.options, "resolve_embedding", lambda _: None)
    with pytest.raises(ConfigError, match="RelevanceCheck"):
        GroundedRAG(StaticRetriever({}), generator=ScriptedGenerator(), relevance=True)


def test_doubted_tokens_of_a_generation_reach_the_verdict_and_the_reask():
    draft = make_draft(PERIOD)
    tokens = (TokenLogprob(text="The notice period is six weeks, Anna", logprob=0.0),)
    sure = Generation(draft=draft, tokens=tokens)
    unsure = Generation(
        draft=make_draft(("The period is 6 weeks.", "c1", "The period is 6 weeks.")),
        tokens=(
            TokenLogprob(text="The period is ", logprob=0.0),
            TokenLogprob(text="6", logprob=-3.0),
            TokenLogprob(text=" weeks.", logprob=0.0),
        ),
    )
    texts = {"c1": "The notice period is six weeks. The period is 6 weeks."}
    generator = ScriptedGenerator(unsure, sure)
    reasking = Policy(unproven="reask")
    with GroundedRAG(StaticRetriever(texts), generator=generator, policy=reasking) as rag:
        answer = rag.query(QUESTION)
    assert answer.text == "The notice period is six weeks. [1]"
    (failed,) = generator.requests[1].reask.failed
    assert "unsure of “6”" in failed.detail
    generator = ScriptedGenerator(*[unsure] * 3)
    with GroundedRAG(StaticRetriever(texts), generator=generator, policy=reasking) as rag:
        refused = rag.query(QUESTION)
    assert refused.refusal.reason is RefusalReason.CLAIMS_FAILED
    with GroundedRAG(StaticRetriever(texts), generator=ScriptedGenerator(unsure)) as rag:
        (claim,) = rag.query(QUESTION).claims
    # What the source says does not hang on how sure the model was of it.
    assert (claim.text, claim.restated) == ("The period is 6 weeks.", True)
