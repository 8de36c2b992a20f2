"""The scorers that FRANQ combines: how faithful a claim is, and how likely it is true either way.

A scorer returns one raw number between 0 and 1 per claim, higher meaning surer, or None if it has
no input. Scores are neither compared with a threshold nor calibrated here; `fit` does that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pydantic import Field

from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.generate.late_interaction import QuestionSimilarity, SentenceEmbedding
from grounded_rag.protocols import EntailmentModel, Share, TextPair
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Frozen
from grounded_rag.verification.support import coverage, support_score


@runtime_checkable
class Scorer(Protocol):
    """Gives each claim a raw score between 0 and 1."""

    @property
    def name(self) -> str:
        """Name of the scorer. A model can be used only with the scorers that it names."""
        ...

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return one score per claim, in order; None if the scorer has no input for it."""
        ...


class ClaimScores(Frozen):
    """The three scores of one claim; None if a scorer had no input."""

    faithful: Share | None = Field(description="P(faithful), always raw.")
    if_faithful: Share | None = Field(description="P(true | faithful), raw or calibrated.")
    if_unfaithful: Share | None = Field(description="P(true | unfaithful), raw or calibrated.")

    @property
    def complete(self) -> bool:
        """Whether none is missing."""
        return None not in (self.faithful, self.if_faithful, self.if_unfaithful)


@dataclass(frozen=True, kw_only=True)
class Scorers:
    """The three scorers of a factuality model."""

    faithful: Scorer  # does the evidence say it?
    if_faithful: Scorer  # is it true, if the evidence says it?
    if_unfaithful: Scorer  # is it true, if the evidence does not say it?

    @property
    def names(self) -> tuple[str, str, str]:
        """Names of the three, in the order above."""
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
    """Return P(true) by the law of total probability; all arguments are probabilities."""
    return faithful * if_faithful + (1 - faithful) * if_unfaithful


def builtin_scorers(*, entailment: EntailmentModel | None = None) -> Scorers:
    """Return the built-in scorers.

    Without an entailment model, faithfulness is the lexical support score, and both conditional
    scores are the blend with the built-in embedding (of words alone if that cannot be loaded).
    With one, it scores faithfulness and, as MaxNLI, faithful claims. None of these knows the
    subject beyond the evidence, so the third score can only say how certain it is that a claim is
    unfaithful.
    """
    # Imported here: who fits or reads a model with other scorers needs no embedding.
    from grounded_rag.index.embedding import default_embedding

    embedding = default_embedding().embedding
    name = "" if embedding is None else f"{embedding.model_name}:{embedding.variant}"
    # Not the support score for all three: that one was calibrated badly (ECE .13 on
    # mtrag_human_eval, see benchmarks/NOTES.md).
    blend = Blend(embedding, name=name)
    if entailment is None:
        return Scorers(faithful=LexicalSupport(), if_faithful=blend, if_unfaithful=blend)
    return Scorers(
        faithful=EntailmentFaithfulness(entailment),
        if_faithful=MaxEntailment(entailment),
        if_unfaithful=blend,
    )


class LexicalSupport:
    """Faithfulness by words: the built-in support score. It orders claims; it is no entailment."""

    name = "lexical"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the support score of each claim."""
        return [support_score(case_of(claim)) for claim in claims]


class EntailmentFaithfulness:
    """Faithfulness by an entailment model: the cited text as a whole against the claim."""

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


_MAX_EMBEDDED = 6
"""Sentences of the evidence that are embedded for one sentence of a claim: embedding costs time."""


class Blend:
    """The mean of the support score, its coverage, the share of shared words, and nearness.

    Coverage weighs words, knows numbers and derivations, and leaves out what the title says; shared
    words are counted unweighted. Nearness in meaning is the cosine of each sentence of the claim
    to its nearest sentence of the evidence, averaged. The blend orders claims, like its parts; only
    a calibration turns it into a probability.
    """

    def __init__(self, embedding: SentenceEmbedding | None, *, name: str = "") -> None:
        """Compare sentences by `embedding`; without one, the other three are averaged."""
        self._similarity = None if embedding is None else QuestionSimilarity(embedding)
        self.name = f"blend:{name or 'words'}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the blend of each claim."""
        return [self._one(claim) for claim in claims]

    def _one(self, claim: ClaimInput) -> float:
        case = case_of(claim)
        readings = [
            support_score(case),
            coverage(case),
            shared_words(claim.claim, claim.evidence),
        ]
        if self._similarity is not None:
            readings.append(self._nearness(claim, self._similarity))
        return sum(readings) / len(readings)

    def _nearness(self, claim: ClaimInput, similarity: QuestionSimilarity) -> float:
        evidence = [span.of(text) for text in claim.evidence for span in split_sentences(text)]
        parts = [span.of(claim.claim) for span in split_sentences(claim.claim)]
        if not evidence or not parts:
            return 0.0
        best = [max(similarity.cosines(part, _most_alike(part, evidence))) for part in parts]
        return min(1.0, max(0.0, sum(best) / len(best)))


def _most_alike(part: str, evidence: Sequence[str]) -> list[str]:
    if len(evidence) <= _MAX_EMBEDDED:
        return list(evidence)
    return sorted(evidence, key=lambda text: -shared_words(part, (text,)))[:_MAX_EMBEDDED]


def shared_words(claim: str, evidence: Sequence[str]) -> float:
    """Return the share of the claim's content words, by stem, that the evidence has; 0 to 1."""
    ours = {word.stem for word in content_words(claim)}
    theirs = {word.stem for text in evidence for word in content_words(text)}
    return len(ours & theirs) / len(ours) if ours else 0.0


class ParametricKnowledge:
    """How probable a language model finds the claim's tokens without the evidence.

    The geometric mean over the tokens, so that long claims are not improbable because of their
    length. The log-probabilities come from a local model of the user: hosted models return none
    for a given text.
    """

    name = "parametric-knowledge"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the mean token probability of each claim; None without log-probabilities."""
        return [
            math.exp(math.fsum(claim.token_logprobs) / len(claim.token_logprobs))
            if claim.token_logprobs
            else None
            for claim in claims
        ]
