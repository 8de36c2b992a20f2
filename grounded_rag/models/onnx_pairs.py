"""A model on onnxruntime that reads two texts together: cross-encoders for support and ranking."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grounded_rag.errors import ConfigError
from grounded_rag.protocols import TextPair

Logits = NDArray[np.float32]
"""One row per pair, one column per label, before any softmax."""

_WEIGHTS = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
)
_BESIDE = ("tokenizer.json", "config.json")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DEFAULT_WINDOW = 512
# Tokenizers without a limit say so by an absurdly large number.
_SANE_WINDOW = 100_000
# RoBERTa and its kin number positions from the padding id + 1.
_OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl"})


class OnnxPairModel:
    """A sequence classifier for pairs of texts, read from a local folder.

    The folder is what an export to ONNX leaves: `model.onnx` (or `onnx/model.onnx`, or a
    quantised one), `tokenizer.json` and `config.json`. Nothing is ever downloaded. Safe to be
    used by several threads at once.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        max_length: int | None = None,
        batch_size: int = 16,
        threads: int | None = None,
    ) -> None:
        """Load tokenizer and weights.

        Args:
            folder: Folder with the three files.
            max_length: Tokens the model reads of a pair; None takes it from the files.
            batch_size: Most pairs in one run of the model.
            threads: Threads of one run; None takes at most four.

        Raises:
            ConfigError: A file is missing or cannot be read; the message names it.
        """
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ConfigError(
                f"There is no model folder {self.folder}.",
                hint="Name a folder with model.onnx, tokenizer.json and config.json; "
                "nothing is downloaded for you.",
            )
        self._weights = _weights(self.folder)
        table = _need(self.folder, "tokenizer.json")
        self.config: dict[str, Any] = _json(_need(self.folder, "config.json"))
        self.max_length: int = max_length or _window(self.folder, self.config)
        if self.max_length < 8 or batch_size < 1:
            raise ConfigError(
                f"A window of {self.max_length} tokens in batches of {batch_size} is too small.",
                hint="Give max_length of at least 8 and batch_size of at least 1.",
            )
        self._batch_size = batch_size
        self._pad = _whole(self.config.get("pad_token_id")) or 0
        self._tokenizer = self._load_tokenizer(table)
        self._session = _session(self._weights, threads)
        self._inputs = {node.name for node in self._session.get_inputs()}
        if unknown := self._inputs - {"input_ids", "attention_mask", "token_type_ids"}:
            raise ConfigError(
                f"{self._weights} wants inputs that a pair of texts does not have: "
                f"{', '.join(sorted(unknown))}.",
                hint="Export the model for the task text-classification.",
            )

    @functools.cached_property
    def name(self) -> str:
        """Folder name and the first digits of a hash over weights, tokenizer and config."""
        digest = hashlib.sha256()
        data = self._weights.with_name(f"{self._weights.name}_data")
        for path in (self._weights, data, *map(self.folder.joinpath, _BESIDE)):
            if path.is_file():
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return f"{self.folder.resolve().name}@{digest.hexdigest()[:8]}"

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """Labels of the columns, in order, as `id2label` of the config says; () if it does not."""
        table = self.config.get("id2label")
        if not isinstance(table, dict) or not table:
            return ()
        try:
            return tuple(str(table[key]) for key in sorted(table, key=int))
        except ValueError:
            return ()

    @functools.cached_property
    def _uncut(self) -> Any:
        """A copy of the tokenizer that never cuts; changing one in use is not safe."""
        copy = type(self._tokenizer).from_str(self._tokenizer.to_str())
        copy.no_truncation()
        return copy

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text alone, uncut, without special ones."""
        encodings = self._uncut.encode_batch(
            [_sendable(text) for text in texts], add_special_tokens=False
        )
        return [len(encoding.ids) for encoding in encodings]

    def room(self, hypothesis: str) -> int:
        """Return how many tokens of a premise fit beside `hypothesis`; may be negative."""
        pair = self._uncut.encode("", _sendable(hypothesis))
        return self.max_length - len(pair.ids)

    def logits(self, pairs: Sequence[TextPair]) -> Logits:
        """Return one row per pair, in order.

        Pairs of like length run together, so that there is little padding. A pair beyond
        `max_length` loses the end of its longer text.

        Raises:
            ConfigError: The model returns something else than one row of numbers a pair.
        """
        if not pairs:
            return np.zeros((0, max(1, len(self.labels))), dtype=np.float32)
        encodings = self._tokenizer.encode_batch(
            [(_sendable(pair.premise), _sendable(pair.hypothesis)) for pair in pairs]
        )
        order = sorted(range(len(pairs)), key=lambda index: len(encodings[index].ids))
        rows: list[Any] = [None] * len(pairs)
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            for index, row in zip(batch, self._run([encodings[i] for i in batch]), strict=True):
                rows[index] = row
        return np.asarray(rows, dtype=np.float32)

    def _run(self, encodings: list[Any]) -> Logits:
        shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
        feed = {
            "input_ids": np.full(shape, self._pad, dtype=np.int64),
            "attention_mask": np.zeros(shape, dtype=np.int64),
            "token_type_ids": np.zeros(shape, dtype=np.int64),
        }
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            feed["input_ids"][row, :length] = encoding.ids
            feed["attention_mask"][row, :length] = 1
            feed["token_type_ids"][row, :length] = encoding.type_ids
        out = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        logits = np.asarray(out, dtype=np.float32)
        if logits.ndim == 1 and logits.shape[0] == len(encodings):
            logits = logits[:, np.newaxis]
        if logits.ndim != 2 or logits.shape[0] != len(encodings):
            raise ConfigError(
                f"{self._weights} returns an array of shape {logits.shape} "
                f"for {len(encodings)} pairs.",
                hint="Export the model for the task text-classification.",
            )
        return logits

    def _load_tokenizer(self, table: Path) -> Any:
        tokenizers: Any = importlib.import_module("tokenizers")
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(table))
            tokenizer.enable_truncation(self.max_length, strategy="longest_first")
        except Exception as error:  # noqa: BLE001 - the Rust side raises bare exceptions
            raise ConfigError(
                f"{table} cannot be read: {' '.join(str(error).split())[:200]}.",
                hint="Take the tokenizer.json that belongs to the model (a fast tokenizer).",
            ) from None
        tokenizer.no_padding()
        return tokenizer


def _session(weights: Path, threads: int | None) -> Any:
    ort: Any = importlib.import_module("onnxruntime")
    ort.disable_telemetry_events()
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or min(4, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    # Spinning threads take the processor from whatever else runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Every batch has its own shape: memory patterns would only hoard memory.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return ort.InferenceSession(
            str(weights), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # noqa: BLE001 - a private class for each error code
        raise ConfigError(
            f"{weights} cannot be loaded: {' '.join(str(error).split())[:200]}.",
            hint="Check that the whole file was copied, and that it is an ONNX model.",
        ) from None


def _weights(folder: Path) -> Path:
    found = next((folder / name for name in _WEIGHTS if (folder / name).is_file()), None)
    if found is None:
        raise ConfigError(
            f"{folder} has no model.onnx (nor onnx/model.onnx).",
            hint="Export one: optimum-cli export onnx --task text-classification "
            "--model NAME FOLDER",
        )
    return found


def _need(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise ConfigError(
            f"{folder} has no {name}.", hint=f"Copy {name} of the model beside its weights."
        )
    return path


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{path} cannot be read: {error}.", hint="Copy the file of the model again."
        ) from None
    if not isinstance(value, dict):
        raise ConfigError(f"{path} is no JSON object.", hint="Copy the file of the model again.")
    return value


def _window(folder: Path, config: dict[str, Any]) -> int:
    limits: list[int] = []
    about = folder / "tokenizer_config.json"
    limit = _whole(_json(about).get("model_max_length")) if about.is_file() else None
    if limit is not None and 0 < limit < _SANE_WINDOW:
        limits.append(limit)
    positions = _whole(config.get("max_position_embeddings"))
    if positions is not None and positions > 0:
        if config.get("model_type") in _OFFSET_POSITIONS:
            positions -= (_whole(config.get("pad_token_id")) or 0) + 1
        limits.append(positions)
    return min(limits, default=_DEFAULT_WINDOW)


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(min(value, 2**31))


def _sendable(text: str) -> str:
    """Return `text` with lone surrogates, which a tokenizer refuses, as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
