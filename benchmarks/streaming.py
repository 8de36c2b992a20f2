"""Time to the first verified claim against time to the whole answer, over a loopback server.

    python benchmarks/streaming.py [--rate 80] [--runs 5] [--claims 2,4,8]

The server speaks the provider's protocol and sends a draft of N true claims as real server-sent
events, at RATE tokens a second after a first token at 0.6 s; the real SDK reads them. Under `drop`
claims leave as they pass, under `refuse` together. `query` reads the same draft in one piece, after
the same time. What is compared is waiting, not the speed of a model; medians of the runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

import anthropic

from grounded_rag import GroundedRAG, Policy, StructuredGenerator
from grounded_rag.generate.messages import SAFETY_FACTOR, estimate_tokens
from grounded_rag.testing import StaticRetriever

FIRST_TOKEN = 0.6
SENTENCES = [
    f"Line {number} of the tram runs every {number + 4} minutes between 6:00 and 22:00."
    for number in range(1, 9)
]
PASSAGES = {f"c{number}": text for number, text in enumerate(SENTENCES, start=1)}


def sse(kind: str, **fields: Any) -> bytes:
    """Return one server-sent event of the provider."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def draft(labels: list[str], count: int) -> str:
    """Return the tool's input: true claims as copies of their quotes."""
    claims = [
        {"citations": [{"chunk_id": label, "quote": text}], "text": text}
        for label, text in zip(labels[:count], SENTENCES, strict=False)
    ]
    return json.dumps({"claims": claims, "unanswered": []})


def message(content: list[dict[str, Any]], stop: str | None) -> dict[str, Any]:
    """Return a message of the provider."""
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def events(text: str) -> Iterator[tuple[float, bytes]]:
    """Yield events with the tokens that each stands for."""
    tool = {"type": "tool_use", "id": "t", "name": "GroundedAnswer", "input": {}}
    yield 0, sse("message_start", message=message([], None))
    yield 0, sse("content_block_start", index=0, content_block=tool)
    for start in range(0, len(text), 12):
        piece = text[start : start + 12]
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield 3, sse("content_block_delta", index=0, delta=delta)
    yield 0, sse("content_block_stop", index=0)
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    yield 0, sse("message_delta", delta=stop, usage={"output_tokens": 1})
    yield 0, sse("message_stop")


class Server:
    """Sends drafts at the pace of a model."""

    def __init__(self, *, rate: float, count: int) -> None:
        self.rate = rate
        self.count = count

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        size = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        body = json.loads(await reader.readexactly(size))
        shape = body["tools"][0]["input_schema"]["$defs"]["CitationItem"]["properties"]
        text = draft(shape["chunk_id"]["enum"], self.count)
        steps = list(events(text))
        a_token = estimate_tokens(text) / SAFETY_FACTOR / sum(weight for weight, _ in steps)
        await asyncio.sleep(FIRST_TOKEN)
        if not body.get("stream"):
            await asyncio.sleep(sum(weight for weight, _ in steps) * a_token / self.rate)
            tool = {"type": "tool_use", "id": "t", "name": "GroundedAnswer"}
            whole = json.dumps(message([{**tool, "input": json.loads(text)}], "tool_use")).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            writer.write(b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(whole) + whole)
        else:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
            writer.write(b"connection: close\r\n\r\n")
            due = time.perf_counter()
            for weight, event in steps:
                due += weight * a_token / self.rate
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                writer.write(event)
                await writer.drain()
        await writer.drain()
        writer.close()


async def measure(policy: str, *, stream: bool, rate: float, count: int) -> tuple[float, float]:
    """Return seconds to the first claim that may be shown, and to the answer."""
    server = await asyncio.start_server(Server(rate=rate, count=count), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = anthropic.AsyncAnthropic(api_key="x", base_url=f"http://127.0.0.1:{port}")
    rules = Policy.model_validate({"on_failed_claim": policy})
    rag = GroundedRAG(
        StaticRetriever(PASSAGES), generator=StructuredGenerator(client=client), policy=rules
    )
    begun = time.perf_counter()
    first = 0.0
    if stream:
        async for event in rag.astream("How often do the trams run?"):
            if event.kind == "claim_verified" and not first:
                first = time.perf_counter() - begun
            if event.kind == "final" and len(event.answer.claims) != count:
                raise SystemExit(f"only {len(event.answer.claims)} of {count} claims passed")
    else:
        await rag.aquery("How often do the trams run?")
    whole = time.perf_counter() - begun
    server.close()
    await client.close()
    rag.close()
    return first or whole, whole


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=80.0, help="tokens a second")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--claims", default="2,4,8")
    options = parser.parse_args()
    ways = (("stream, drop", "drop", True), ("stream, refuse", "refuse", True))
    ways += (("query", "refuse", False),)
    asyncio.run(measure("drop", stream=True, rate=1e6, count=2))
    print(f"{'claims':>6}  {'way':<15}{'first claim':>12}{'answer':>10}   seconds, median")
    for count in map(int, options.claims.split(",")):
        for name, policy, stream in ways:
            runs = [
                asyncio.run(measure(policy, stream=stream, rate=options.rate, count=count))
                for _ in range(options.runs)
            ]
            first, whole = (statistics.median(column) for column in zip(*runs, strict=True))
            print(f"{count:>6}  {name:<15}{first:>12.2f}{whole:>10.2f}")


if __name__ == "__main__":
    main()
