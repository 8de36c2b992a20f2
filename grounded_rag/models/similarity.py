"""Similarity of a claim to its evidence by an embedding's word pieces: it orders, it never decides.

Each word piece of the claim looks for its nearest one in the evidence, rare pieces counting more
(recall as in BERTScore, Zhang et al., 2020); the nearest sentence as a whole counts as much. Recall
is capped: what was edited into a copy is near it as well.
"""

from __future__ import annotations

import numpy as np

from grounded_rag.models.sentence_cache import SentenceCache, TokenEmbedding
from grounded_rag.protocols import ClaimCase, SupportCheck
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Signal

_CAP = 0.75
_SENTENCES = 60
_COMMON = 1500
_LEAST = 0.3


class TokenSimilarity:
    """Similarity of claims to their evidence; vectors of sentences are kept for later claims."""

    def __init__(self, embedding: TokenEmbedding) -> None:
        self._vectors = SentenceCache(embedding.token_vectors)

    def of(self, case: ClaimCase) -> float:
        """Return the similarity of a claim to the statements it cites, about 0 to 0.9."""
        sentences = list(
            dict.fromkeys(
                text
                for piece in case.evidence
                for span in split_sentences(piece.sentence)
                if (text := span.of(piece.sentence).strip())
            )
        )[:_SENTENCES]
        texts = [case.claim.text, *sentences]
        found = self._vectors.of(texts)
        claim, *evidence = (found[text] for text in texts)
        rows = [vectors.rows for vectors in evidence if len(vectors.rows)]
        if not rows or not len(claim.rows):
            return 0.0
        pieces = np.concatenate(rows).astype(np.float32)
        nearest = (np.asarray(claim.rows, dtype=np.float32) @ pieces.T).max(axis=1)
        rank = np.asarray(claim.ranks, dtype=np.float64) + 1
        weights = np.clip(np.log(rank) - np.log(_COMMON), _LEAST, None)
        recall = float((nearest * weights).sum() / weights.sum())
        cosine = max(float(claim.mean @ vectors.mean) for vectors in evidence)
        return 0.5 * min(recall, _CAP) + 0.5 * cosine


def similarity_check(embedding: TokenEmbedding) -> SupportCheck:
    """Return a check that reports how similar a claim is to its evidence.

    Its signal has the role "info": it is shown, and `support_score` can order claims by it.

    Args:
        embedding: The built-in embedding, or another with vectors of word pieces.
    """
    return _SimilarityCheck(embedding)


class _SimilarityCheck:
    """The check as an object: its role counts where it fails, so that no claim is unchecked."""

    role = "info"
    __name__ = "similarity"

    def __init__(self, embedding: TokenEmbedding) -> None:
        self._measure = TokenSimilarity(embedding)

    def __call__(self, case: ClaimCase) -> Signal:
        value = self._measure.of(case)
        return Signal(
            check="similarity",
            passed=None,
            score=value,
            detail=f"The claim's meaning is {value:.0%} similar to its evidence.",
            role="info",
        )
