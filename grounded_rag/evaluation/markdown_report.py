"""GitHub-flavoured Markdown for a job summary or a comment on a pull request.

Questions and model text are data: whatever could be markup, a link, a mention or HTML is escaped.
"""

from __future__ import annotations

import re

from grounded_rag.evaluation.comparison import Comparison, Paired
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.report import EvalReport

_ESCAPED = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~@&:/.])")
_LINKED = re.compile("[@#]")
_SHOWN = 20
_ITEMS = 100


def markdown(
    report: EvalReport, *, gate: GateResult | None = None, comparison: Comparison | None = None
) -> str:
    """Return the report as Markdown.

    Args:
        report: The report.
        gate: What the gate says, where there is one.
        comparison: The run beside its baseline, where there is one.
    """
    meta = report.meta
    parts = [f"## Grounding: {len(report.items)} questions, {text(meta.generator or 'run')}", ""]
    if gate is not None:
        parts += _gate(gate)
    parts += ["| | rate | count | 95 % interval | not scored |", "|---|---:|---:|---:|---:|"]
    parts += [_row(result) for result in report.metrics]
    if comparison is not None:
        parts += _comparison(comparison)
    wrong = {kind: n for kind, n in report.diagnoses.items() if kind != "none"}
    if wrong:
        counted = ", ".join(f"{count} {text(kind)}" for kind, count in wrong.items())
        parts += ["", f"**What went wrong:** {counted}", *_wrong(report)]
    return "\n".join([*parts, ""])


def _wrong(report: EvalReport) -> list[str]:
    rows = [row for row in report.items if row.diagnosis.kind is not FailureKind.NONE]
    lines = ["", "<details><summary>Item by item</summary>", ""]
    lines += ["| item | outcome | what went wrong | why | question |", "|---|---|---|---|---|"]
    lines += [
        f"| {text(row.id)} | {row.standing} | {text(row.diagnosis.kind)} "
        f"| {text(row.diagnosis.why)} | {text(row.question)} |"
        for row in rows[:_ITEMS]
    ]
    if len(rows) > _ITEMS:
        lines.append(f"\n… and {len(rows) - _ITEMS} more.")
    return [*lines, "", "</details>"]


def text(value: str, *, longest: int = 160) -> str:
    """Return any text as one line of Markdown that means nothing but itself.

    Args:
        value: Any text.
        longest: Characters after which it is cut.
    """
    plain = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    cut = plain if len(plain) <= longest else f"{plain[: longest - 1]}…"
    # Mentions and issue numbers are linked in the rendered text, where a backslash is gone.
    return _LINKED.sub("\\g<0>\N{WORD JOINER}", _ESCAPED.sub(r"\\\1", cut))


def rate(result: MetricResult) -> str:
    """Return a rate for people: a percentage, a mean, or its state."""
    if result.value is None:
        return result.state.value.replace("_", " ")
    return f"{result.value:.1%}" if result.kind == "share" else f"{result.value:.3f}"


def _row(result: MetricResult) -> str:
    low, high = result.interval.low, result.interval.high
    interval = f"{low:.1%} – {high:.1%}" if result.trials else ""
    count = f"{result.hits:g}/{result.trials}" if result.kind == "share" else str(result.trials)
    failed = f"**{result.failed}**" if result.failed else ""
    shown = count if result.trials else ""
    return f"| {result.title} | {rate(result)} | {shown} | {interval} | {failed} |"


def _gate(gate: GateResult) -> list[str]:
    failed = [check for check in gate.checks if not check.passed]
    verdict = "passed" if gate.passed else f"failed: {len(failed)} of {len(gate.checks)} rules"
    lines = [f"**Gate {verdict}.**", ""]
    for check in failed:
        named = f" Items: {', '.join(map(text, check.items[:_SHOWN]))}." if check.items else ""
        lines.append(f"- ❌ {text(check.name)}: {text(check.detail)}.{named}")
    return [*lines, ""] if failed else lines


def _comparison(comparison: Comparison) -> list[str]:
    lines = ["", f"### Against {text(comparison.baseline)}", ""]
    lines += [f"- {text(difference)}" for difference in comparison.differences]
    for paired in comparison.metrics:
        lines += _flips(paired)
    return lines


def _flips(paired: Paired) -> list[str]:
    summary = (
        f"**{text(paired.metric)}**: {paired.worse} worse, {paired.better} better of "
        f"{paired.both}; exact McNemar p = {paired.p_value:.3g}"
    )
    lines = ["", summary]
    if not paired.flips:
        return lines
    lines += ["", "| | item | before | now | question |", "|---|---|---|---|---|"]
    lines += [
        f"| {flip.change} | {text(flip.item)} | {text(flip.before)} | {text(flip.now)} "
        f"| {text(flip.question)} |"
        for flip in paired.flips[:_SHOWN]
    ]
    if len(paired.flips) > _SHOWN:
        lines.append(f"\n… and {len(paired.flips) - _SHOWN} more.")
    return lines
