"""The gate: bounds on the unfavourable end of each interval, and no worse than the baseline."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, model_validator

from grounded_rag.errors import InputError
from grounded_rag.evaluation.comparison import Comparison
from grounded_rag.evaluation.metrics import PAIRED, MetricResult, MetricState, catalogue
from grounded_rag.evaluation.report import EvalReport
from grounded_rag.types import Frozen

Rate = Annotated[float, Field(ge=0.0, le=1.0)]


class Bound(Frozen):
    """What one metric must keep to; the interval's unfavourable end counts, not the point.

    Attributes:
        min: Least value of the interval's lower end.
        max: Greatest value of the interval's upper end.
        trials: Least number of things counted.
    """

    min: Rate | None = None
    max: Rate | None = None
    trials: Annotated[int, Field(ge=0)] = 1

    @model_validator(mode="after")
    def _something(self) -> Bound:
        if self.min is None and self.max is None:
            raise ValueError("a bound needs `min` or `max`")
        return self


class BaselineRule(Frozen):
    """How a run is held against its baseline.

    Attributes:
        metrics: Paired metrics that may not get worse.
        alpha: Least p-value of the exact McNemar test that still counts as chance.
        max_worse: Most items that may get worse in one metric, chance or not; None sets no limit.
    """

    metrics: tuple[str, ...] = PAIRED
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    max_worse: Annotated[int, Field(ge=0)] | None = None


class GateRules(Frozen):
    """The content of a gate file.

    Attributes:
        bounds: Bounds by metric.
        baseline: Rules for the comparison with a baseline.
        max_failed: Most items that could not be scored in any metric, errors included.
    """

    bounds: dict[str, Bound] = Field(default_factory=dict)
    baseline: BaselineRule = BaselineRule()
    max_failed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _known(self) -> GateRules:
        names = {metric.name for metric in catalogue()}
        unknown = sorted(set(self.bounds) - names)
        if unknown:
            raise ValueError(f"no metric is named {unknown[0]!r}; see docs/metrics.md")
        unpaired = sorted(set(self.baseline.metrics) - set(PAIRED))
        if unpaired:
            raise ValueError(f"{unpaired[0]!r} cannot be compared item by item")
        return self


class GateCheck(Frozen):
    """One rule and what came of it.

    Attributes:
        name: The rule, such as "faithful_answers >= 0.95".
        passed: Whether it holds.
        detail: What was found, in one sentence.
        items: Ids of the items that it names.
    """

    name: str
    passed: bool
    detail: str
    items: tuple[str, ...] = ()


class GateResult(Frozen):
    """What the gate says about a run."""

    checks: tuple[GateCheck, ...]

    @property
    def passed(self) -> bool:
        """Whether every rule holds."""
        return all(check.passed for check in self.checks)


def load_gate(path: Path | str) -> GateRules:
    """Read a gate file.

    Raises:
        InputError: It cannot be read, or names something unknown.
    """
    try:
        return GateRules.model_validate(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{path}: {where}: {first['msg']}" if where else f"{path}: {first['msg']}"
        raise InputError(message, hint="docs/evaluation.md shows a gate file.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a TOML file.") from error


def judge_gate(
    report: EvalReport, rules: GateRules, *, comparison: Comparison | None = None
) -> GateResult:
    """Hold a run against its gate.

    Args:
        report: The run.
        rules: The gate.
        comparison: The run beside its baseline, where there is one.
    """
    checks = [_failures(report, rules), _missing(report)]
    for name, bound in rules.bounds.items():
        checks += _bound(report.metric(name), bound)
    if comparison is not None:
        checks += [_against(comparison, name, rules.baseline) for name in rules.baseline.metrics]
    return GateResult(checks=tuple(checks))


def _failures(report: EvalReport, rules: GateRules) -> GateCheck:
    failed: dict[str, str] = {}
    for result in report.metrics:
        for failure in result.failures:
            failed.setdefault(failure.item, failure.why)
    worst = max((result.failed for result in report.metrics), default=0)
    count = max(len(failed), worst)
    first = next(iter(failed.items()), None)
    why = "" if first is None else f"; the first is {first[0]}: {first[1]}"
    return GateCheck(
        name=f"items that could not be scored <= {rules.max_failed}",
        passed=count <= rules.max_failed,
        detail=f"{count} items could not be scored{why}",
        items=tuple(failed),
    )


def _missing(report: EvalReport) -> GateCheck:
    return GateCheck(
        name="every item has a record",
        passed=report.missing == 0,
        detail=f"{report.missing} of {report.meta.items} items have no record",
    )


def _bound(result: MetricResult, bound: Bound) -> list[GateCheck]:
    checks: list[GateCheck] = []
    if bound.min is not None:
        checks.append(
            _checked(result, bound, f"{result.name} >= {bound.min:g}", result.interval.low,
                     holds=result.interval.low >= bound.min)
        )  # fmt: skip
    if bound.max is not None:
        checks.append(
            _checked(result, bound, f"{result.name} <= {bound.max:g}", result.interval.high,
                     holds=result.interval.high <= bound.max)
        )  # fmt: skip
    return checks


def _checked(
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


def _against(comparison: Comparison, name: str, rule: BaselineRule) -> GateCheck:
    paired = comparison.metric(name)
    worse = tuple(flip.item for flip in paired.flips if flip.change == "worse")
    over = rule.max_worse is not None and paired.worse > rule.max_worse
    return GateCheck(
        name=f"{name} no worse than the baseline",
        passed=not (over or paired.got_worse(rule.alpha)),
        detail=(
            f"of {paired.both} items {paired.worse} got worse and {paired.better} better "
            f"(exact McNemar p = {paired.p_value:.3g})"
        ),
        items=worse,
    )
