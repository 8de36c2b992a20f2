"""The scorers that FRANQ combines: how faithful a claim is, and how likely it is true either way.

A scorer returns one raw number between 0 and 1 a claim, higher meaning surer, or None where it
has nothing to go by. Nothing here is thresholded or calibrated; `fit` does that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from grounded_rag._sync import BackgroundLoop
from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.generate.late_interaction import QuestionSimilarity, SentenceEmbedding
from grounded_rag.protocols import (
    EntailmentModel,
    Grade,
    Judge,
    JudgeItem,
    JudgeRequest,
    Share,
    TextPair,
)
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Frozen
from grounded_rag.verification.support import coverage, support_score

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


_COMPARED = 6
"""Sentences of the evidence that one sentence of a claim is compared with in meaning."""


class Blend:
    """The mean of the support score, its coverage, the share of shared words, and nearness.

    Coverage weighs words, knows numbers and derivations, and leaves out what the title says; shared
    words are counted as they are. Nearness in meaning is the cosine of each sentence of the claim
    to the nearest of those that share most words with it, averaged. It is an ordering, like its
    parts, and no entailment: a calibration makes a share of it.
    """

    def __init__(self, embedding: SentenceEmbedding | None, *, name: str = "") -> None:
        """Compare sentences by `embedding`; without one, the first three readings are averaged."""
        self._similarity = None if embedding is None else QuestionSimilarity(embedding)
        self.name = f"blend:{name or 'words'}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the mean of the readings of each claim."""
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
        best = [max(similarity.cosines(part, _candidates(part, evidence))) for part in parts]
        return min(1.0, max(0.0, sum(best) / len(best)))


def _candidates(part: str, evidence: Sequence[str]) -> list[str]:
    """Return the sentences that share most words with a part: embedding is what costs time."""
    if len(evidence) <= _COMPARED:
        return list(evidence)
    return sorted(evidence, key=lambda text: -shared_words(part, (text,)))[:_COMPARED]


def shared_words(claim: str, evidence: Sequence[str]) -> float:
    """Return the share of the claim's content words, by stem, that the evidence has; 0 to 1."""
    ours = {word.stem for word in content_words(claim)}
    theirs = {word.stem for text in evidence for word in content_words(text)}
    return len(ours & theirs) / len(ours) if ours else 0.0


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


def builtin_scorers(*, entailment: EntailmentModel | None = None) -> Scorers:
    """Return the built-in scorers.

    Without a model, faithfulness is the lexical support score, and both conditional scores are
    the blend with the built-in embedding, or by words alone where that cannot be loaded: an
    ordering, and no entailment. Nothing knows the subject beyond the evidence, so that all there
    is to say about a claim that looks unfaithful is how sure that is.

    Args:
        entailment: An entailment model: faithfulness by the whole evidence, and MaxNLI for
            faithful claims. The blend stays for the others.
    """
    from grounded_rag.index.embedding import default_embedding

    embedding = default_embedding().embedding
    name = "" if embedding is None else f"{embedding.model_name}:{embedding.variant}"
    blend = Blend(embedding, name=name)
    if entailment is None:
        return Scorers(faithful=LexicalSupport(), if_faithful=blend, if_unfaithful=blend)
    return Scorers(
        faithful=EntailmentFaithfulness(entailment),
        if_faithful=MaxEntailment(entailment),
        if_unfaithful=blend,
    )


class NothingKnown:
    """Where nothing but the evidence is known: an even chance, until a calibration says better."""

    name = "nothing-known"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return 0.5 for each claim."""
        return [0.5 for _ in claims]


class ParametricKnowledge:
    """How probable a model finds the claim's tokens without the evidence.

    The geometric mean over the tokens, so that long claims are not improbable for their length.
    The log-probabilities come from a local model of the user's: hosted ones hand out none for a
    given text.
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


class ClosedBookAgreement:
    """Mean likeness of the claim to answers sampled without the evidence: a black-box stand-in."""

    def __init__(self, similarity: Similarity | None = None, *, name: str = "words") -> None:
        """Compare by `similarity`; by default, shared content words."""
        self._similarity = similarity or word_similarity
        self.name = f"closed-book-agreement:{name}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the mean likeness of each claim; None without samples."""
        return [
            math.fsum(self._similarity(sample, claim.claim) for sample in claim.closed_book)
            / len(claim.closed_book)
            if claim.closed_book
            else None
            for claim in claims
        ]


class SumOfEigenvalues:
    """How few meanings the closed-book answers have, by the eigenvalues of their likeness graph.

    The sum of max(0, 1 − λ) over the eigenvalues λ of the normalised Laplacian is a continuous
    count of meanings, from 1 to the number of answers (Lin et al., arXiv 2305.19187). The score
    is 1 for one meaning and 0 for as many as answers. It says how sure a model is of itself, not
    that it agrees with the claim: the claim is one of the answers compared.
    """

    def __init__(self, similarity: Similarity | None = None, *, name: str = "words") -> None:
        """Compare by `similarity`, made symmetric by its mean; by default, shared words."""
        self._similarity = similarity or word_similarity
        self.name = f"sum-of-eigenvalues:{name}"

    def score(self, claims: Sequence[ClaimInput]) -> Sequence[float | None]:
        """Return the score of each claim; None without samples."""
        return [
            self._one((claim.claim, *claim.closed_book)) if claim.closed_book else None
            for claim in claims
        ]

    def _one(self, answers: Sequence[str]) -> float:
        import numpy as np

        count = len(answers)
        weights = np.eye(count)
        for row in range(count):
            for column in range(row):
                there = self._similarity(answers[row], answers[column])
                back = self._similarity(answers[column], answers[row])
                weights[row, column] = weights[column, row] = (there + back) / 2
        roots = 1 / np.sqrt(weights.sum(axis=1))
        laplacian = np.eye(count) - roots[:, None] * weights * roots[None, :]
        meanings = float(np.maximum(0.0, 1 - np.linalg.eigvalsh(laplacian)).sum())
        return min(1.0, max(0.0, 1 - (meanings - 1) / (count - 1)))


def word_similarity(first: str, second: str) -> float:
    """Return the shared content words of two texts over all of them (Jaccard), 0 to 1."""
    ours = {word.stem for word in content_words(first)}
    theirs = {word.stem for word in content_words(second)}
    if not ours and not theirs:
        return 1.0
    return len(ours & theirs) / len(ours | theirs)
