"""The adapter for sentence-transformers, against a stand-in with its interface and a real model."""

import sys
import types

import pytest
from tiny_model import tokenizer, write_model

from grounded_rag.errors import ConfigError, MissingExtraError
from grounded_rag.models.nli import PRESETS, CrossEncoderEntailment
from grounded_rag.models.onnx_pairs import OnnxPairModel
from grounded_rag.protocols import EntailmentModel, TextPair

SAME = TextPair(premise="The dam was built in 1962.", hypothesis="The dam was built.")
DENIED = TextPair(premise="The dam is not open to visitors.", hypothesis="The dam is open.")


class Tokenizer:
    """Called as a tokenizer of transformers is."""

    def __init__(self):
        self.own = tokenizer()
        self.own.no_truncation()
        self.own.no_padding()

    def __call__(self, text, pair=None, *, add_special_tokens=True, truncation, verbose):
        assert truncation is False
        if isinstance(text, list):
            found = self.own.encode_batch(text, add_special_tokens=add_special_tokens)
            return {"input_ids": [encoding.ids for encoding in found]}
        return {"input_ids": self.own.encode(text, pair).ids}


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A `sentence_transformers` whose CrossEncoder runs the tiny model."""
    made = []

    class CrossEncoder:
        labels = ("contradiction", "entailment", "neutral")

        def __init__(self, name, **options):
            made.append((name, options))
            if name == "absent/model":
                raise OSError("not in the cache")
            folder = write_model(tmp_path / f"m{len(made)}", labels=self.labels)
            self.own = OnnxPairModel(folder)
            self.config = types.SimpleNamespace(id2label=dict(enumerate(self.labels)))
            self.tokenizer = Tokenizer()
            self.max_seq_length = 32

        def predict(self, inputs, *, batch_size, show_progress_bar, activation_fn):
            assert show_progress_bar is False
            rows = self.own.logits([TextPair(premise=p, hypothesis=h) for p, h in inputs])
            rows = activation_fn(rows)
            return rows[:, 0] if rows.shape[1] == 1 else rows

    module = types.ModuleType("sentence_transformers")
    module.CrossEncoder = CrossEncoder
    nn = types.ModuleType("torch.nn")
    nn.Identity = lambda: lambda rows: rows
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.nn", nn)
    return types.SimpleNamespace(made=made, CrossEncoder=CrossEncoder)


def test_scores_follow_the_models_own_labels(library):
    model = CrossEncoderEntailment()
    same, denied = model.score([SAME, DENIED])
    assert same.entailment > 0.9
    assert denied.contradiction > 0.9
    assert isinstance(model, EntailmentModel)


def test_long_evidence_is_read_in_windows(library):
    filler = "The old bridge is north. " * 12
    pair = TextPair(premise=f"{filler}{SAME.premise} {filler}", hypothesis=SAME.hypothesis)
    assert CrossEncoderEntailment().score([pair])[0].entailment > 0.9


def test_one_column_is_a_logit(library):
    library.CrossEncoder.labels = ("consistent",)
    same, denied = CrossEncoderEntailment("hhem").score([SAME, DENIED])
    assert same.entailment > 0.9
    assert denied.entailment < 0.1


@pytest.mark.parametrize("name", PRESETS)
def test_nothing_is_downloaded_and_no_code_is_run_unless_asked(library, name):
    library.CrossEncoder.labels = PRESETS[name].labels or library.CrossEncoder.labels
    model = CrossEncoderEntailment(name)
    CrossEncoderEntailment(name, download=True)
    (asked, silent), (_, open_) = library.made
    assert asked == PRESETS[name].model
    assert (silent["local_files_only"], open_["local_files_only"]) == (True, False)
    assert silent["trust_remote_code"] is open_["trust_remote_code"] is False
    assert silent["revision"] == PRESETS[name].revision
    assert model.name.startswith(PRESETS[name].model)


def test_a_model_that_is_not_here_names_the_next_step(library):
    with pytest.raises(ConfigError, match="download=True"):
        CrossEncoderEntailment("absent/model")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"grounded-rag\[nli\]"):
        CrossEncoderEntailment()
