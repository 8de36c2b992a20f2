"""Finding candidates in one view of an index: dense and lexical rankings of usable chunks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import JsonValue

from grounded_rag.index import lexical
from grounded_rag.index.ledger import Place
from grounded_rag.index.reading import View
from grounded_rag.index.records import DocumentEntry, Vector, cosine
from grounded_rag.types import Instant, RetrievedChunk


def matches(entry: DocumentEntry, filters: Mapping[str, JsonValue]) -> bool:
    """Whether a document carries everything that `filters` asks for.

    Args:
        entry: The document.
        filters: Wanted values by key: `doc_id`, `source`, `title`, `trust`, `media_type` or a key
            of the further metadata. A list means any of its values; a document whose own value is
            a list carries each of them. Numbers and their text are equal, as in `year=2026`.
    """
    fields: dict[str, JsonValue] = {
        **entry.metadata,
        "doc_id": entry.doc_id,
        "source": entry.source,
        "title": entry.title,
        "trust": entry.trust,
        "media_type": entry.media_type,
    }
    return carries(fields, filters)


def carries(fields: Mapping[str, JsonValue], filters: Mapping[str, JsonValue]) -> bool:
    """Whether `fields` has, for each key of `filters`, one of the wanted values."""
    return all(
        key in fields and not _values(fields[key]).isdisjoint(_values(wanted))
        for key, wanted in filters.items()
    )


def _values(value: JsonValue) -> set[str]:
    if isinstance(value, list):
        return {_plain(item) for item in value}
    return {_plain(value)}


def _plain(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


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


_EXACT = 2_000
"""Up to so many usable chunks, all of them are compared: faster than a filtered graph search."""

_DEEPEST = 4_096
"""More hits than this are not asked of the graph to find enough usable ones."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is searched for.

    Attributes:
        vector: The question's vector, or None without a dense signal.
        terms: Its words, quoted for FTS5; empty without a lexical signal.
    """

    vector: Vector | None
    terms: tuple[str, ...]


@dataclass(slots=True)
class Search:
    """Rankings of one question in one view, restricted to what may be used.

    Attributes:
        view: The index.
        question: What is searched for.
        as_of: Moment that decides on the version of each document; None takes the live ones.
        filters: Metadata that a document must carry.
        only_current: Whether to leave out what does not hold at `as_of`.
        places: Where the chunks found so far stand, by id.
    """

    view: View
    question: Question
    as_of: Instant | None
    filters: Mapping[str, JsonValue]
    only_current: bool
    places: dict[str, Place] = field(default_factory=dict)
    _usable: dict[str, bool] = field(default_factory=dict)

    def usable(self, doc_id: str) -> bool:
        """Whether a document passes the filters and, where asked for, holds at the moment."""
        if doc_id not in self._usable:
            entry = self.view.catalogue.entries.get(doc_id)
            self._usable[doc_id] = (
                entry is not None
                and (not self.filters or matches(entry, self.filters))
                and not (
                    self.only_current and not self.view.catalogue.is_current(doc_id, self.as_of)
                )
            )
        return self._usable[doc_id]

    def everywhere(self, *, pool: int) -> list[Ranking]:
        """Return one ranking a signal, each with up to `pool` usable chunks."""
        if self.filters or self.only_current:
            places = self._places_in(self._usable_documents())
            if len(places) <= _EXACT:
                return self._among(places, pool=pool)
        rankings: list[Ranking] = []
        if self.question.vector is not None and self.view.vectors is not None:
            rankings.append(Ranking("dense", self._dense(self.question.vector, pool)))
        if self.question.terms:
            rankings.append(Ranking("lexical", self._lexical(pool)))
        return rankings

    def in_document(self, doc_id: str, *, pool: int) -> list[Ranking]:
        """Return one ranking a signal of the chunks of one document, compared exactly."""
        return self._among(self._places_in([doc_id]), pool=pool)

    def ids_in(self, doc_id: str) -> list[str]:
        """Return the ids of a document's chunks, in reading order."""
        places = sorted(self._places_in([doc_id]), key=lambda place: place.ordinal)
        self.places.update((place.chunk_id, place) for place in places)
        return [place.chunk_id for place in places]

    def _among(self, places: Sequence[Place], *, pool: int) -> list[Ranking]:
        rankings: list[Ranking] = []
        if not places:
            return rankings
        names = {place.key: place.chunk_id for place in places}
        self.places.update((place.chunk_id, place) for place in places)
        if self.question.vector is not None:
            nearest = self._nearest(self.question.vector, list(names))[:pool]
            rankings.append(Ranking("dense", [names[key] for key in nearest]))
        if self.question.terms:
            hits = lexical.search_among(
                self.view.ledger.connection,
                self.view.terms.expression(self.question.terms),
                keys=list(names),
                limit=pool,
            )
            rankings.append(Ranking("lexical", [names[hit.key] for hit in hits]))
        return rankings

    def _nearest(self, vector: Vector, keys: Sequence[int]) -> list[int]:
        found, rows = self.view.ledger.vectors(keys)
        if rows is None:
            return []
        return [found[index] for index in (-cosine(rows, vector)).argsort(kind="stable")]

    def _dense(self, vector: Vector, pool: int) -> list[str]:
        vectors = self.view.vectors
        if vectors is None:
            return []
        limit = 2 * pool
        while limit <= _DEEPEST:
            answers = vectors.query(vector[np.newaxis], limit=limit)
            if answers is None:
                break
            ids = [hit.chunk_id for hit in answers[0]]
            usable = self._keep(ids, self.view.ledger.places_of(ids))
            if len(usable) >= pool or len(ids) < limit:
                return usable[:pool]
            limit *= 4
        places = self._places_in(self._usable_documents())
        names = {place.key: place.chunk_id for place in places}
        self.places.update((place.chunk_id, place) for place in places)
        return [names[key] for key in self._nearest(vector, list(names))[:pool]]

    def _lexical(self, pool: int) -> list[str]:
        expression = self.view.terms.expression(self.question.terms)
        limit = 2 * pool
        while True:
            hits = lexical.search(self.view.ledger.connection, expression, limit=limit)
            places = self.view.ledger.places_at([hit.key for hit in hits])
            names = {place.key: place.chunk_id for place in places}
            ids = [names[hit.key] for hit in hits if hit.key in names]
            usable = self._keep(ids, places)
            if len(usable) >= pool or len(hits) < limit:
                return usable[:pool]
            limit *= 4

    def _usable_documents(self) -> list[str]:
        return [doc_id for doc_id in self.view.catalogue.entries if self.usable(doc_id)]

    def _places_in(self, doc_ids: Iterable[str]) -> list[Place]:
        """Return the chunks of the versions that answer for the moment."""
        catalogue = self.view.catalogue
        return self.view.ledger.places_in(
            [catalogue.version_at(doc_id, self.as_of).version for doc_id in doc_ids]
        )

    def _keep(self, ids: Sequence[str], places: Iterable[Place]) -> list[str]:
        """Return those of `ids`, in order, that stand in a version that may be used."""
        catalogue = self.view.catalogue
        kept = {
            place.chunk_id: place
            for place in places
            if self.usable(place.doc_id)
            and place.version == catalogue.version_at(place.doc_id, self.as_of).version
        }
        self.places.update(kept)
        return [chunk_id for chunk_id in ids if chunk_id in kept]
