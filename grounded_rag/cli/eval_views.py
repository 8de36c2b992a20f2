"""How evaluations look in a terminal. Questions and model text are data: never markup."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grounded_rag.evaluation.comparison import Comparison
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.golden import GoldenCheck, GoldenStats
from grounded_rag.evaluation.markdown_report import rate
from grounded_rag.evaluation.other_systems import OpenClaims
from grounded_rag.evaluation.report import EvalReport, ItemRow, Standing
from grounded_rag.text.display import one_line

_SHOWN = 12


def report_view(
    report: EvalReport,
    *,
    run: Path,
    gate: GateResult | None = None,
    comparison: Comparison | None = None,
    html: Path | None = None,
    unshown: OpenClaims | None = None,
) -> RenderableType:
    """Return the metrics of a run, what went wrong, what the gate says, and the next step."""
    parts: list[RenderableType] = [_metrics(report)]
    parts.append(
        Text(
            "Faithfulness is judged by the verifier that gates the answers: for our own pipeline "
            "it is 100 % by construction. Correctness is judged by people's labels.",
            style="dim",
        )
    )
    if unshown is not None and unshown.claims:
        parts.append(Text(f"\n{_open(unshown)}"))
    wrong = {kind: n for kind, n in report.diagnoses.items() if kind != FailureKind.NONE}
    if wrong:
        listed = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in wrong.items())
        parts.append(Text(f"\nwhat went wrong: {listed}"))
    parts += [Text(line, style="red") for line in error_lines(report)]
    parts.append(Text(_cost(report), style="dim"))
    if report.missing:
        parts.append(Text(f"{report.missing} items have no record yet", style="yellow"))
    if comparison is not None:
        parts += _comparison(comparison)
    if gate is not None:
        parts += _gate(gate)
    parts += [Text(f"  {line}", style="dim") for line in _next(report, run, html)]
    return Group(*parts)


def _open(unshown: OpenClaims) -> str:
    """Say how likely the open claims are, in one line."""
    figure = "P(true)" if unshown.calibrated else "support score"
    mean = "unknown" if unshown.mean is None else f"{unshown.mean:.2f}"
    hint = (
        "" if unshown.calibrated else "; it orders claims and is no probability: see --factuality"
    )
    return f"open claims: {unshown.claims}, neither shown nor rejected; mean {figure} {mean}{hint}"


def error_lines(report: EvalReport) -> Iterable[str]:
    """Yield each item that ended in an error with what happened, and the next step."""
    broken = [row for row in report.items if row.standing is Standing.ERROR]
    for row in broken[:_SHOWN]:
        yield f"error: {one_line(row.id)}: {one_line(row.diagnosis.why)}"
    if len(broken) > _SHOWN:
        yield f"error: and {len(broken) - _SHOWN} more"
    if broken:
        yield "next: mend these records, or ask these questions again, in a run that holds them all"


def _metrics(report: EvalReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric")
    for name in ("rate", "count", "95 % interval", "n/a", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    group = ""
    for result in report.metrics:
        if result.group != group:
            group = result.group
            table.add_row(Text(group, style="bold cyan"))
        low, high = result.interval.low, result.interval.high
        count = f"{result.hits:g}/{result.trials}" if result.kind == "share" else f"{result.trials}"
        table.add_row(
            Text(f"  {result.title}"),
            Text(rate(result) if result.trials else "failed" if result.failed else "–"),
            count if result.trials else "",
            f"{low:.1%}–{high:.1%}" if result.trials else "",
            str(result.not_applicable),
            Text(str(result.failed), style="bold red" if result.failed else "dim"),
        )
    return table


def _cost(report: EvalReport) -> str:
    costs = report.costs
    if not costs.answers:
        return "cost: not recorded"
    total = next(stage for stage in costs.latency if stage.stage == "total")
    money = "" if costs.money is None else f", {costs.money:.4f} {costs.currency}"
    return (
        f"cost: {costs.usage.calls} calls, {costs.usage.total_tokens:,} tokens{money}, re-asks: "
        f"{costs.reasks}; a question took {total.median:.2f} s (median), {total.p95:.2f} s (95 %)"
    )


def _comparison(comparison: Comparison) -> list[RenderableType]:
    parts: list[RenderableType] = [
        Text(f"\nagainst {one_line(comparison.baseline)}", style="bold cyan")
    ]
    parts += [Text(f"  {one_line(line)}", style="dim") for line in comparison.differences]
    for paired in comparison.metrics:
        style = "red" if paired.worse > paired.better else ""
        parts.append(
            Text(
                f"  {paired.metric}: {paired.worse} worse, {paired.better} better of "
                f"{paired.both} (exact McNemar p = {paired.p_value:.3g})",
                style=style,
            )
        )
        parts += [
            Text(
                f"    {flip.change}: {one_line(flip.item)} {flip.before} → {flip.now}: "
                f"{one_line(flip.question)[:90]}",
                style="red" if flip.change == "worse" else "green",
            )
            for flip in paired.flips[:_SHOWN]
        ]
        if len(paired.flips) > _SHOWN:
            parts.append(Text(f"    and {len(paired.flips) - _SHOWN} more (see --html)"))
    return parts


def _gate(gate: GateResult) -> list[RenderableType]:
    if gate.passed:
        return [Text(f"\ngate passed: all {len(gate.checks)} rules hold", style="bold green")]
    failed = [check for check in gate.checks if not check.passed]
    parts: list[RenderableType] = [
        Text(f"\ngate failed: {len(failed)} of {len(gate.checks)} rules", style="bold red")
    ]
    for check in failed:
        parts.append(Text(f"  ✗ {check.name}: {one_line(check.detail)}", style="red"))
        if check.items:
            named = ", ".join(one_line(item) for item in check.items[:_SHOWN])
            parts.append(Text(f"      {named}{' …' if len(check.items) > _SHOWN else ''}"))
    return parts


def _next(report: EvalReport, run: Path, html: Path | None) -> Iterable[str]:
    yield f"run: {run}"
    if html is not None:
        yield f"report: {html}"
    else:
        yield f"next: grounded-rag eval --replay {run} --html report.html"
    if any(row.diagnosis.kind is not FailureKind.NONE for row in report.items):
        yield f"next: grounded-rag diagnose {run}"


def diagnoses_view(rows: Iterable[ItemRow], *, run: Path) -> RenderableType:
    """Return what went wrong, item by item, with the evidence and the fix to try."""
    parts: list[RenderableType] = []
    groups: dict[FailureKind, list[ItemRow]] = {}
    for row in rows:
        groups.setdefault(row.diagnosis.kind, []).append(row)
    for kind, group in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        first = group[0].diagnosis
        title = kind.value.replace("_", " ")
        parts.append(Text(f"\n{title}: {len(group)}", style="bold cyan"))
        if first.fix:
            parts.append(Text(f"  try ({first.area}): {first.fix}", style="dim"))
        for row in group:
            parts.append(Text(f"  {one_line(row.id)}  {one_line(row.question)}"))
            parts.append(Text(f"      {one_line(row.diagnosis.why)}", style="dim"))
    if not parts:
        parts.append(Text(f"Nothing went wrong in {run}.", style="green"))
    return Group(*parts)


def golden_view(check: GoldenCheck) -> RenderableType:
    """Return the size of a golden set and what is wrong with it."""
    parts: list[RenderableType] = [stats_view(check.stats)]
    for finding in check.findings:
        style = "red" if finding.severity == "error" else "yellow"
        parts.append(
            Text(
                f"{finding.severity}: {finding.rule}: {one_line(finding.where)}: "
                f"{one_line(finding.detail)}",
                style=style,
            )
        )
    errors = sum(finding.severity == "error" for finding in check.findings)
    parts.append(
        Text("usable", style="bold green")
        if check.usable
        else Text(f"{errors} errors make it unusable", style="bold red")
    )
    return Group(*parts)


def stats_view(stats: GoldenStats) -> RenderableType:
    """Return size and balance of a golden set."""
    lines = [f"{stats.items} items; {stats.with_gold} with gold, {stats.with_expected} with answer"]
    for name, counts in (
        ("answerable", stats.answerable),
        ("split", stats.splits),
        ("kind", stats.kinds),
    ):
        listed = ", ".join(f"{one_line(key)} {count}" for key, count in counts.items())
        lines.append(f"{name}: {listed}")
    lines.append(
        f"a rate of one half over all of them is known to ± {stats.widest:.1%}"
        + (f"; {stats.missing} more make a useful set of 100" if stats.missing else "")
    )
    return Group(*(Text(line) for line in lines))
