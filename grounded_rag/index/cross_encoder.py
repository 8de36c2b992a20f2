"""A cross-encoder in ONNX, read from a folder, as a Reranker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from grounded_rag.errors import ConfigError
from grounded_rag.models.onnx_pairs import OnnxPairModel
from grounded_rag.protocols import Query, TextPair
from grounded_rag.types import RetrievedChunk

DEFAULT_DEPTH = 30
"""Candidates read by the model; the rest keep their order behind them."""

_MOST_COLUMNS = 2
"""One column says how relevant a passage is; two say irrelevant and relevant."""


class CrossEncoderReranker:
    """Orders candidates by a model that reads question and passage together.

    Any sequence classifier for pairs of texts with one column (relevance) or two (irrelevant,
    relevant) will do: the MS MARCO cross-encoders, the BGE rerankers. The folder holds
    `model.onnx`, `tokenizer.json` and `config.json`; nothing is downloaded.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        depth: int = DEFAULT_DEPTH,
        max_length: int | None = None,
        batch_size: int = 16,
        threads: int | None = None,
    ) -> None:
        """Load the model.

        Args:
            folder: Folder with the three files.
            depth: How many of the first candidates are read, 1 or more: each costs time.
            max_length: Tokens of question and passage together; None takes it from the files.
                A longer passage loses its end.
            batch_size: Most pairs in one run of the model.
            threads: Threads of one run; None takes at most four.

        Raises:
            ConfigError: A file is missing or cannot be read, or the model has more
                labels than relevant and irrelevant.
        """
        if depth < 1:
            raise ConfigError(
                f"A reranker that reads {depth} candidates orders nothing.",
                hint="Give depth of at least 1, or leave the reranker out.",
            )
        self._model = OnnxPairModel(
            folder, max_length=max_length, batch_size=batch_size, threads=threads
        )
        self._depth = depth
        if len(self._model.labels) > _MOST_COLUMNS:
            raise _no_reranker(folder, ", ".join(self._model.labels))

    @property
    def name(self) -> str:
        """Folder name and the first digits of a hash over the model's files."""
        return self._model.name

    async def rerank(self, query: Query, chunks: Sequence[RetrievedChunk]) -> list[RetrievedChunk]:
        """Return the chunks, the most relevant first, scores from 0 to 1."""
        if not chunks:
            return []
        head = chunks[: self._depth]
        pairs = [TextPair(premise=query.text, hypothesis=_passage(chunk)) for chunk in head]
        # The model blocks: it must not hold up the event loop.
        scores = self._scores(await anyio.to_thread.run_sync(self._model.logits, pairs))
        order = sorted(range(len(head)), key=lambda at: (-scores[at], at))
        lowest = min(scores)
        return [
            *(head[at].model_copy(update={"score": scores[at]}) for at in order),
            *(chunk.model_copy(update={"score": lowest}) for chunk in chunks[self._depth :]),
        ]

    def _scores(self, logits: NDArray[np.float32]) -> list[float]:
        if not 1 <= logits.shape[1] <= _MOST_COLUMNS:
            raise _no_reranker(self._model.folder, f"{logits.shape[1]} columns")
        relevance = logits[:, -1].astype(np.float64)
        if logits.shape[1] == _MOST_COLUMNS:
            # The sigmoid of the difference is the softmax of the two.
            relevance = relevance - logits[:, 0]
        if not np.isfinite(relevance).all():
            raise ConfigError(
                f"The reranker in {self._model.folder} returned what is no number.",
                hint="Export the model again, or leave the reranker out.",
            )
        scores: list[float] = (1.0 / (1.0 + np.exp(-np.clip(relevance, -500, 500)))).tolist()
        return scores


def _passage(chunk: RetrievedChunk) -> str:
    """Return a chunk as the model reads it: below its title and headings."""
    above = dict.fromkeys(part for part in (chunk.title, *chunk.chunk.headings) if part)
    return "\n".join((" › ".join(above), chunk.chunk.text)) if above else chunk.chunk.text


def _no_reranker(folder: Path | str, found: str) -> ConfigError:
    return ConfigError(
        f"The model in {folder} has other outputs than relevance ({found}).",
        hint="Take a cross-encoder for ranking, with one column or two; an entailment model "
        "belongs to entailment=.",
    )
