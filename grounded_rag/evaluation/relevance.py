"""Relevance to the question, apart from faithfulness, as a metric."""

from __future__ import annotations

from grounded_rag.relevance import (
    DEFAULT_THRESHOLD,
    Relevance,
    RelevanceJudge,
    SentenceEmbedding,
    relevance,
    relevance_score,
)
from grounded_rag.types import Answer

__all__ = [
    "DEFAULT_THRESHOLD",
    "Relevance",
    "RelevanceJudge",
    "SentenceEmbedding",
    "plain_answer",
    "relevance",
    "relevance_score",
]


def plain_answer(answer: Answer) -> str:
    """Return the claims of an answer as text, without the marks of its citations."""
    return " ".join(claim.text for claim in answer.claims)
