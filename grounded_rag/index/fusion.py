"""Reciprocal-rank fusion and the order in which candidates leave retrieval."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grounded_rag.types import RetrievedChunk

RRF_K = 10
"""Constant of reciprocal-rank fusion: the larger, the less the very first ranks stand out."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Chunk ids that one signal found, best first, each at most once.

    Attributes:
        source: Name of the signal.
        ids: The ids.
        weight: How much the signal counts.
    """

    source: str
    ids: Sequence[str]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Fused:
    """One chunk of the fused ranking, with the signals that found it."""

    chunk_id: str
    score: float
    sources: tuple[str, ...]


def fuse(rankings: Sequence[Ranking], *, k: int = RRF_K) -> list[Fused]:
    """Return all chunks of several rankings, best first, by reciprocal-rank fusion.

    Chunks are told apart by id, never by text: two documents may say the same.
    """
    scores: dict[str, float] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(ranking.ids, start=1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + ranking.weight / (k + rank)
            known = sources.get(chunk_id, ())
            sources[chunk_id] = known if ranking.source in known else (*known, ranking.source)
    # Ties go to the signal named first: dictionaries keep the order of insertion.
    return sorted(
        (Fused(chunk_id, score, sources[chunk_id]) for chunk_id, score in scores.items()),
        key=lambda fused: -fused.score,
    )


def arrange(
    ids: Sequence[str],
    *,
    successors: Mapping[str, str],
    outdated: Collection[str],
    k: int,
) -> list[str]:
    """Return the k chunks to hand over, current ones first.

    A chunk of a superseded document never comes without its successor's. What is out of date is
    ranked behind what holds, among the k: it is not removed, since it may be all there is.

    Args:
        ids: Chunks by relevance.
        successors: For chunks of superseded documents, the chunk that says it today.
        outdated: Chunks of documents that do not hold at the moment asked for.
        k: Number of chunks wanted.
    """
    order: dict[str, None] = {}
    for chunk_id in ids:
        successor = successors.get(chunk_id)
        if successor is not None:
            order.setdefault(successor)
        order.setdefault(chunk_id)
    top = list(order)[:k]
    return sorted(top, key=lambda chunk_id: chunk_id in outdated)


def ranked(chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
    """Number chunks from 1 in their order; a score never rises from one rank to the next."""
    numbered: list[RetrievedChunk] = []
    lowest = float("inf")
    for rank, chunk in enumerate(chunks, start=1):
        lowest = min(lowest, chunk.score)
        numbered.append(chunk.model_copy(update={"rank": rank, "score": lowest}))
    return numbered
