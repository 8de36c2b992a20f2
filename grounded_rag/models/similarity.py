"""Similarity of a claim to its evidence by an embedding's word pieces: it orders, it never decides.

Each word piece of the claim looks for its nearest one in the evidence, rare pieces counting more
(recall as in BERTScore, Zhang et al., 2020); the nearest sentence as a whole counts as much. Recall
is capped: what was edited into a copy is near it as well.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from grounded_rag.protocols import ClaimCase, SupportCheck
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import TokenVectors
from grounded_rag.types import Signal

_CAP = 0.75
_SENTENCES = 60
_KEPT = 4096
_COMMON = 1500
_LEAST = 0.3


class PieceEmbedding(Protocol):
    """What is used of an embedding; the built-in `MiniLMEmbedding` fits."""

    def token_vectors(self, texts: Sequence[str]) -> Sequence[TokenVectors]:
        """Return the vectors of each text, in order."""
        ...


class TokenSimilarity:
    """Similarity of claims to their evidence; vectors of sentences are kept for later claims.

    Safe to be used by several threads at once.
    """

    def __init__(self, embedding: PieceEmbedding) -> None:
        """Use `embedding`; nothing is computed yet."""
        self._embedding = embedding
        self._kept: OrderedDict[str, TokenVectors] = OrderedDict()
        self._lock = threading.Lock()

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
        claim, *evidence = self._vectors([case.claim.text, *sentences])
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

    def _vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, self._embedding.token_vectors(missing), strict=True))
        with self._lock:
            for text in texts:
                self._kept[text] = found[text]
                self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return [found[text] for text in texts]


def similarity_check(embedding: PieceEmbedding) -> SupportCheck:
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

    def __init__(self, embedding: PieceEmbedding) -> None:
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
