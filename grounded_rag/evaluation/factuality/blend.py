"""Several readings of the same evidence in one score, where there is no entailment model."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.generate.similarity import SentenceEmbedding, Similarity
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.verification.support import coverage, support_score

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
        self._similarity = None if embedding is None else Similarity(embedding)
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

    def _nearness(self, claim: ClaimInput, similarity: Similarity) -> float:
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
