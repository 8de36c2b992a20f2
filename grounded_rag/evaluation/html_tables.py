"""The tables of the HTML report; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from grounded_rag.evaluation.comparison import Comparison
from grounded_rag.evaluation.html_answers import tag
from grounded_rag.evaluation.markdown_report import rate
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.report import EvalReport, ItemRow


def metrics_table(report: EvalReport) -> Iterator[str]:
    """Yield the table of all metrics, by group."""
    yield '<h2>Metrics</h2><div class="scroll"><table><thead><tr><th>metric</th>'
    yield '<th class="num">rate</th><th class="num">count</th><th class="num">95 % interval</th>'
    yield '<th class="num">not applicable</th><th class="num">failed to score</th></tr></thead>'
    group = ""
    for result in report.metrics:
        if result.group != group:
            if group:
                yield "</tbody>"
            group = result.group
            yield f'<tbody><tr><th colspan="6">{escape(group)}</th></tr>'
        tone = ' class="num bad"' if result.failed else ' class="num"'
        count = f"{result.hits:g}/{result.trials}" if result.trials else ""
        count = str(result.trials) if result.kind == "mean" else count
        yield (
            f"<tr><td>{escape(result.title)}<br><span class='small muted'>"
            f'{escape(result.name)}</span></td><td class="num">{escape(rate(result))}</td>'
            f'<td class="num">{escape(count)}</td>'
            f'<td class="num">{escape(interval_text(result)) if result.trials else ""}</td>'
            f'<td class="num">{result.not_applicable}</td><td{tone}>{result.failed}</td></tr>'
        )
    yield "</tbody></table></div>"


def interval_text(result: MetricResult) -> str:
    """Return the interval of a metric for people."""
    return f"{result.interval.low:.1%} to {result.interval.high:.1%}"


def flips_table(comparison: Comparison) -> Iterator[str]:
    """Yield what flipped against the baseline, metric by metric."""
    yield f"<h2>Against the baseline {escape(comparison.baseline)}</h2>"
    if comparison.differences:
        yield f'<p class="small muted">{escape("; ".join(comparison.differences))}</p>'
    for paired in comparison.metrics:
        yield (
            f"<h3>{escape(paired.metric)}: {paired.worse} worse, {paired.better} better of "
            f"{paired.both} (exact McNemar p = {paired.p_value:.3g})</h3>"
        )
        if not paired.flips:
            continue
        yield '<div class="scroll"><table><thead><tr><th></th><th>item</th><th>before</th>'
        yield "<th>now</th><th>question</th></tr></thead><tbody>"
        for flip in paired.flips:
            tone = "bad" if flip.change == "worse" else "good"
            yield (
                f'<tr><td class="{tone}">{flip.change}</td><td>{escape(flip.item)}</td>'
                f"<td>{escape(flip.before)}</td><td>{escape(flip.now)}</td>"
                f'<td class="question">{escape(flip.question)}</td></tr>'
            )
        yield "</tbody></table></div>"


def costs_table(report: EvalReport) -> Iterator[str]:
    """Yield what the run cost, where that is known."""
    costs = report.costs
    if not costs.answers:
        return
    money = "" if costs.money is None else f"; {costs.money:.4f} {costs.currency}"
    yield (
        f"<h2>Cost</h2><p>{costs.usage.calls} calls, {costs.usage.total_tokens:,} tokens, "
        f"re-asks: {costs.reasks}, in {costs.reasked} of {costs.answers} answers"
        f"{escape(money)}.</p>"
    )
    yield '<div class="scroll"><table><thead><tr><th>stage</th><th class="num">median</th>'
    yield '<th class="num">95 %</th><th class="num">longest</th></tr></thead><tbody>'
    for stage in costs.latency:
        cells = "".join(
            f'<td class="num">{seconds:.3f} s</td>'
            for seconds in (stage.median, stage.p95, stage.longest)
        )
        yield f"<tr><td>{escape(stage.stage)}</td>{cells}</tr>"
    yield "</tbody></table></div>"


def kinds_table(report: EvalReport) -> Iterator[str]:
    """Yield the counts by kind of question."""
    yield '<h2>By kind of question</h2><div class="scroll"><table><thead><tr><th>kind</th>'
    yield '<th>answerable</th><th class="num">right</th><th class="num">refused</th>'
    yield '<th class="num">wrong</th><th class="num">errors</th><th class="num">items</th></tr>'
    yield "</thead><tbody>"
    for row in report.kinds:
        counts = (row.right, row.refused, row.wrong, row.errors, row.items)
        cells = "".join(f'<td class="num">{count}</td>' for count in counts)
        label = escape(row.answerable or "-")
        yield f"<tr><td>{escape(row.kind)}</td><td>{label}</td>{cells}</tr>"
    yield "</tbody></table></div>"


def items_table(report: EvalReport, chosen: frozenset[str]) -> Iterator[str]:
    """Yield the table of questions with its filters.

    Args:
        report: The report.
        chosen: Ids of the items whose answers are written out.
    """
    yield "<h2>Questions</h2>"
    yield '<div class="filters"><label>Search<input id="search" type="search"></label>'
    for name, values in (
        ("standing", sorted({row.standing.value for row in report.items})),
        ("diagnosis", sorted({row.diagnosis.kind.value for row in report.items})),
        ("kind", sorted({row.kind for row in report.items if row.kind})),
    ):
        options = "".join(f'<option value="{escape(v, quote=True)}">{escape(v)}' for v in values)
        yield (
            f'<label>{name}<select data-filter="{name}"><option value="">all'
            f"{options}</select></label>"
        )
    yield f'<label>Shown<span id="shown">{len(report.items)}</span></label></div>'
    yield '<div class="scroll"><table id="items"><thead><tr>'
    for title in ("item", "kind", "outcome", "what went wrong", "question"):
        yield f'<th scope="col"><button type="button">{title}</button></th>'
    yield "</tr></thead><tbody>"
    for row in report.items:
        yield _item(row, linked=row.id in chosen)
    yield "</tbody></table></div>"


def _item(row: ItemRow, *, linked: bool) -> str:
    name = escape(row.id, quote=True)
    shown = f'<a href="#a-{name}" data-open="{name}">{escape(row.id)}</a>' if linked else name
    kind = row.diagnosis.kind.value
    return (
        f'<tr data-row="{name}" data-standing="{escape(row.standing, quote=True)}" '
        f'data-diagnosis="{escape(kind, quote=True)}" data-kind="{escape(row.kind, quote=True)}">'
        f"<td>{shown}</td><td>{escape(row.kind)}</td><td>{tag(row.standing)}</td>"
        f"<td>{escape(kind.replace('_', ' ') if kind != 'none' else '')}</td>"
        f'<td class="question">{escape(row.question)}</td></tr>'
    )
