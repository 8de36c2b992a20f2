"""The HTTP service: sessions, questions as server-sent events, sources, uploads, feedback."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.trustedhost import TrustedHostMiddleware

from chatbot.api import SERVICE, router
from chatbot.feedback import FeedbackFile
from chatbot.limits import Gate, RateLimiter, TooManyError
from chatbot.security import Guard
from chatbot.service import NotFoundError, Service, SessionGoneError
from chatbot.sessions import Sessions
from chatbot.suggesting import Suggester
from grounded_rag import GroundedRAGError, __version__

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from chatbot.corpora import Corpus
    from chatbot.settings import Settings

_STATIC = Path(__file__).parent / "static"
_LOG = logging.getLogger("chatbot")


def create_app(
    settings: Settings,
    corpora: Mapping[str, Corpus],
    *,
    embedding: BaseEmbedding | None = None,
) -> FastAPI:
    """Return the service.

    Args:
        settings: Limits and bounds.
        corpora: What can be asked, by id; closed when the service stops.
        embedding: Embedding for the indexes of uploads.
    """
    service = Service(
        settings=settings,
        corpora=dict(corpora),
        embedding=embedding,
        sessions=Sessions(most=settings.most_sessions, seconds=settings.session_seconds),
        feedback=FeedbackFile(settings.data / "feedback.jsonl"),
        gate=Gate(running=settings.running, waiting=settings.waiting, on=settings.limits),
        asks=RateLimiter(settings.asks_per_minute, on=settings.limits),
        asks_of_address=RateLimiter(settings.asks_per_minute_address, on=settings.limits),
        starts=RateLimiter(settings.sessions_per_minute_address, on=settings.limits),
        uploads=RateLimiter(settings.uploads_per_minute, on=settings.limits),
        suggester=Suggester(),
    )
    started = time.monotonic()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    setattr(app.state, SERVICE, service)
    app.add_middleware(Guard)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(settings.allowed_hosts))
    app.include_router(router)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(_STATIC / "index.html")

    @app.get("/healthz")
    async def health() -> dict[str, object]:
        return {
            "status": "ok",
            "version": __version__,
            "generator": settings.generator,
            "corpora": sorted(service.corpora),
            "sessions": len(service.sessions),
            "working": service.gate.inside,
            "seconds": round(time.monotonic() - started),
        }

    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    _handle_errors(app)
    return app


def _handle_errors(app: FastAPI) -> None:
    @app.exception_handler(TooManyError)
    async def too_many(_: Request, error: TooManyError) -> Response:
        return JSONResponse(
            {"error": "too_many", "message": error.message, "retry_after": error.retry_after},
            status_code=429,
            headers={"retry-after": str(error.retry_after)},
        )

    @app.exception_handler(SessionGoneError)
    async def session_gone(_: Request, __: SessionGoneError) -> Response:
        return JSONResponse(
            {"error": "session", "message": "This session has ended. Reload the page."},
            status_code=401,
        )

    @app.exception_handler(NotFoundError)
    async def not_found(_: Request, error: NotFoundError) -> Response:
        return JSONResponse({"error": "not_found", "message": str(error)}, status_code=404)

    @app.exception_handler(OSError)
    async def unreadable(_: Request, error: OSError) -> Response:
        _LOG.warning("A file cannot be used: %s", error)
        return JSONResponse(
            {"error": "file", "message": "The file cannot be read or written at the moment."},
            status_code=503,
        )

    @app.exception_handler(GroundedRAGError)
    async def unusable(_: Request, error: GroundedRAGError) -> Response:
        return JSONResponse(
            {"error": "input", "message": error.message, "hint": error.hint}, status_code=400
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        return JSONResponse(
            {"error": "input", "message": f"{place}: {first['msg']}"}, status_code=400
        )

    @app.exception_handler(Exception)
    async def broken(_: Request, error: Exception) -> Response:
        _LOG.error("A request failed.", exc_info=error)
        return JSONResponse(
            {"error": "internal", "message": "Something went wrong on our side."}, status_code=500
        )
