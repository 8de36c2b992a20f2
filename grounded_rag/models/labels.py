"""From a classifier's columns to entailment scores: which column says what, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grounded_rag.errors import ConfigError
from grounded_rag.protocols import EntailmentScores

_YES = ("entail", "support", "consistent", "factual", "faithful", "grounded", "label_1", "true")
_HINT = 'Name the columns in order: labels=("entailment", "neutral", "contradiction").'


class Columns(NamedTuple):
    """Which column of the logits says what.

    Attributes:
        width: Number of columns.
        entailment: Column of the entailment.
        neutral: Column of "neither", or None.
        contradiction: Column of the opposite, or None.
    """

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
        ConfigError: The labels do not tell; their order is never guessed.
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
    """Return what labels of one's own add to a model's name: with others it decides otherwise."""
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
