"""Fakes at the seams: chunks, requests and a transport in place of the provider's network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
import pytest

from grounded_rag.protocols import GenerationRequest
from grounded_rag.types import Chunk, RetrievedChunk, Span, Validity

REFUSAL = "I don't have enough information to answer that."


def make_chunk(
    text: str,
    number: int = 1,
    *,
    title: str = "",
    headings: tuple[str, ...] = (),
    validity: Validity | None = None,
    doc_id: str | None = None,
) -> RetrievedChunk:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return RetrievedChunk(
        chunk=Chunk(
            id=f"chunk-{number}-{digest[:6]}",
            doc_id=doc_id or f"doc-{number}",
            span=Span(start=0, end=len(text)),
            text=text,
            content_hash=digest,
            headings=headings,
        ),
        rank=number,
        title=title,
        validity=validity or Validity(),
    )


def make_request(question: str, *texts: str | RetrievedChunk, **more: Any) -> GenerationRequest:
    chunks = tuple(
        text if isinstance(text, RetrievedChunk) else make_chunk(text, number)
        for number, text in enumerate(texts, start=1)
    )
    return GenerationRequest(question=question, chunks=chunks, refusal=REFUSAL, **more)


@pytest.fixture(name="chunk")
def chunk_factory() -> Callable[..., RetrievedChunk]:
    return make_chunk


@pytest.fixture(name="ask")
def request_factory() -> Callable[..., GenerationRequest]:
    return make_request


@pytest.fixture(scope="session")
def ask_any() -> Callable[..., GenerationRequest]:
    """The same for property tests, which want fixtures that outlive one example."""
    return make_request


Reply = Callable[[dict[str, Any]], httpx2.Response]


@dataclass
class Provider:
    """Answers like the provider's API from a script of replies, and keeps what it was sent."""

    replies: list[Reply]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    def handle(self, request: httpx2.Request) -> httpx2.Response:
        self.raw.append(request.content)
        body = json.loads(request.content)
        self.bodies.append(body)
        return self.replies[min(len(self.bodies), len(self.replies)) - 1](body)

    async def ahandle(self, request: httpx2.Request) -> httpx2.Response:
        return self.handle(request)

    def client(self, max_retries: int = 0) -> anthropic.AsyncAnthropic:
        transport = httpx2.MockTransport(self.ahandle)
        return anthropic.AsyncAnthropic(
            api_key="x",
            max_retries=max_retries,
            http_client=httpx2.AsyncClient(transport=transport),
        )

    def blocking_client(self) -> anthropic.Anthropic:
        transport = httpx2.MockTransport(self.handle)
        return anthropic.Anthropic(
            api_key="x", max_retries=0, http_client=httpx2.Client(transport=transport)
        )


def labels_of(body: dict[str, Any]) -> list[str]:
    schema = body["tools"][0]["input_schema"]
    return list(schema["$defs"]["CitationItem"]["properties"]["chunk_id"]["enum"])


def message(
    content: list[dict[str, Any]], stop: str | None, usage: dict[str, int] | None = None
) -> httpx2.Response:
    return httpx2.Response(
        200,
        headers={"content-type": "application/json"},
        # json.dumps escapes lone surrogates, as providers do
        content=json.dumps(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude",
                "content": content,
                "stop_reason": stop,
                "stop_sequence": None,
                "usage": usage or {"input_tokens": 100, "output_tokens": 10},
            }
        ).encode(),
    )


def tool(arguments: Any, stop: str = "tool_use", **usage: int) -> Reply:
    """A tool call; `arguments` may be a function of the labels that the request lists."""

    def reply(body: dict[str, Any]) -> httpx2.Response:
        given = arguments(labels_of(body)) if callable(arguments) else arguments
        block = {"type": "tool_use", "id": "tu_1", "name": "GroundedAnswer", "input": given}
        return message([block], stop, usage or None)

    return reply


def prose(text: str, stop: str = "end_turn") -> Reply:
    content = [{"type": "text", "text": text}] if text else []
    return lambda _: message(content, stop)


def failure(status: int, kind: str, words: str) -> Reply:
    body = {"type": "error", "error": {"type": kind, "message": words}}
    return lambda _: httpx2.Response(status, json=body)


class Script:
    """The vocabulary of a scripted provider, for tests."""

    tool = staticmethod(tool)
    prose = staticmethod(prose)
    failure = staticmethod(failure)
    labels = staticmethod(labels_of)
    message = staticmethod(message)

    def provider(self, *replies: Reply) -> Provider:
        return Provider(list(replies))


@pytest.fixture
def script() -> Script:
    return Script()
