"""Reranking by a real, tiny cross-encoder in ONNX."""

import asyncio
import shutil

import pytest
from tiny_model import write_model
from typer.testing import CliRunner

from grounded_rag import CrossEncoder, GroundedRAG
from grounded_rag.cli.app import app
from grounded_rag.config import Policy
from grounded_rag.errors import ConfigError
from grounded_rag.index.reranking import CrossEncoderReranker
from grounded_rag.protocols import Query
from grounded_rag.types import Chunk, RetrievedChunk, Span

TEXTS = ("The tower is old.", "The lake is warm.", "The lake is deep.", "A table and a chair.")


def chunks(texts=TEXTS, **fields):
    return [
        RetrievedChunk(
            chunk=Chunk(
                id=f"c{n}",
                doc_id="d",
                span=Span(start=0, end=len(text)),
                text=text,
                content_hash="",
                headings=fields.get("headings", ()),
            ),
            rank=n,
            score=1 / n,
            title=fields.get("title", ""),
        )
        for n, text in enumerate(texts, start=1)
    ]


def order(reranker, found, question="Is the lake deep?"):
    return asyncio.run(reranker.rerank(Query(text=question), found))


@pytest.mark.parametrize("labels", [("score",), ("not_entailment", "entailment")])
def test_the_passage_that_fits_the_question_comes_first(tmp_path, labels):
    reranker = CrossEncoderReranker(write_model(tmp_path / "m", labels=labels))
    found = order(reranker, chunks())
    assert [chunk.chunk.id for chunk in found] == ["c3", "c2", "c1", "c4"]
    scores = [chunk.score for chunk in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.9
    assert 0 <= scores[-1] < 0.1


def test_only_the_first_candidates_are_read(tmp_path):
    reranker = CrossEncoderReranker(write_model(tmp_path / "m", labels=("score",)), depth=2)
    found = order(reranker, chunks())
    assert [chunk.chunk.id for chunk in found] == ["c2", "c1", "c3", "c4"]
    assert found[2].score == found[1].score


def test_batches_give_the_same_order(tmp_path):
    folder = write_model(tmp_path / "m", labels=("score",))
    one, many = (
        order(CrossEncoderReranker(CrossEncoder(folder, batch_size=size)), chunks(TEXTS * 5))
        for size in (1, 16)
    )
    assert [chunk.chunk.id for chunk in one] == [chunk.chunk.id for chunk in many]


def test_headings_are_read_with_the_passage(tmp_path):
    reranker = CrossEncoderReranker(write_model(tmp_path / "m", labels=("score",)))
    bare = order(reranker, chunks(["Deep."]), "Is the lake deep?")
    told = order(reranker, chunks(["Deep."], title="The tower", headings=("Garden",)))
    assert told[0].score < bare[0].score


def test_nothing_to_order(tmp_path):
    reranker = CrossEncoderReranker(write_model(tmp_path / "m", labels=("score",)))
    assert order(reranker, []) == []
    assert reranker.name.startswith("m@")


def test_an_entailment_model_is_no_reranker(tmp_path):
    with pytest.raises(ConfigError, match="relevance") as caught:
        CrossEncoderReranker(write_model(tmp_path / "m"))
    assert "entailment=" in caught.value.hint
    nameless = write_model(tmp_path / "n", config={"id2label": None})
    with pytest.raises(ConfigError, match="3 columns"):
        order(CrossEncoderReranker(nameless), chunks())


def test_a_depth_of_none_and_a_missing_file_are_told(tmp_path):
    folder = write_model(tmp_path / "m", labels=("score",))
    with pytest.raises(ConfigError, match="0 candidates"):
        CrossEncoderReranker(folder, depth=0)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ConfigError, match=r"tokenizer\.json"):
        CrossEncoderReranker(folder)
    shutil.rmtree(folder)
    with pytest.raises(ConfigError, match="no model folder"):
        CrossEncoderReranker(folder)


@pytest.fixture
def lakes(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in (("deep", "The lake is deep."), ("warm", "The lake is deep in the north.")):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_is_all_that_an_index_needs(tmp_path, lakes):
    model = write_model(tmp_path / "m", labels=("score",))
    question = "Is the lake deep in the north?"
    found = {}
    for reranker in (None, model):
        with GroundedRAG.from_corpus(
            lakes, index=tmp_path / "index", embedding=None, reranker=reranker
        ) as rag:
            nodes = rag.as_retriever().retrieve(question)
            found[reranker] = [round(node.score, 3) for node in nodes]
    assert found[None] != found[model]


def test_a_broken_folder_is_told_and_the_index_closed(tmp_path, lakes):
    index = tmp_path / "index"
    GroundedRAG.from_corpus(lakes, index=index, embedding=None).close()
    with pytest.raises(ConfigError, match="no model folder"):
        GroundedRAG.open(index, embedding=None, reranker=tmp_path / "none")


class Fixed:
    """A retriever of the user's own, which knows nothing of rerankers."""

    def __init__(self):
        self.asked = []

    async def retrieve(self, query):
        self.asked.append(query)
        return chunks()[: query.k]


class Backwards:
    async def rerank(self, query, chunks):
        return list(reversed(chunks))


def ids(rag):
    nodes = rag.as_retriever().retrieve("Is the lake deep?")
    return [node.node.node_id for node in nodes]


def test_a_retriever_of_ones_own_can_be_reranked(tmp_path):
    folder = write_model(tmp_path / "m", labels=("score",))
    for choice in (folder, str(folder), CrossEncoder(folder), CrossEncoderReranker(folder)):
        own = Fixed()
        with GroundedRAG(own, reranker=choice, policy=Policy(k=2)) as rag:
            assert ids(rag) == ["c3", "c2"]
        # More is asked for than is wanted, or there would be nothing to choose from.
        assert [query.k for query in own.asked] == [30]


def test_several_rerankers_are_applied_in_turn(tmp_path):
    folder = write_model(tmp_path / "m", labels=("score",))
    with GroundedRAG(Fixed(), reranker=[folder, Backwards()]) as rag:
        assert ids(rag) == ["c4", "c1", "c2", "c3"]
        scores = [node.score for node in rag.as_retriever().retrieve("Is the lake deep?")]
        assert scores == sorted(scores, reverse=True)
    with GroundedRAG(Fixed(), reranker=[Backwards(), folder]) as rag:
        assert ids(rag)[:2] == ["c3", "c2"]


@pytest.mark.parametrize("wrong", [Backwards, object(), ["nowhere"], lambda query, found: found])
def test_what_is_no_reranker_is_refused(wrong):
    with pytest.raises(ConfigError):
        GroundedRAG(Fixed(), reranker=wrong)


def test_the_model_says_how_relevant_each_text_is(tmp_path):
    model = CrossEncoder(write_model(tmp_path / "m", labels=("score",)))
    scores = model.scores("Is the lake deep?", TEXTS)
    assert max(scores) == scores[TEXTS.index("The lake is deep.")]
    assert all(0 <= score <= 1 for score in scores)
    assert model.scores("Is the lake deep?", []) == []


def test_the_command_takes_a_folder(tmp_path, lakes):
    index = tmp_path / "index"
    GroundedRAG.from_corpus(lakes, index=index, embedding=None).close()
    model = write_model(tmp_path / "m", labels=("score",))
    told = ["ask", "Is the lake deep?", "--index", str(index), "--settings"]
    assert CliRunner().invoke(app, [*told, f"rag.reranker={model}"]).exit_code == 0
    missing = CliRunner().invoke(app, [*told, f"rag.reranker={tmp_path / 'none'}"])
    assert missing.exit_code == 1
    assert "no model folder" in missing.output
