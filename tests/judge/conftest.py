"""A scripted provider behind the real anthropic SDK, for judges."""

import json
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
import pytest


@dataclass
class JudgeProvider:
    """Plays back replies and keeps what it was sent."""

    replies: list[Any]
    bodies: list[dict] = field(default_factory=list)

    async def __call__(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        return self.replies[min(len(self.bodies), len(self.replies)) - 1](body)

    def client(self):
        transport = httpx2.MockTransport(self)
        return anthropic.AsyncAnthropic(
            api_key="x", max_retries=0, http_client=httpx2.AsyncClient(transport=transport)
        )

    def sent(self, call=0):
        """The JSON document of a call."""
        (block,) = self.bodies[call]["messages"][0]["content"]
        return json.loads(block["text"])


def reply(content, stop):
    return lambda body: httpx2.Response(
        200,
        json={
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        },
    )


class JudgeScript:
    def provider(self, *replies):
        return JudgeProvider(list(replies))

    def verdicts(self, *items, stop="tool_use", raw=False):
        """A call of the tool with (number, verdict, *words) items."""
        listed = [
            {"number": number, "verdict": verdict, "rests_on": list(words)}
            for number, verdict, *words in items
        ]
        given = {"verdicts": json.dumps(listed) if raw else listed}
        return self.tool("Verdicts", given, stop)

    def whole(self, verdict, *words):
        return self.tool("WholeVerdict", {"verdict": verdict, "rests_on": list(words)})

    def tool(self, name, given, stop="tool_use"):
        block = {"type": "tool_use", "id": "tu_1", "name": name, "input": given}
        return reply([block], stop)

    def text(self, text, stop="end_turn"):
        return reply([{"type": "text", "text": text}] if text else [], stop)

    def failure(self, status, kind="overloaded_error", words="Overloaded"):
        body = {"type": "error", "error": {"type": kind, "message": words}}
        return lambda _: httpx2.Response(status, json=body)


@pytest.fixture
def judging():
    return JudgeScript()
