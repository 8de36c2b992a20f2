"""The catalogue of metrics and their results: counts, exact intervals, three states, no blend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Literal

from grounded_rag.answer import Answer
from grounded_rag.evaluation import answer_metrics as answers
from grounded_rag.evaluation.gold import of_chunk, on_gold, pieces_covered
from grounded_rag.evaluation.observed import (
    NOT_APPLICABLE,
    Basis,
    Judged,
    Observation,
    failed,
    share,
    yes_or_no,
)
from grounded_rag.relevance import (
    DEFAULT_THRESHOLD,
    Relevance,
    RelevanceJudge,
    SentenceEmbedding,
    relevance,
    relevance_score,
)
from grounded_rag.statistics import Interval, clopper_pearson
from grounded_rag.types import Frozen


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


_FAILURES_KEPT = 50


class MetricState(StrEnum):
    """What became of a metric on a run, or on one record."""

    SCORED = "scored"
    NOT_APPLICABLE = "not_applicable"
    FAILED = "failed"


class Failure(Frozen):
    """One record that a metric could not score."""

    item: str
    why: str


class MetricResult(Frozen):
    """One metric over a run.

    Attributes:
        name: Name, as gate files use it.
        group: What it is about.
        title: What it is, in words.
        unit: What is counted.
        better: Which direction is good; "neither" for what only describes.
        kind: A share of counted things, or a mean of values between 0 and 1.
        hits: Numerator.
        trials: Denominator.
        interval: 95 % interval: Clopper-Pearson for a share, Hoeffding for a mean.
        scored: Records with something to count.
        not_applicable: Records that the metric says nothing about.
        failed: Records with something that could not be scored.
        failures: The first of them, and why.
    """

    name: str
    group: str
    title: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    kind: Literal["share", "mean"] = "share"
    hits: float
    trials: int
    interval: Interval
    scored: int
    not_applicable: int
    failed: int
    failures: tuple[Failure, ...] = ()

    @property
    def value(self) -> float | None:
        """Hits by trials, or None where nothing was counted: never NaN."""
        return self.hits / self.trials if self.trials else None

    @property
    def state(self) -> MetricState:
        """Scored where anything was counted; failed where nothing was and something should be."""
        if self.trials:
            return MetricState.SCORED
        return MetricState.FAILED if self.failed else MetricState.NOT_APPLICABLE


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One entry of the catalogue; `docs/metrics.md` defines each under its name.

    Attributes:
        name: Name.
        group: What it is about.
        title: What it is, in words.
        unit: What is counted.
        better: Which direction is good.
        observe: Says hits and trials of one record.
        kind: A share or a mean.
    """

    name: str
    group: str
    title: str
    unit: str
    better: Literal["higher", "lower", "neither"]
    observe: Callable[[Judged], Observation]
    kind: Literal["share", "mean"] = "share"


ANSWERABLE, UNANSWERABLE = "answerable questions", "unanswerable questions"
_ANY, _RETRIEVAL = "all answers", "retrieval"
_ANSWERS_REST = "what answers rest on"
_CLAIMS_REST = "what claims rest on"
_RESTS = {
    Basis.VERBATIM: "Verbatim: statements of the source",
    Basis.CONFIRMED: "Confirmed by a decider",
    Basis.RESTATED: "Restated in the source's words",
    Basis.OPEN: "Open: neither shown nor rejected",
    Basis.REJECTED: "Shown although a check rejects it",
    Basis.REFUSED: "Refused: not shown",
}
"""Titles of the shares by what a claim, or the weakest claim of an answer, rests on."""


def catalogue(*, relevance_threshold: float | None = None) -> tuple[Metric, ...]:
    """Return all metrics, the headline first.

    Args:
        relevance_threshold: Least first-pass score of an answer to the point; None where no
            first pass was run.
    """
    relevance = partial(answers.relevant_answers, threshold=relevance_threshold)
    return (
        Metric(
            name="faithful_answers", group=ANSWERABLE, title="Answers fully supported",
            unit="answers", better="higher", observe=answers.faithful_answers,
        ),
        Metric(
            name="faithful_claims", group=ANSWERABLE, title="Claims supported",
            unit="claims", better="higher", observe=answers.faithful_claims,
        ),
        Metric(
            name="correct_answers", group=ANSWERABLE, title="Answered with a gold citation",
            unit="questions", better="higher", observe=answers.correct_answers,
        ),
        Metric(
            name="wrong_answers", group=ANSWERABLE, title="Answered without a gold citation",
            unit="questions", better="lower", observe=answers.wrong_answers,
        ),
        Metric(
            name="false_refusals", group=ANSWERABLE, title="Refused although answerable",
            unit="questions", better="lower", observe=answers.false_refusals,
        ),
        Metric(
            name="complete_answers", group=ANSWERABLE,
            title="Answers complete by value",
            unit="answers", better="higher", observe=answers.complete_answers,
        ),
        Metric(
            name="open_parts_named", group=ANSWERABLE, title="Open part of the question named",
            unit="answers", better="higher", observe=answers.open_parts_named,
        ),
        Metric(
            name="citation_precision", group=ANSWERABLE, title="Citations on a gold place",
            unit="citations", better="higher", observe=answers.citation_precision,
        ),
        Metric(
            name="citation_recall", group=ANSWERABLE, title="Needed evidence cited",
            unit="pieces", better="higher", observe=answers.citation_recall,
        ),
        Metric(
            name="right_refusals", group=UNANSWERABLE, title="Refused, as it should be",
            unit="questions", better="higher", observe=answers.right_refusals,
        ),
        Metric(
            name="quoted_misses", group=UNANSWERABLE,
            title="Missed refusals that only quote",
            unit="answers", better="neither", observe=answers.quoted_misses,
        ),
        Metric(
            name="hallucinated_claims", group=_ANY, title="Claims shown that a check rejects",
            unit="claims", better="lower", observe=answers.hallucinated_claims,
        ),
        Metric(
            name="drafted_hallucinations", group=_ANY, title="Drafted claims that a check rejects",
            unit="claims", better="neither", observe=answers.drafted_hallucinations,
        ),
        Metric(
            name="quote_exactness", group=_ANY, title="Quotes literal as given",
            unit="quotes", better="higher", observe=answers.quote_exactness,
        ),
        Metric(
            name="relevant_answers", group=_ANY, title="Answers to the point",
            unit="answers", better="higher", observe=relevance,
        ),
        Metric(
            name="outdated_answers", group=_ANY, title="Answers on outdated evidence",
            unit="answers", better="neither", observe=answers.outdated_answers,
        ),
        Metric(
            name="unflagged_outdated_answers", group=_ANY, title="Outdated evidence not flagged",
            unit="answers", better="lower", observe=answers.unflagged_outdated_answers,
        ),
        *(
            Metric(
                name=f"{on}_answers", group=_ANSWERS_REST, title=title, unit="questions",
                better="neither", observe=partial(answers.answers_resting_on, on=on),
            )
            for on, title in _RESTS.items()
        ),
        *(
            Metric(
                name=f"{on}_claims", group=_CLAIMS_REST, title=title, unit="claims",
                better="neither", observe=partial(answers.claims_resting_on, on=on),
            )
            for on, title in _RESTS.items()
        ),
        Metric(
            name="open_support", group=_CLAIMS_REST, title="Support score of open claims",
            unit="claims", better="neither", observe=answers.open_support, kind="mean",
        ),
        Metric(
            name="parts_apart", group=_CLAIMS_REST, title="Parts of prose that state nothing",
            unit="parts", better="neither", observe=answers.parts_apart,
        ),
        *(
            Metric(
                name=f"hit_at_{k or 'k'}", group=_RETRIEVAL,
                title=f"Gold among the first {k}" if k else "Gold among all retrieved",
                unit="questions", better="higher", observe=partial(hit_at, k=k),
            )
            for k in (1, 3, 5, None)
        ),
        Metric(
            name="mrr", group=_RETRIEVAL, title="Mean reciprocal rank of gold",
            unit="questions", better="higher", observe=reciprocal_rank, kind="mean",
        ),
        Metric(
            name="evidence_recall", group=_RETRIEVAL, title="Needed evidence retrieved",
            unit="pieces", better="higher", observe=evidence_recall,
        ),
    )  # fmt: skip


PAIRED = ("faithful_answers", "correct_answers", "false_refusals", "right_refusals")
"""Metrics with one yes or no a question, which two runs can be compared by, item by item."""


@dataclass
class Tally:
    """Sums the observations of one metric; its size does not grow with the run."""

    metric: Metric
    hits: float = 0
    trials: int = 0
    scored: int = 0
    not_applicable: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)

    def add(self, item: str, observation: Observation) -> None:
        """Count one record."""
        self.hits += observation.hits
        self.trials += observation.trials
        self.scored += observation.trials > 0
        if observation.failed:
            self.failed += 1
            if len(self.failures) < _FAILURES_KEPT:
                self.failures.append(Failure(item=item, why=observation.why))
        elif not observation.trials:
            self.not_applicable += 1

    def result(self) -> MetricResult:
        """Return the metric over all that was counted."""
        metric = self.metric
        return MetricResult(
            name=metric.name,
            group=metric.group,
            title=metric.title,
            unit=metric.unit,
            better=metric.better,
            kind=metric.kind,
            hits=self.hits,
            trials=self.trials,
            interval=interval(self.hits, self.trials, kind=metric.kind),
            scored=self.scored,
            not_applicable=self.not_applicable,
            failed=self.failed,
            failures=tuple(self.failures),
        )


def interval(hits: float, trials: int, *, kind: Literal["share", "mean"]) -> Interval:
    """Return the 95 % interval of a share (exact) or of a mean of values between 0 and 1.

    A mean's is Hoeffding's (1963): it holds for any distribution and any number of values, and
    is wide for that.

    Args:
        hits: Number of hits, or sum of the values.
        trials: Number of trials or values; with 0 nothing is known.
        kind: Which of the two it is.
    """
    if kind == "share":
        return clopper_pearson(round(hits), trials)
    if trials == 0:
        return Interval(low=0.0, high=1.0)
    half = math.sqrt(math.log(2 / 0.05) / (2 * trials))
    mean = hits / trials
    return Interval(low=max(0.0, mean - half), high=min(1.0, mean + half))


def measure(
    records: Iterable[Judged], metrics: Sequence[Metric] | None = None
) -> tuple[MetricResult, ...]:
    """Return every metric over judged records, reading each record once.

    Args:
        records: The judged records.
        metrics: Metrics to compute; None means the whole catalogue without relevance.
    """
    tallies = [Tally(metric) for metric in (catalogue() if metrics is None else metrics)]
    for judged in records:
        for tally in tallies:
            tally.add(judged.item.id, tally.metric.observe(judged))
    return tuple(tally.result() for tally in tallies)
