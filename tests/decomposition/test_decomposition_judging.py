"""Parts are judged alone and all must pass; what a model splits is checked before it counts."""

from __future__ import annotations

import json

import anthropic
import anyio
import httpx2
import pytest

from grounded_rag.errors import PromptError, ProviderUnavailableError
from grounded_rag.evaluation.decomposition import (
    Decomposer,
    ModelDecomposer,
    PartByPart,
    SentenceDecomposer,
    all_parts,
    checked_parts,
    split_claim,
    with_decomposition,
)
from grounded_rag.protocols import Grade, Judge, JudgeItem, Judgement, JudgeRequest, Opinion
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Usage

EVIDENCE = ("The account is free of charge. The account pays 2 % interest.",)
TWO = "The account is free of charge. The account pays 3 % interest."
PARTS = ("The account is free of charge.", "The account pays 3 % interest.")


class ByText:
    """A judge that knows the grade of each text, and remembers what it was asked."""

    name = "by-text"

    def __init__(self, grades: dict[str, Grade | None]) -> None:
        self.grades = grades
        self.requests: list[JudgeRequest] = []

    async def judge(self, request: JudgeRequest) -> Judgement:
        self.requests.append(request)
        return Judgement(
            opinions=tuple(
                Opinion(grade=self.grades[item.claim], rests_on=(item.claim,))
                for item in request.items
            ),
            usage=Usage(calls=1, input_tokens=10),
        )


def run(judge: Judge, *claims: str) -> Judgement:
    request = JudgeRequest(
        items=tuple(JudgeItem(claim=claim, evidence=EVIDENCE) for claim in claims), question="Q?"
    )
    return anyio.run(judge.judge, request)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ((Grade.SUPPORTED, Grade.SUPPORTED), Grade.SUPPORTED),
        ((Grade.SUPPORTED, Grade.NOT_MENTIONED), Grade.NOT_MENTIONED),
        ((Grade.NOT_MENTIONED, Grade.CONTRADICTED), Grade.CONTRADICTED),
        ((Grade.SUPPORTED, None), None),
        ((None, Grade.NOT_MENTIONED), Grade.NOT_MENTIONED),
        ((), None),
    ],
)
def test_all_parts_must_be_supported(grades, expected):
    parts = [
        (str(number), Opinion(grade=grade, rests_on=(str(number),)))
        for number, grade in enumerate(grades)
    ]
    opinion = all_parts(parts)
    assert opinion.grade is expected
    if expected is Grade.SUPPORTED:
        assert opinion.rests_on == ("0", "1")


def test_one_call_judges_the_parts_of_all_claims():
    inner = ByText(
        {PARTS[0]: Grade.SUPPORTED, PARTS[1]: Grade.CONTRADICTED, "It is free.": Grade.SUPPORTED}
    )
    judge = with_decomposition(inner)
    assert isinstance(judge, Judge)
    assert judge.name == "by-text+parts:sentences"
    judged = run(judge, TWO, "It is free.")
    assert [opinion.grade for opinion in judged.opinions] == [Grade.CONTRADICTED, Grade.SUPPORTED]
    assert PARTS[1] in judged.opinions[0].detail
    (request,) = inner.requests
    assert [item.claim for item in request.items] == [*PARTS, "It is free."]
    assert all(item.evidence == EVIDENCE for item in request.items)
    assert request.question == "Q?"
    assert judged.usage.input_tokens == 10


def test_an_opinion_too_few_fails_instead_of_shifting_the_rest():
    class Short:
        name = "short"

        async def judge(self, request: JudgeRequest) -> Judgement:
            return Judgement(opinions=(Opinion(grade=Grade.SUPPORTED),))

    with pytest.raises(ValueError, match="shorter"):
        run(with_decomposition(Short()), TWO)


def test_off_is_the_holistic_judge_itself():
    inner = ByText({TWO: Grade.SUPPORTED})
    assert with_decomposition(inner, "off") is inner


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (PARTS, PARTS),
        # What was left out is judged with the claim as a whole.
        (("The account is free of charge.", "The account pays interest."), "and the claim"),
        # What came in is no part of the claim.
        (("The account is free of charge for students.", PARTS[1]), PARTS),
        (("The account is not free of charge.", PARTS[1]), PARTS),
        ((), PARTS),
        ((" ",), PARTS),
        (("The account is free",), (TWO,)),
    ],
)
def test_what_a_model_splits_is_checked(parts, expected):
    found = checked_parts(TWO, parts).parts
    assert found == ((*parts, TWO) if expected == "and the claim" else expected)


def test_a_dropped_negation_is_noticed():
    claim = "The card is free and the account isn't."
    parts = ("The card is free.", "The account is free.")
    assert claim in checked_parts(claim, parts).parts


def test_names_of_the_question_may_stand_for_pronouns():
    claim = "It is free and it pays interest."
    parts = ("Quill is free.", "Quill pays interest.")
    assert checked_parts(claim, parts, question="Is Quill free?").parts == parts
    assert checked_parts(claim, parts).parts != parts


class Provider:
    """The provider's API behind the real SDK."""

    def __init__(self, content, stop="tool_use", status=200) -> None:
        self.content, self.stop, self.status = content, stop, status
        self.bodies: list[dict] = []

    async def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.content))
        if self.status != 200:
            body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
            return httpx2.Response(self.status, json=body)
        return httpx2.Response(
            200,
            json={
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "claude",
                "content": self.content,
                "stop_reason": self.stop,
                "stop_sequence": None,
                "usage": {"input_tokens": 50, "output_tokens": 5},
            },
        )

    def decomposer(self, **more) -> ModelDecomposer:
        client = anthropic.AsyncAnthropic(
            api_key="x",
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(self.handle)),
        )
        return ModelDecomposer(client=client, **more)


def tool(*claims) -> list[dict]:
    given = {"claims": [{"number": at, "parts": list(parts)} for at, parts in claims]}
    return [{"type": "tool_use", "id": "t", "name": "AtomicClaims", "input": given}]


def decompose(decomposer: Decomposer, *claims: str, question: str | None = None):
    async def call():
        return await decomposer.decompose(claims, question=question)

    return anyio.run(call)


HOSTILE = "The card is {{ 7*7 }} $free and the “\ud800” costs 4 euros."


def test_a_model_splits_claims_through_the_real_sdk():
    first, second = "The card is free and the account costs 4 euros.", "One thing."
    parts = ("The card is free.", "The account costs 4 euros.")
    provider = Provider(tool((2, [second]), (1, parts)))
    found = decompose(provider.decomposer(), first, second, question="Costs?")
    assert [claim.parts for claim in found.claims] == [parts, (second,)]
    assert (found.usage.calls, found.usage.input_tokens) == (1, 50)
    (body,) = provider.bodies
    (block,) = body["messages"][0]["content"]
    assert json.loads(block["text"]) == {
        "question": "Costs?",
        "claims": [{"number": 1, "text": first}, {"number": 2, "text": second}],
    }
    assert "temperature" not in body


def test_hostile_claims_are_data():
    provider = Provider(tool())
    found = decompose(provider.decomposer(), HOSTILE)
    assert found.claims == (split_claim(HOSTILE),)
    sent = json.loads(provider.bodies[0]["messages"][0]["content"][0]["text"])
    assert sent["claims"][0]["text"] == HOSTILE


@pytest.mark.parametrize(
    "provider",
    [
        Provider(tool((1, [PARTS[0]]), (7, ["Something else."])), stop="max_tokens"),
        Provider([{"type": "text", "text": "No."}], stop="refusal"),
        Provider([{"type": "text", "text": "1. It is free."}], stop="end_turn"),
        Provider(tool()),
    ],
)
def test_output_that_cannot_be_used_is_replaced_by_sentences(provider):
    found = decompose(provider.decomposer(), TWO)
    assert found.claims[0].parts == PARTS
    assert found.usage.calls == 1
    assert len(provider.bodies) == 1


def test_a_provider_that_fails_is_told():
    with pytest.raises(ProviderUnavailableError):
        decompose(Provider([], status=529).decomposer(), TWO)
    assert decompose(Provider([], status=529).decomposer()).claims == ()


def test_a_model_and_a_judge_work_together():
    provider = Provider(tool((1, PARTS)))
    inner = ByText({PARTS[0]: Grade.SUPPORTED, PARTS[1]: Grade.NOT_MENTIONED})
    judge = PartByPart(inner, provider.decomposer())
    judged = run(judge, TWO)
    assert judged.opinions[0].grade is Grade.NOT_MENTIONED
    assert judged.usage == Usage(calls=2, input_tokens=60, output_tokens=5)
    assert "decompose, version 1" in judge.name


def test_the_prompt_can_be_ones_own(tmp_path):
    with pytest.raises(PromptError, match="cannot be read"):
        ModelDecomposer(prompts=tmp_path)
    path = tmp_path / "decompose.md"
    path.write_text("Split it.", encoding="utf-8")
    with pytest.raises(PromptError, match="version comment"):
        ModelDecomposer(prompts=tmp_path)
    path.write_text("<!-- mine, version 9 -->\nSplit it.", encoding="utf-8")
    provider = Provider(tool((1, PARTS)))
    decomposer = provider.decomposer(prompts=tmp_path)
    decompose(decomposer, TWO)
    assert provider.bodies[0]["system"][0]["text"] == "Split it."
    assert "mine, version 9" in decomposer.name


def test_the_prompt_names_what_must_not_get_lost():
    text = (prompts_dir() / "decompose.md").read_text(encoding="utf-8")
    for word in ("condition", "negation", "hedge", "never an instruction"):
        assert word in text
    assert isinstance(SentenceDecomposer(), Decomposer)
