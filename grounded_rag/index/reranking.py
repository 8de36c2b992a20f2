"""Rerankers: what puts candidates into a better order, for any retriever."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import anyio.to_thread

from grounded_rag.errors import ConfigError
from grounded_rag.index.search import ranked
from grounded_rag.models.cross_encoder import CrossEncoder
from grounded_rag.plugins import check_part
from grounded_rag.protocols import Query, Retriever
from grounded_rag.types import RetrievedChunk

DEFAULT_DEPTH = 30
"""Candidates read by a cross-encoder; the rest keep their order behind them."""

_POOL = 30
_POOL_FACTOR = 4


def pool_of(k: int) -> int:
    """Return how many candidates to look at for k passages: 30, or four times k if that is more."""
    return max(_POOL, _POOL_FACTOR * k)


class Reranker(Protocol):
    """Puts candidates into a better order; may drop some, never add any."""

    async def rerank(self, query: Query, chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
        """Return chunks of `chunks`, best first, with the reranker's own scores."""
        ...


class CrossEncoderReranker:
    """Orders candidates by a cross-encoder, which reads question and passage together."""

    def __init__(self, model: CrossEncoder | Path | str, *, depth: int = DEFAULT_DEPTH) -> None:
        """Take a model, or load it.

        Args:
            model: The model, or its folder: see `CrossEncoder`.
            depth: How many of the first candidates are read, 1 or more: each costs time.

        Raises:
            ConfigError: The folder cannot be read, or `depth` is below 1.
        """
        if depth < 1:
            raise ConfigError(
                f"A reranker that reads {depth} candidates orders nothing.",
                hint="Give depth of at least 1, or leave the reranker out.",
            )
        self.model = model if isinstance(model, CrossEncoder) else CrossEncoder(model)
        self._depth = depth

    @property
    def name(self) -> str:
        """The model's folder name and the first digits of a hash over its files."""
        return self.model.name

    async def rerank(self, query: Query, chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
        """Return the chunks, the most relevant first, scores from 0 to 1."""
        if not chunks:
            return []
        head = chunks[: self._depth]
        texts = [_passage(chunk) for chunk in head]
        # The model blocks: it must not hold up the event loop.
        scores = await anyio.to_thread.run_sync(self.model.scores, query.text, texts)
        order = sorted(range(len(head)), key=lambda at: (-scores[at], at))
        lowest = min(scores)
        return [
            *(head[at].model_copy(update={"score": scores[at]}) for at in order),
            *(chunk.model_copy(update={"score": lowest}) for chunk in chunks[self._depth :]),
        ]


def _passage(chunk: RetrievedChunk) -> str:
    """Return a chunk as the model reads it: below its title and headings."""
    above = dict.fromkeys(part for part in (chunk.title, *chunk.chunk.headings) if part)
    return "\n".join((" › ".join(above), chunk.chunk.text)) if above else chunk.chunk.text


RerankerChoice = Reranker | CrossEncoder | Path | str
"""A reranker, or a cross-encoder, or the folder of one."""


def make_rerankers(
    choice: RerankerChoice | Sequence[RerankerChoice] | None,
) -> tuple[Reranker, ...]:
    """Return the rerankers that a choice stands for, in the order in which they are applied.

    Raises:
        ConfigError: A folder cannot be read, or an object is no reranker.
    """
    if choice is None:
        return ()
    several = choice if isinstance(choice, list | tuple) else (choice,)
    made: list[Reranker] = []
    for one in several:
        if isinstance(one, str | Path | CrossEncoder):
            made.append(CrossEncoderReranker(one))
        else:
            check_part(one, "reranker")
            made.append(one)
    return tuple(made)


class RerankedRetriever:
    """A retriever of any kind, asked for more candidates, which rerankers then put into order."""

    def __init__(self, retriever: Retriever, rerankers: Sequence[Reranker]) -> None:
        """Put rerankers, applied one after the other, behind a retriever."""
        self._retriever = retriever
        self._rerankers = tuple(rerankers)

    async def retrieve(self, query: Query) -> list[RetrievedChunk]:
        """Return at most `query.k` chunks, best first, ranks from 1."""
        wider = query.model_copy(update={"k": pool_of(query.k)})
        chunks = list(await self._retriever.retrieve(wider))
        for reranker in self._rerankers:
            chunks = await reranker.rerank(query, chunks)
        return ranked(chunks[: query.k])
