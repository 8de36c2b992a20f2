"""Entailment by sentence-transformers' `CrossEncoder`, for users who have its models already."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grounded_rag.errors import ConfigError, MissingExtraError
from grounded_rag.models.entailment import PairEntailment, given_labels
from grounded_rag.models.onnx_pairs import Logits
from grounded_rag.protocols import TextPair

_DEFAULT_WINDOW = 512
_SANE_WINDOW = 100_000


class Preset(NamedTuple):
    """A model by a short name."""

    model: str  # Its name on the model hub
    revision: str | None = None  # Branch or commit
    labels: tuple[str, ...] | None = None  # What its columns say, where its config does not say it


PRESETS = {
    "nli-deberta": Preset("cross-encoder/nli-deberta-v3-base"),
    # Later versions of HHEM run code of their own from the hub; this one is weights only.
    "hhem": Preset("vectara/hallucination_evaluation_model", "hhem-1.0-open", ("consistent",)),
    "minicheck": Preset("lytang/MiniCheck-RoBERTa-Large", labels=("unsupported", "supported")),
}
"""Models that may be named shortly."""


class CrossEncoderEntailment(PairEntailment):
    """An `EntailmentModel` on sentence-transformers (extra `nli`).

    Only files that are on this machine are read, unless `download=True` asks for more. Code that
    comes with a model is never run.
    """

    def __init__(
        self,
        name_or_path: str | Path = "nli-deberta",
        *,
        download: bool = False,
        revision: str | None = None,
        labels: Sequence[str] | None = None,
        device: str | None = None,
        batch_size: int = 16,
    ) -> None:
        """Load the model.

        Args:
            name_or_path: "nli-deberta", "hhem", "minicheck", a name on the model hub, or a folder.
            download: Whether files that are missing may be fetched from the model hub.
            revision: Branch or commit on the hub.
            labels: What the columns say, in order, where the config does not say it.
            device: Where it runs, such as "cpu" or "cuda"; None lets the library choose.
            batch_size: Most pairs in one run of the model.

        Raises:
            MissingExtraError: sentence-transformers is not installed.
            ConfigError: The model is not on this machine, or its labels do not say it.
        """
        preset = PRESETS.get(str(name_or_path), Preset(str(name_or_path)))
        revision = revision or preset.revision
        pairs = _TorchPairs(
            _load(preset.model, revision=revision, download=download, device=device), batch_size
        )
        version = f"@{revision}" if revision else ""
        super().__init__(
            pairs,
            name=preset.model + version + given_labels(labels),
            labels=labels or preset.labels or pairs.labels,
        )


def _load(name: str, *, revision: str | None, download: bool, device: str | None) -> Any:
    try:
        library: Any = importlib.import_module("sentence_transformers")
    except ImportError:
        raise MissingExtraError(
            "sentence-transformers is not installed.",
            hint='Install it: pip install "grounded-rag[nli]", or use an ONNX model from a folder '
            "(OnnxEntailment), which needs nothing more.",
        ) from None
    try:
        return library.CrossEncoder(
            name,
            revision=revision,
            local_files_only=not download,
            device=device,
            trust_remote_code=False,
        )
    except (OSError, ValueError) as error:
        words = " ".join(str(error).split())[:200]
        raise ConfigError(
            f"The model {name} cannot be loaded: {words}.",
            hint="Say download=True to fetch it once, or name a folder that holds it."
            if not download
            else "Check its name, and the network.",
        ) from error


class _TorchPairs:
    """A `CrossEncoder` as what windows are read by."""

    def __init__(self, model: Any, batch_size: int) -> None:
        self._model = model
        self._batch_size = batch_size
        limit = getattr(model, "max_seq_length", None)
        sane = isinstance(limit, int) and 0 < limit < _SANE_WINDOW
        self.max_length: int = limit if isinstance(limit, int) and sane else _DEFAULT_WINDOW

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the columns, in order."""
        table = getattr(self._model.config, "id2label", None) or {}
        return tuple(str(table[key]) for key in sorted(table, key=int))

    def logits(self, pairs: Sequence[TextPair]) -> Logits:
        """Return one row per pair, in order."""
        nn: Any = importlib.import_module("torch.nn")
        rows = np.asarray(
            self._model.predict(
                [(pair.premise, pair.hypothesis) for pair in pairs],
                batch_size=self._batch_size,
                show_progress_bar=False,
                # By default one column comes as a probability and several as logits.
                activation_fn=nn.Identity(),
            ),
            dtype=np.float32,
        )
        return rows.reshape(len(pairs), -1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text alone, uncut, without special ones."""
        table = self._model.tokenizer(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )
        return [len(ids) for ids in table["input_ids"]]

    def room(self, hypothesis: str) -> int:
        """Return how many tokens of a premise fit beside `hypothesis`."""
        table = self._model.tokenizer("", hypothesis, truncation=False, verbose=False)
        return self.max_length - len(table["input_ids"])
