"""Hybrid retrieval: dense, BM25 and word pieces, fused by rank; what holds today comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import anyio.to_thread

from grounded_rag.errors import ConfigError
from grounded_rag.index.lexical import corrected, query_terms
from grounded_rag.index.opening import check_identity
from grounded_rag.index.records import as_rows, identity_of
from grounded_rag.index.reranking import Reranker, pool_of
from grounded_rag.index.search import (
    EncodedQuestion,
    Fused,
    ViewSearch,
    arrange,
    fuse,
    ranked,
)
from grounded_rag.index.store import Index
from grounded_rag.models.sentence_cache import TokenEmbedding
from grounded_rag.plugins import check_part
from grounded_rag.protocols import Query
from grounded_rag.text.sentences import question_parts
from grounded_rag.types import Instant, RetrievedChunk

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

Signals = Literal["fused", "dense", "lexical"]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Chunks by relevance, with what `arrange` needs to know to put them into their last order."""

    chunks: tuple[RetrievedChunk, ...]
    successors: dict[str, str]
    outdated: frozenset[str]


class HybridRetriever:
    """Finds chunks of an index by meaning and by words.

    Currency counts only where the query names a moment. Then the version of a document that had
    taken effect by then answers for it; a superseded hit brings the chunk of its successor along,
    ranked before it; and what does not hold is ranked behind what does, or left out.
    """

    def __init__(
        self,
        index: Index,
        *,
        embedding: BaseEmbedding | None = None,
        rerankers: Sequence[Reranker] = (),
        stale: Literal["flag", "exclude"] = "flag",
        signals: Signals = "fused",
    ) -> None:
        """Set up retrieval over an open index.

        Args:
            index: The index; it stays the caller's to close.
            embedding: Model of the question's vector; None searches words only.
            rerankers: Applied one after the other to the candidates.
            stale: Whether what does not hold is ranked behind (`flag`) or left out (`exclude`).
            signals: Which signals to use, for measuring them apart.

        Raises:
            IndexMismatchError: The index was made by another model, or without one.
            ConfigError: Only the dense signal is wanted, and there is no embedding; or a reranker
                is none.
        """
        if embedding is not None:
            check_identity(index.folder, index.identity, identity_of(embedding))
        elif signals == "dense":
            raise ConfigError(
                "Dense retrieval needs an embedding.", hint="Pass embedding=, or signals='lexical'."
            )
        for reranker in rerankers:
            check_part(reranker, "reranker")
        self._index = index
        self._embedding = None if signals == "lexical" else embedding
        self._rerankers = tuple(rerankers)
        self._only_current = stale == "exclude"
        self._words = signals != "dense"

    @property
    def lexical_only(self) -> bool:
        """Whether results rest on words alone, to be announced."""
        return self._embedding is None

    async def retrieve(self, query: Query) -> list[RetrievedChunk]:
        """Return at most `query.k` chunks, best first, ranks from 1."""
        pool = pool_of(query.k)
        # Model, SQLite and Chroma all block: none of them may hold up the event loop.
        found = await anyio.to_thread.run_sync(self._candidates, query, pool)
        chunks: Sequence[RetrievedChunk] = found.chunks
        for reranker in self._rerankers:
            chunks = await reranker.rerank(query, chunks)
        by_id = {chunk.chunk.id: chunk for chunk in found.chunks}
        by_id.update({chunk.chunk.id: chunk for chunk in chunks})
        order = arrange(
            [chunk.chunk.id for chunk in chunks],
            successors=found.successors,
            outdated=found.outdated,
            k=query.k,
        )
        return ranked([by_id[chunk_id] for chunk_id in order])

    def _candidates(self, query: Query, pool: int) -> Candidates:
        with self._index.view() as view:
            wordings = [corrected(text, view.vocabulary) for text in _wordings(query.text)]
            added = [view.other_names.of(wording) for wording in wordings]
        questions = [
            self._question(f"{wording} ({', '.join(names)})" if names else wording)
            for wording, names in zip(wordings, added, strict=True)
        ]
        with self._index.view() as view:
            search = ViewSearch(
                view=view,
                question=questions[0],
                as_of=query.as_of,
                filters=query.filters,
                only_current=self._only_current and query.as_of is not None,
            )
            rankings = search.everywhere(pool=pool)
            for question in questions[1:]:
                rankings += replace(search, question=question).everywhere(pool=pool)
            fused = fuse(rankings)
            kept = fused if self._rerankers else fused[: query.k]
            return self._with_successors(search, kept)

    def _question(self, wording: str) -> EncodedQuestion:
        terms = query_terms(wording) if self._words else ()
        if self._embedding is None:
            return EncodedQuestion(None, terms)
        pieces = None
        found: Any
        if self._words and isinstance(self._embedding, TokenEmbedding):
            # One run of the model gives both.
            (pieces,) = self._embedding.token_vectors([wording])
            found = pieces.mean
        else:
            found = self._embedding.get_query_embedding(wording)
        identity = self._index.identity
        vector = as_rows([found], dimension=identity.dimension if identity else None)[0]
        return EncodedQuestion(vector, terms, pieces)

    def _with_successors(self, search: ViewSearch, fused: Sequence[Fused]) -> Candidates:
        successors = {} if search.as_of is None else self._successors(search, fused, search.as_of)
        named = {item.chunk_id: item for item in fused}
        order: dict[str, Fused] = {}
        for item in fused:
            following = successors.get(item.chunk_id)
            if following is not None:
                known = named.get(following)
                sources = () if known is None else known.sources
                order.setdefault(following, Fused(following, item.score, (*sources, "successor")))
            order.setdefault(item.chunk_id, item)
        chunks = tuple(_retrieved(search, item) for item in order.values())
        outdated = frozenset(
            chunk.chunk.id
            for chunk in chunks
            if not search.view.catalogue.is_current(chunk.chunk.doc_id, search.as_of)
        )
        return Candidates(chunks, successors, outdated)

    def _successors(
        self, search: ViewSearch, fused: Sequence[Fused], as_of: Instant
    ) -> dict[str, str]:
        """Pair the n-th hit of a superseded document with the n-th best chunk of its successor."""
        best: dict[str, list[str]] = {}
        used: dict[str, int] = {}
        pairs: dict[str, str] = {}
        for item in fused:
            doc_id = search.places[item.chunk_id].doc_id
            successor = search.view.catalogue.successor(doc_id, as_of)
            if successor is None or not search.usable(successor):
                continue
            if successor not in best:
                rankings = search.in_document(successor, pool=len(fused))
                ranked_ids = [found.chunk_id for found in fuse(rankings)]
                # It belongs there even where it shares no word with the question.
                best[successor] = ranked_ids or search.ids_in(successor)[:1]
            rank = used.get(doc_id, 0)
            used[doc_id] = rank + 1
            if rank < len(best[successor]):
                pairs[item.chunk_id] = best[successor][rank]
        return pairs


def _wordings(question: str) -> list[str]:
    """Return the question and, where it asks several things, each of its parts."""
    parts = question_parts(question)
    return [question, *(part.of(question) for part in parts if len(parts) > 1)]


def _retrieved(search: ViewSearch, item: Fused) -> RetrievedChunk:
    place = search.places[item.chunk_id]
    stored = search.view.ledger.placement(place.version, place.ordinal)
    entry = search.view.catalogue.entries[place.doc_id]
    return RetrievedChunk(
        chunk=stored.chunk,
        score=item.score,
        source=entry.source,
        title=entry.title,
        validity=search.view.catalogue.validity_at(place.doc_id, search.as_of),
        trust=entry.trust,
        document_hash=stored.document_hash,
        page_spans=stored.page_spans,
        sources=item.sources,
        metadata=entry.metadata,
    )
