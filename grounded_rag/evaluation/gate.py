"""The gate: bounds on the unfavourable end of each interval, and no worse than the baseline.

Two runs are compared item by item: which items flipped, and whether that is more than chance.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from grounded_rag.errors import InputError
from grounded_rag.evaluation.catalogue import PAIRED, catalogue
from grounded_rag.evaluation.datasets import first_problem
from grounded_rag.evaluation.metrics import MetricResult, MetricState, own_metrics
from grounded_rag.evaluation.report import EvalReport, ItemRow, OwnMetrics
from grounded_rag.protocols import Share
from grounded_rag.types import Frozen


class Bound(Frozen):
    """What one metric must keep to; the interval's unfavourable end counts, not the point."""

    min: Share | None = Field(default=None, description="Least value of the interval's bottom.")
    max: Share | None = Field(default=None, description="Greatest value of the interval's top.")
    trials: int = Field(default=1, ge=0, description="Fewest things counted.")

    @model_validator(mode="after")
    def _something(self) -> Bound:
        if self.min is None and self.max is None:
            raise ValueError("a bound needs `min` or `max`")
        return self


class BaselineRule(Frozen):
    """How a run is held against its baseline.

    A McNemar p-value of `alpha` or more counts as chance. More than `max_worse` items that got
    worse in one metric fail, chance or not; None sets no limit.
    """

    metrics: tuple[str, ...] = Field(default=PAIRED, description="Those that may not get worse.")
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    max_worse: Annotated[int, Field(ge=0)] | None = None


class GateRules(Frozen):
    """The content of a gate file.

    `max_failed` is the most items that may be unscored in some metric, errors included.
    """

    bounds: dict[str, Bound] = Field(default_factory=dict, description="By metric.")
    baseline: BaselineRule = BaselineRule()
    max_failed: Annotated[int, Field(ge=0)] = 0


class GateCheck(Frozen):
    """One rule, such as "faithful_answers >= 0.95", and what came of it."""

    name: str
    passed: bool
    detail: str
    items: tuple[str, ...] = Field(default=(), description="Ids of the items that it names.")


class GateResult(Frozen):
    """What the gate says about a run."""

    checks: tuple[GateCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether every rule holds."""
        return not self.failed

    @property
    def failed(self) -> tuple[GateCheck, ...]:
        """The rules that do not hold."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def summary(self) -> str:
        """How many rules hold, in words."""
        if self.passed:
            return f"all {len(self.checks)} rules hold"
        return f"{len(self.failed)} of {len(self.checks)} rules"


def load_gate(path: Path | str, *, metrics: OwnMetrics = ()) -> GateRules:
    """Read a gate file.

    Args:
        path: The file.
        metrics: Metrics of your own, which its rules may name as well.

    Raises:
        InputError: It cannot be read, or names something unknown.
        ConfigError: One of `metrics` is no metric.
    """
    own = {metric.name for metric in own_metrics(metrics)}
    try:
        rules = GateRules.model_validate(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except ValidationError as error:
        raise InputError(
            f"{path}: {first_problem(error)}", hint="docs/evaluation.md shows a gate file."
        ) from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a TOML file.") from error
    # Found now, and not when every question has been asked.
    for name in sorted(set(rules.bounds) - own - {metric.name for metric in catalogue()}):
        raise InputError(
            f"{path} bounds {name!r}, and no metric has that name.",
            hint="docs/metrics.md lists the metrics; give your own as `metrics=`.",
        )
    for name in sorted(set(rules.baseline.metrics) - own - set(PAIRED)):
        raise InputError(
            f"{path} compares {name!r} with the baseline, which cannot be done item by item.",
            hint=f"These can: {', '.join(PAIRED)}, and metrics of your own with one trial an item.",
        )
    return rules


def check_gate(
    report: EvalReport, rules: GateRules, *, comparison: Comparison | None = None
) -> GateResult:
    """Hold a run against its gate; a rule about what the run does not measure does not hold.

    Args:
        report: The run.
        rules: The gate.
        comparison: The run beside its baseline, where there is one.
    """
    checks = [_unscored(report, rules), _missing(report)]
    results = {result.name: result for result in report.metrics}
    for name, bound in rules.bounds.items():
        if name in results:
            checks += _bounded(results[name], bound)
        else:
            detail = "no metric of the run has that name: give your own as `metrics=`"
            checks.append(GateCheck(name=f"{name} is bounded", passed=False, detail=detail))
    if comparison is not None:
        paired = {metric.metric: metric for metric in comparison.metrics}
        for name in rules.baseline.metrics:
            checks.append(_against(name, paired.get(name), rules.baseline))
    return GateResult(checks=tuple(checks))


judge_gate = check_gate
"""The name of `check_gate` in version 0.1."""


def _unscored(report: EvalReport, rules: GateRules) -> GateCheck:
    # Counted over all items: of each metric's failures a report keeps the first alone.
    failed = [row for row in report.items if row.unscored]
    why = f"; the first is {failed[0].id}: {failed[0].unscored}" if failed else ""
    return GateCheck(
        name=f"items that could not be scored <= {rules.max_failed}",
        passed=len(failed) <= rules.max_failed,
        detail=f"{len(failed)} items could not be scored{why}",
        items=tuple(row.id for row in failed),
    )


def _missing(report: EvalReport) -> GateCheck:
    return GateCheck(
        name="every item has a record",
        passed=report.missing == 0,
        detail=f"{report.missing} of {report.meta.items} items have no record",
    )


def _bounded(result: MetricResult, bound: Bound) -> Iterator[GateCheck]:
    low, high = result.interval.low, result.interval.high
    if bound.min is not None:
        name = f"{result.name} >= {bound.min:g}"
        yield _end_checked(result, bound, name, low, holds=low >= bound.min)
    if bound.max is not None:
        name = f"{result.name} <= {bound.max:g}"
        yield _end_checked(result, bound, name, high, holds=high <= bound.max)


def _end_checked(
    result: MetricResult, bound: Bound, name: str, end: float, *, holds: bool
) -> GateCheck:
    if result.state is not MetricState.SCORED or result.trials < bound.trials:
        detail = (
            f"only {result.trials} {result.unit} were counted ({result.state.value}); "
            f"{max(bound.trials, 1)} are needed"
        )
        return GateCheck(name=name, passed=False, detail=detail)
    detail = (
        f"{result.hits:g} of {result.trials} {result.unit} = {result.value:.3f}, "
        f"and the unfavourable end of the 95 % interval is {end:.3f}"
    )
    return GateCheck(name=name, passed=holds, detail=detail)


def _against(metric: str, paired: Paired | None, rule: BaselineRule) -> GateCheck:
    name = f"{metric} no worse than the baseline"
    if paired is None:
        detail = "no item has a yes or no of this metric in both reports"
        return GateCheck(name=name, passed=False, detail=detail)
    over = rule.max_worse is not None and paired.worse > rule.max_worse
    return GateCheck(
        name=name,
        passed=not (over or paired.got_worse(rule.alpha)),
        detail=(
            f"of {paired.both} items {paired.worse} got worse and {paired.better} better "
            f"(exact McNemar p = {paired.p_value:.3g})"
        ),
        items=tuple(flip.item for flip in paired.flips if flip.change == "worse"),
    )


class Flip(Frozen):
    """One item that came out otherwise: what became of it, and what the diagnosis says now."""

    item: str
    question: str
    change: Literal["worse", "better"]
    before: str
    now: str
    why: str = ""


class Paired(Frozen):
    """One metric over the items that both runs have scored."""

    metric: str
    both: int = Field(description="Items scored in both runs.")
    worse: int
    better: int
    p_value: float = Field(description="Two-sided, of the exact McNemar test over the flips.")
    flips: tuple[Flip, ...] = Field(default=(), description="Items that flipped, worse first.")

    @property
    def summary(self) -> str:
        """How many items flipped either way, in words."""
        return (
            f"{self.worse} worse, {self.better} better of {self.both} "
            f"(exact McNemar p = {self.p_value:.3g})"
        )

    def got_worse(self, alpha: float) -> bool:
        """Whether more got worse than better, and chance (p >= alpha) is an unlikely reason."""
        return self.worse > self.better and self.p_value < alpha


class Comparison(Frozen):
    """A run beside its baseline; `differences` are those in what they were made with."""

    baseline: str
    run: str
    same_golden: bool
    metrics: tuple[Paired, ...]
    only_baseline: int = Field(default=0, description="Number of items that only the baseline has.")
    only_run: int = Field(default=0, description="Number of items that only the run has.")
    differences: tuple[str, ...] = ()

    def metric(self, name: str) -> Paired:
        """Return the comparison of one metric; where it is not paired, raise `KeyError`."""
        return {paired.metric: paired for paired in self.metrics}[name]


def compare(run: EvalReport, baseline: EvalReport) -> Comparison:
    """Compare a run with a baseline, item by item.

    Metrics of your own are compared where both reports were made with them.

    Raises:
        InputError: They have no item in common.
    """
    before = {row.id: row for row in baseline.items}
    rows = [(before[now.id], now) for now in run.items if now.id in before]
    if not rows:
        raise InputError(
            "The run and its baseline have no item in common.",
            hint="Compare runs over the same golden set.",
        )
    left, new = len(before) - len(rows), len(run.items) - len(rows)
    in_both = {name for old, now in rows for name in old.paired.keys() & now.paired.keys()}
    return Comparison(
        baseline=baseline.meta.id,
        run=run.meta.id,
        same_golden=run.meta.golden_hash == baseline.meta.golden_hash,
        metrics=tuple(
            _paired(result, rows)
            for result in run.metrics
            if result.name in PAIRED or (result.name in in_both and result.better != "neither")
        ),
        only_baseline=left,
        only_run=new,
        differences=(*_differences(run, baseline), *_uncompared(left, new)),
    )


def _paired(metric: MetricResult, rows: Sequence[tuple[ItemRow, ItemRow]]) -> Paired:
    name = metric.name
    both = [(old, new) for old, new in rows if name in old.paired and name in new.paired]
    flips = [_flip(metric, old, new) for old, new in both if old.paired[name] != new.paired[name]]
    flips.sort(key=lambda flip: (flip.change != "worse", flip.item))
    worse = sum(flip.change == "worse" for flip in flips)
    return Paired(
        metric=name,
        both=len(both),
        worse=worse,
        better=len(flips) - worse,
        p_value=mcnemar(worse, len(flips) - worse),
        flips=tuple(flips),
    )


def _flip(metric: MetricResult, old: ItemRow, new: ItemRow) -> Flip:
    improved = new.paired[metric.name] != (metric.better == "lower")
    return Flip(
        item=new.id,
        question=new.question,
        change="better" if improved else "worse",
        before=old.standing,
        now=new.standing,
        why="" if improved else new.diagnosis.why,
    )


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p-value of the exact McNemar test over items that flipped.

    McNemar (1947), with the binomial distribution in place of the approximation.
    """
    flips = worse + better
    if flips == 0:
        return 1.0
    tail = sum(math.comb(flips, count) for count in range(min(worse, better) + 1))
    return float(min(1.0, 2 * tail / 2**flips))


def _differences(run: EvalReport, baseline: EvalReport) -> Iterator[str]:
    before, now = baseline.meta, run.meta
    for what, old, new in (
        ("generator", before.generator, now.generator),
        ("package", before.package_version, now.package_version),
        ("policy and prompts", before.fingerprint[:12], now.fingerprint[:12]),
        ("verifier", before.verifier[:12], now.verifier[:12]),
        ("index", before.index.content_hash[:12], now.index.content_hash[:12]),
        ("golden set", before.golden_hash[:12], now.golden_hash[:12]),
    ):
        if old != new:
            yield f"{what}: {old or '-'} before, {new or '-'} now"


def _uncompared(left: int, new: int) -> tuple[str, ...]:
    """Name items that only one run has: leaving out wrong ones makes a run look better."""
    if not left and not new:
        return ()
    return (f"items not compared: {left} in the baseline alone, {new} in this run alone",)
