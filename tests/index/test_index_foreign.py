import asyncio
import datetime as dt
import threading

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from grounded_rag.errors import ManifestError
from grounded_rag.llama import LlamaIndexRetriever, PostprocessorReranker, chunk_of_node
from grounded_rag.protocols import Query, Retriever
from grounded_rag.types import Chunk, RetrievedChunk, Span, Validity

TODAY = dt.date(2026, 11, 29)


def node(node_id, text, *, start=None, end=None, doc_id="doc", **metadata):
    return TextNode(
        id_=node_id,
        text=text,
        metadata=metadata,
        start_char_idx=start,
        end_char_idx=end,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=doc_id)},
    )


class Fixed(BaseRetriever):
    def __init__(self, *nodes):
        super().__init__()
        self.nodes = [
            NodeWithScore(node=node, score=1 / n) for n, node in enumerate(nodes, start=1)
        ]
        self.threads = []

    def _retrieve(self, query_bundle):
        self.threads.append(threading.current_thread())
        return self.nodes


class FixedAsync(Fixed):
    async def _aretrieve(self, query_bundle):
        self.threads.append(threading.current_thread())
        return self.nodes


def ask(retriever, **query):
    return asyncio.run(LlamaIndexRetriever(retriever).retrieve(Query(text="q", **query)))


def test_nodes_become_chunks():
    found = ask(
        Fixed(
            node(
                "n1",
                "Text.",
                start=10,
                end=15,
                file_name="a.md",
                title="A",
                trust="untrusted",
                page_label="3",
                effective_from="2026-01-31",
                valid_until="",
                superseded_by="other",
                when=dt.date(2026, 1, 1),
            )
        )
    )
    assert isinstance(LlamaIndexRetriever(Fixed()), Retriever)
    (hit,) = found
    assert (hit.chunk.id, hit.chunk.doc_id, hit.chunk.text) == ("n1", "doc", "Text.")
    assert (hit.chunk.span, hit.chunk.page) == (Span(start=10, end=15), 3)
    assert (hit.source, hit.title, hit.trust) == ("a.md", "A", "untrusted")
    assert hit.validity == Validity(effective_from=dt.date(2026, 1, 31), superseded_by="other")
    assert hit.metadata["when"] == "2026-01-01"
    assert (hit.rank, hit.score) == (1, 1.0)


@pytest.mark.parametrize(("start", "end"), [(None, None), (10, 99), (3, None)])
def test_offsets_that_do_not_fit_are_not_passed_on(start, end):
    chunk = chunk_of_node(node("n", "Text.", start=start, end=end, page_label="iv")).chunk
    assert chunk.span == Span(start=0, end=5)
    assert chunk.page is None


def test_ambiguous_dates_are_errors_and_not_guesses():
    with pytest.raises(ManifestError):
        ask(Fixed(node("n", "Text.", valid_until="03/04/2020")))


def test_duplicates_are_dropped_filters_apply_and_current_comes_first():
    retriever = Fixed(
        node("old", "Old.", valid_until="2020-01-01", topic="x"),
        node("old", "Old.", valid_until="2020-01-01", topic="x"),
        node("new", "New.", valid_until="2030-01-01", topic="x"),
        node("off", "Off topic.", topic="y"),
        node("more", "More.", topic="x"),
    )
    found = ask(retriever, as_of=TODAY, filters={"topic": "x"}, k=2)
    assert [hit.chunk.id for hit in found] == ["new", "old"]
    assert [hit.rank for hit in found] == [1, 2]
    assert found[0].score >= found[1].score
    assert [hit.chunk.id for hit in ask(retriever)] == ["old", "new", "off", "more"]


def test_blocking_retrievers_run_in_a_thread():
    blocking, asynchronous = Fixed(), FixedAsync()
    ask(blocking)
    ask(asynchronous)
    assert blocking.threads[0] is not threading.main_thread()
    assert asynchronous.threads[0] is threading.main_thread()


def test_postprocessors_rerank():
    chunks = [
        RetrievedChunk(
            chunk=Chunk(
                id=name, doc_id="d", span=Span(start=0, end=1), text=name, content_hash="x"
            ),
            score=score,
            title="Kept",
        )
        for name, score in (("a", 0.9), ("b", 0.1), ("c", 0.8))
    ]

    class Reverse(SimilarityPostprocessor):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            kept = super()._postprocess_nodes(nodes, query_bundle)
            assert query_bundle.query_str == "q"
            made_up = NodeWithScore(node=TextNode(id_="z", text="made up"), score=1.0)
            kept[0].score = 0.5
            return [made_up, *reversed(kept)]

    reranker = PostprocessorReranker(Reverse(similarity_cutoff=0.5))
    found = asyncio.run(reranker.rerank(Query(text="q"), chunks))
    assert [(hit.chunk.id, hit.score, hit.title) for hit in found] == [
        ("c", 0.8, "Kept"),
        ("a", 0.5, "Kept"),
    ]
