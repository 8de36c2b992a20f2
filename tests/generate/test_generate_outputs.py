"""What models and servers return instead of the tool call that they were asked for."""

from __future__ import annotations

import json

import anyio
import httpx2
import pytest

from grounded_rag.generate import StructuredGenerator
from grounded_rag.generate.responses import text_of
from grounded_rag.protocols import Generation
from grounded_rag.types import Claim, StopReason

RATE = "The savings rate is 4.1 %."


def answered(label="AB-1", **more):
    claim = {"citations": [{"chunk_id": label, "quote": RATE}], "text": RATE}
    return {"claims": [claim], "unanswered": [], **more}


def run(generator, request):
    return anyio.run(generator.generate, request)


def in_text(shape):
    """The answer as text of a message; `shape` makes it of the JSON."""

    def reply(script):
        def answer(body):
            content = [{"type": "text", "text": shape(answered(script.labels(body)[0]))}]
            return script.message(content, "end_turn")

        return answer

    return reply


SHAPES = [
    json.dumps,
    lambda given: f"```json\n{json.dumps(given, indent=2)}\n```",
    lambda given: f"Here {{is}} the answer:\n{json.dumps(given)}\nI hope it helps.",
    lambda given: json.dumps({"name": "GroundedAnswer", "arguments": given}),
    lambda given: f"```\n{json.dumps({'parameters': json.dumps(given)})}\n```",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_that_arrives_as_text_is_read_without_another_call(script, ask, shape):
    provider = script.provider(in_text(shape)(script))
    request = ask("Rate?", RATE)
    generation = run(StructuredGenerator(client=provider.client()), request)
    assert [claim.text for claim in generation.draft.claims] == [RATE]
    assert generation.draft.claims[0].chunk_id == request.chunks[0].chunk.id
    assert generation.draft.repaired
    assert len(provider.bodies) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"{json.dumps(answered())}\n{json.dumps(answered())}",
        json.dumps(answered())[:-4],
        json.dumps({"answer": RATE}),
        "{" * 5_000,
    ],
)
def test_text_without_one_whole_answer_is_not_read_and_its_words_are_kept(script, ask, text):
    provider = script.provider(script.prose(text))
    generation = run(StructuredGenerator(client=provider.client()), ask("Rate?", RATE))
    assert (generation.draft, generation.stop) == (None, StopReason.INVALID)
    assert text[:100] in generation.detail
    assert len(generation.detail) < 1_000


def test_an_unreadable_tool_input_is_kept_in_the_detail(script, ask):
    provider = script.provider(script.tool({"statements": [RATE]}))
    generation = run(StructuredGenerator(client=provider.client()), ask("Rate?", RATE))
    assert generation.stop is StopReason.INVALID
    assert '{"statements": ["The savings rate' in generation.detail


def test_a_cut_text_is_not_read(script, ask):
    provider = script.provider(script.prose(json.dumps(answered()), stop="max_tokens"))
    generation = run(StructuredGenerator(client=provider.client()), ask("Rate?", RATE))
    assert (generation.draft, generation.stop) == (None, StopReason.TRUNCATED)
    assert RATE not in generation.detail


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"choices": [{"message": {"content": "a"}}]}, "a"),
        ({"choices": [{"message": {"content": [{"text": "a"}, {"text": "b"}]}}]}, "ab"),
        ({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, "a"),
        ({"content": [{"type": "tool_use", "input": {}}]}, ""),
        (None, ""),
    ],
)
def test_text_is_found_in_the_responses_of_several_providers(response, text):
    assert text_of(response) == text


def events(*kinds):
    """A whole response as server-sent events."""

    def reply(body):
        usage = {"input_tokens": 9, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
        made = [("message_start", {"message": message})]
        made += [each for kind in kinds for each in kind(body)]
        text = "".join(
            f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n"
            for name, fields in (*made, ("message_stop", {}))
        )
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=text.encode())

    return reply


def block(start, *deltas):
    return [
        ("content_block_start", {"index": 0, "content_block": start}),
        *[("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas],
        ("content_block_stop", {"index": 0}),
    ]


def ended(stop):
    delta = {"stop_reason": stop, "stop_sequence": None}
    return lambda _: [("message_delta", {"delta": delta, "usage": {"output_tokens": 3}})]


def streamed(provider, request):
    async def collect():
        generator = StructuredGenerator(client=provider.client())
        return [item async for item in generator.stream(request)]

    return anyio.run(collect)


def test_a_whole_tool_input_at_the_start_streams_like_it_queries(script, ask):
    def tool(body):
        given = answered(script.labels(body)[0])
        return block({"type": "tool_use", "id": "t", "name": "GroundedAnswer", "input": given})

    claim, generation = streamed(
        script.provider(events(tool, ended("tool_use"))), ask("Rate?", RATE)
    )
    assert isinstance(claim, Claim)
    assert generation.draft.claims == (claim,)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_that_arrives_as_text_streams_like_it_queries(script, ask, shape):
    def text(body):
        written = shape(answered(script.labels(body)[0]))
        parts = (written[:20], written[20:])
        deltas = [{"type": "text_delta", "text": part} for part in parts]
        return block({"type": "text", "text": ""}, *deltas)

    items = streamed(script.provider(events(text, ended("end_turn"))), ask("Rate?", RATE))
    assert [type(item) for item in items] == [Generation]
    assert items[0].draft.claims[0].text == RATE


def test_the_words_of_an_unreadable_stream_are_kept(script, ask):
    def text(_):
        return block({"type": "text", "text": ""}, {"type": "text_delta", "text": "Just 4.1 %."})

    items = streamed(script.provider(events(text, ended("end_turn"))), ask("Rate?", RATE))
    assert items[-1].stop is StopReason.INVALID
    assert "Just 4.1 %." in items[-1].detail


@pytest.mark.parametrize("closed", [True, False])
def test_a_whole_input_in_a_wrapper_is_read_with_and_without_the_end_of_its_block(
    script, ask, closed
):
    def tool(body):
        given = {"input": answered(script.labels(body)[0])}
        made = block({"type": "tool_use", "id": "t", "name": "GroundedAnswer", "input": given})
        return made if closed else made[:-1]

    items = streamed(script.provider(events(tool, ended("tool_use"))), ask("Rate?", RATE))
    assert [claim.text for claim in items[-1].draft.claims] == [RATE]
