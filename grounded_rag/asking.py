"""Asking questions: whole answers or streams, each in a blocking and an asynchronous form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from anyio import to_thread
from pydantic import JsonValue

from grounded_rag._sync import BackgroundLoop
from grounded_rag.events import Event, Final
from grounded_rag.options import Options, needs_review
from grounded_rag.parts import Parts
from grounded_rag.pipeline import answer_question
from grounded_rag.protocols import Generator
from grounded_rag.relevance import with_relevance
from grounded_rag.running import Listener
from grounded_rag.types import Answer, Instant
from grounded_rag.validity import parse_instant, today_utc


class Asking:
    """The part of `GroundedRAG` that answers questions."""

    def __init__(self, parts: Parts, options: Options) -> None:
        """Answer by `parts`, and do with answers what `options` say."""
        self._parts = parts
        self._loop = BackgroundLoop()
        self._on_answer = options.get("on_answer")
        self._on_refusal = options.get("on_refusal")
        self._on_review = options.get("on_review")
        self._receipts = Path(options["receipts"]) if "receipts" in options else None

    @property
    def loop(self) -> BackgroundLoop:
        """The background loop that serves the blocking calls."""
        return self._loop

    @property
    def generator(self) -> Generator:
        """The generator that writes the drafts."""
        return self._parts.generator

    def query(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Answer:
        """Answer a question; a refusal is an answer too, with a typed reason.

        Args:
            question: The question.
            as_of: Moment for which the answer should hold; today in UTC by default.
            filters: Metadata that documents must carry; a list means any of its values.

        Raises:
            QuestionError: The question is empty.
            ProviderError: The named provider failed.
            ReceiptError: The receipt cannot be saved.
        """
        return self._loop.run(partial(self.aquery, question, as_of=as_of, filters=filters))

    async def aquery(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Answer:
        """Answer a question; the asynchronous twin of `query`."""
        return await self._answer(question, as_of=as_of, filters=filters)

    def stream(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
        rejected_text: bool = False,
    ) -> Iterator[Event]:
        """Answer a question, and tell what happens on the way; the last event is the answer.

        Under the policy `refuse` claims come when all of them have passed; under `drop` each
        comes as soon as it has passed, if the generator can stream. A claim that was told is in
        the answer: nothing is taken back. The answer is the one that `query` gives for the same
        drafts. Ending the iteration early cancels the question.

        Args:
            question: The question.
            as_of: Moment for which the answer should hold; today in UTC by default.
            filters: Metadata that documents must carry; a list means any of its values.
            rejected_text: Whether events may carry the text of claims that did not pass.

        Raises:
            QuestionError: The question is empty.
            ProviderError: The named provider failed, also in the middle of a stream; then there
                is no last event.
            ReceiptError: The receipt cannot be saved.
        """
        return self._loop.iterate(
            partial(
                self.astream, question, as_of=as_of, filters=filters, rejected_text=rejected_text
            )
        )

    async def astream(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
        rejected_text: bool = False,
    ) -> AsyncGenerator[Event]:
        """Answer a question, and tell what happens on the way; the twin of `stream`."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(
            self._answer(
                question,
                as_of=as_of,
                filters=filters,
                listener=events.put_nowait,
                rejected_text=rejected_text,
            )
        )
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield Final(answer=await work)
        finally:
            # Whoever stops listening stops the work: no call goes on unseen.
            if not work.done():
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
            elif not work.cancelled():
                # Taken note of, so that asyncio does not log it as never retrieved.
                work.exception()

    async def _answer(
        self,
        question: str,
        *,
        as_of: Instant | str | None,
        filters: Mapping[str, JsonValue] | None,
        listener: Listener | None = None,
        rejected_text: bool = False,
    ) -> Answer:
        answer = await answer_question(
            question,
            parts=self._parts,
            as_of=parse_instant(as_of) or today_utc(),
            filters=filters,
            listener=listener,
            rejected_text=rejected_text,
        )
        if self._parts.relevance is not None:
            answer = await with_relevance(answer, self._parts.relevance)
        if self._receipts is not None:
            from grounded_rag.receipts.storage import save_receipt

            await to_thread.run_sync(save_receipt, answer.receipt(), self._receipts)
        if self._on_answer is not None:
            self._on_answer(answer)
        if self._on_refusal is not None and not answer.answered:
            self._on_refusal(answer)
        if self._on_review is not None and needs_review(answer):
            self._on_review(answer)
        return answer
