"""A cross-encoder in ONNX: how relevant is each of some texts to a question?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grounded_rag.errors import ConfigError
from grounded_rag.models.onnx_pairs import OnnxPairModel
from grounded_rag.protocols import TextPair

_MOST_COLUMNS = 2
"""One column says how relevant a text is; two say irrelevant and relevant."""


class CrossEncoder:
    """A model that reads question and text together, from a local folder.

    Any sequence classifier for pairs of texts with one column (relevance) or two (irrelevant,
    relevant) will do: the MS MARCO cross-encoders, the BGE rerankers. The folder holds
    `model.onnx`, `tokenizer.json` and `config.json`; nothing is downloaded. Safe to be used by
    several threads at once.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        max_length: int | None = None,
        batch_size: int = 16,
        threads: int | None = None,
    ) -> None:
        """Load the model.

        Args:
            folder: Folder with the three files.
            max_length: Tokens of question and text together; None takes it from the files. A
                longer text loses its end.
            batch_size: Most pairs in one run of the model.
            threads: Threads of one run; None takes at most four.

        Raises:
            ConfigError: A file is missing or cannot be read, or the model has more
                labels than relevant and irrelevant.
        """
        self._model = OnnxPairModel(
            folder, max_length=max_length, batch_size=batch_size, threads=threads
        )
        if len(self._model.labels) > _MOST_COLUMNS:
            raise _no_relevance(folder, ", ".join(self._model.labels))

    @property
    def name(self) -> str:
        """Folder name and the first digits of a hash over the model's files."""
        return self._model.name

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how relevant each text is to the question, from 0 to 1, in order. It blocks.

        Raises:
            ConfigError: The model returns something else than the relevance of each text.
        """
        if not texts:
            return []
        pairs = [TextPair(premise=question, hypothesis=text) for text in texts]
        logits = self._model.logits(pairs)
        if not 1 <= logits.shape[1] <= _MOST_COLUMNS:
            raise _no_relevance(self._model.folder, f"{logits.shape[1]} columns")
        relevance = logits[:, -1].astype(np.float64)
        if logits.shape[1] == _MOST_COLUMNS:
            # The sigmoid of the difference is the softmax of the two.
            relevance = relevance - logits[:, 0]
        if not np.isfinite(relevance).all():
            raise ConfigError(
                f"The cross-encoder in {self._model.folder} returned what is no number.",
                hint="Export the model again, or leave it out.",
            )
        scores: list[float] = (1.0 / (1.0 + np.exp(-np.clip(relevance, -500, 500)))).tolist()
        return scores


def _no_relevance(folder: Path | str, found: str) -> ConfigError:
    return ConfigError(
        f"The model in {folder} has other outputs than relevance ({found}).",
        hint="Take a cross-encoder for ranking, with one column or two; an entailment model "
        "belongs to entailment=.",
    )
