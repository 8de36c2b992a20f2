"""Embedding, retrieval and the one great assertion for tests of the index."""

import asyncio

from index_documents import DIMENSION, cut, vector_of
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import Field

from grounded_rag.index.retrieval import HybridRetriever
from grounded_rag.protocols import Query


class TextEmbedding(BaseEmbedding):
    """A random unit vector for every text, the same in every process; counts what it embeds."""

    model_name: str = "text-embedding"
    dimension: int = DIMENSION
    embedded: list[str] = Field(default_factory=list)

    def _get_text_embedding(self, text):
        self.embedded.append(text)
        return vector_of(text)

    def _get_query_embedding(self, query):
        return vector_of(query)

    async def _aget_query_embedding(self, query):
        raise AssertionError("the query is embedded in a thread")


def retrieve(index, embedding, text, *, k=5, as_of=None, filters=None, **options):
    retriever = HybridRetriever(index, embedding=embedding, **options)
    query = Query(text=text, k=k, as_of=as_of, filters=filters or {})
    return asyncio.run(retriever.retrieve(query))


def texts(chunks):
    return [chunk.chunk.text for chunk in chunks]


def assert_whole(index, embedding):
    """Every live chunk is found by its own text, and nothing but live chunks is found."""
    live = {}
    for doc_id in index.states():
        live.update({chunk.id: chunk for chunk in cut(index.document(doc_id))})

    async def check():
        for signals in ("dense", "lexical"):
            retriever = HybridRetriever(index, embedding=embedding, signals=signals)
            for chunk_id, chunk in live.items():
                found = await retriever.retrieve(Query(text=chunk.text, k=3))
                ids = [hit.chunk.id for hit in found]
                assert chunk_id in ids, (signals, chunk.text, texts(found))
                assert all(hit.chunk == live.get(hit.chunk.id) for hit in found)

    asyncio.run(check())
