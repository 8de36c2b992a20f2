"""The pair model on a real, tiny ONNX cross-encoder."""

import json
import shutil

import numpy as np
import pytest
from tiny_model import write_model

from grounded_rag.errors import ConfigError
from grounded_rag.models.onnx_pairs import OnnxPairModel
from grounded_rag.protocols import TextPair

SAME = TextPair(premise="The dam was built in 1962.", hypothesis="The dam was built.")
DENIED = TextPair(premise="The dam is not open to visitors.", hypothesis="The dam is open.")
OTHER = TextPair(premise="The river is cold.", hypothesis="The dam is open.")


def test_logits_tell_pairs_apart(tiny):
    rows = OnnxPairModel(tiny).logits([SAME, DENIED, OTHER])
    assert rows.shape == (3, 3)
    assert rows.dtype == np.float32
    assert list(rows.argmax(axis=1)) == [0, 2, 1]


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_order_and_values_do_not_hang_on_batches_and_padding(tiny, batch_size):
    long = TextPair(premise="The old red bridge is north of the deep cold lake.", hypothesis="dam")
    pairs = [long, SAME, OTHER, DENIED, long, SAME]
    alone = np.concatenate([OnnxPairModel(tiny).logits([pair]) for pair in pairs])
    assert np.allclose(OnnxPairModel(tiny, batch_size=batch_size).logits(pairs), alone)


def test_limits_inside_the_tokenizers_file_do_not_hold(tiny):
    # The file cuts at 8 tokens; the model's own window is 32.
    pair = TextPair(
        premise="the river in the valley is deep and cold", hypothesis="deep cold river"
    )
    assert OnnxPairModel(tiny).logits([pair]).argmax() == 0


def test_what_is_beyond_the_window_is_cut_not_an_error(tiny):
    pair = TextPair(premise="lake " * 60 + "dam", hypothesis="dam")
    assert OnnxPairModel(tiny).logits([pair]).argmax() == 1


def test_no_pairs_give_no_rows(tiny):
    assert OnnxPairModel(tiny).logits([]).shape == (0, 3)


def test_a_lone_surrogate_is_no_error(tiny):
    rows = OnnxPairModel(tiny).logits([TextPair(premise="dam \ud800", hypothesis="dam")])
    assert rows.argmax() == 0


def test_labels_and_window_come_from_the_config(tmp_path):
    folder = write_model(tmp_path / "m", labels=("contradiction", "entailment", "neutral"))
    model = OnnxPairModel(folder)
    assert model.labels == ("contradiction", "entailment", "neutral")
    assert model.max_length == 32
    assert model.room("the dam") == 32 - 5
    assert model.count_tokens(["the dam", "lake " * 40]) == [2, 40]


def test_roberta_loses_its_offset_positions(tmp_path):
    folder = write_model(
        tmp_path / "m", config={"model_type": "roberta", "pad_token_id": 1}, max_length=34
    )
    assert OnnxPairModel(folder).max_length == 32


def test_the_tokenizers_own_limit_counts_unless_it_is_absurd(tmp_path):
    folder = write_model(tmp_path / "m")
    about = folder / "tokenizer_config.json"
    about.write_text(json.dumps({"model_max_length": 16}), encoding="utf-8")
    assert OnnxPairModel(folder).max_length == 16
    about.write_text(json.dumps({"model_max_length": 1e30}), encoding="utf-8")
    assert OnnxPairModel(folder).max_length == 32


def test_weights_are_found_where_exports_put_them(tmp_path):
    folder = write_model(tmp_path / "m", name="onnx/model.onnx")
    assert OnnxPairModel(folder).logits([SAME]).argmax() == 0


def test_the_name_tells_one_model_from_another(tmp_path, tiny):
    other = write_model(tmp_path / tiny.name, labels=("neutral", "entailment", "contradiction"))
    first, second = OnnxPairModel(tiny).name, OnnxPairModel(other).name
    assert first.startswith("tiny-nli@")
    assert first != second
    assert OnnxPairModel(tiny).name == first


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named_with_the_next_step(tiny, tmp_path, missing):
    folder = tmp_path / "m"
    shutil.copytree(tiny, folder)
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=missing) as caught:
        OnnxPairModel(folder)
    assert caught.value.hint


def test_a_missing_folder_says_that_nothing_is_downloaded(tmp_path):
    with pytest.raises(ConfigError, match="nothing is downloaded"):
        OnnxPairModel(tmp_path / "nowhere")


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_broken_file_is_named(tiny, tmp_path, broken):
    folder = tmp_path / "m"
    shutil.copytree(tiny, folder)
    (folder / broken).write_bytes(b"{]")
    with pytest.raises(ConfigError, match=broken):
        OnnxPairModel(folder)


def test_a_window_too_small_for_any_pair_is_refused(tiny):
    with pytest.raises(ConfigError, match="too small"):
        OnnxPairModel(tiny, max_length=3)
