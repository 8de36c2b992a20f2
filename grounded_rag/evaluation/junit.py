"""JUnit XML for CI: one test case a rule of the gate, and one a question that went wrong."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.markdown_report import rate
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.report import EvalReport, Standing

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
