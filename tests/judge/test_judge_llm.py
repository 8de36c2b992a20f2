"""The judge over the real anthropic SDK and instructor, on a mock transport."""

import json

import anyio
import pytest

from grounded_rag import ClaimStatus, Tier, averify
from grounded_rag.errors import ConfigError, MissingKeyError, PromptError, ProviderUnavailableError
from grounded_rag.judge import LLMJudge
from grounded_rag.protocols import Grade, Judge, JudgeItem, JudgeRequest
from grounded_rag.resources import prompts_dir

PARCELS = 'For parcels under 2 kg, delivery costs "nothing" {{ 7*7 }} $x.'
LAPTOPS = "The library lends laptops to registered students only."
REQUEST = JudgeRequest(
    items=(
        JudgeItem(claim="Small parcels travel free.", evidence=(PARCELS,)),
        JudgeItem(claim="Anyone may borrow a laptop.", evidence=(LAPTOPS,)),
    ),
    context=("A whole passage. " + LAPTOPS,),
    question="What is free?",
)
YES = (1, "SUPPORTED", "delivery costs")
NO = (2, "CONTRADICTED", "registered students only")


def ask(provider, request=REQUEST, **options):
    judge = LLMJudge(client=provider.client(), **options)

    async def run():
        return await judge.judge(request)

    return anyio.run(run)


def grades(judgement):
    return [opinion.grade for opinion in judgement.opinions]


def test_all_claims_travel_as_json_in_one_call(judging):
    provider = judging.provider(judging.verdicts(YES, NO))
    judgement = ask(provider)
    assert grades(judgement) == [Grade.SUPPORTED, Grade.CONTRADICTED]
    assert judgement.opinions[1].rests_on == ("registered students only",)
    assert (judgement.usage.calls, judgement.usage.total_tokens) == (1, 110)
    sent = provider.sent()
    assert sent["claims"] == [
        {"number": 1, "claim": REQUEST.items[0].claim, "evidence": [PARCELS]},
        {"number": 2, "claim": REQUEST.items[1].claim, "evidence": [LAPTOPS]},
    ]
    assert sent["background"] == list(REQUEST.context)
    assert sent["question"] == "What is free?"
    (body,) = provider.bodies
    assert "temperature" not in body
    schema = body["tools"][0]["input_schema"]["$defs"]["VerdictItem"]
    assert schema["properties"]["verdict"]["enum"] == ["SUPPORTED", "CONTRADICTED", "NOT_MENTIONED"]
    assert set(schema["required"]) == {"number", "rests_on", "verdict"}
    assert "never an instruction" in body["system"][0]["text"]


def test_a_judge_is_a_judge():
    assert isinstance(LLMJudge("anthropic/some-model"), Judge)


def test_background_may_be_left_out_and_never_exceeds_the_budget(judging):
    provider = judging.provider(judging.verdicts(YES, NO))
    ask(provider, background=False)
    assert set(provider.sent()) == {"claims"}
    provider = judging.provider(judging.verdicts(YES, NO))
    long = REQUEST.model_copy(update={"context": ("word " * 9_000, "short")})
    ask(provider, long, max_input_tokens=4_000)
    assert provider.sent()["background"] == []


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([YES], [Grade.SUPPORTED, None]),
        ([YES, (1, "NOT_MENTIONED"), NO], [None, Grade.CONTRADICTED]),
        ([YES, (2, "PROBABLY")], [Grade.SUPPORTED, None]),
        ([("1", "supported", "delivery"), (2, "not mentioned")], ["supported", "not_mentioned"]),
        ([(7, "SUPPORTED", "delivery")], [None, None]),
        ([], [None, None]),
        ([YES, YES, NO], [Grade.SUPPORTED, Grade.CONTRADICTED]),
    ],
)
def test_what_is_missing_or_said_twice_is_no_verdict(judging, items, expected):
    assert grades(ask(judging.provider(judging.verdicts(*items)))) == expected


def test_verdicts_as_a_string_are_read(judging):
    judgement = ask(judging.provider(judging.verdicts(YES, NO, raw=True)))
    assert grades(judgement) == [Grade.SUPPORTED, Grade.CONTRADICTED]


@pytest.mark.parametrize("given", [{}, {"verdicts": 7}, {"verdicts": "all fine"}, {"a": []}])
def test_an_answer_that_cannot_be_read_says_nothing(judging, given):
    judgement = ask(judging.provider(judging.tool("Verdicts", given)))
    assert grades(judgement) == [None, None]
    assert judgement.usage.calls == 1


@pytest.mark.parametrize("words", [7, None, {"a": 1}, [7, None, ""], ""])
def test_words_that_are_no_texts_are_no_words(judging, words):
    item = {"number": 1, "verdict": "SUPPORTED", "rests_on": words}
    judgement = ask(judging.provider(judging.tool("Verdicts", {"verdicts": [item]})))
    assert judgement.opinions[0].rests_on == ()


@pytest.mark.parametrize(
    ("stop", "said"),
    [("refusal", "declined"), ("model_context_window_exceeded", "context window"), ("odd", "read")],
)
def test_the_stop_reason_comes_before_the_verdict(judging, stop, said):
    judgement = ask(judging.provider(judging.verdicts(YES, NO, stop=stop)))
    assert grades(judgement) == [None, None]
    assert said in judgement.opinions[0].detail


def test_a_cut_answer_is_asked_for_once_more_with_twice_the_room(judging):
    cut = judging.verdicts(YES, NO, stop="max_tokens")
    provider = judging.provider(cut, judging.verdicts(YES, NO))
    judgement = ask(provider)
    assert grades(judgement) == [Grade.SUPPORTED, Grade.CONTRADICTED]
    assert judgement.usage.calls == 2
    assert provider.bodies[1]["max_tokens"] == 2 * provider.bodies[0]["max_tokens"]
    assert grades(ask(judging.provider(cut, cut))) == [None, None]


def test_a_provider_that_fails_raises_our_own_error(judging):
    with pytest.raises(ProviderUnavailableError):
        ask(judging.provider(judging.failure(529)))


def test_no_key_is_said_at_the_first_call(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")

    async def run():
        return await LLMJudge().judge(REQUEST)

    with pytest.raises(MissingKeyError):
        anyio.run(run)


NOT = (1, "NOT_MENTIONED")
FORGED = (1, "SUPPORTED", "words that are not there")
ONE = JudgeRequest(items=REQUEST.items[:1])


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([YES, YES, NOT], Grade.SUPPORTED),
        ([YES, NOT, NOT], Grade.NOT_MENTIONED),
        ([YES, NOT], None),
        ([YES, FORGED, FORGED], None),
        ([YES, YES, FORGED], Grade.SUPPORTED),
        ([YES, (2, "SUPPORTED"), YES], Grade.SUPPORTED),
    ],
)
def test_votes_need_more_than_half_and_ties_are_no_verdict(judging, votes, expected):
    provider = judging.provider(*(judging.verdicts(vote) for vote in votes))
    judgement = ask(provider, ONE, votes=len(votes))
    assert grades(judgement) == [expected]
    assert judgement.usage.calls == len(votes)
    assert "no majority" in judgement.opinions[0].detail if expected is None else True


def test_one_failed_vote_does_not_lose_the_others(judging):
    provider = judging.provider(judging.failure(529), judging.verdicts(YES), judging.verdicts(YES))
    judgement = ask(provider, ONE, votes=3)
    assert grades(judgement) == [Grade.SUPPORTED]
    assert judgement.usage.calls == 2


@pytest.mark.parametrize(
    ("verdict", "words", "expected"),
    [
        ("SUPPORTED", ["delivery costs", "registered students"], [Grade.SUPPORTED] * 2),
        ("SUPPORTED", ["delivery costs"], [Grade.SUPPORTED, None]),
        ("SUPPORTED", ["delivery costs", "invented words"], [None, None]),
        ("SUPPORTED", [], [None, None]),
        ("CONTRADICTED", ["registered students"], [None, None]),
        ("NOT_MENTIONED", [], [None, None]),
        ("GREAT", ["delivery costs"], [None, None]),
    ],
)
def test_the_holistic_judge_asks_one_question(judging, verdict, words, expected):
    provider = judging.provider(judging.whole(verdict, *words))
    assert grades(ask(provider, mode="holistic")) == expected
    assert set(provider.sent()) == {"claims"}


def test_a_holistic_verdict_on_one_claim_is_its_verdict(judging):
    provider = judging.provider(judging.whole("NOT_MENTIONED"))
    assert grades(ask(provider, ONE, mode="holistic")) == [Grade.NOT_MENTIONED]


def test_the_name_tells_model_mode_prompt_and_votes(tmp_path):
    plain = LLMJudge("openai/some-model").name
    assert plain.startswith("openai/some-model per_claim@")
    built_in = (prompts_dir() / "judge.md").read_text(encoding="utf-8")
    (tmp_path / "judge.md").write_text(built_in + "\nBe strict.\n", encoding="utf-8")
    names = {
        plain,
        LLMJudge("openai/some-model", votes=3).name,
        LLMJudge("openai/some-model", background=False).name,
        LLMJudge("openai/some-model", mode="holistic").name,
        LLMJudge("openai/some-model", prompts=tmp_path).name,
    }
    assert len(names) == 5


def test_a_folder_without_a_judge_prompt_takes_the_built_in_one(tmp_path):
    assert LLMJudge(prompts=tmp_path).name == LLMJudge().name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Grade: rests_on SUPPORTED CONTRADICTED NOT_MENTIONED", "version"),
        ("<!-- mine, version 1 -->\nSay SUPPORTED or CONTRADICTED, rests_on.", "NOT_MENTIONED"),
    ],
)
def test_a_prompt_without_what_a_judge_needs_is_refused(tmp_path, text, said):
    (tmp_path / "judge.md").write_text(text, encoding="utf-8")
    with pytest.raises(PromptError, match=said):
        LLMJudge(prompts=tmp_path)


@pytest.mark.parametrize("options", [{"votes": 0}, {"votes": 99}, {"mode": "odd"}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ConfigError):
        LLMJudge(**options)


CHUNKS = [{"id": "c1", "text": f"Parcels. {LAPTOPS}"}]
CLAIM = {"text": "Only students on the register get a laptop.", "chunk_id": "c1", "quote": LAPTOPS}


@pytest.mark.parametrize(
    ("words", "tier"),
    [(["lends laptops to registered students only"], Tier.CONFIRMED), (["Parcels."], None)],
)
def test_in_the_stage_only_located_words_confirm(judging, words, tier):
    judge = LLMJudge(client=judging.provider(judging.verdicts((1, "SUPPORTED", *words))).client())

    async def run():
        return await averify([CLAIM], CHUNKS, judge=judge)

    (verdict,) = anyio.run(run).claims
    if tier is None:
        # The words stand in the chunk, but not in the sentence that the claim cites.
        assert verdict.status is ClaimStatus.UNCHECKED
    else:
        assert verdict.tier is tier


def test_a_lone_surrogate_can_be_sent(judging):
    provider = judging.provider(judging.verdicts(YES))
    item = JudgeItem(claim="broken \ud800", evidence=(PARCELS,))
    ask(provider, JudgeRequest(items=(item,)))
    assert provider.sent()["claims"][0]["claim"] == "broken \ufffd"
    assert json.dumps(provider.bodies[0])


class Sampler:
    """A connection to a provider that takes a temperature, or does not."""

    anthropic = False
    provider = "other"

    def __init__(self, *, takes):
        self.takes = takes
        self.options = []

    async def call(self, messages, shape, *, max_output_tokens, on_response, options=None):
        self.options.append(options)
        if options and not self.takes:
            raise ValueError("Unsupported value: 'temperature' does not support 0")
        on_response({"stop_reason": "stop", "usage": {"input_tokens": 5, "output_tokens": 1}})
        return shape.model_validate(
            {"verdicts": [{"number": 1, "verdict": "NOT_MENTIONED", "rests_on": []}]}
        )


@pytest.mark.parametrize("takes", [True, False])
def test_temperature_is_zero_where_the_provider_takes_it(monkeypatch, takes):
    sampler = Sampler(takes=takes)
    monkeypatch.setattr("grounded_rag.generate.clients.connect", lambda *_: sampler)
    judge = LLMJudge("other/model")

    async def run():
        return [await judge.judge(ONE), await judge.judge(ONE)]

    for judgement in anyio.run(run):
        assert grades(judgement) == [Grade.NOT_MENTIONED]
    zero = {"temperature": 0}
    assert sampler.options == ([zero, zero] if takes else [zero, None, None])


def test_support_without_the_days_and_names_of_the_claim_is_void(judging):
    evidence = "The mobile branch comes to Saltreach on Friday."

    def grade(claim, context=(), verdict="SUPPORTED"):
        item = JudgeItem(claim=claim, evidence=(evidence, "It stays on Thursday."))
        request = JudgeRequest(items=(item,), context=context)
        judge = LLMJudge(client=judging.provider(judging.verdicts((1, verdict, evidence))).client())
        (opinion,) = anyio.run(judge.judge, request).opinions
        return opinion

    assert grade("Every Friday, Saltreach gets the mobile branch.").grade is Grade.SUPPORTED
    # Another statement of the claim has that day, not the one that the grade rests on.
    void = grade("The mobile branch comes to Saltreach on Thursday.")
    assert void.grade is None
    assert "“Thursday”" in void.detail
    norvale = "The mobile branch of Norvale comes on Friday."
    assert grade(norvale).grade is None
    # A title may have the name alone; a day has to be said.
    assert grade(norvale, context=("Norvale\nIt comes on Friday.",)).grade is Grade.SUPPORTED
    thursday = "Saltreach gets the branch on Thursday."
    assert grade(thursday, context=("Opening on Thursday",)).grade is None
    assert grade(thursday, verdict="CONTRADICTED").grade is Grade.CONTRADICTED
