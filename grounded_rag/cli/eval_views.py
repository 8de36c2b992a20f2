"""Diagnoses and golden sets in a terminal. Questions and model text are data: never markup."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from grounded_rag.evaluation.datasets import GoldenCheck, GoldenStats
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.report import ItemRow
from grounded_rag.text.display import one_line


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
