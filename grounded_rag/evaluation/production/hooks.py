"""Putting hooks together, and scoring live answers by a factuality model."""

from __future__ import annotations

from collections.abc import Callable

from grounded_rag.evaluation.factuality import FactualityModel, Scorers
from grounded_rag.evaluation.production.sampler import LiveScores
from grounded_rag.types import Answer

Hook = Callable[[Answer], object]


def each(*hooks: Hook) -> Hook:
    """Return one hook that calls several, in order."""

    def call(answer: Answer) -> None:
        for hook in hooks:
            hook(answer)

    return call


def factuality_score(
    model: FactualityModel, *, scorers: Scorers | None = None
) -> Callable[[Answer], LiveScores]:
    """Return a scorer for `LiveSampler`: the lowest P(true) of an answer's claims.

    Args:
        model: A fitted model; an answer given under another policy cannot be scored.
        scorers: The scorers that it was fitted with; None takes the built-in ones.
    """

    def score(answer: Answer) -> LiveScores:
        found = [claim.factuality.p_true for claim in model.score_answer(answer, scorers=scorers)]
        known = [probability for probability in found if probability is not None]
        lowest = min(known) if known and len(known) == len(found) else None
        return LiveScores(scores={"p_true": lowest})

    return score
