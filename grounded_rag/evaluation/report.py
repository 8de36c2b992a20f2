"""What a run amounts to: metrics, costs, one row an item. Records are read one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from grounded_rag.evaluation.catalogue import PAIRED, catalogue, cites_gold
from grounded_rag.evaluation.diagnosis import Diagnosis, FailureKind, diagnose, is_known
from grounded_rag.evaluation.metrics import OWN_METRICS, MetricResult, Tally, own_metrics
from grounded_rag.evaluation.records import EvalRecord, JudgedRecord, Prices, RunMeta, judged
from grounded_rag.evaluation.runs import Run, policy_of
from grounded_rag.protocols import Metric, Share
from grounded_rag.types import Frozen, Timings, Usage

OwnMetrics = Sequence[Metric[JudgedRecord]]
"""A user's own metrics, as `metrics=` takes them."""


def report_of(run: Run, *, metrics: OwnMetrics = ()) -> EvalReport:
    """Return the report of a run, reading one record at a time.

    Args:
        run: The run.
        metrics: Metrics of your own besides the built-in ones; see `docs/metrics.md`.

    Raises:
        InputError: A record cannot be read.
        ConfigError: One of `metrics` is no metric.
    """
    builder = ReportBuilder(run.meta, metrics=metrics)
    for record in run.records():
        builder.add(record)
    return builder.result()


class Latency(Frozen):
    """Seconds of one stage over the answers of a run; "total" is a stage, too."""

    stage: str
    median: float
    p95: float
    longest: float


class Costs(Frozen):
    """What the answers of a run cost together; other systems' answers carry no costs."""

    answers: int = 0
    usage: Usage = Usage()
    reasked: int = Field(default=0, description="Answers that took more than one draft.")
    reasks: int = Field(default=0, description="Drafts beyond the first.")
    money: float | None = Field(default=None, description="None without prices.")
    currency: str = ""
    latency: tuple[Latency, ...] = ()


class Standing(StrEnum):
    """What became of one question, in a word."""

    RIGHT = "right"
    WRONG = "wrong"
    RIGHT_REFUSAL = "right refusal"
    FALSE_REFUSAL = "false refusal"
    MISSED_REFUSAL = "missed refusal"
    UNLABELLED = "unlabelled"
    ERROR = "error"


class ItemRow(Frozen):
    """One item of a run."""

    id: str
    kind: str = ""
    split: str = ""
    answerable: str = Field(default="", description='Its label, or "".')
    question: str = ""
    standing: Standing
    diagnosis: Diagnosis
    confidence: float | None = Field(default=None, description="Relevance of the answer, raw.")
    paired: dict[str, bool] = Field(
        default_factory=dict, description="By metric, for comparing runs."
    )
    unscored: str = Field(default="", description="Why some metric could not score it.")

    @property
    def wrong(self) -> str:
        """What went wrong, in words; "" for nothing."""
        kind = self.diagnosis.kind
        return "" if kind is FailureKind.NONE else kind.replace("_", " ")


class KindRow(Frozen):
    """Counts of one kind of question.

    A refusal of an unanswerable question is right, and an answer to it is wrong.
    """

    kind: str
    answerable: str
    items: int
    right: int
    refused: int
    wrong: int
    errors: int


class EvalReport(Frozen):
    """Everything that a run amounts to, without the texts of its answers.

    `open_support` has the support scores of claims by item, for answers with open ones; None for
    a claim that is not open.
    """

    meta: RunMeta
    metrics: tuple[MetricResult, ...]
    costs: Costs
    kinds: tuple[KindRow, ...]
    diagnoses: dict[str, int] = Field(description="Items by what went wrong.")
    items: tuple[ItemRow, ...] = Field(description="One row for each item, by id.")
    open_support: dict[str, tuple[float | None, ...]] = Field(default_factory=dict)
    missing: int = Field(default=0, description="Items of the golden set that have no record yet.")

    def metric(self, name: str) -> MetricResult:
        """Return one metric by its name; without it, raise `KeyError`."""
        return {result.name: result for result in self.metrics}[name]

    @property
    def errors(self) -> int:
        """Items that ended in an error."""
        return sum(row.standing is Standing.ERROR for row in self.items)

    @property
    def failed(self) -> int:
        """Metrics that could not score something, and items without a record."""
        return sum(result.failed > 0 for result in self.metrics) + self.missing


class ReportBuilder:
    """Builds a report record by record; what it keeps of each is one small row."""

    def __init__(self, meta: RunMeta, *, metrics: OwnMetrics = ()) -> None:
        self._meta = meta
        self._policy = policy_of(meta)
        built_in = catalogue(relevance_threshold=meta.relevance_threshold)
        own = own_metrics(metrics, taken=(metric.name for metric in built_in))
        self._tallies = [Tally(metric) for metric in (*built_in, *own)]
        # Drafts and times of each answer of ours: another system's costs are unknown.
        self._paid: list[tuple[int, Timings]] = []
        self._usage = Usage()
        self._rows: list[ItemRow] = []
        self._support: dict[str, tuple[float | None, ...]] = {}

    def add(self, record: EvalRecord) -> None:
        """Count one record."""
        seen = judged(record, self._policy)
        paired: dict[str, bool] = {}
        unscored = ""
        for tally in self._tallies:
            metric, observation = tally.metric, tally.add(seen)
            if observation.failed and not unscored:
                unscored = observation.why or "It could not be scored."
            one_yes_or_no = observation.trials == 1 and observation.hits in (0, 1)
            if one_yes_or_no and (metric.name in PAIRED or metric.group == OWN_METRICS):
                paired[metric.name] = bool(observation.hits)
        if record.answer is not None:
            self._usage += record.answer.usage
            self._paid.append((record.answer.attempts, record.answer.timings))
        if any(score is not None for score in seen.support):
            self._support[record.item.id] = seen.support
        diagnosis = diagnose(seen)
        self._rows.append(
            ItemRow(
                id=seen.item.id,
                kind=seen.item.kind,
                split=seen.item.split,
                answerable=seen.item.answerable or "",
                question=seen.item.question,
                standing=_standing(seen, diagnosis),
                diagnosis=diagnosis,
                confidence=record.scores.get("relevance") if seen.claims else None,
                paired=paired,
                unscored=unscored,
            )
        )

    def result(self) -> EvalReport:
        """Return the report."""
        rows = sorted(self._rows, key=lambda row: row.id)
        diagnoses = {kind.value: 0 for kind in FailureKind}
        for row in rows:
            diagnoses[row.diagnosis.kind.value] += 1
        return EvalReport(
            meta=self._meta,
            metrics=tuple(tally.result() for tally in self._tallies),
            costs=_costs(self._paid, self._usage, self._meta.prices),
            kinds=_kinds(rows),
            diagnoses={kind: count for kind, count in diagnoses.items() if count},
            items=tuple(rows),
            open_support=dict(sorted(self._support.items())),
            missing=max(0, self._meta.items - len(rows)),
        )


def _standing(seen: JudgedRecord, diagnosis: Diagnosis) -> Standing:
    if seen.state == "failed":
        return Standing.ERROR
    if seen.answerable is None:
        return Standing.UNLABELLED
    if not seen.answerable:
        return Standing.RIGHT_REFUSAL if seen.state == "refused" else Standing.MISSED_REFUSAL
    if seen.state == "refused":
        return Standing.FALSE_REFUSAL
    if not is_known(seen.item):
        return Standing.UNLABELLED
    right = cites_gold(seen) if seen.item.gold else diagnosis.kind is FailureKind.NONE
    return Standing.RIGHT if right else Standing.WRONG


def _kinds(rows: Iterable[ItemRow]) -> tuple[KindRow, ...]:
    groups: dict[tuple[str, str], list[ItemRow]] = {}
    for row in rows:
        groups.setdefault((row.answerable, row.kind), []).append(row)
    return tuple(
        KindRow(
            kind=kind or "-",
            answerable=answerable,
            items=len(group),
            right=_count(group, Standing.RIGHT, Standing.RIGHT_REFUSAL),
            refused=_count(group, Standing.RIGHT_REFUSAL, Standing.FALSE_REFUSAL),
            wrong=_count(group, Standing.WRONG, Standing.MISSED_REFUSAL),
            errors=_count(group, Standing.ERROR),
        )
        for (answerable, kind), group in sorted(groups.items(), reverse=True)
    )


def _count(rows: Iterable[ItemRow], *standings: Standing) -> int:
    return sum(row.standing in standings for row in rows)


class OpenClaims(Frozen):
    """The open claims of a run, with their mean figure and the figures by item; None is unknown.

    A calibrated figure is P(true). Raw support scores order claims and are no probabilities.
    """

    claims: int
    mean: Share | None = None
    calibrated: bool = Field(default=False, description="P(true); else raw support scores.")
    by_item: dict[str, tuple[Share | None, ...]] = Field(default_factory=dict)


def open_claims(
    support: Mapping[str, tuple[float | None, ...]],
    likely: Mapping[str, tuple[float | None, ...]] | None = None,
) -> OpenClaims:
    """Return the open claims of a run with their figures, each given by item.

    `support` has None for a claim that is not open; `likely` is P(true) by a calibrated model.
    """
    found: dict[str, tuple[float | None, ...]] = {}
    for item, scores in support.items():
        figures = scores if likely is None else likely.get(item, ())
        places = [place for place, score in enumerate(scores) if score is not None]
        if places:
            found[item] = tuple(figures[at] if at < len(figures) else None for at in places)
    known = [figure for figures in found.values() for figure in figures if figure is not None]
    return OpenClaims(
        claims=sum(map(len, found.values())),
        mean=sum(known) / len(known) if known else None,
        calibrated=likely is not None,
        by_item=found,
    )


_STAGES = ("retrieve", "generate", "verify", "total")


def _costs(paid: Sequence[tuple[int, Timings]], usage: Usage, prices: Prices | None) -> Costs:
    if not paid:
        return Costs()
    return Costs(
        answers=len(paid),
        usage=usage,
        reasked=sum(drafts > 1 for drafts, _ in paid),
        reasks=sum(max(0, drafts - 1) for drafts, _ in paid),
        money=None if prices is None else prices.cost(usage),
        currency="" if prices is None else prices.currency,
        latency=tuple(
            _latency(stage, [getattr(timings, stage) for _, timings in paid]) for stage in _STAGES
        ),
    )


def _latency(stage: str, seconds: Sequence[float]) -> Latency:
    ordered = sorted(seconds)
    last = len(ordered) - 1
    return Latency(
        stage=stage,
        median=ordered[last // 2],
        p95=ordered[min(last, int(0.95 * len(ordered)))],
        longest=ordered[last],
    )
