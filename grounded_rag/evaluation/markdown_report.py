"""GitHub-flavoured Markdown for a job summary or a comment on a pull request.

Questions and model text are data: whatever could be markup, a link, a mention or HTML is escaped.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from grounded_rag.evaluation.comparison import Comparison, Paired
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.report import EvalReport, Standing

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


# XML 1.0 has no way to write these, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(report: EvalReport, gate: GateResult | None = None) -> str:
    """Return the report as JUnit XML.

    Rules of the gate fail; single questions never do, since a rate is judged and not an answer.
    A question that ended in an error is an `error`.

    Args:
        report: The report.
        gate: What the gate says, where there is one.
    """
    suites = Element("testsuites", name="grounded_rag")
    checks = gate.checks if gate is not None else ()
    failures = sum(not check.passed for check in checks)
    suite = SubElement(
        suites, "testsuite", name="gate", tests=str(len(checks)), failures=str(failures), errors="0"
    )
    for check in checks:
        case = SubElement(suite, "testcase", classname="gate", name=_plain(check.name))
        if check.passed:
            SubElement(case, "system-out").text = _plain(check.detail)
            continue
        node = SubElement(case, "failure", message=_plain(check.detail))
        node.text = _plain("\n".join([check.detail, *_named(report, check.items)]))
    rows = report.items
    suite = SubElement(
        suites, "testsuite", name="questions", tests=str(len(rows)), failures="0",
        errors=str(report.errors),
    )  # fmt: skip
    properties = SubElement(suite, "properties")
    for result in report.metrics:
        SubElement(properties, "property", name=result.name, value=_measured(result))
    for row in rows:
        name = f"{row.id} {row.question}"
        case = SubElement(
            suite, "testcase", classname=_plain(row.kind) or "question", name=_plain(name)
        )
        text = f"{row.standing}: {row.diagnosis.why}"
        if row.standing is Standing.ERROR:
            SubElement(case, "error", message=_plain(row.diagnosis.why))
        else:
            SubElement(case, "system-out").text = _plain(text)
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _measured(result: MetricResult) -> str:
    """Return a metric for people: its rate, what was counted, and the interval."""
    if not result.trials:
        return rate(result)
    count = f"{result.hits:g}/{result.trials}" if result.kind == "share" else f"{result.trials}"
    low, high = result.interval.low, result.interval.high
    return f"{rate(result)} ({count} {result.unit}, 95 % interval {low:.1%} to {high:.1%})"


def _named(report: EvalReport, items: tuple[str, ...]) -> list[str]:
    rows = {row.id: row for row in report.items}
    return [
        f"{name}: {rows[name].question} ({rows[name].standing}: {rows[name].diagnosis.why})"
        for name in items
        if name in rows
    ]


def _plain(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
