"""Relevance to the question, apart from faithfulness: an embedding first, a judge to confirm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from grounded_rag.types import Answer, Frozen

DEFAULT_THRESHOLD = 0.30
"""Least cosine of question and answer with the built-in embedding; chosen on the demo's dev set."""


class SentenceEmbedding(Protocol):
    """What is used of an embedding; every LlamaIndex `BaseEmbedding` fits."""

    def get_query_embedding(self, query: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        ...

    def get_text_embedding(self, text: str, /) -> Sequence[float]:
        """Return the vector of a text."""
        ...


class RelevanceJudge(Protocol):
    """Says whether an answer is to the point of its question, faithful or not."""

    async def relevant(self, question: str, answer: str) -> bool | None:
        """Return the finding; None, or whatever it raises, means that it could not say."""
        ...


class Relevance(Frozen):
    """What was found about one answer.

    Attributes:
        score: Cosine of question and answer, cut off at 0 and 1.
        confirmed: What the judge said, where it was asked.
        asked: Whether the judge was asked.
    """

    score: float
    confirmed: bool | None = None
    asked: bool = False


def relevance_score(question: str, answer: str, embedding: SentenceEmbedding) -> float:
    """Return the cosine of question and answer, cut off at 0 and 1.

    Args:
        question: The question.
        answer: The answer's text.
        embedding: Any embedding; the score means something only beside its own threshold.
    """
    left = embedding.get_query_embedding(question)
    right = embedding.get_text_embedding(answer)
    norms = math.sqrt(sum(x * x for x in left) * sum(y * y for y in right))
    if not norms:
        return 0.0
    cosine = sum(x * y for x, y in zip(left, right, strict=True)) / norms
    return min(1.0, max(0.0, cosine))


async def relevance(
    question: str,
    answer: str,
    embedding: SentenceEmbedding,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    judge: RelevanceJudge | None = None,
) -> Relevance:
    """Score one answer; a judge is asked only about those that fall below the threshold.

    Args:
        question: The question.
        answer: The answer's text.
        embedding: The first pass.
        threshold: Least score that needs no judge.
        judge: Confirms or clears what the first pass doubts.
    """
    from anyio import to_thread

    score = await to_thread.run_sync(relevance_score, question, answer, embedding)
    if judge is None or score >= threshold:
        return Relevance(score=score)
    try:
        confirmed = await judge.relevant(question, answer)
    except Exception:  # noqa: BLE001 - a judge is foreign code: whatever it raises is "cannot say"
        confirmed = None
    return Relevance(score=score, confirmed=confirmed, asked=True)


def plain_answer(answer: Answer) -> str:
    """Return the claims of an answer as text, without the marks of its citations."""
    return " ".join(claim.text for claim in answer.claims)
