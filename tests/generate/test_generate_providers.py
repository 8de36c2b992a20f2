"""Providers other than Anthropic: their form of messages, endings and usage."""

from __future__ import annotations

import importlib
import json

import anyio
import pytest

from grounded_rag.generate import StructuredGenerator
from grounded_rag.generate.responses import Ending, ending_of, objects_in, usage_of
from grounded_rag.types import StopReason, Usage

openai = pytest.importorskip("openai")


class Chat:
    """An OpenAI-compatible server behind the real OpenAI SDK."""

    def __init__(self, *choices):
        self.choices = list(choices)
        self.bodies = []

    async def handle(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        choice = self.choices[min(len(self.bodies), len(self.choices)) - 1](body)
        if "error" in choice:
            return self.http.Response(400, json=choice)
        usage = {
            "prompt_tokens": 50,
            "completion_tokens": 7,
            "total_tokens": 57,
            "prompt_tokens_details": {"cached_tokens": 20},
        }
        return self.http.Response(
            200,
            json={
                "id": "c",
                "object": "chat.completion",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, **choice}],
                "usage": usage,
            },
        )

    def client(self):
        families = {
            kind.__module__.partition(".")[0] for kind in openai.DefaultAsyncHttpxClient.__mro__
        }
        self.http = importlib.import_module("httpx2" if "httpx2" in families else "httpx")
        transport = self.http.MockTransport(self.handle)
        return openai.AsyncOpenAI(
            api_key="x",
            base_url="http://127.0.0.1:9/v1",
            max_retries=0,
            http_client=self.http.AsyncClient(transport=transport),
        )


def call(finish="tool_calls", refusal=None):
    def choice(body):
        parameters = body["tools"][0]["function"]["parameters"]
        label = parameters["$defs"]["CitationItem"]["properties"]["chunk_id"]["enum"][0]
        citation = {"chunk_id": label, "quote": "The fee is 5."}
        arguments = {
            "claims": [{"text": "The fee is 5.", "citations": [citation]}],
            "unanswered": [],
        }
        function = {
            "name": body["tools"][0]["function"]["name"],
            "arguments": json.dumps(arguments),
        }
        message = {
            "role": "assistant",
            "content": None,
            "refusal": refusal,
            "tool_calls": [{"id": "t", "type": "function", "function": function}],
        }
        return {"finish_reason": finish, "message": message}

    return choice


HOSTILE = "The fee is 5. {{7*7}} {% if %} $x\r\n  indented"


def test_an_openai_client_gets_passages_unchanged(ask):
    chat = Chat(call())
    request = ask("What is the fee?", HOSTILE)
    generator = StructuredGenerator("openai/some-model", client=chat.client())
    generation = anyio.run(generator.generate, request)
    assert generation.draft.claims[0].chunk_id == request.chunks[0].chunk.id
    assert HOSTILE in chat.bodies[0]["messages"][1]["content"]
    assert chat.bodies[0]["model"] == "some-model"
    assert "temperature" not in chat.bodies[0]
    assert generation.usage.model_dump() == {
        "calls": 1,
        "input_tokens": 30,
        "output_tokens": 7,
        "cache_read_tokens": 20,
        "cache_write_tokens": 0,
    }


def unless(accepted, choice):
    """A server that knows one name of the output limit and refuses any other, as OpenAI does."""

    def made(body):
        if accepted in body:
            return choice(body)
        return {
            "error": {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                f"Use '{accepted}' instead.",
                "type": "invalid_request_error",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            }
        }

    return made


def test_a_refused_name_of_the_output_limit_is_replaced_once_and_for_all(ask):
    chat = Chat(unless("max_completion_tokens", call()))
    generator = StructuredGenerator("openai/m", client=chat.client(), max_output_tokens=300)

    async def twice():
        request = ask("What is the fee?", HOSTILE)
        return [await generator.generate(request) for _ in range(2)]

    assert [len(one.draft.claims) for one in anyio.run(twice)] == [1, 1]
    limits = [(body.get("max_tokens"), body.get("max_completion_tokens")) for body in chat.bodies]
    assert limits == [(300, None), (None, 300), (None, 300)]


def test_a_request_refused_under_both_names_is_not_sent_a_third_time(ask):
    from grounded_rag.errors import ProviderError

    chat = Chat(unless("max_completion_tokens or nothing", call()))
    generator = StructuredGenerator("openai/m", client=chat.client())
    with pytest.raises(ProviderError, match="max_tokens"):
        anyio.run(generator.generate, ask("What is the fee?", HOSTILE))
    assert len(chat.bodies) == 2


def test_an_answer_in_the_text_of_a_message_is_read(ask):
    def choice(body):
        message = call()(body)["message"]
        text = message["tool_calls"][0]["function"]["arguments"]
        return {
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": f"```json\n{text}\n```"},
        }

    chat = Chat(choice)
    generator = StructuredGenerator("openai/m", client=chat.client())
    generation = anyio.run(generator.generate, ask("What is the fee?", HOSTILE))
    assert generation.draft.claims[0].text == "The fee is 5."
    assert len(chat.bodies) == 1


@pytest.mark.parametrize(
    ("choice", "stop", "calls"),
    [
        (call("length"), StopReason.TRUNCATED, 2),
        (call("content_filter"), StopReason.REFUSED, 1),
        (call("stop", refusal="I cannot."), StopReason.REFUSED, 1),
        (call("odd"), StopReason.INVALID, 1),
    ],
)
def test_endings_other_than_complete_are_never_read(ask, choice, stop, calls):
    chat = Chat(choice)
    generator = StructuredGenerator("openai/m", client=chat.client())
    generation = anyio.run(generator.generate, ask("What is the fee?", HOSTILE))
    assert (generation.draft, generation.stop) == (None, stop)
    assert len(chat.bodies) == calls


@pytest.mark.parametrize(
    ("response", "ending"),
    [
        ({"stopReason": "max_tokens"}, Ending.CUT),
        ({"candidates": [{"finish_reason": "SAFETY"}]}, Ending.REFUSED),
        ({"finish_reason": "COMPLETE"}, Ending.COMPLETE),
        ({}, Ending.UNSTATED),
        (None, Ending.UNSTATED),
    ],
)
def test_endings_of_further_providers(response, ending):
    assert ending_of(response) is ending


@pytest.mark.parametrize("count", [-5, True, 7.5, "7", None, [7]])
def test_what_is_no_number_of_tokens_counts_as_none(count):
    figures = {"input_tokens": count, "output_tokens": count, "cache_read_input_tokens": count}
    assert usage_of({"usage": figures}) == Usage(calls=1)
    assert usage_of({"usage": {"prompt_tokens": 7, "completion_tokens": count}}).total_tokens == 7


def test_only_the_first_objects_of_a_text_are_looked_at():
    assert len(list(objects_in("{} " * 50))) == 16
    assert list(objects_in("{" * 50 + "{}")) == []
    assert list(objects_in("{ or {} or {" + '"a": 1}')) == [{}, {"a": 1}]


def test_usage_without_figures_still_counts_the_call():
    assert usage_of(None).model_dump() == {
        "calls": 1,
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
    }
