"""A provider on the loopback interface: real server-sent events, held back at gates."""

from __future__ import annotations

import asyncio
import json
import threading

WAIT = 20.0


class Gate:
    """A place in a stream that the server does not pass until the reader opens it."""

    def __init__(self):
        self.opened = threading.Event()
        self.reached = threading.Event()

    def open(self):
        self.opened.set()


BREAK = object()
"""Closes the connection in the middle of the response."""


def sse(kind, **fields):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start():
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 1, "cache_read_input_tokens": 7},
    }
    tool = {"type": "tool_use", "id": "tu_1", "name": "GroundedAnswer", "input": {}}
    return [
        sse("message_start", message=message),
        sse("ping"),
        sse("content_block_start", index=0, content_block=tool),
    ]


def piece(text):
    delta = {"type": "input_json_delta", "partial_json": text}
    return sse("content_block_delta", index=0, delta=delta)


def end(stop="tool_use", output_tokens=20):
    delta = {"stop_reason": stop, "stop_sequence": None}
    return [
        sse("content_block_stop", index=0),
        sse("message_delta", delta=delta, usage={"output_tokens": output_tokens}),
        sse("message_stop"),
    ]


def overload():
    error = {"type": "overloaded_error", "message": "Overloaded"}
    return [sse("error", error=error)]


class SseServer:
    """Answers each request with the next script.

    A script is a function of the labels that the request lists; it returns steps: bytes to send,
    a `Gate` to wait at, or `BREAK`. A request that asks for no stream gets the whole message.
    """

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.bodies = []
        self.closed_early = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(WAIT)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT)

    def _serve(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._answer, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
            self._loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _answer(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            )
            body = json.loads(await reader.readexactly(size))
            self.bodies.append(body)
            steps = self.scripts[len(self.bodies) - 1](labels_of(body))
            if body.get("stream"):
                await self._stream(steps, writer)
            else:
                self._whole(steps, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.closed_early.set()
        finally:
            writer.close()

    async def _stream(self, steps, writer):
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        )
        for step in steps:
            if step is BREAK:
                writer.transport.abort()
                return
            if isinstance(step, Gate):
                step.reached.set()
                opened = self._loop.run_in_executor(None, step.opened.wait, WAIT)
                assert await opened, "the reader never opened the gate"
                continue
            writer.write(f"{len(step):x}\r\n".encode() + step + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    def _whole(self, steps, writer):
        events = [json.loads(step.split(b"data: ")[1]) for step in steps if isinstance(step, bytes)]
        message = next(e["message"] for e in events if e["type"] == "message_start")
        text = "".join(
            e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta"
        )
        last = next(e for e in events if e["type"] == "message_delta")
        message["content"] = [
            {"type": "tool_use", "id": "tu_1", "name": "GroundedAnswer", "input": json.loads(text)}
        ]
        message["stop_reason"] = last["delta"]["stop_reason"]
        message["usage"] = {**message["usage"], **last["usage"]}
        content = json.dumps(message).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
            + f"content-length: {len(content)}\r\n\r\n".encode()
            + content
        )


def labels_of(body):
    definitions = body["tools"][0]["input_schema"]["$defs"]
    return definitions["CitationItem"]["properties"]["chunk_id"]["enum"]


def claim(text, label, quote=None):
    return json.dumps({"citations": [{"chunk_id": label, "quote": quote or text}], "text": text})
