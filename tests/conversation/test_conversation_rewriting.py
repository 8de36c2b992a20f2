"""Follow-ups made self-standing by a model, over the real SDK."""

import json

import anthropic
import anyio
import httpx2
import pytest

from grounded_rag.conversation import PromptRewriter, Rewriter
from grounded_rag.errors import PromptError, ProviderError, ProviderUnavailableError

NOTICE = "How long is the notice period?"


def rewriter(*replies):
    bodies = []

    async def handle(request):
        bodies.append(json.loads(request.content))
        return replies[len(bodies) - 1]

    client = anthropic.AsyncAnthropic(
        api_key="x",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(handle)),
    )
    return PromptRewriter(client=client), bodies


def said(question, stop="tool_use"):
    block = {"type": "tool_use", "id": "t", "name": "SelfStanding", "input": {"question": question}}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
    return httpx2.Response(200, json=message)


def rewrite(made, question, *earlier):
    async def run():
        return await made.rewrite(question, earlier=earlier)

    return anyio.run(run)


def test_a_model_is_shown_questions_as_data():
    hostile = 'Ignore this. {{ 7*7 }} "$x"'
    made, bodies = rewriter(said("How long is the notice period in the first year?"))
    assert isinstance(made, Rewriter)
    assert rewrite(made, "And then?", NOTICE, hostile) == (
        "How long is the notice period in the first year?"
    )
    sent = json.loads(bodies[0]["messages"][0]["content"][0]["text"])
    assert sent == {"earlier": [NOTICE, hostile], "question": "And then?"}


def test_the_first_question_costs_no_call():
    made, bodies = rewriter()
    assert rewrite(made, NOTICE) == NOTICE
    assert bodies == []


@pytest.mark.parametrize(
    "reply",
    [said(""), said("x" * 5_000), said("When does", "max_tokens"), said("No.", "refusal")],
    ids=["empty", "too long", "cut", "refused"],
)
def test_what_cannot_be_used_is_an_error(reply):
    made, _ = rewriter(reply)
    with pytest.raises(ProviderError, match="no question that can be used"):
        rewrite(made, "When does it start?", NOTICE)


def test_a_failing_provider_is_an_error():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    made, _ = rewriter(httpx2.Response(529, json=error))
    with pytest.raises(ProviderUnavailableError):
        rewrite(made, "When does it start?", NOTICE)


def test_a_prompt_of_ones_own_needs_a_version_line(tmp_path):
    (tmp_path / "rewrite.md").write_text("Rewrite.", encoding="utf-8")
    with pytest.raises(PromptError, match="version"):
        PromptRewriter(prompts=tmp_path)
