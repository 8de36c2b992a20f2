"""Search in one view of an index: rankings of usable chunks by each signal, and their fusion.

`retrieval` turns a query into questions for it and its rankings into chunks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import JsonValue

from grounded_rag.index import lexical
from grounded_rag.index.ledger import Placement
from grounded_rag.index.pieces import by_pieces
from grounded_rag.index.reading import View
from grounded_rag.index.records import DocumentEntry, Vector, cosine
from grounded_rag.index.vectors import VectorIndex
from grounded_rag.text.words import TokenVectors
from grounded_rag.types import Instant, RetrievedChunk

_OWN_FIELDS = ("doc_id", "source", "title", "trust", "media_type")


def matches(entry: DocumentEntry, filters: Mapping[str, JsonValue]) -> bool:
    """Whether a document carries everything that `filters` asks for.

    Keys are `doc_id`, `source`, `title`, `trust`, `media_type` or those of the further metadata. A
    list means any of its values; a document whose own value is a list carries each of them. Numbers
    and their text are equal, as in `year=2026`.
    """
    own = {name: getattr(entry, name) for name in _OWN_FIELDS}
    return carries({**entry.metadata, **own}, filters)


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
    """Chunk ids that one signal (`source`) found, best first, each at most once.

    A ranking without a source puts what the others found into another order.
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

    Chunks are compared by id, never by text: two documents may say the same.
    """
    scores: dict[str, float] = {}
    sources: dict[str, tuple[str, ...]] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(ranking.ids, start=1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + ranking.weight / (k + rank)
            known = sources.get(chunk_id, ())
            new = ranking.source and ranking.source not in known
            sources[chunk_id] = (*known, ranking.source) if new else known
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

    A chunk of a superseded document never comes without its successor's: `successors` names the
    chunk that says it today. What is out of date is ranked behind what holds, among the k: it is
    not removed, since it may be all there is.
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


_BY_PIECES = 2.0
"""Weight of the comparison by word pieces: as much as both signals that find candidates."""

_COMPARED = 30
"""Candidates that are compared piece by piece."""

_EXACT = 2_000
"""Up to this many usable chunks are compared one by one: faster than a filtered graph search."""

_DEEPEST = 4_096
"""More hits than this are not asked of the graph to find enough usable ones."""


@dataclass(frozen=True, slots=True)
class EncodedQuestion:
    """A question as the signals read it: its vector, or None, and its words quoted for FTS5."""

    vector: Vector | None
    terms: tuple[str, ...]
    pieces: TokenVectors | None = None  # where candidates are to be compared piece by piece


@dataclass(slots=True)
class ViewSearch:
    """Rankings of one question in one view, restricted to what may be used."""

    view: View
    question: EncodedQuestion
    as_of: Instant | None  # decides on the version of each document; None takes the live ones
    filters: Mapping[str, JsonValue]
    only_current: bool  # whether to leave out what does not hold at `as_of`
    places: dict[str, Placement] = field(default_factory=dict)  # of the chunks found so far
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
            found = self._dense(self.view.vectors, self.question.vector, pool)
            rankings.append(Ranking("dense", found))
        if self.question.terms:
            rankings.append(Ranking("lexical", self._lexical(pool)))
        return self._compared(rankings)

    def in_document(self, doc_id: str, *, pool: int) -> list[Ranking]:
        """Return one ranking a signal of the chunks of one document, compared exactly."""
        return self._among(self._places_in([doc_id]), pool=pool)

    def ids_in(self, doc_id: str) -> list[str]:
        """Return the ids of a document's chunks, in reading order."""
        places = sorted(self._places_in([doc_id]), key=lambda place: place.ordinal)
        return list(self._named(places).values())

    def _among(self, places: Sequence[Placement], *, pool: int) -> list[Ranking]:
        rankings: list[Ranking] = []
        if not places:
            return rankings
        names = self._named(places)
        if self.question.vector is not None:
            rankings.append(Ranking("dense", self._nearest(self.question.vector, names, pool)))
        if self.question.terms:
            hits = lexical.search(
                self.view.ledger.connection,
                self.view.terms.expression(self.question.terms),
                limit=pool,
                among=list(names),
            )
            rankings.append(Ranking("lexical", [names[key] for key in hits]))
        return self._compared(rankings)

    def _compared(self, rankings: list[Ranking]) -> list[Ranking]:
        """Add the order of the first candidates by their word pieces, where these are known."""
        if self.question.pieces is None:
            return rankings
        ids = [found.chunk_id for found in fuse(rankings)[:_COMPARED]]
        order = by_pieces(self.question.pieces, self.view.ledger.pieces(ids))
        return [*rankings, Ranking("", order, weight=_BY_PIECES)]

    def _named(self, places: Sequence[Placement]) -> dict[int, str]:
        """Note where chunks stand, and return their ids by key."""
        self.places.update((place.chunk_id, place) for place in places)
        return {place.key: place.chunk_id for place in places}

    def _nearest(self, vector: Vector, names: Mapping[int, str], pool: int) -> list[str]:
        found, rows = self.view.ledger.vectors(list(names))
        if rows is None:
            return []
        order = (-cosine(rows, vector)).argsort(kind="stable")[:pool]
        return [names[found[index]] for index in order]

    def _dense(self, vectors: VectorIndex, vector: Vector, pool: int) -> list[str]:
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
        return self._nearest(vector, self._named(self._places_in(self._usable_documents())), pool)

    def _lexical(self, pool: int) -> list[str]:
        expression = self.view.terms.expression(self.question.terms)
        limit = 2 * pool
        while True:
            hits = lexical.search(self.view.ledger.connection, expression, limit=limit)
            places = self.view.ledger.places_at(hits)
            names = {place.key: place.chunk_id for place in places}
            ids = [names[key] for key in hits if key in names]
            usable = self._keep(ids, places)
            if len(usable) >= pool or len(hits) < limit:
                return usable[:pool]
            limit *= 4

    def _usable_documents(self) -> list[str]:
        return [doc_id for doc_id in self.view.catalogue.entries if self.usable(doc_id)]

    def _places_in(self, doc_ids: Iterable[str]) -> list[Placement]:
        """Return the chunks of the versions that answer for the moment."""
        catalogue = self.view.catalogue
        return self.view.ledger.places_in(
            [catalogue.version_at(doc_id, self.as_of).version for doc_id in doc_ids]
        )

    def _keep(self, ids: Sequence[str], places: Iterable[Placement]) -> list[str]:
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
