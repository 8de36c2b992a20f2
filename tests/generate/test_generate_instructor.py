"""What is used of instructor is what it exports, and it does what we rely on."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import instructor
import pytest

import grounded_rag
from grounded_rag.generate.clients import connect
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.schema import labelled_model, response_model

PACKAGE = Path(grounded_rag.__file__).parent
USED = (
    "AsyncInstructor",
    "Instructor",
    "Mode",
    "from_anthropic",
    "from_openai",
    "from_provider",
    "generate_anthropic_schema",
    "hooks",
)


def test_nothing_private_is_imported():
    """A submodule may move with any release; the names of the package itself are promised."""
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"(?m)^\s*(?:from|import) instructor\.", source), path
        named = re.findall(r"(?m)^\s*from instructor import (.+)$", source)
        used = {name.strip() for line in named for name in line.split(",")}
        used |= set(re.findall(r"(?<![\w.`])instructor\.([A-Za-z]\w+)", source))
        assert used <= set(USED), path


@pytest.mark.parametrize("name", USED)
def test_what_is_used_is_exported(name):
    assert name in instructor.__all__
    assert getattr(instructor, name) is not None


def test_a_call_can_have_hooks_of_its_own():
    heard = []
    hooks = instructor.hooks.Hooks()
    hooks.on("completion:response", heard.append)
    hooks.emit_completion_response("raw")
    assert heard == ["raw"]


@pytest.mark.parametrize(
    "shape", [response_model(("P-1", "P-2")), labelled_model(own_words=True)], ids=["copy", "label"]
)
def test_a_stream_asks_for_the_same_tool_as_a_blocking_call(shape, script):
    """Both share the provider's cache of the tools only while they are equal."""
    provider = script.provider(script.tool({"claims": [], "unanswered": []}))
    connection = connect("some-model", provider.client())
    messages = BuiltMessages(system="Cite.", blocks=("QUESTION\nWhy?",), labels={})

    async def both():
        await connection.call(messages, shape, max_output_tokens=9, on_response=lambda _: None)
        stream = await connection.open_stream(messages, shape, max_output_tokens=9)
        await stream.close()

    anyio.run(both)
    blocking, streamed = provider.bodies
    assert streamed.pop("stream") is True
    assert streamed == blocking
