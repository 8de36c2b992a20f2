"""The HTML report: one file, nothing from elsewhere, and nothing in it that a document could run.

The page carries a Content-Security-Policy that allows its own style sheet and script by hash and
nothing else: no image, no font, no request. Every text is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib import resources
from pathlib import Path

from grounded_rag.errors import InputError
from grounded_rag.evaluation.comparison import Comparison
from grounded_rag.evaluation.factuality.model import FactualityModel
from grounded_rag.evaluation.factuality.reporting import RunFactuality
from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.html_answers import answer_section
from grounded_rag.evaluation.html_tables import (
    costs_table,
    flips_table,
    interval_text,
    items_table,
    kinds_table,
    metrics_table,
)
from grounded_rag.evaluation.judging import judged
from grounded_rag.evaluation.markdown_report import rate
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.plots import (
    point,
    reliability,
    reliability_bins,
    two_directions,
)
from grounded_rag.evaluation.report import EvalReport, Standing
from grounded_rag.evaluation.runs import Run, policy_of

ANSWERS_SHOWN = 500
"""Answers written out in full; those that went wrong come first."""

_POLICY = ("support", "unproven", "on_failed_claim")
_CARDS = ("faithful_answers", "correct_answers", "false_refusals", "right_refusals")
_GOOD = frozenset({Standing.RIGHT, Standing.RIGHT_REFUSAL})


def write_html(
    path: Path | str,
    run: Run,
    report: EvalReport,
    *,
    gate: GateResult | None = None,
    comparison: Comparison | None = None,
    baseline: EvalReport | None = None,
    factuality: RunFactuality | None = None,
) -> None:
    """Write the report of a run as one HTML file; records are read one at a time.

    Args:
        path: The file.
        run: The run, for the answers.
        report: Its report.
        gate: What the gate says, where there is one.
        comparison: The run beside its baseline, where there is one.
        baseline: The baseline's report, for the plot.
        factuality: P(true) of the claims, where a model is given.

    Raises:
        InputError: The file cannot be written.
    """
    try:
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            parts = _page(run, report, gate, comparison, baseline, factuality)
            file.writelines(f"{part}\n" for part in parts)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


def _page(
    run: Run,
    report: EvalReport,
    gate: GateResult | None,
    comparison: Comparison | None,
    baseline: EvalReport | None,
    factuality: RunFactuality | None,
) -> Iterator[str]:
    style, script = _asset("report.css"), _asset("report.js")
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    policy += "; base-uri 'none'; form-action 'none'"
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>Grounding of {escape(report.meta.generator or 'a run')}</title>"
    yield f"<style>{style}</style>\n</head>\n<body>\n<main>"
    yield from _head(report)
    if gate is not None:
        yield from _gate(gate)
    yield from _cards(report)
    yield from _plots(report, baseline)
    yield from metrics_table(report)
    if comparison is not None:
        yield from flips_table(comparison)
    yield from costs_table(report)
    yield from kinds_table(report)
    chosen = _chosen(report)
    yield from items_table(report, chosen)
    yield from _answers(run, report, chosen, factuality)
    yield f"</main>\n<script>{script}</script>\n</body>\n</html>"


def _asset(name: str) -> str:
    folder = resources.files("grounded_rag.evaluation").joinpath("assets")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _head(report: EvalReport) -> Iterator[str]:
    meta = report.meta
    yield "<h1>Grounding report</h1>"
    facts = [
        f"{len(report.items)} of {meta.items} questions",
        f"generator {meta.generator or '-'}",
        f"policy {', '.join(str(meta.policy.get(name, '-')) for name in _POLICY)}",
        f"index {Path(meta.index.name).name or '-'} ({meta.index.documents} documents)",
        f"{meta.started:%Y-%m-%d %H:%M} UTC",
        f"run {meta.id}",
    ]
    if meta.replay_of:
        facts.append(f"judged again from {meta.replay_of}")
    yield f'<p class="muted small">{escape(" · ".join(facts))}</p>'


def _gate(gate: GateResult) -> Iterator[str]:
    failed = [check for check in gate.checks if not check.passed]
    if gate.passed:
        yield f'<p class="good"><b>Gate passed</b>: all {len(gate.checks)} rules hold.</p>'
        return
    yield f'<p class="bad"><b>Gate failed</b>: {len(failed)} of {len(gate.checks)} rules.</p><ul>'
    for check in failed:
        named = f" ({', '.join(check.items[:20])})" if check.items else ""
        yield f"<li>{escape(check.name)}: {escape(check.detail)}{escape(named)}</li>"
    yield "</ul>"


def _cards(report: EvalReport) -> Iterator[str]:
    yield '<div class="cards">'
    for name in _CARDS:
        result = report.metric(name)
        yield (
            f'<div class="card"><div class="small muted">{escape(result.title)}</div>'
            f'<div class="value">{escape(rate(result))}</div>'
            f'<div class="small muted">{escape(_counted(result))}</div></div>'
        )
    yield "</div>"
    yield (
        '<p class="small muted">Faithfulness is measured with the verifier that gates the answers: '
        "for our own pipeline it is 100 % by construction, and says that nothing slipped past it. "
        "“Answered with a gold citation” is measured against people's labels.</p>"
    )


def _counted(result: MetricResult) -> str:
    if not result.trials:
        return f"{result.failed} failed to score" if result.failed else "nothing to count"
    failed = f", {result.failed} failed to score" if result.failed else ""
    return f"{result.hits:g} of {result.trials} {result.unit}, {interval_text(result)}{failed}"


def _plots(report: EvalReport, baseline: EvalReport | None) -> Iterator[str]:
    runs = [("this run", report)] + ([("baseline", baseline)] if baseline is not None else [])
    points = [
        found
        for label, one in runs
        if (found := point(label, one.metric("false_refusals"), one.metric("right_refusals")))
    ]
    scored = [
        (row.confidence, row.standing is Standing.RIGHT)
        for row in report.items
        if row.confidence is not None and row.standing is not Standing.UNLABELLED
    ]
    yield '<h2>Both directions</h2><div class="plots">'
    if points:
        yield (
            f"<figure>{two_directions(points)}<figcaption>Down and left is better; bars are exact "
            "95 % intervals.</figcaption></figure>"
        )
    else:
        yield "<figure><figcaption>Needs questions of both kinds.</figcaption></figure>"
    if scored:
        yield (
            f"<figure>{reliability(reliability_bins(scored))}<figcaption>Answers by their "
            "relevance to the question, raw and uncalibrated, against the share of right answers. "
            "A calibrated score would lie on the diagonal. Numbers count answers; bars are exact "
            "95 % intervals.</figcaption></figure>"
        )
    yield "</div>"


def _chosen(report: EvalReport) -> frozenset[str]:
    ordered = sorted(report.items, key=lambda row: row.standing in _GOOD)
    return frozenset(row.id for row in ordered[:ANSWERS_SHOWN])


def _answers(
    run: Run, report: EvalReport, chosen: frozenset[str], factuality: RunFactuality | None
) -> Iterator[str]:
    yield "<h2>Answers</h2>"
    if len(chosen) < len(report.items):
        yield (
            f'<p class="small muted">{len(chosen)} of {len(report.items)} are written out, those '
            "that went wrong first.</p>"
        )
    likely = {} if factuality is None else factuality.by_item()
    if factuality is not None:
        yield f'<p class="small muted">{escape(_about(factuality.model))}</p>'
    rows = {row.id: row for row in report.items if row.id in chosen}
    policy = policy_of(report.meta)
    for record in run.records():
        row = rows.get(record.item.id)
        if row is not None:
            yield answer_section(judged(record, policy), row, likely.get(row.id, ()))


def _about(model: FactualityModel) -> str:
    figures = ", ".join(
        f"{figure.name.replace('_', ' ')} {figure.value:.3f}"
        for figure in model.held_out
        if figure.value is not None
    )
    measured = f"; on claims not fitted on: {figures}" if figures else ""
    return (
        f"P(true) is by a model fitted on {model.fitted_on} labelled claims ({model.variant}), "
        f"{model.base_rate:.0%} of them true{measured}. It decides nothing."
    )
