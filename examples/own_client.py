"""Your own Anthropic client: its proxies, time-outs, retries and platform are yours.

    python examples/own_client.py

The transport below answers in the place of the provider, so that nothing is sent and no key is
needed. Leave `http_client` out, and the same lines talk to Claude; AsyncAnthropicBedrock and
AsyncAnthropicVertex work the same way.
"""

import json
from typing import Any

import anthropic
import httpx2

from grounded_rag import GroundedRAG, Policy, StructuredGenerator
from grounded_rag.testing import StaticRetriever

PASSAGES = {
    "hours": "The museum opens at 10:00 every day. A ticket costs 12 euros.",
    "dogs": "Dogs are not allowed in the museum.",
}


async def stand_in(request: httpx2.Request) -> httpx2.Response:
    """Answer like Claude: first with a wrong price, then, asked again, with the right one."""
    body = json.loads(request.content)
    labels = body["tools"][0]["input_schema"]["$defs"]["CitationItem"]["properties"]["chunk_id"]
    again = "Rejected claims" in json.dumps(body["messages"])
    print(f"  -> {body['model']}, {len(request.content)} bytes{', asked again' if again else ''}")
    price = "A ticket costs 12 euros." if again else "A ticket costs 8 euros."
    claim = {"text": price, "citations": [{"chunk_id": labels["enum"][0], "quote": price}]}
    tool = {"claims": [claim], "unanswered": []}
    return httpx2.Response(200, json=message(body["model"], tool))


def message(model: str, tool: dict[str, Any]) -> dict[str, Any]:
    """Return a message of the provider that calls the tool."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "tool_use", "id": "t1", "name": "GroundedAnswer", "input": tool}],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1_200, "output_tokens": 60},
    }


def main() -> None:
    """Ask with a client of our own; watch a false claim being asked again."""
    client = anthropic.AsyncAnthropic(
        api_key="not needed here",
        timeout=30.0,
        max_retries=4,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(stand_in)),
    )
    generator = StructuredGenerator(client=client, max_output_tokens=1_000)
    policy = Policy(max_attempts=2, max_total_tokens=20_000)
    with GroundedRAG(StaticRetriever(PASSAGES), generator=generator, policy=policy) as rag:
        answer = rag.query("What does a ticket cost?")
    print(answer.to_terminal())
    print(f"{answer.usage.calls} calls, {answer.usage.total_tokens} tokens, {answer.generator}")


if __name__ == "__main__":
    main()
