"""A typed HTTP service: answers and events as JSON, described by OpenAPI.

    pip install fastapi uvicorn
    python examples/fastapi_service.py              # shows its routes and one answer
    uvicorn fastapi_service:app --app-dir examples  # serves; see http://127.0.0.1:8000/docs

Set GROUNDED_RAG_INDEX to an index made by `grounded-rag ingest`; without it, the demo corpus
answers.
"""

import asyncio
import datetime as dt
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from grounded_rag import Answer, GroundedRAG, GroundedRAGError
from grounded_rag.errors import ProviderError
from grounded_rag.resources import demo_corpus_dir


class Question(BaseModel):
    """A question and the day for which its answer should hold."""

    question: Annotated[str, Field(min_length=1, max_length=2_000)]
    as_of: dt.date | None = None


class Failure(BaseModel):
    """Why there is no answer, and what to do. An error is never dressed up as an answer."""

    error: str
    hint: str


@asynccontextmanager
async def lifespan(service: FastAPI) -> AsyncIterator[None]:
    """Open the index once, and close it when the service stops."""
    index = os.environ.get("GROUNDED_RAG_INDEX")
    made = GroundedRAG.open if index else GroundedRAG.from_corpus
    service.state.rag = await asyncio.to_thread(made, index or demo_corpus_dir())
    yield
    await asyncio.to_thread(service.state.rag.close)


app = FastAPI(title="Answers that can be checked", version="1", lifespan=lifespan)


def opened(request: Request) -> GroundedRAG:
    """Return the open index."""
    rag: GroundedRAG = request.app.state.rag
    return rag


Rag = Annotated[GroundedRAG, Depends(opened)]


@app.exception_handler(GroundedRAGError)
async def failed(_: Request, error: GroundedRAGError) -> JSONResponse:
    """Tell what went wrong: 502 where the model's provider failed, 422 for the rest."""
    status = 502 if isinstance(error, ProviderError) else 422
    return JSONResponse(Failure(error=error.message, hint=error.hint).model_dump(), status)


@app.post("/answers", responses={422: {"model": Failure}, 502: {"model": Failure}})
async def answer(asked: Question, rag: Rag) -> Answer:
    """Answer a question; a refusal is an answer, too, with its reason."""
    return await rag.aquery(asked.question, as_of=asked.as_of)


@app.post("/answers/stream", response_class=StreamingResponse)
async def stream(asked: Question, rag: Rag) -> StreamingResponse:
    """Answer as server-sent events; each is one of `grounded_rag.events`, the last is `final`."""

    async def events() -> AsyncIterator[str]:
        try:
            async for event in rag.astream(asked.question, as_of=asked.as_of):
                yield f"event: {event.kind}\ndata: {event.model_dump_json()}\n\n"
        except GroundedRAGError as error:
            failure = Failure(error=error.message, hint=error.hint)
            yield f"event: failure\ndata: {failure.model_dump_json()}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")


@app.get("/health")
async def health(rag: Rag) -> dict[str, int]:
    """Tell that the index is open, and how much it holds."""
    status = await asyncio.to_thread(rag.status)
    return {"documents": status.documents, "chunks": status.chunks}


async def main() -> None:
    """Show the routes, and what one of them returns."""
    for path, methods in app.openapi()["paths"].items():
        for method, described in methods.items():
            print(f"{method.upper():5} {path:16} {described['description'].splitlines()[0]}")
    async with lifespan(app):
        given = await answer(
            Question(question="Within how many days must a dispute of a card payment reach you?"),
            app.state.rag,
        )
    # Of each sentence: on what it rests, and whether it is in the source's own words.
    claims = {"__all__": {"claim": {"text"}, "tier": True, "restated": True}}
    shown = given.model_dump(mode="json", include={"status": True, "text": True, "claims": claims})
    print(f"\nPOST /answers\n{json.dumps(shown, ensure_ascii=False, indent=2)}")


if __name__ == "__main__":
    asyncio.run(main())
