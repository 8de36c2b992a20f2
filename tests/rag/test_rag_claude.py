"""The whole pipeline over the real anthropic SDK and instructor, on a mock transport."""

import json

import anthropic
import httpx2
import pytest

from grounded_rag import GroundedRAG, Policy, StructuredGenerator
from grounded_rag.testing import StaticRetriever, assert_grounded
from grounded_rag.types import AnswerStatus, RefusalReason

HOURS = "The museum opens at {{ 7*7 }} minutes past nine.\r\n\tEntry is free on Mondays."
DOGS = "Dogs are not allowed in the museum."
FREE = "Entry is free on Mondays."
QUESTION = "Is entry free on Mondays?"


class Claude:
    """Answers like the provider's API, one scripted reply a call, and keeps the requests."""

    def __init__(self, *replies):
        self.replies = replies
        self.bodies = []

    async def __call__(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        schema = body["tools"][0]["input_schema"]
        labels = schema["$defs"]["CitationItem"]["properties"]["chunk_id"]["enum"]
        content, stop = self.replies[len(self.bodies) - 1](labels)
        reply = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }
        return httpx2.Response(200, json=reply)


def claims(*triples, raw=False, stop="tool_use"):
    """A tool call with (text, index of the passage or a label of its own, quote) claims."""

    def reply(labels):
        items = [
            {
                "text": text,
                "citations": [
                    {
                        "chunk_id": labels[where] if isinstance(where, int) else where,
                        "quote": quote,
                    }
                ],
            }
            for text, where, quote in triples
        ]
        given = {"claims": json.dumps(items) if raw else items, "unanswered": []}
        block = {"type": "tool_use", "id": "tu_1", "name": "GroundedAnswer", "input": given}
        return [block], stop

    return reply


def said(stop, text=""):
    return lambda _labels: ([{"type": "text", "text": text}] if text else [], stop)


GOOD = (FREE, 0, FREE)
BAD = ("Entry is free on Tuesdays.", 0, "Entry is free on Tuesdays.")


@pytest.fixture
def ask():
    opened = []

    def run(*replies, **options):
        claude = Claude(*replies)
        client = anthropic.AsyncAnthropic(
            api_key="x",
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(claude)),
        )
        rag = GroundedRAG(
            StaticRetriever({"hours": HOURS, "dogs": DOGS}),
            generator=StructuredGenerator(client=client),
            **options,
        )
        opened.append(rag)
        answer = rag.query(QUESTION)
        assert_grounded(answer)
        return answer, claude

    yield run
    for rag in opened:
        rag.close()


def test_verified_at_the_first_try(ask):
    answer, claude = ask(claims(GOOD))
    assert answer.text == f"{FREE} [1]"
    assert answer.claims[0].located[0].chunk_id == "hours"
    assert answer.generator.startswith("anthropic/claude-")
    assert (answer.usage.calls, answer.usage.total_tokens) == (1, 110)
    sent = json.dumps(claude.bodies[0]["messages"], ensure_ascii=False)
    assert json.dumps(HOURS)[1:-1] in sent
    assert "temperature" not in claude.bodies[0]


def test_asked_again_with_the_reason_and_mended(ask):
    answer, claude = ask(claims(BAD), claims(GOOD))
    assert answer.text == f"{FREE} [1]"
    assert answer.usage.calls == 2
    second = json.dumps(claude.bodies[1]["messages"], ensure_ascii=False)
    assert BAD[0] in second
    assert "nearest" in second
    assert FREE in second.split("Rejected claims")[1]
    # One fresh request of constant size, not a growing conversation.
    assert len(claude.bodies[1]["messages"]) == len(claude.bodies[0]["messages"])


def test_refused_after_the_budget(ask):
    other = tuple(part.replace("Tues", "Thurs") if part else part for part in BAD)
    answer, claude = ask(claims(BAD), claims(other), claims(BAD))
    assert answer.status is AnswerStatus.REFUSED
    assert answer.refusal.reason is RefusalReason.CLAIMS_FAILED
    assert len(claude.bodies) == 3
    sizes = {len(json.dumps(body)) for body in claude.bodies[1:]}
    assert max(sizes) - min(sizes) < 40


def test_the_same_is_never_asked_twice(ask):
    answer, claude = ask(*[claims(BAD)] * 3)
    assert answer.refusal.reason is RefusalReason.CLAIMS_FAILED
    assert len(claude.bodies) == 2


def test_a_paraphrase_is_answered_in_the_words_of_the_source_at_the_first_try(ask):
    answer, claude = ask(claims(("On Mondays nobody pays for entry.", 0, FREE)))
    assert answer.text == f"{FREE} [1]"
    assert [claim.restated for claim in answer.claims] == [True]
    assert len(claude.bodies) == 1
    assert "nobody pays" not in answer.to_json()
    assert "nobody pays" in answer.to_json(trace=True)


def test_one_unknown_chunk_id_costs_no_good_claim(ask):
    stray = ("Dogs are not allowed in the museum.", "K99", DOGS)
    answer, _ = ask(claims(GOOD, stray), claims((DOGS, 1, DOGS)))
    assert [claim.text for claim in answer.claims] == [FREE, DOGS]


def test_a_refusal_by_the_model_is_a_refusal_with_its_own_reason(ask):
    answer, claude = ask(said("refusal", "I can't help with that."))
    assert answer.refusal.reason is RefusalReason.MODEL_REFUSED
    assert len(claude.bodies) == 1


def test_truncated_output_is_never_an_answer(ask):
    answer, _ = ask(claims(GOOD, stop="max_tokens"), claims(GOOD, stop="max_tokens"))
    assert answer.refusal.reason is RefusalReason.OUTPUT_TRUNCATED
    assert answer.usage.calls == 2


def test_claims_as_a_string_are_read(ask):
    answer, claude = ask(claims(GOOD, raw=True))
    assert answer.answered
    assert len(claude.bodies) == 1


def test_drop_ships_what_passed(ask):
    answer, _ = ask(*[claims(GOOD, BAD)] * 3, policy=Policy(on_failed_claim="drop"))
    assert (answer.status, answer.dropped) == (AnswerStatus.ANSWERED, 1)
    assert [claim.text for claim in answer.claims] == [FREE]


def test_no_claims_is_the_fixed_refusal(ask):
    answer, _ = ask(claims())
    assert answer.refusal.reason is RefusalReason.GENERATOR_DECLINED
