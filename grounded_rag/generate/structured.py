"""A generator on any provider that instructor knows: claims by tool call, never free text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import anyio

from grounded_rag.errors import GroundedRAGError
from grounded_rag.generate.clients import Connection, connect, provider_error, root_cause
from grounded_rag.generate.messages import BuiltMessages, build_messages
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.reading import Reading, read_draft, read_text, stream_draft
from grounded_rag.generate.responses import (
    Ending,
    damaged_tool_input,
    ending_of,
    stop_word,
    text_of,
    undrafted,
    usage_of,
    written_of,
)
from grounded_rag.generate.schema import (
    AnswerShape,
    labelled_model,
    response_model,
)
from grounded_rag.protocols import Generation, GenerationRequest, StartedOver
from grounded_rag.types import Claim, Draft, Usage

_NOT_READABLE = (
    "Your last output could not be read as a call of the tool. Call the tool exactly once, with "
    "`claims` as a list and `unanswered` as a list, and write no text beside it."
)

QuoteMode = Literal["copy", "label"]
"""Whether the model copies its quotes or names sentences by their labels."""


_Call = Callable[
    [Connection, BuiltMessages, type[AnswerShape], int], AsyncGenerator[Claim | Reading]
]


class StructuredGenerator:
    """Asks a language model for claims with citations.

    The model sees passages under labels made for the request and answers by one tool call. What
    it returns is not judged here: unknown labels and false quotes reach verification as they are.
    Temperature and the like are never sent; current models refuse them.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        client: Any | None = None,
        prompts: PromptSet | Path | str | None = None,
        max_output_tokens: int = 2_048,
        max_input_tokens: int = 24_000,
        timeout: float = 90.0,
        max_schema_retries: int = 1,
        quote_mode: QuoteMode = "copy",
    ) -> None:
        """Choose model and limits; nothing is sent and no key is looked for yet.

        Args:
            model: "provider/model", such as "openai/…" or "ollama/…"; by default the model of
                `config.DEFAULT_MODEL` on Anthropic. With `client`, the model's bare name.
            client: Your own client (Anthropic, Bedrock, Vertex, OpenAI, or one patched by
                instructor), with its own time-outs and proxies. A blocking one runs in a thread.
            prompts: A prompt set or a folder of one's own prompts; None takes the built-in ones.
            max_output_tokens: Limit of one output; a cut output is tried once more with twice it.
            max_input_tokens: Limit of the input; the lowest-ranked passages beyond it are left out.
            timeout: Most seconds for one call, the SDK's own retries included.
            max_schema_retries: Further calls when an output cannot be read at all.
            quote_mode: "copy" has the model copy its quotes; "label" shows the sentences under
                labels, has it name labels, and fills the exact quotes in. A prompt set has to be
                of the same kind.

        Raises:
            PromptError: The prompts lack what makes answers checkable.
        """
        self._model = model
        self._client = client
        self._prompts = (
            prompts
            if isinstance(prompts, PromptSet)
            else PromptSet.load(None if prompts is None else Path(prompts), kind=quote_mode)
        )
        self._labelled = quote_mode == "label"
        self._max_output_tokens = max_output_tokens
        self._max_input_tokens = max_input_tokens
        self._timeout = timeout
        self._max_schema_retries = max_schema_retries
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    @property
    def model(self) -> str | None:
        """The model as it was named, or None for the default one."""
        return self._model

    @property
    def client(self) -> Any | None:
        """The client that was handed over, or None."""
        return self._client

    @property
    def prompts(self) -> PromptSet:
        """The prompts in force, for a policy's fingerprint."""
        return self._prompts

    async def generate(self, request: GenerationRequest) -> Generation:
        """Ask for a draft.

        Args:
            request: Question, chunks and what to mend.

        Returns:
            The draft with real chunk ids; without a draft, `stop` says why: refused by the
            model, truncated also with twice the limit, or invalid.

        Raises:
            QuestionError: The question is blank.
            MissingKeyError: There are no credentials; found out before anything is sent.
            MissingExtraError: The provider's package is not installed.
            ProviderUnavailableError: Overloaded, unreachable or out of time.
            ProviderError: Any other failure, with the provider's own words.
        """
        async with aclosing(self._items(request, self._call)) as items:
            async for item in items:
                if isinstance(item, Generation):
                    return item
        raise AssertionError("the last item is a generation")

    async def stream(
        self, request: GenerationRequest
    ) -> AsyncGenerator[Claim | StartedOver | Generation]:
        """Ask for a draft and hand over each claim as soon as it is complete.

        Only an asynchronous client of the anthropic SDK streams; with any other, all claims come
        at once, in the generation. Errors are those of `generate`.

        Args:
            request: Question, chunks and what to mend.
        """
        async with aclosing(self._items(request, self._stream)) as items:
            async for item in items:
                yield item

    async def _items(
        self, request: GenerationRequest, call: _Call
    ) -> AsyncGenerator[Claim | StartedOver | Generation]:
        """Yield claims where `call` does, then the generation; the tries are the same for both."""
        messages = build_messages(
            request, self._prompts, budget=self._max_input_tokens, labelled=self._labelled
        )
        if not messages.labels:
            yield Generation(draft=Draft(), detail="No passage fits into the token budget.")
            return
        shape = (
            labelled_model(own_words=request.own_words)
            if self._labelled
            else response_model(tuple(messages.labels), own_words=request.own_words)
        )
        connection = self._connected()
        limit = request.max_output_tokens or self._max_output_tokens
        usage = Usage()
        unread = 0
        enlarged = False
        while True:
            reading = Reading()
            async with aclosing(call(connection, messages, shape, limit)) as items:
                async for item in items:
                    if isinstance(item, Reading):
                        reading = item
                    else:
                        yield item
            usage += reading.usage
            if reading.ending is Ending.CUT and not enlarged:
                enlarged = True
                limit *= 2
                yield StartedOver()
                continue
            if (
                reading.draft is None
                and _worth_retrying(reading)
                and (unread < self._max_schema_retries)
            ):
                unread += 1
                if unread == 1:
                    messages = messages.with_note(_NOT_READABLE)
                yield StartedOver()
                continue
            if reading.draft is not None:
                yield Generation(draft=reading.draft, usage=usage, model=connection.name)
            else:
                yield undrafted(
                    reading.ending,
                    word=reading.word,
                    usage=usage,
                    model=connection.name,
                    written=reading.written,
                )
            return

    def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._model, self._client)
        return self._connections[loop]

    async def _stream(
        self,
        connection: Connection,
        messages: BuiltMessages,
        shape: type[AnswerShape],
        limit: int,
    ) -> AsyncGenerator[Claim | Reading]:
        if connection.sdk is None:
            async for item in self._call(connection, messages, shape, limit):
                yield item
            return
        async with aclosing(
            stream_draft(connection, messages, shape, limit=limit, timeout=self._timeout)
        ) as items:
            async for item in items:
                yield item

    async def _call(
        self,
        connection: Connection,
        messages: BuiltMessages,
        shape: type[AnswerShape],
        limit: int,
    ) -> AsyncGenerator[Claim | Reading]:
        responses: list[Any] = []
        parsed: AnswerShape | None = None
        try:
            with anyio.fail_after(self._timeout):
                parsed = await connection.call(
                    messages, shape, max_output_tokens=limit, on_response=responses.append
                )
        except GroundedRAGError:
            raise
        except Exception as error:
            # instructor wraps whatever happens; without a response, the call itself failed.
            cause = root_cause(error)
            if not responses:
                raise provider_error(cause, connection.provider) from error
        # The stop reason comes first: a draft that was cut or refused is never read.
        response = responses[-1] if responses else None
        ending = ending_of(response)
        readable = ending in (Ending.COMPLETE, Ending.UNSTATED)
        if readable and parsed is None:
            parsed = _rescued(response, shape)
        draft = read_draft(parsed, messages) if parsed is not None and readable else None
        yield Reading(
            draft=draft,
            ending=ending,
            word=stop_word(response) or "",
            usage=sum((usage_of(each) for each in responses), Usage()),
            written=written_of(response) if draft is None else "",
        )


def _worth_retrying(reading: Reading) -> bool:
    return reading.ending in (Ending.COMPLETE, Ending.UNSTATED)


def _rescued(response: Any, shape: type[AnswerShape]) -> AnswerShape | None:
    mended = damaged_tool_input(response)
    if mended is None:
        return read_text(text_of(response), shape)
    try:
        return shape.model_validate(mended)
    except ValueError:
        return None
