"""The requests that the page makes."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Cookie, Depends, Header, Request, Response
from pydantic import BaseModel, ConfigDict

from chatbot.corpora import Corpus, Suggestion
from chatbot.feedback import Feedback
from chatbot.limits import TooManyError
from chatbot.pdf_pages import PagePlan, page_picture, plan_page
from chatbot.service import NotFoundError, Service
from chatbot.sessions import Kept, Session
from chatbot.stream import EventStream, answer_events
from chatbot.trace_view import TraceView, trace_view
from chatbot.uploads import ACCEPTED, UploadView, accept, read_body, remove_all
from grounded_rag.errors import InputError, QuestionError
from grounded_rag.types import Frozen, Reference

SERVICE = "service"
COOKIE = "chatbot_session"
_ASKING_AT_ONCE = 2

router = APIRouter(prefix="/api")


def _service(request: Request) -> Service:
    service: Service = getattr(request.app.state, SERVICE)
    return service


ServiceNow = Annotated[Service, Depends(_service)]
Token = Annotated[str | None, Cookie(alias=COOKIE)]


def _session(service: ServiceNow, token: Token = None) -> Session:
    return service.session(token)


SessionNow = Annotated[Session, Depends(_session)]


def _kept(service: ServiceNow, session: SessionNow, answer_id: str) -> Kept:
    return service.kept(session, answer_id)


KeptNow = Annotated[Kept, Depends(_kept)]


class CorpusView(Frozen):
    """A corpus as the page offers it."""

    id: str
    title: str
    documents: int
    today: dt.date | None = None


class SuggestionsView(Frozen):
    """Questions that are offered.

    Attributes:
        questions: Those that there are by now.
        complete: Whether no more are being made.
    """

    questions: tuple[Suggestion, ...]
    complete: bool


class Opening(Frozen):
    """What the page needs to begin."""

    corpora: tuple[CorpusView, ...]
    uploads: tuple[str, ...]
    accepted: tuple[str, ...]
    upload_bytes: int
    question_characters: int
    generator: str


class Ask(BaseModel):
    """A question.

    Attributes:
        question: The question.
        corpus: Id of the corpus to ask.
        as_of: Date for which the answer should hold; today without one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    corpus: str
    as_of: dt.date | None = None


def _corpus_view(corpus: Corpus) -> CorpusView:
    return CorpusView(
        id=corpus.id,
        title=corpus.title,
        documents=corpus.parts[0].count(),
        today=corpus.today,
    )


@router.post("/session")
async def open_session(
    service: ServiceNow, request: Request, response: Response, token: Token = None
) -> Opening:
    """Find the session of the cookie, or start one."""
    session = service.sessions.find(token)
    if session is None:
        service.starts.take(_address(request))
        token, session = service.sessions.start()
        response.set_cookie(
            COOKIE,
            token,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
            path="/",
        )
    return Opening(
        corpora=tuple(_corpus_view(corpus) for corpus in service.corpora.values()),
        uploads=tuple(session.uploads.values()),
        accepted=ACCEPTED,
        upload_bytes=service.settings.upload_bytes,
        question_characters=service.settings.question_characters,
        generator=service.settings.generator,
    )


@router.get("/corpora/{corpus_id}/suggestions")
async def suggestions(service: ServiceNow, _: SessionNow, corpus_id: str) -> SuggestionsView:
    """Return the questions that are offered for a common corpus; the first request makes them."""
    common = service.common(corpus_id)
    questions, complete = service.suggester.of(common)
    return SuggestionsView(questions=questions, complete=complete)


@router.post("/ask")
async def ask(service: ServiceNow, session: SessionNow, request: Request, body: Ask) -> EventStream:
    """Answer a question as a stream of server-sent events."""
    most = service.settings.question_characters
    if len(body.question) > most:
        raise QuestionError(
            f"The question is longer than {most:,} characters.", hint="Ask in fewer words."
        )
    corpus = service.corpus(session, body.corpus)
    if service.settings.limits and session.asking >= _ASKING_AT_ONCE:
        raise TooManyError("Your earlier question is still being answered.", retry_after=2)
    service.asks.take(str(session.folder))
    service.asks_of_address.take(_address(request))
    ticket = service.gate.enter()
    events = answer_events(
        service, session, corpus, question=body.question, as_of=body.as_of or corpus.today
    )
    return EventStream(events, session=session, ticket=ticket)


@router.delete("/chat", status_code=204)
async def new_chat(session: SessionNow) -> None:
    """Begin a new conversation: earlier questions are forgotten."""
    session.begin_again()


@router.get("/answers/{answer_id}/trace")
async def trace(kept: KeptNow) -> TraceView:
    """Return what is behind an answer, rejected text included."""
    return trace_view(kept.answer, kept.corpus)


@router.get("/answers/{answer_id}/receipt")
async def receipt(kept: KeptNow) -> Response:
    """Return the receipt of an answer as a file."""
    made = kept.answer.receipt()
    return Response(
        made.to_json(),
        media_type="application/json",
        headers={
            "content-disposition": f'attachment; filename="receipt-{made.content_hash[:16]}.json"'
        },
    )


@router.get("/answers/{answer_id}/pages/{number}")
async def page_plan(kept: KeptNow, number: int) -> PagePlan:
    """Return where the quote with a number stands on its page."""
    reference, page = _on_page(kept, number)
    chunk = next(
        one for one in kept.answer.evidence if one.chunk.id == reference.located.chunk_id
    ).chunk
    return await to_thread.run_sync(
        lambda: plan_page(
            kept.corpus.file_of(reference.located.doc_id),
            page,
            quote=reference.located.quote,
            before=chunk.text[: reference.located.chunk_span.start],
        )
    )


@router.get("/answers/{answer_id}/pages/{number}/picture")
async def picture(kept: KeptNow, number: int) -> Response:
    """Return the page of the quote with a number as PNG."""
    reference, page = _on_page(kept, number)
    path = kept.corpus.file_of(reference.located.doc_id)
    data = await to_thread.run_sync(lambda: page_picture(path, page, path.stat().st_mtime_ns))
    return Response(data, media_type="image/png")


@router.post("/answers/{answer_id}/feedback", status_code=204)
async def feedback(
    service: ServiceNow, session: SessionNow, kept: KeptNow, answer_id: str, body: Feedback
) -> None:
    """Keep a thumb with its reason."""
    service.asks.take(f"feedback {session.folder}")
    await to_thread.run_sync(
        lambda: service.feedback.append(body, kept.answer, answer_id=answer_id)
    )


@router.post("/uploads")
async def upload(
    service: ServiceNow,
    session: SessionNow,
    request: Request,
    name: str,
    content_length: Annotated[int | None, Header()] = None,
) -> UploadView:
    """Take a document among the session's own; the body is the file."""
    service.uploads.take(str(session.folder))
    if content_length is not None and content_length > service.settings.upload_bytes:
        most = service.settings.upload_bytes / 1_000_000
        raise InputError(f"The file is larger than {most:.0f} MB.", hint="Split the file.")
    # Read before a turn is taken: a slow sender keeps nobody waiting.
    data = await read_body(request.stream(), service.settings.upload_bytes)
    ticket = service.gate.enter()
    session.asking += 1
    try:
        async with service.gate.turn():
            return await accept(session, service.settings, service.embedding, name=name, data=data)
    finally:
        session.asking -= 1
        ticket.release()


@router.delete("/uploads", status_code=204)
async def remove_uploads(session: SessionNow) -> None:
    """Delete the session's own documents, and begin a new conversation."""
    await remove_all(session)


def _on_page(kept: Kept, number: int) -> tuple[Reference, int]:
    for reference in kept.answer.references:
        if reference.number == number and reference.located.page is not None:
            return reference, reference.located.page
    raise NotFoundError("There is no page to show for this number.")


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""
