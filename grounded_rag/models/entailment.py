"""Entailment by an ONNX cross-encoder from a folder: NLI models, HHEM, MiniCheck and the like."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from grounded_rag.deciders import max_nli
from grounded_rag.errors import InputError
from grounded_rag.models.labels import Columns, given_labels, read_columns, to_scores
from grounded_rag.models.onnx_pairs import Logits, OnnxPairModel
from grounded_rag.models.windows import windows
from grounded_rag.protocols import EntailmentScores, TextPair


class OnnxEntailment:
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
            labels: What the columns say, in order, where the config does not tell: three of
                entailment, neutral and contradiction; two of which one is entailment; or one.
            max_length: Tokens the model reads of a pair; None takes it from the files.
            batch_size: Most pairs in one run of the model.
            threads: Threads of one run; None takes at most four.

        Raises:
            ConfigError: A file is missing or cannot be read, or the labels do not tell.
        """
        self._model = OnnxPairModel(
            folder, max_length=max_length, batch_size=batch_size, threads=threads
        )
        self._columns = read_columns(self._model.labels if labels is None else labels)
        self._given = given_labels(labels)

    @property
    def name(self) -> str:
        """Folder name, the first digits of a hash over its files, and labels of one's own."""
        return self._model.name + self._given

    def score(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        """Return the scores of each pair, in order.

        Args:
            pairs: Evidence and claim of each.

        Raises:
            InputError: A claim is too long for the model: it is never judged by its beginning.
            FloatingPointError: The model returned a number that is not finite.
        """
        return score_by_windows(self._model, pairs, self._columns)


class PairClassifier(Protocol):
    """What windows are read by: a model of pairs that can count its own tokens."""

    @property
    def max_length(self) -> int:
        """Tokens that it reads of a pair."""
        ...

    def logits(self, pairs: Sequence[TextPair]) -> Logits:
        """Return one row a pair, in order."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the tokens of each text alone, uncut, without special ones."""
        ...

    def room(self, hypothesis: str) -> int:
        """Return how many tokens of a premise fit beside `hypothesis`."""
        ...


def score_by_windows(
    model: PairClassifier, pairs: Sequence[TextPair], columns: Columns
) -> list[EntailmentScores]:
    """Score pairs, long premises window by window with the maximum over windows, in one batch.

    Args:
        model: What reads pairs.
        pairs: Evidence and claim of each.
        columns: What the columns of the model say.

    Raises:
        InputError: A claim is too long for the model.
        FloatingPointError: The model returned a number that is not finite.
    """
    split: list[TextPair] = []
    counts: list[int] = []
    for pair in pairs:
        parts = _windows(model, pair)
        counts.append(len(parts))
        split += [TextPair(premise=part, hypothesis=pair.hypothesis) for part in parts]
    scores = to_scores(model.logits(split), columns) if split else []
    best: list[EntailmentScores] = []
    position = 0
    for count in counts:
        best.append(max_nli(scores[position : position + count]))
        position += count
    return best


def _windows(model: PairClassifier, pair: TextPair) -> tuple[str, ...]:
    room = model.room(pair.hypothesis)
    if room < model.max_length // 4:
        raise InputError(
            f"A claim is too long for the model's window of {model.max_length} tokens.",
            hint="Split it into statements of one sentence, or use a model with a longer one.",
        )
    # Some tokenizers count a text's first word differently inside a pair: one to spare.
    return windows(pair.premise, room=room - 1, count=model.count_tokens)
