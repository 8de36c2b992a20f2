"""Parts with scripted behaviour, for the tests of applications."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from grounded_rag.protocols import Generation, GenerationRequest, Query
from grounded_rag.types import (
    Chunk,
    Citation,
    Claim,
    Draft,
    RetrievedChunk,
    Span,
    StopReason,
    Usage,
    Validity,
)


def make_chunk(
    text: str,
    *,
    id: str = "c1",  # noqa: A002 - the name that every caller reads elsewhere
    doc_id: str | None = None,
    title: str = "",
    validity: Validity | None = None,
    rank: int = 1,
    start: int = 0,
) -> RetrievedChunk:
    """Return a retrieved chunk around `text`.

    Args:
        text: The chunk's text.
        id: Its id.
        doc_id: Its document; by default the id of the chunk.
        title: Title of the document.
        validity: Validity of the document.
        rank: 1-based rank.
        start: First code point of the chunk in its document.
    """
    return RetrievedChunk(
        chunk=Chunk(
            id=id,
            doc_id=doc_id or id,
            span=Span(start=start, end=start + len(text)),
            text=text,
            content_hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        ),
        rank=rank,
        title=title,
        validity=validity or Validity(),
    )


def make_draft(*claims: tuple[str, str, str], unanswered: Sequence[str] = ()) -> Draft:
    """Return a draft of `(text, chunk_id, quote)` claims.

    Args:
        claims: One triple a claim.
        unanswered: Parts of the question left open.
    """
    return Draft(
        claims=tuple(
            Claim(text=text, citations=(Citation(chunk_id=chunk_id, quote=quote),))
            for text, chunk_id, quote in claims
        ),
        unanswered=tuple(unanswered),
    )


class ScriptedGenerator:
    """A generator that plays back drafts in order and remembers what it was asked.

    Attributes:
        requests: Every request, in order.
    """

    def __init__(self, *script: Draft | Generation | Exception, name: str = "scripted") -> None:
        """Play `script`: a draft, a whole generation, or an error to raise, one a call."""
        self._script = list(script)
        self._name = name
        self.requests: list[GenerationRequest] = []

    async def generate(self, request: GenerationRequest) -> Generation:
        """Return the next entry of the script.

        Raises:
            AssertionError: The script is at its end.
        """
        self.requests.append(request)
        if len(self.requests) > len(self._script):
            raise AssertionError(f"the script has {len(self._script)} entries; one more was asked")
        entry = self._script[len(self.requests) - 1]
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, Generation):
            return entry
        return Generation(
            draft=entry,
            stop=StopReason.COMPLETE,
            usage=Usage(calls=1, input_tokens=100, output_tokens=20),
            model=self._name,
        )


class StaticRetriever:
    """A retriever that returns the same chunks for every question.

    Attributes:
        queries: Every query, in order.
    """

    def __init__(self, chunks: Sequence[RetrievedChunk] | Mapping[str, str]) -> None:
        """Serve `chunks`, or chunks made from a mapping of id to text."""
        if isinstance(chunks, Mapping):
            chunks = [
                make_chunk(text, id=chunk_id, rank=rank)
                for rank, (chunk_id, text) in enumerate(chunks.items(), start=1)
            ]
        self._chunks = tuple(chunks)
        self.queries: list[Query] = []

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        """Return the first `query.k` chunks."""
        self.queries.append(query)
        return self._chunks[: query.k]
