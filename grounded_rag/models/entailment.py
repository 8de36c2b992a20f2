"""Entailment by an ONNX cross-encoder from a folder: NLI models, HHEM, MiniCheck and the like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from grounded_rag.errors import ConfigError, InputError
from grounded_rag.models.onnx_pairs import Logits, OnnxPairModel
from grounded_rag.protocols import EntailmentScores, TextPair, max_nli
from grounded_rag.text.sentences import sentence_bounds

Count = Callable[[Sequence[str]], Sequence[int]]
"""Returns the tokens of each text."""


def windows(text: str, *, room: int, count: Count) -> tuple[str, ...]:
    """Return slices of `text` of at most `room` tokens that together cover its sentences.

    A window holds whole sentences, and begins with the last sentence of the one before where
    both fit: what two neighbours say together is then seen in one. A sentence that is too long
    by itself is cut between words.
    """
    if count([text])[0] <= room:
        return (text,)
    pieces: list[tuple[int, int]] = []
    for start, end in sentence_bounds(text):
        pieces += _fitting(text, start, end, room, count)
    sizes = count([text[start:end] for start, end in pieces])
    found: list[str] = []
    first = 0
    while first < len(pieces):
        last, size = first, sizes[first]
        # One more for what joins two pieces.
        while last + 1 < len(pieces) and size + sizes[last + 1] + 1 <= room:
            last += 1
            size += sizes[last] + 1
        found.append(text[pieces[first][0] : pieces[last][1]])
        if last + 1 == len(pieces):
            break
        overlaps = last > first and sizes[last] + sizes[last + 1] + 1 <= room
        first = last if overlaps else last + 1
    return tuple(found)


def _fitting(text: str, start: int, end: int, room: int, count: Count) -> list[tuple[int, int]]:
    """Return a stretch in parts that fit, halved at the white space nearest to the middle."""
    if count([text[start:end]])[0] <= room or end - start < 2:
        return [(start, end)]
    middle = (start + end) // 2
    before = max(text.rfind(" ", start + 1, middle), text.rfind("\n", start + 1, middle))
    after = next((n for n in range(middle, end - 1) if text[n].isspace()), -1)
    near = [n for n in (before, after) if n > start]
    cut = min(near, key=lambda n: abs(n - middle), default=middle)
    return _fitting(text, start, cut, room, count) + _fitting(text, cut, end, room, count)


_YES = ("entail", "support", "consistent", "factual", "faithful", "grounded", "label_1", "true")
_HINT = 'Name the columns in order: labels=("entailment", "neutral", "contradiction").'


class Columns(NamedTuple):
    """Which column of the logits says what."""

    width: int
    entailment: int
    neutral: int | None = None
    contradiction: int | None = None


def read_columns(labels: Sequence[str]) -> Columns:
    """Return what the columns of a model say, from its labels in order.

    Three labels are entailment, neutral and contradiction in any order. Of two, one says yes;
    nameless `LABEL_0` and `LABEL_1` are taken as no and yes, as MiniCheck has them. One label is
    a single logit that says yes, as HHEM has it.

    Raises:
        ConfigError: The labels do not say it; their order is never guessed.
    """
    names = [label.strip().lower().replace(" ", "_") for label in labels]
    if len(names) == 1:
        return Columns(1, 0)
    if len(names) == 2:
        yes = [n for n, name in enumerate(names) if name.startswith(_YES)]
        against = [n for n, name in enumerate(names) if name.startswith("contradict")]
        if len(yes) == 1:
            return Columns(2, yes[0], contradiction=against[0] if against else None)
    if len(names) == 3:
        found = [
            [n for n, name in enumerate(names) if name.startswith(start)]
            for start in ("entail", "neutral", "contradict")
        ]
        if all(len(each) == 1 for each in found):
            return Columns(3, *(each[0] for each in found))
    raise ConfigError(
        f"The labels of the model do not tell what it says: {', '.join(labels) or 'none'}.",
        hint=_HINT,
    )


def given_labels(labels: Sequence[str] | None) -> str:
    """Return what given labels add to a model's name: with others it decides otherwise."""
    return "" if labels is None else f" ({', '.join(labels)})"


def to_scores(logits: NDArray[np.float32], columns: Columns) -> list[EntailmentScores]:
    """Return the scores of each row: softmax over several columns, the logistic of one.

    Raises:
        ConfigError: There are more or fewer columns than labels.
        FloatingPointError: A number is not finite.
    """
    if logits.shape[1] != columns.width:
        raise ConfigError(
            f"The model has {logits.shape[1]} columns for {columns.width} labels.", hint=_HINT
        )
    values = logits.astype(np.float64)
    if not np.isfinite(values).all():
        raise FloatingPointError("the model returned a number that is not finite")
    if columns.width == 1:
        # A softmax over the logit and 0.
        values = np.concatenate([np.zeros_like(values), values], axis=1)
        columns = Columns(2, 1)
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    return [_scores(row, columns) for row in shares]


def _scores(row: NDArray[np.float64], columns: Columns) -> EntailmentScores:
    entailment = _unit(row[columns.entailment])
    contradiction = 0.0 if columns.contradiction is None else _unit(row[columns.contradiction])
    neutral = 1.0 - entailment - contradiction
    if columns.neutral is not None:
        neutral = row[columns.neutral]
    return EntailmentScores(
        entailment=entailment, neutral=_unit(neutral), contradiction=contradiction
    )


def _unit(value: float) -> float:
    return min(1.0, max(0.0, float(value)))


class PairClassifier(Protocol):
    """What windows are read by: a model of pairs that can count its own tokens."""

    @property
    def max_length(self) -> int:
        """Tokens that it reads of a pair."""
        ...

    def logits(self, pairs: Sequence[TextPair]) -> Logits:
        """Return one row per pair, in order."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the tokens of each text alone, uncut, without special ones."""
        ...

    def room(self, hypothesis: str) -> int:
        """Return how many tokens of a premise fit beside `hypothesis`."""
        ...


class PairEntailment:
    """What every `EntailmentModel` on a classifier of pairs shares: columns and windows."""

    def __init__(self, model: PairClassifier, *, name: str, labels: Sequence[str]) -> None:
        """Take a classifier, its name for fingerprints, and what its columns say, in order.

        Raises:
            ConfigError: The labels do not say which column is which.
        """
        self._model = model
        self._name = name
        self._columns = read_columns(labels)

    @property
    def name(self) -> str:
        """Model, its version, and labels that were given: with others it decides otherwise."""
        return self._name

    def score(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        """Return the scores of each pair, in order; long premises window by window.

        Raises:
            InputError: A claim is too long for the model: it is never judged by its beginning.
            FloatingPointError: The model returned a number that is not finite.
        """
        split: list[TextPair] = []
        counts: list[int] = []
        for pair in pairs:
            parts = self._windows(pair)
            counts.append(len(parts))
            split += [TextPair(premise=part, hypothesis=pair.hypothesis) for part in parts]
        # One batch for all pairs; each gets the maximum over its windows.
        scores = iter(to_scores(self._model.logits(split), self._columns) if split else ())
        return [max_nli(list(islice(scores, count))) for count in counts]

    def _windows(self, pair: TextPair) -> tuple[str, ...]:
        model = self._model
        room = model.room(pair.hypothesis)
        if room < model.max_length // 4:
            raise InputError(
                f"A claim is too long for the model's window of {model.max_length} tokens.",
                hint="Split it into statements of one sentence, or use a model with a longer one.",
            )
        # Some tokenizers count a text's first word differently inside a pair: one to spare.
        return windows(pair.premise, room=room - 1, count=model.count_tokens)


class OnnxEntailment(PairEntailment):
    """An `EntailmentModel` read from a local folder; nothing is downloaded.

    What each column of the model says is read from `id2label` of its config. A premise that is
    longer than the model's window is read window by window, by whole sentences, and the largest
    entailment and the largest contradiction count (as SummaC does, Laban et al., 2022).
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        labels: Sequence[str] | None = None,
        max_length: int | None = None,
        batch_size: int = 16,
        threads: int | None = None,
    ) -> None:
        """Load the model.

        Args:
            folder: Folder with `model.onnx`, `tokenizer.json` and `config.json`.
            labels: What the columns say, in order, where the config does not say it: three of
                entailment, neutral and contradiction; two of which one is entailment; or one.
            max_length: Tokens the model reads of a pair; None takes it from the files.
            batch_size: Most pairs in one run of the model.
            threads: Threads of one run; None takes at most four.

        Raises:
            ConfigError: A file is missing or cannot be read, or the labels do not say it.
        """
        model = OnnxPairModel(folder, max_length=max_length, batch_size=batch_size, threads=threads)
        super().__init__(
            model,
            name=model.name + given_labels(labels),
            labels=model.labels if labels is None else labels,
        )
