"""Metrics of retrieval, over answerable questions with gold places; refused ones count too."""

from __future__ import annotations

from grounded_rag.evaluation.gold import of_chunk, on_gold, pieces_covered
from grounded_rag.evaluation.judging import Judged
from grounded_rag.evaluation.observations import (
    NOT_APPLICABLE,
    Observation,
    failed,
    share,
    yes_or_no,
)


def first_gold_rank(judged: Judged) -> int | None:
    """Return the 1-based position of the first retrieved chunk on a gold place, or None."""
    for rank, chunk in enumerate(judged.retrieved, start=1):
        if on_gold(of_chunk(chunk), judged.record):
            return rank
    return None


def hit_at(judged: Judged, *, k: int | None) -> Observation:
    """Whether a gold place is among the first `k` retrieved chunks; None means among all.

    Args:
        judged: The record.
        k: Number of chunks that count.
    """
    missing = _missing(judged)
    if missing is not None:
        return missing
    rank = first_gold_rank(judged)
    return yes_or_no(rank is not None and (k is None or rank <= k))


def reciprocal_rank(judged: Judged) -> Observation:
    """One divided by the rank of the first chunk on a gold place; 0 where there is none."""
    missing = _missing(judged)
    if missing is not None:
        return missing
    rank = first_gold_rank(judged)
    return Observation(hits=0 if rank is None else 1 / rank, trials=1)


def evidence_recall(judged: Judged) -> Observation:
    """Needed pieces of evidence of which a place was retrieved."""
    missing = _missing(judged)
    if missing is not None:
        return missing
    covered = pieces_covered([of_chunk(chunk) for chunk in judged.retrieved], judged.record)
    return share(sum(covered), len(covered))


def _missing(judged: Judged) -> Observation | None:
    if not judged.answerable or not judged.item.gold:
        return NOT_APPLICABLE
    if judged.record.answer is None and judged.state == "failed":
        return failed(judged.failure)
    if judged.record.other is not None and not judged.retrieved:
        # A refusal that was recorded without its contexts: nobody says what was retrieved.
        return NOT_APPLICABLE
    return None
