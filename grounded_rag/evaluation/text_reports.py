"""Reports as text: Markdown and JUnit XML for CI, and lines for a terminal.

Questions and model text are data: whatever could be markup, a link, a mention or a control
sequence is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rich.console import Group, RenderableType
from rich.table import Table as TerminalTable
from rich.text import Text

from grounded_rag.evaluation.gate import Comparison, GateResult
from grounded_rag.evaluation.layout import (
    BY_CONSTRUCTION,
    Cell,
    Table,
    Tone,
    cost_line,
    flip_table,
    metric_line,
    metric_table,
    went_wrong,
    wrong_items,
)
from grounded_rag.evaluation.report import EvalReport, ItemRow, OpenClaims, Standing
from grounded_rag.types.display import one_line

_ROWS_IN_MARKDOWN = 20
_ITEMS_IN_MARKDOWN = 100
_ROWS_IN_TERMINAL = 12


def markdown(
    report: EvalReport, *, gate: GateResult | None = None, comparison: Comparison | None = None
) -> str:
    """Return the report as GitHub-flavoured Markdown, for a job summary or a comment.

    Args:
        report: The report.
        gate: What the gate says, where there is one.
        comparison: The run beside its baseline, where there is one.
    """
    name = _escaped(report.meta.generator or "run")
    parts = [f"## Grounding: {len(report.items)} questions, {name}", ""]
    if gate is not None:
        parts += _markdown_gate(gate)
    parts += _markdown_table(metric_table(report.metrics))
    if comparison is not None:
        parts += _markdown_comparison(comparison)
    if wrong := went_wrong(report):
        parts += ["", f"**What went wrong:** {wrong}", *_markdown_items(wrong_items(report))]
    return "\n".join([*parts, ""])


def _markdown_gate(gate: GateResult) -> Iterator[str]:
    yield f"**Gate {'passed' if gate.passed else 'failed'}.** {gate.summary}"
    yield ""
    for rule in gate.failed:
        named = ", ".join(map(_escaped, rule.items[:_ROWS_IN_MARKDOWN]))
        items = f" Items: {named}." if named else ""
        yield f"- ❌ {_escaped(rule.name)}: {_escaped(rule.detail)}.{items}"
    if gate.failed:
        yield ""


def _markdown_comparison(comparison: Comparison) -> Iterator[str]:
    yield from ("", f"### Against {_escaped(comparison.baseline)}", "")
    for difference in comparison.differences:
        yield f"- {_escaped(difference)}"
    for metric in comparison.metrics:
        yield from ("", f"**{_escaped(metric.metric)}**: {metric.summary}")
        if metric.flips:
            yield ""
            yield from _markdown_table(flip_table(metric.flips), most=_ROWS_IN_MARKDOWN)


def _markdown_items(rows: Sequence[ItemRow]) -> Iterator[str]:
    yield from ("", "<details><summary>Item by item</summary>", "")
    yield from ("| item | outcome | what went wrong | why | question |", "|---|---|---|---|---|")
    for row in rows[:_ITEMS_IN_MARKDOWN]:
        why, question = _escaped(row.diagnosis.why), _escaped(row.question)
        yield f"| {_escaped(row.id)} | {row.standing} | {row.wrong} | {why} | {question} |"
    if len(rows) > _ITEMS_IN_MARKDOWN:
        yield f"\n… and {len(rows) - _ITEMS_IN_MARKDOWN} more."
    yield from ("", "</details>")


def _markdown_table(table: Table, *, most: int | None = None) -> Iterator[str]:
    rows = [row for group in table.groups for row in group.rows]
    rules = ("---:" if at in table.numbers else "---" for at in range(len(table.columns)))
    yield f"| {' | '.join(table.columns)} |"
    yield f"|{'|'.join(rules)}|"
    for row in rows[:most]:
        cells = (_markdown_cell(cell, number=at in table.numbers) for at, cell in enumerate(row))
        yield f"| {' | '.join(cells)} |"
    if most is not None and len(rows) > most:
        yield f"\n… and {len(rows) - most} more."


def _markdown_cell(cell: Cell, *, number: bool) -> str:
    text = _escaped(cell.text) if cell.data else cell.text
    return f"**{text}**" if number and cell.tone == "bad" else text


_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~@&:/.])")
_LINKED = re.compile("[@#]")
_LONGEST = 160


def _escaped(value: str) -> str:
    """Return any text as one line of Markdown that means nothing but itself."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    cut = plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
    # Mentions and issue numbers are linked in the rendered text, where a backslash is gone.
    return _LINKED.sub("\\g<0>\N{WORD JOINER}", _MARKUP.sub(r"\\\1", cut))


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
    failed = str(len(gate.failed) if gate is not None else 0)
    suite = SubElement(
        suites, "testsuite", name="gate", tests=str(len(checks)), failures=failed, errors="0"
    )
    rows = {row.id: row for row in report.items}
    for check in checks:
        case = SubElement(suite, "testcase", classname="gate", name=_xml(check.name))
        if check.passed:
            SubElement(case, "system-out").text = _xml(check.detail)
            continue
        named = (rows[name] for name in check.items if name in rows)
        lines = (f"{r.id}: {r.question} ({r.standing}: {r.diagnosis.why})" for r in named)
        node = SubElement(case, "failure", message=_xml(check.detail))
        node.text = _xml("\n".join([check.detail, *lines]))
    errors = str(report.errors)
    suite = SubElement(
        suites, "testsuite", name="questions", tests=str(len(rows)), failures="0", errors=errors
    )
    properties = SubElement(suite, "properties")
    for metric in map(metric_line, report.metrics):
        SubElement(properties, "property", name=metric.name, value=_xml(metric.sentence))
    for row in report.items:
        name, why = _xml(f"{row.id} {row.question}"), row.diagnosis.why
        case = SubElement(suite, "testcase", classname=_xml(row.kind) or "question", name=name)
        if row.standing is Standing.ERROR:
            SubElement(case, "error", message=_xml(why))
        else:
            SubElement(case, "system-out").text = _xml(f"{row.standing}: {why}")
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


# XML 1.0 has no way to write these, escaped or not.
_FORBIDDEN_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _xml(text: str) -> str:
    return _FORBIDDEN_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


_STYLES: dict[Tone, str] = {
    "": "",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "muted": "dim",
}


def terminal_report(
    report: EvalReport,
    *,
    run: Path,
    gate: GateResult | None = None,
    comparison: Comparison | None = None,
    html: Path | None = None,
    unshown: OpenClaims | None = None,
) -> RenderableType:
    """Return the report for a terminal: metrics, what went wrong, the gate, the next step.

    `run` is the folder of the run, `html` the HTML report where one was written, and `unshown` are
    the run's open claims.
    """
    parts: list[RenderableType] = [_terminal_table(metric_table(report.metrics))]
    parts.append(Text(BY_CONSTRUCTION, style="dim"))
    if unshown is not None and unshown.claims:
        parts.append(Text(f"\n{_open_claims(unshown)}"))
    if wrong := went_wrong(report):
        parts.append(Text(f"\nwhat went wrong: {wrong}"))
    parts += [Text(line, style="red") for line in error_lines(report)]
    parts.append(Text(f"cost: {cost_line(report.costs) or 'not recorded'}", "dim"))
    if report.missing:
        parts.append(Text(f"{report.missing} items have no record yet", style="yellow"))
    if comparison is not None:
        parts += _terminal_comparison(comparison)
    if gate is not None:
        parts += _terminal_gate(gate)
    parts += [Text(f"  {line}", style="dim") for line in _next_steps(report, run, html)]
    return Group(*parts)


def error_lines(report: EvalReport) -> Iterator[str]:
    """Yield each item that ended in an error with what happened, and the next step."""
    errors = [row for row in report.items if row.standing is Standing.ERROR]
    for row in errors[:_ROWS_IN_TERMINAL]:
        yield f"error: {one_line(row.id)}: {one_line(row.diagnosis.why)}"
    if len(errors) > _ROWS_IN_TERMINAL:
        yield f"error: and {len(errors) - _ROWS_IN_TERMINAL} more"
    if errors:
        yield "next: mend these records, or ask these questions again, in a run that holds them all"


def _open_claims(unshown: OpenClaims) -> str:
    figure = "P(true)" if unshown.calibrated else "support score"
    mean = "unknown" if unshown.mean is None else f"{unshown.mean:.2f}"
    hint = (
        "" if unshown.calibrated else "; it orders claims and is no probability: see --factuality"
    )
    return f"open claims: {unshown.claims}, neither shown nor rejected; mean {figure} {mean}{hint}"


def _terminal_table(table: Table) -> TerminalTable:
    shown = TerminalTable(box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(table.columns):
        number = at in table.numbers
        shown.add_column(column, justify="right" if number else "left", no_wrap=number)
    for group in table.groups:
        if group.title:
            shown.add_row(Text(group.title, style="bold cyan"))
        for row in group.rows:
            first, *rest = (Text(one_line(cell.text), _STYLES[cell.tone]) for cell in row)
            shown.add_row(Text("  ") + first, *rest)
    return shown


def _terminal_comparison(comparison: Comparison) -> Iterator[Text]:
    yield Text(f"\nagainst {one_line(comparison.baseline)}", style="bold cyan")
    for difference in comparison.differences:
        yield Text(f"  {one_line(difference)}", style="dim")
    for metric in comparison.metrics:
        style = "red" if metric.worse > metric.better else ""
        yield Text(f"  {metric.metric}: {metric.summary}", style=style)
        rows = flip_table(metric.flips).groups[0].rows
        for row in rows[:_ROWS_IN_TERMINAL]:
            change, item, before, now, question = (one_line(cell.text) for cell in row)
            line = f"    {change}: {item} {before} → {now}: {question[:90]}"
            yield Text(line, style=_STYLES[row[0].tone])
        if len(rows) > _ROWS_IN_TERMINAL:
            yield Text(f"    and {len(rows) - _ROWS_IN_TERMINAL} more (see --html)")


def _terminal_gate(gate: GateResult) -> Iterator[Text]:
    verdict, style = ("passed", "bold green") if gate.passed else ("failed", "bold red")
    yield Text(f"\ngate {verdict}: {gate.summary}", style=style)
    for rule in gate.failed:
        yield Text(f"  ✗ {one_line(rule.name)}: {one_line(rule.detail)}", style="red")
        if rule.items:
            named = ", ".join(map(one_line, rule.items[:_ROWS_IN_TERMINAL]))
            yield Text(f"      {named}{' …' if len(rule.items) > _ROWS_IN_TERMINAL else ''}")


def _next_steps(report: EvalReport, run: Path, html: Path | None) -> Iterator[str]:
    yield f"run: {run}"
    if html is not None:
        yield f"report: {html}"
    else:
        yield f"next: grounded-rag eval --replay {run} --html report.html"
    if wrong_items(report):
        yield f"next: grounded-rag diagnose {run}"
