"""Finding candidates in one view of an index: dense and lexical rankings of usable chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import JsonValue

from grounded_rag.index import lexical
from grounded_rag.index.arrays import Vector, cosine
from grounded_rag.index.filters import matches
from grounded_rag.index.fusion import Ranking
from grounded_rag.index.ledger import Place
from grounded_rag.index.reading import View
from grounded_rag.types import Instant

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
