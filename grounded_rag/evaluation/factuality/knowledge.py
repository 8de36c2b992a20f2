"""What a model knows without the evidence: scores for claims that the evidence does not carry."""

from __future__ import annotations

import math
from collections.abc import Sequence

from grounded_rag.evaluation.factuality.claims import ClaimInput
from grounded_rag.evaluation.factuality.scorers import Similarity
from grounded_rag.text.words import content_words


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
