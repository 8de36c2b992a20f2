"""grounded_rag inside LlamaIndex: a retriever and a query engine, made by `GroundedRAG`."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from pydantic import JsonValue, TypeAdapter, ValidationError

from grounded_rag._sync import BackgroundLoop
from grounded_rag.answer import Answer
from grounded_rag.index.search import arrange, carries, ranked
from grounded_rag.ingest.metadata import DATE_KEYS, TRUST_LEVELS
from grounded_rag.plugins import must_have
from grounded_rag.protocols import Query, Retriever
from grounded_rag.types import Chunk, Instant, RetrievedChunk, Span, Validity
from grounded_rag.validity import current, parse_instant, today_utc

if TYPE_CHECKING:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode


_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_SOURCE_KEYS = ("source", "file_path", "file_name", "url")


class LlamaIndexRetriever:
    """Any LlamaIndex retriever as a Retriever.

    Ids are node ids, offsets are the nodes' own where they fit the text. Dates are read from the
    metadata keys of `Validity`; "" means unknown. Filters are applied to what was found.
    """

    def __init__(self, retriever: BaseRetriever) -> None:
        must_have(retriever, "LlamaIndex retriever", "aretrieve", "Give `index.as_retriever()`.")
        self._retriever = retriever

    async def retrieve(self, query: Query) -> list[RetrievedChunk]:
        """Return at most `query.k` chunks, best first, ranks from 1.

        Raises:
            ManifestError: A date in the metadata cannot be read; ambiguity is never guessed away.
        """
        found: dict[str, RetrievedChunk] = {}
        for item in await self._nodes(query.text):
            chunk = chunk_of_node(item.node, score=item.score)
            fields: dict[str, JsonValue] = {
                **chunk.metadata,
                "doc_id": chunk.chunk.doc_id,
                "source": chunk.source,
                "title": chunk.title,
                "trust": chunk.trust,
            }
            if carries(fields, query.filters):
                found.setdefault(chunk.chunk.id, chunk)
        outdated = [
            chunk_id
            for chunk_id, chunk in found.items()
            if query.as_of is not None and not current(chunk.validity, as_of=query.as_of)
        ]
        order = arrange(list(found), successors={}, outdated=outdated, k=query.k)
        return ranked([found[chunk_id] for chunk_id in order])

    async def _nodes(self, text: str) -> list[NodeWithScore]:
        # Without an asynchronous method of its own it would block the event loop.
        if type(self._retriever)._aretrieve is BaseRetriever._aretrieve:
            return await anyio.to_thread.run_sync(self._retriever.retrieve, text)
        return await self._retriever.aretrieve(text)


class PostprocessorReranker:
    """Any LlamaIndex node postprocessor as a Reranker."""

    def __init__(self, postprocessor: BaseNodePostprocessor) -> None:
        self._postprocessor = postprocessor

    async def rerank(self, query: Query, chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
        """Return what the postprocessor kept, in its order; nodes it made up are left out."""
        nodes = [
            NodeWithScore(
                node=TextNode(id_=chunk.chunk.id, text=chunk.chunk.text), score=chunk.score
            )
            for chunk in chunks
        ]
        by_id = {chunk.chunk.id: chunk for chunk in chunks}
        kept = await anyio.to_thread.run_sync(
            lambda: self._postprocessor.postprocess_nodes(nodes, query_str=query.text)
        )
        order = {item.node.node_id: item.score for item in kept if item.node.node_id in by_id}
        return [
            by_id[chunk_id].model_copy(update={} if score is None else {"score": float(score)})
            for chunk_id, score in order.items()
        ]


def chunk_of_node(node: BaseNode, *, score: float | None = None) -> RetrievedChunk:
    """Return a LlamaIndex node, without the metadata in its text, as a retrieved chunk."""
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    metadata = {str(key): _plain(value) for key, value in node.metadata.items()}
    doc_id = node.ref_doc_id or _text(metadata, "doc_id") or node.node_id
    trust = _text(metadata, "trust")
    start = getattr(node, "start_char_idx", None)
    end = getattr(node, "end_char_idx", None)
    # LlamaIndex searches for offsets: they may be missing, or belong to a text it has changed.
    placed = isinstance(start, int) and isinstance(end, int) and end - start == len(text)
    begin = start if placed and isinstance(start, int) else 0
    return RetrievedChunk(
        chunk=Chunk(
            id=node.node_id,
            doc_id=doc_id,
            span=Span(start=begin, end=begin + len(text)),
            text=text,
            content_hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            page=_page(metadata),
        ),
        score=score or 0.0,
        source=next((v for v in (_text(metadata, k) for k in _SOURCE_KEYS) if v), doc_id),
        title=_text(metadata, "title"),
        validity=Validity(
            superseded_by=_text(metadata, "superseded_by") or None,
            **{key: parse_instant(metadata.get(key)) for key in DATE_KEYS},
        ),
        trust=trust if trust in TRUST_LEVELS else "official",
        sources=("llama_index",),
        metadata=metadata,
    )


def _plain(value: Any) -> JsonValue:
    try:
        return _JSON.validate_python(value, strict=True)
    except ValidationError:
        return str(value)


def _text(metadata: Mapping[str, JsonValue], key: str) -> str:
    value = metadata.get(key)
    return "" if value is None else str(value)


def _page(metadata: Mapping[str, JsonValue]) -> int | None:
    # Labels such as "iv" are not numbers of pages.
    value = _text(metadata, "page") or _text(metadata, "page_label")
    return int(value) if value.isascii() and value.isdigit() and int(value) > 0 else None


def to_node(chunk: RetrievedChunk) -> NodeWithScore:
    """Return a retrieved chunk as a LlamaIndex node.

    The node's id is the chunk id; its character offsets are the exact ones of the document;
    bookkeeping stays out of the text that a model or an embedding would see.
    """
    metadata: dict[str, Any] = {
        **chunk.metadata,
        "doc_id": chunk.chunk.doc_id,
        "source": chunk.source,
        "title": chunk.title,
        "headings": " / ".join(chunk.chunk.headings),
        "page": chunk.chunk.page,
        "trust": chunk.trust,
        **chunk.validity.model_dump(mode="json", exclude_none=True),
    }
    hidden = [key for key in metadata if key not in ("title", "headings")]
    node = TextNode(
        id_=chunk.chunk.id,
        text=chunk.chunk.text,
        start_char_idx=chunk.chunk.span.start,
        end_char_idx=chunk.chunk.span.end,
        metadata=metadata,
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=chunk.score)


class GroundedRetriever(BaseRetriever):
    """A LlamaIndex retriever over a grounded_rag one."""

    def __init__(
        self, retriever: Retriever, *, k: int, as_of: Instant | None, loop: BackgroundLoop
    ) -> None:
        self._retriever = retriever
        self._k = k
        self._as_of = as_of
        self._loop = loop
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._loop.run(partial(self._aretrieve, query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        as_of = self._as_of or today_utc()
        query = Query(text=query_bundle.query_str, k=self._k, as_of=as_of)
        return [to_node(chunk) for chunk in await self._retriever.retrieve(query)]


class GroundedQueryEngine(BaseQueryEngine):
    """A LlamaIndex query engine whose responses are verified answers.

    The response's text is `Answer.text`, its source nodes are the cited chunks, and its metadata
    holds the whole answer under "grounded_answer", as JSON values without the trace, and under
    "grounded_claims" each sentence with its tier of support and whether it is restated, that is in
    the source's own words in the place of a sentence that nothing had shown.
    """

    def __init__(self, ask: Callable[[str], Awaitable[Answer]], *, loop: BackgroundLoop) -> None:
        self._ask = ask
        self._loop = loop
        super().__init__(callback_manager=None)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._loop.run(partial(self._aquery, query_bundle))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        answer = await self._ask(query_bundle.query_str)
        return Response(
            response=answer.text,
            source_nodes=[to_node(chunk) for chunk in answer.evidence],
            metadata={
                "grounded_answer": answer.model_dump(mode="json"),
                "grounded_claims": [
                    {
                        "text": verdict.text,
                        "tier": verdict.tier.value,
                        "restated": verdict.restated,
                    }
                    for verdict in answer.claims
                ],
            },
        )

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}
