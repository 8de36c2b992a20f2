"""Relevance to the question, apart from faithfulness: an embedding first, a judge to confirm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import anyio
from anyio import to_thread

from grounded_rag.types import ClaimVerdict, Flag, FlagKind, Frozen, Usage

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


@runtime_checkable
class RelevanceModel(Protocol):
    """Says how well texts answer a question; `models.cross_encoder.CrossEncoder` is one."""

    def scores(self, question: str, texts: Sequence[str], /) -> Sequence[float]:
        """Return the relevance of each text to the question, from 0 to 1, in order."""
        ...


class Ruling(Frozen):
    """What a judge says about one answer.

    Attributes:
        relevant: Whether it is to the point; None means that the judge could not say.
        usage: Tokens of its calls.
    """

    relevant: bool | None
    usage: Usage = Usage()


class RelevanceJudge(Protocol):
    """Says whether an answer is to the point of its question, faithful or not."""

    async def relevant(self, question: str, answer: str) -> Ruling | bool | None:
        """Return the finding; None, or whatever it raises, means that it could not say."""
        ...


class Relevance(Frozen):
    """What was found about one answer.

    Attributes:
        score: Cosine of question and answer, cut off at 0 and 1.
        confirmed: What the judge said, where it was asked.
        asked: Whether the judge was asked.
        usage: Tokens of the judge.
    """

    score: float
    confirmed: bool | None = None
    asked: bool = False
    usage: Usage = Usage()


def relevance_score(
    question: str, answer: str, embedding: SentenceEmbedding | RelevanceModel
) -> float:
    """Return the cosine of question and answer, cut off at 0 and 1, or a model's score of them.

    Args:
        question: The question.
        answer: The answer's text.
        embedding: Any embedding, or a cross-encoder; the score means something only beside its own
            threshold.

    Raises:
        FloatingPointError: The embedding returned a number that is not finite.
    """
    if isinstance(embedding, RelevanceModel):
        return embedding.scores(question, [answer])[0]
    left = embedding.get_query_embedding(question)
    right = embedding.get_text_embedding(answer)
    norms = math.sqrt(sum(x * x for x in left) * sum(y * y for y in right))
    if not norms:
        return 0.0
    cosine = sum(x * y for x, y in zip(left, right, strict=True)) / norms
    if not math.isfinite(norms) or not math.isfinite(cosine):
        # Neither alike nor unlike; a comparison would take NaN for the latter.
        raise FloatingPointError("the embedding returned a number that is not finite")
    return min(1.0, max(0.0, cosine))


async def relevance(
    question: str,
    answer: str,
    embedding: SentenceEmbedding | RelevanceModel,
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
    score = await to_thread.run_sync(
        relevance_score, question, answer, embedding, abandon_on_cancel=True
    )
    if judge is None or score >= threshold:
        return Relevance(score=score)
    ruling: Ruling | bool | None
    try:
        ruling = await judge.relevant(question, answer)
    except Exception:  # noqa: BLE001 - a judge is foreign code: whatever it raises is "cannot say"
        ruling = None
    if not isinstance(ruling, Ruling):
        # Whatever is neither yes nor no says nothing; a 0 or an "n" is not taken for a "no".
        ruling = Ruling(relevant=ruling if isinstance(ruling, bool) else None)
    return Relevance(score=score, confirmed=ruling.relevant, asked=True, usage=ruling.usage)


@dataclass(frozen=True, kw_only=True)
class RelevanceCheck:
    """How answers are looked at for relevance.

    Attributes:
        embedding: The first pass; any LlamaIndex embedding, or a cross-encoder.
        threshold: Least cosine that needs no judge; it goes with the embedding.
        judge: Confirms or clears what the first pass doubts; None lets the first pass stand.
    """

    embedding: SentenceEmbedding | RelevanceModel
    threshold: float = DEFAULT_THRESHOLD
    judge: RelevanceJudge | None = None


async def relevance_flag(
    question: str,
    claims: Sequence[ClaimVerdict],
    check: RelevanceCheck,
    *,
    timeout: float,
    may_judge: bool,
) -> tuple[Flag | None, Usage]:
    """Return a flag where an answer may not address its question, and the judge's tokens.

    The flag says nothing about faithfulness, and takes nothing out of the answer.

    Args:
        question: The question.
        claims: The claims that ship, at least one.
        check: How to look at them.
        timeout: Most seconds.
        may_judge: Whether tokens are left for the judge.
    """
    text = " ".join(verdict.text for verdict in claims)
    found: Relevance | None = None
    failure = "out of time"
    try:
        with anyio.move_on_after(timeout):
            found = await relevance(
                question,
                text,
                check.embedding,
                threshold=check.threshold,
                judge=check.judge if may_judge else None,
            )
    except Exception as error:  # noqa: BLE001 - an embedding is foreign code
        failure = type(error).__name__
    if found is None:
        detail = f"Whether it answers the question could not be checked ({failure})."
        return _flag(claims, detail), Usage()
    if found.score >= check.threshold or found.confirmed:
        return None, found.usage
    said = {False: "; the judge agrees", None: "; the judge could not say"}[found.confirmed]
    if not found.asked:
        said = "" if check.judge is None else "; no tokens were left for the judge"
    detail = f"It may be beside the question (similarity {found.score:.2f}{said})."
    return _flag(claims, detail), found.usage


def _flag(claims: Sequence[ClaimVerdict], detail: str) -> Flag:
    located = claims[0].located[0]
    return Flag(
        kind=FlagKind.BESIDE_QUESTION,
        claim=0,
        chunk_id=located.chunk_id,
        doc_id=located.doc_id,
        detail=detail,
    )
