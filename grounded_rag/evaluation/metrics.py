"""What a metric is and what it amounts to: counts, exact intervals, three states, no blend.

The built-in metrics are in `catalogue`; a user's own are given as `metrics=`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from importlib import import_module
from typing import Any, Literal, NamedTuple

from pydantic import Field

from grounded_rag.errors import ConfigError
from grounded_rag.evaluation.records import JudgedRecord
from grounded_rag.protocols import Metric
from grounded_rag.statistics import Interval, clopper_pearson
from grounded_rag.types import Frozen

Kind = Literal["share", "mean"]
Better = Literal["higher", "lower", "neither"]


class Observation(NamedTuple):
    """Hits among trials of one record.

    No trials and no failures mean "not applicable". Failures are never counted as misses.
    """

    hits: float = 0  # a share between 0 and 1 for a mean
    trials: int = 0  # things looked at
    failed: int = 0  # things that could not be scored
    why: str = ""  # why they could not


NOT_APPLICABLE = Observation()


def yes_or_no(hit: bool) -> Observation:
    """Return the observation of one thing looked at."""
    return Observation(hits=int(hit), trials=1)


def could_not_score(why: str) -> Observation:
    """Return the observation of something that could not be scored."""
    return Observation(failed=1, why=why)


@dataclass(frozen=True, kw_only=True)
class MetricSpec:
    """One metric of a run; `docs/metrics.md` defines each built-in one under its name."""

    name: str  # as gate files use it
    group: str
    title: str
    unit: str  # what is counted
    better: Better  # "neither" for what only describes
    observe: Callable[[JudgedRecord], Observation]
    kind: Kind = "share"  # a share of things, or a mean of values between 0 and 1


OWN_METRICS = "own metrics"
"""The group under which reports show what a user gives as `metrics=`."""

_WHAT_A_METRIC_IS = (
    "A metric is a function, or another callable with a `name`, that takes one judged record and "
    "returns (hits, trials), or None where it does not apply: see docs/metrics.md."
)


def load_metric(named: str) -> Metric[JudgedRecord]:
    """Return a user's own metric by its place, such as "my_package.metrics:short_answers".

    Raises:
        ConfigError: There is no such module or name, or it is no metric.
    """
    module, colon, name = named.partition(":")
    if not (module and colon and name):
        raise ConfigError(f"{named!r} names no metric.", hint='Write "package.module:function".')
    try:
        found = import_module(module)
    except Exception as error:
        raise ConfigError(
            f"The metric {named!r} cannot be loaded: {one_line_error(error)}.",
            hint="Install its package, or name the folder that holds it in PYTHONPATH.",
        ) from error
    try:
        metric: Metric[JudgedRecord] = getattr(found, name)
    except AttributeError as error:
        raise ConfigError(
            f"The module {module!r} has no {name!r}.", hint='Write "package.module:function".'
        ) from error
    own_metrics([metric])
    return metric


def own_metrics(
    metrics: Sequence[Metric[JudgedRecord]], *, taken: Iterable[str] = ()
) -> tuple[MetricSpec, ...]:
    """Return a user's own metrics as those of a run; their names must differ from `taken` ones.

    Raises:
        ConfigError: One is no metric, or its name is taken.
    """
    names = set(taken)
    specs: list[MetricSpec] = []
    for metric in metrics:
        spec = _own_metric(metric)
        if spec.name in names:
            raise ConfigError(
                f"Two metrics are named {spec.name!r}.",
                hint="Rename the function, or set its attribute `name`.",
            )
        names.add(spec.name)
        specs.append(spec)
    return tuple(specs)


def _own_metric(metric: Any) -> MetricSpec:
    if (
        not callable(metric)
        # A call of a class makes an object and counts nothing; an awaitable is no count either.
        or isinstance(metric, type)
        or inspect.iscoroutinefunction(metric)
    ):
        raise ConfigError(f"{metric!r} is no metric.", hint=_WHAT_A_METRIC_IS)
    name = getattr(metric, "name", None) or getattr(metric, "__name__", None)
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigError(
            f"The metric {metric!r} has no name.",
            hint="Give a named function, or an object with the attribute `name`, such as "
            '"short_answers".',
        )
    kind: Any = getattr(metric, "kind", "share")
    better: Any = getattr(metric, "better", "higher")
    if kind not in ("share", "mean") or better not in ("higher", "lower", "neither"):
        raise ConfigError(
            f"The metric {name!r} says kind {kind!r} and better {better!r}.",
            hint='`kind` is "share" or "mean"; `better` is "higher", "lower" or "neither".',
        )
    return MetricSpec(
        name=name,
        group=OWN_METRICS,
        title=str(getattr(metric, "title", "") or name.replace("_", " ").capitalize()),
        unit=str(getattr(metric, "unit", "") or "things"),
        better=better,
        observe=partial(_observed, metric, kind),
        kind=kind,
    )


def _observed(metric: Metric[JudgedRecord], kind: Kind, judged: JudgedRecord) -> Observation:
    """Return what a user's own metric counts; whatever goes wrong in it fails this record alone."""
    if judged.state == "failed":
        return could_not_score(judged.failure)
    try:
        counted = metric(judged)
        if counted is None:
            return NOT_APPLICABLE
        hits, trials = counted
        whole = int(trials) == trials and (kind == "mean" or int(hits) == hits)
        if not whole or not 0 <= hits <= trials:
            hint = "" if kind == "mean" else '; for values between 0 and 1, say kind = "mean"'
            return could_not_score(f"{counted!r} is not (hits, trials){hint}")
        return Observation(hits=hits, trials=int(trials))
    except Exception as error:  # noqa: BLE001 - one bad record must not lose the run
        return could_not_score(one_line_error(error))


def one_line_error(error: Exception) -> str:
    """Return an error's class and message as one line that any file can hold."""
    message = " ".join(str(error).split()).encode("utf-8", "replace").decode()
    return f"{type(error).__name__}: {message}"[:500]


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
    """One metric over a run: what it is, as in `MetricSpec`, and what it amounts to."""

    name: str
    group: str
    title: str
    unit: str
    better: Better
    kind: Kind = "share"
    hits: float
    trials: int
    interval: Interval = Field(description="95 %: Clopper-Pearson (share) or Hoeffding (mean).")
    scored: int = Field(description="Records with something to count.")
    not_applicable: int = Field(description="Records that the metric says nothing about.")
    failed: int = Field(description="Records with something that could not be scored.")
    failures: tuple[Failure, ...] = Field(default=(), description="The first of them.")

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


# A report names the first records that failed; all of them are counted.
_FAILURES_KEPT = 50


@dataclass
class Tally:
    """Sums the observations of one metric; its size does not grow with the run."""

    metric: MetricSpec
    hits: float = 0
    trials: int = 0
    scored: int = 0
    not_applicable: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)

    def add(self, judged: JudgedRecord) -> Observation:
        """Count one record and return what was observed."""
        observation = self.metric.observe(judged)
        self.hits += observation.hits
        self.trials += observation.trials
        self.scored += observation.trials > 0
        if observation.failed:
            self.failed += 1
            if len(self.failures) < _FAILURES_KEPT:
                self.failures.append(Failure(item=judged.item.id, why=observation.why))
        elif not observation.trials:
            self.not_applicable += 1
        return observation

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


def interval(hits: float, trials: int, *, kind: Kind) -> Interval:
    """Return the 95 % interval of a share (exact) or of a mean of values between 0 and 1.

    A mean's is Hoeffding's (1963): it holds for any distribution and any number of values, and
    is wide for that. Without trials nothing is known.
    """
    if kind == "share":
        return clopper_pearson(round(hits), trials)
    if trials == 0:
        return Interval(low=0.0, high=1.0)
    half = math.sqrt(math.log(2 / 0.05) / (2 * trials))
    mean = hits / trials
    return Interval(low=max(0.0, mean - half), high=min(1.0, mean + half))
