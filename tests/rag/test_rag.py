"""The facade over real files: open, ask, hooks, LlamaIndex bridges."""

import asyncio

import pytest
from llama_index.core.base.response.schema import Response

import grounded_rag
from grounded_rag import CitationsGenerator, GroundedRAG, Policy, StructuredGenerator
from grounded_rag.errors import ConfigError, PromptError
from grounded_rag.resources import default_refusal, prompts_dir
from grounded_rag.testing import (
    HashEmbedding,
    ScriptedGenerator,
    StaticRetriever,
    assert_grounded,
    make_draft,
)
from grounded_rag.types import Draft

TEXT = "The notice period is six weeks. It begins at the end of the month."
GOOD = ("The notice period is six weeks.", "c1", "The notice period is six weeks.")


@pytest.fixture
def handbook(tmp_path):
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leaving.md").write_text(
        "# Leaving\n\nThe notice period is six weeks. Return your badge on the last day.\n",
        encoding="utf-8",
    )
    (folder / "food.md").write_text(
        "# Canteen\n\nLunch is served from 12:00 to 14:00.\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def rag(handbook, tmp_path):
    with GroundedRAG.from_corpus(
        handbook, index=tmp_path / "index", embedding=HashEmbedding()
    ) as opened:
        yield opened


def scripted(*script, **options):
    return GroundedRAG(
        StaticRetriever({"c1": TEXT}), generator=ScriptedGenerator(*script), **options
    )


def test_a_folder_is_asked_and_the_quote_is_where_it_says(rag, handbook):
    answer = rag.query("How long is the notice period?")
    assert answer.answered, answer.refusal
    assert_grounded(answer)
    (place,) = answer.claims[0].located
    text = (handbook / "leaving.md").read_text(encoding="utf-8")
    assert place.document_span.of(text) == place.quote == "The notice period is six weeks."
    assert answer.evidence[0].source == "leaving.md"


def test_what_the_folder_does_not_say_is_refused(rag):
    answer = rag.query("Who painted the ceiling of the opera?")
    assert answer.text == default_refusal()
    assert answer.refusal.next_step


def test_a_temporary_index_is_deleted_by_close(handbook):
    rag = GroundedRAG.from_corpus(handbook, embedding=HashEmbedding())
    folder = rag._index.path
    assert folder.exists()
    rag.close()
    assert not folder.exists()


def test_ingest_while_open_is_seen_by_the_next_question(rag, handbook):
    (handbook / "parking.md").write_text(
        "# Parking\n\nA parking permit costs 15 euros a month.\n", encoding="utf-8"
    )
    assert rag.ingest(handbook).added == ("parking.md",)
    answer = rag.query("What does a parking permit cost?")
    assert answer.answered, answer.refusal
    assert answer.claims[0].located[0].doc_id == "parking.md"


def test_blocking_and_async_calls_give_the_same_answer():
    timeless = {"timings"}
    blocking = scripted(make_draft(GOOD)).query("How long is the notice?", as_of="2026-01-01")
    waiting = asyncio.run(
        scripted(make_draft(GOOD)).aquery("How long is the notice?", as_of="2026-01-01")
    )
    assert blocking.model_dump(exclude=timeless) == waiting.model_dump(exclude=timeless)


def test_hooks_get_refused_and_flagged_answers():
    refused, review = [], []
    rag = scripted(make_draft(GOOD), Draft(), on_refusal=refused.append, on_review=review.append)
    flagged = rag.query("How long is the notice?")
    declined = rag.query("Who painted it?")
    rag.close()
    assert review == [flagged]
    assert [flag.kind for flag in flagged.flags] == ["undated"]
    assert refused == [declined]


def test_the_refusal_string_is_one_and_can_be_replaced():
    rag = scripted(Draft(), refusal="Dazu steht hier nichts.")
    assert rag.query("Who?").text == "Dazu steht hier nichts."
    verification = rag.verify({"answer": "Dazu steht hier nichts.", "claims": []}, [])
    assert verification.outcome == "refused"
    rag.close()


def test_a_retriever_alone_has_no_index():
    with scripted() as rag, pytest.raises(ConfigError, match="needs an index"):
        rag.status()


@pytest.mark.parametrize(
    "options", [{"generatr": "extractive"}, {"generator": "claude"}, {"refusal": "  "}]
)
def test_options_that_do_not_fit_are_refused_with_a_hint(options):
    with pytest.raises(ConfigError) as error:
        GroundedRAG(StaticRetriever({}), **options)
    assert error.value.hint


def test_a_prompts_folder_without_the_citation_rule_is_refused(tmp_path):
    for source in prompts_dir().iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / "answer.md").write_text("<!-- version 1 -->\nJust answer.\n", encoding="utf-8")
    with pytest.raises(PromptError):
        GroundedRAG(StaticRetriever({}), prompts=tmp_path)


def test_the_fingerprint_names_policy_and_refusal():
    base = scripted(Draft()).query("Who?").fingerprint
    assert scripted(Draft()).query("Who?").fingerprint == base
    assert scripted(Draft(), policy=Policy(k=3)).query("Who?").fingerprint != base
    assert scripted(Draft(), refusal="No.").query("Who?").fingerprint != base


def test_the_fingerprint_covers_the_prompts_of_a_generator_that_is_handed_over(tmp_path):
    for source in prompts_dir().iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    with (tmp_path / "answer.md").open("a", encoding="utf-8") as file:
        file.write("\nBe brief.\n")
    made = (
        StructuredGenerator("openai/x"),
        StructuredGenerator("openai/x", quote_mode="label"),
        StructuredGenerator("openai/x", prompts=tmp_path),
        CitationsGenerator(),
    )

    def fingerprint(**options):
        with GroundedRAG(StaticRetriever({}), **options) as rag:
            return rag._parts.fingerprint

    prints = [fingerprint(generator=generator) for generator in made]
    assert len(set(prints)) == len(made)
    assert prints[0] == fingerprint(generator="openai/x"), "the same as by its name"
    assert prints[1] == fingerprint(generator="openai/x", quote_mode="label")
    assert prints[2] == fingerprint(generator="openai/x", prompts=tmp_path)


def test_llama_index_retriever_gives_exact_offsets(rag, handbook):
    nodes = rag.as_retriever().retrieve("notice period")
    assert nodes
    for item in nodes:
        text = (handbook / item.node.metadata["source"]).read_text(encoding="utf-8")
        assert text[item.node.start_char_idx : item.node.end_char_idx] == item.node.text


def test_llama_index_query_engine_returns_the_verified_answer(rag):
    response = rag.as_query_engine(as_of="2026-01-01").query("How long is the notice period?")
    assert isinstance(response, Response)
    assert "six weeks" in response.response
    assert response.metadata["grounded_answer"]["status"] == "answered"
    assert response.metadata["grounded_claims"] == [
        {"text": "The notice period is six weeks.", "tier": "verbatim", "restated": False}
    ]
    assert response.source_nodes[0].node.metadata["doc_id"] == "leaving.md"


def test_the_public_namespace_is_flat_sorted_and_whole():
    assert grounded_rag.__all__ == sorted(grounded_rag.__all__)
    for name in grounded_rag.__all__:
        assert getattr(grounded_rag, name) is not None
    with pytest.raises(AttributeError):
        grounded_rag.nothing  # noqa: B018
