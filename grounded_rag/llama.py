"""grounded_rag inside LlamaIndex: a retriever and a query engine, made by `GroundedRAG`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from grounded_rag._sync import BackgroundLoop
from grounded_rag.protocols import Query, Retriever
from grounded_rag.types import Answer, Instant, RetrievedChunk
from grounded_rag.validity import today_utc


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
