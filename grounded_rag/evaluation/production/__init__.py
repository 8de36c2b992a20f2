"""Watching a system in production: sampling, review, currency, and OpenTelemetry."""

from grounded_rag.evaluation.production.currency import (
    OVERDUE,
    CurrencyReport,
    CurrencyState,
    DatedDocument,
    DocumentCurrency,
    index_currency,
    judge_currency,
)
from grounded_rag.evaluation.production.review import (
    ReviewItem,
    ReviewQueue,
    ReviewReason,
    review_reasons,
)
from grounded_rag.evaluation.production.sampler import (
    Budget,
    LiveSampler,
    LiveScores,
    SamplerStats,
    each,
    factuality_score,
)
from grounded_rag.evaluation.production.telemetry import Telemetry

__all__ = [
    "OVERDUE",
    "Budget",
    "CurrencyReport",
    "CurrencyState",
    "DatedDocument",
    "DocumentCurrency",
    "LiveSampler",
    "LiveScores",
    "ReviewItem",
    "ReviewQueue",
    "ReviewReason",
    "SamplerStats",
    "Telemetry",
    "each",
    "factuality_score",
    "index_currency",
    "judge_currency",
    "review_reasons",
]
