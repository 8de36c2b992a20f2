"""Server-sent events: what they say, and what becomes of an error in the middle."""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from chatbot.answering import Correction, Finished, FollowUp, Verified, stream_answer
from chatbot.view import answer_view, told_claim
from grounded_rag import GroundedRAGError
from grounded_rag.errors import ProviderError, ProviderUnavailableError
from grounded_rag.types import Frozen

if TYPE_CHECKING:
    from chatbot.corpora import Corpus
    from chatbot.limits import Ticket
    from chatbot.service import Service
    from chatbot.sessions import Session

_NAMES = {FollowUp: "followup", Correction: "correction"}
_LOG = logging.getLogger("chatbot")


class Failure(Frozen):
    """Why no answer came. It is never shown as an answer.

    Attributes:
        kind: "provider", "input" or "internal".
        message: What happened.
        hint: What to do.
        again: Whether the same question may be tried again.
    """

    kind: str
    message: str
    hint: str = ""
    again: bool = True


_INTERNAL = Failure(kind="internal", message="Something went wrong on our side.")


class EventStream(StreamingResponse):
    """A response of server-sent events that gives its place back however it ends."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes], *, session: Session, ticket: Ticket) -> None:
        super().__init__(events, headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        self._events = events
        self._session = session
        self._ticket = ticket
        session.asking += 1

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            # The visitor may be gone: what is worked on for them ends now, not when it is noticed.
            with anyio.CancelScope(shield=True):
                await self._events.aclose()
            self._session.asking -= 1
            self._ticket.release()


async def answer_events(
    service: Service,
    session: Session,
    corpus: Corpus,
    *,
    question: str,
    as_of: dt.date | None,
) -> AsyncGenerator[bytes]:
    """Yield the events of one question; the last is `answer` or `failure`."""
    yield event("progress", {"stage": "waiting"})
    try:
        async with service.gate.turn():
            conversation = session.conversation(corpus)
            async with aclosing(stream_answer(conversation, question, as_of=as_of)) as steps:
                async for step in steps:
                    if isinstance(step, Finished):
                        name = session.keep(step.answer, corpus)
                        yield event("answer", answer_view(step.answer, corpus, answer_id=name))
                    elif isinstance(step, Verified):
                        yield event("claim", told_claim(step.verdict, corpus))
                    else:
                        yield event(_NAMES.get(type(step), "progress"), step)
    except GroundedRAGError as error:
        yield event("failure", _told(error))
    except Exception:  # noqa: BLE001 (the stream has begun: only an event can still tell)
        _LOG.exception("A question failed.")
        yield event("failure", _INTERNAL)


def _told(error: GroundedRAGError) -> Failure:
    if isinstance(error, ProviderError):
        return Failure(
            kind="provider",
            message=error.message,
            hint=error.hint,
            again=isinstance(error, ProviderUnavailableError),
        )
    return Failure(kind="input", message=error.message, hint=error.hint)


def event(name: str, data: BaseModel | dict[str, str]) -> bytes:
    """Return one server-sent event; JSON in ASCII holds no line end that could break it."""
    value = data.model_dump(mode="json") if isinstance(data, BaseModel) else data
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode("ascii")
