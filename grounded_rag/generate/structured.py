"""A generator on any provider that instructor knows: claims by tool call, never free text."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from grounded_rag.config import MODEL_TIMEOUT
from grounded_rag.generate.clients import ModelCalls
from grounded_rag.generate.messages import BuiltMessages, build_messages
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.reading import DraftReading, read_draft, read_text, stream_draft
from grounded_rag.generate.responses import (
    Ending,
    damaged_tool_input,
    stop_word,
    text_of,
    undrafted,
    written_of,
)
from grounded_rag.generate.schema import AnswerShape, labelled_model, response_model
from grounded_rag.protocols import Generation, GenerationRequest, StartedOver
from grounded_rag.types import Claim, Draft, Usage

_NOT_READABLE = (
    "Your last output could not be read as a call of the tool. Call the tool exactly once, with "
    "`claims` as a list and `unanswered` as a list, and write no text beside it."
)

QuoteMode = Literal["copy", "label"]
"""Whether the model copies its quotes or names sentences by their labels."""

_Call = Callable[[BuiltMessages, type[AnswerShape], int], AsyncGenerator[Claim | DraftReading]]


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
        timeout: float = MODEL_TIMEOUT,
        max_schema_retries: int = 1,
        quote_mode: QuoteMode = "copy",
    ) -> None:
        """Choose model and limits; nothing is sent and no key is looked for yet.

        Args:
            model: "provider/model", such as "openai/…" or "ollama/…"; by default the model of
                `config.DEFAULT_MODEL` on Anthropic. With `client`, the model's bare name.
            client: Your own client (Anthropic, Bedrock, Vertex, OpenAI, or one patched by
                instructor), with its own time-outs and proxies. A blocking one runs in a thread.
            prompts: A prompt set or a folder with your prompts; None takes the built-in ones.
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
        self._calls = ModelCalls(model, client, timeout=timeout)
        self._prompts = (
            prompts
            if isinstance(prompts, PromptSet)
            else PromptSet.load(None if prompts is None else Path(prompts), kind=quote_mode)
        )
        self._labelled = quote_mode == "label"
        self._max_output_tokens = max_output_tokens
        self._max_input_tokens = max_input_tokens
        self._max_schema_retries = max_schema_retries

    @property
    def model(self) -> str | None:
        """The model as it was named, or None for the default one."""
        return self._calls.model

    @property
    def client(self) -> Any | None:
        """The client that was handed over, or None."""
        return self._calls.client

    @property
    def timeout(self) -> float:
        """Most seconds for one call."""
        return self._calls.timeout

    @property
    def prompts(self) -> PromptSet:
        """The prompts in force, for a policy's fingerprint."""
        return self._prompts

    async def generate(self, request: GenerationRequest) -> Generation:
        """Ask for a draft.

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
        model = self._calls.connection().name
        limit = request.max_output_tokens or self._max_output_tokens
        usage = Usage()
        unread = 0
        enlarged = False
        while True:
            reading = DraftReading()
            async with aclosing(call(messages, shape, limit)) as items:
                async for item in items:
                    if isinstance(item, DraftReading):
                        reading = item
                    else:
                        yield item
            usage += reading.usage
            if reading.draft is not None:
                yield Generation(draft=reading.draft, usage=usage, model=model)
                return
            if reading.ending is Ending.CUT and not enlarged:
                enlarged = True
                limit *= 2
                yield StartedOver()
            elif reading.ending.whole and unread < self._max_schema_retries:
                unread += 1
                if unread == 1:
                    messages = messages.with_note(_NOT_READABLE)
                yield StartedOver()
            else:
                yield undrafted(
                    reading.ending,
                    word=reading.word,
                    usage=usage,
                    model=model,
                    written=reading.written,
                )
                return

    async def _stream(
        self, messages: BuiltMessages, shape: type[AnswerShape], limit: int
    ) -> AsyncGenerator[Claim | DraftReading]:
        connection = self._calls.connection()
        items = (
            self._call(messages, shape, limit)
            if connection.sdk is None
            else stream_draft(connection, messages, shape, limit=limit, timeout=self._calls.timeout)
        )
        async with aclosing(items) as opened:
            async for item in opened:
                yield item

    async def _call(
        self, messages: BuiltMessages, shape: type[AnswerShape], limit: int
    ) -> AsyncGenerator[Claim | DraftReading]:
        reply = await self._calls.ask(messages, shape, max_output_tokens=limit)
        parsed = reply.parsed
        if reply.ending.whole and parsed is None:
            parsed = _rescued(reply.response, shape)
        draft = read_draft(parsed, messages) if parsed is not None else None
        yield DraftReading(
            draft=draft,
            ending=reply.ending,
            word=stop_word(reply.response) or "",
            usage=reply.usage,
            written=written_of(reply.response) if draft is None else "",
        )


def _rescued(response: Any, shape: type[AnswerShape]) -> AnswerShape | None:
    """Return the answer in a response that instructor could not read, if there is one."""
    mended = damaged_tool_input(response)
    if mended is None:
        return read_text(text_of(response), shape)
    try:
        return shape.model_validate(mended)
    except ValueError:
        return None
