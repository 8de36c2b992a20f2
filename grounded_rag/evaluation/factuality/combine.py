"""FRANQ: how likely a claim is true, when it may be true without being in the evidence.

    P(true) = P(faithful) · P(true | faithful) + (1 − P(faithful)) · P(true | unfaithful)

Fadeeva et al., "Faithfulness-Aware Uncertainty Quantification for Fact-Checking the Output of
Retrieval-Augmented Generation", arXiv 2505.21072.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grounded_rag.deciders import Share
from grounded_rag.evaluation.factuality.claims import ClaimInput
from grounded_rag.evaluation.factuality.scorers import Scorer
from grounded_rag.types import Frozen


class ClaimScores(Frozen):
    """The three raw scores of one claim; None where a scorer had nothing to go by.

    Attributes:
        faithful: P(faithful), raw.
        if_faithful: P(true | faithful), raw or calibrated.
        if_unfaithful: P(true | unfaithful), raw or calibrated.
    """

    faithful: Share | None
    if_faithful: Share | None
    if_unfaithful: Share | None

    @property
    def complete(self) -> bool:
        """Whether all three are there."""
        return None not in (self.faithful, self.if_faithful, self.if_unfaithful)


@dataclass(frozen=True, kw_only=True)
class Scorers:
    """The three scorers of a factuality model.

    Attributes:
        faithful: Scores whether the evidence says it.
        if_faithful: Scores whether it is true, taking it for faithful.
        if_unfaithful: Scores whether it is true, taking it for unfaithful.
    """

    faithful: Scorer
    if_faithful: Scorer
    if_unfaithful: Scorer

    @property
    def names(self) -> tuple[str, str, str]:
        """Their names, in the order above."""
        return (self.faithful.name, self.if_faithful.name, self.if_unfaithful.name)

    def score(self, claims: Sequence[ClaimInput]) -> tuple[ClaimScores, ...]:
        """Return the raw scores of each claim, in order; a scorer used twice runs once."""
        found: dict[int, Sequence[float | None]] = {}
        for scorer in (self.faithful, self.if_faithful, self.if_unfaithful):
            if id(scorer) not in found:
                found[id(scorer)] = scorer.score(claims)
        return tuple(
            ClaimScores(faithful=faithful, if_faithful=yes, if_unfaithful=no)
            for faithful, yes, no in zip(
                found[id(self.faithful)],
                found[id(self.if_faithful)],
                found[id(self.if_unfaithful)],
                strict=True,
            )
        )


def franq(faithful: float, if_faithful: float, if_unfaithful: float) -> float:
    """Return P(true) by the law of total probability.

    Args:
        faithful: P(faithful), 0 to 1.
        if_faithful: P(true | faithful), 0 to 1.
        if_unfaithful: P(true | unfaithful), 0 to 1.
    """
    return faithful * if_faithful + (1 - faithful) * if_unfaithful
