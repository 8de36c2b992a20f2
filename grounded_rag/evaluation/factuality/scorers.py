"""The scorers that FRANQ combines: how faithful a claim is, and how likely it is true either way.

A scorer returns one raw number between 0 and 1 a claim, higher meaning surer, or None where it
has nothing to go by. Nothing here is thresholded or calibrated; `fit` does that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from grounded_rag._sync import BackgroundLoop
from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.protocols import (
    EntailmentModel,
    Grade,
    Judge,
    JudgeItem,
    JudgeRequest,
    TextPair,
)
from grounded_rag.text.sentences import split_sentences
from grounded_rag.verification.support import support_score

Similarity = Callable[[str, str], float]
"""How alike two texts are, between 0 and 1."""


@runtime_checkable
class Scorer(Protocol):
    """Gives each claim a raw score between 0 and 1."""

    @property
    def name(self) -> str:
        """What scores, for the artefact: a model fitted with other scorers does not fit."""
        ...

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return one score a claim, in order; None where there is nothing to go by."""
        ...


class LexicalSupport:
    """Faithfulness by words: the built-in support score. An ordering, and no entailment."""

    name = "lexical"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the support score of each claim."""
        return [support_score(case_of(claim)) for claim in claims]


class WeakestSentence:
    """The lowest support score of a claim's sentences: one bad sentence makes a claim false."""

    name = "lexical-weakest-sentence"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the lowest score of each claim's sentences."""
        return [
            min(
                (
                    support_score(case_of(claim.model_copy(update={"claim": span.of(claim.claim)})))
                    for span in split_sentences(claim.claim)
                ),
                default=None,
            )
            for claim in claims
        ]


class EntailmentFaithfulness:
    """How surely the cited text as a whole entails the claim, by an entailment model."""

    def __init__(self, model: EntailmentModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Name of the model."""
        return f"entailment:{self._model.name}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the entailment of each claim."""
        pairs = [
            TextPair(premise="\n".join(claim.evidence), hypothesis=claim.claim) for claim in claims
        ]
        return [scores.entailment for scores in self._model.score(pairs)]


class MaxEntailment:
    """MaxNLI: the largest entailment by any one sentence or piece of the evidence."""

    def __init__(self, model: EntailmentModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """Name of the model."""
        return f"max-nli:{self._model.name}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the largest entailment of each claim."""
        pairs: list[TextPair] = []
        owners: list[int] = []
        for number, claim in enumerate(claims):
            for text in claim.evidence:
                premises = dict.fromkeys((text, *(span.of(text) for span in split_sentences(text))))
                pairs.extend(TextPair(premise=each, hypothesis=claim.claim) for each in premises)
                owners.extend([number] * len(premises))
        best = [0.0] * len(claims)
        for owner, scores in zip(owners, self._model.score(pairs), strict=True):
            best[owner] = max(best[owner], scores.entailment)
        return list(best)


class JudgeFaithfulness:
    """The share of a judge's votes that say "supported"; one vote is 0 or 1."""

    def __init__(self, judge: Judge, *, votes: int = 1) -> None:
        """Ask `judge`, `votes` times a claim; votes that could not be given do not count."""
        if votes < 1:
            raise ValueError("a judge is asked at least once")
        self._judge = judge
        self._votes = votes
        self._loop = BackgroundLoop()

    @property
    def name(self) -> str:
        """Name of the judge and number of votes."""
        return f"judge:{self._judge.name}:{self._votes}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the share of votes for each claim."""
        return [self._loop.run(partial(self._one, claim)) for claim in claims]

    async def _one(self, claim: ClaimInput) -> float | None:
        request = JudgeRequest(
            items=(JudgeItem(claim=claim.claim, evidence=claim.evidence),), question=claim.question
        )
        grades = [await self._vote(request) for _ in range(self._votes)]
        given = [grade for grade in grades if grade is not None]
        return sum(grade is Grade.SUPPORTED for grade in given) / len(given) if given else None

    async def _vote(self, request: JudgeRequest) -> Grade | None:
        try:
            return (await self._judge.judge(request)).opinions[0].grade
        except Exception:  # noqa: BLE001 - whatever a judge raises means "could not check"
            return None


class SemanticEntropy:
    """One less the entropy of meanings among answers sampled with the evidence, over its maximum.

    Answers are of one meaning when each entails the other (Kuhn et al., arXiv 2302.09664). The
    score is 1 when all say the same and 0 when no two do.
    """

    def __init__(self, same: Similarity, *, name: str, threshold: float = 0.5) -> None:
        """Compare answers by `same`, called as (premise, hypothesis); both ways must reach."""
        self._same = same
        self._threshold = threshold
        self.name = f"semantic-entropy:{name}:{threshold}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the score of each claim; None with fewer than two answers."""
        return [self._one(claim.resampled) for claim in claims]

    def _one(self, answers: Sequence[str]) -> float | None:
        if len(answers) < 2:
            return None
        meanings: list[list[str]] = []
        for answer in answers:
            for meaning in meanings:
                if (
                    self._same(meaning[0], answer) >= self._threshold
                    and self._same(answer, meaning[0]) >= self._threshold
                ):
                    meaning.append(answer)
                    break
            else:
                meanings.append([answer])
        shares = [len(meaning) / len(answers) for meaning in meanings]
        entropy = -sum(share * math.log(share) for share in shares)
        return min(1.0, max(0.0, 1 - entropy / math.log(len(answers))))
