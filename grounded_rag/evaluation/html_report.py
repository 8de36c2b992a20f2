"""The HTML report: one file, nothing from elsewhere, and nothing in it that a document could run.

The page carries a Content-Security-Policy that allows its own style sheet and script by hash and
nothing else: no image, no font, no request. Every text is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Iterator, Sequence
from html import escape
from importlib import resources
from itertools import zip_longest
from pathlib import Path

from grounded_rag.errors import InputError
from grounded_rag.evaluation.catalogue import PAIRED
from grounded_rag.evaluation.factuality import FactualityModel, RunFactuality
from grounded_rag.evaluation.gate import Comparison, GateResult
from grounded_rag.evaluation.layout import (
    BASIS_TONES,
    BY_CONSTRUCTION,
    STANDING_TONES,
    Cell,
    Table,
    Tone,
    cost_line,
    facts,
    flip_table,
    kind_table,
    latency_table,
    metric_line,
    metric_table,
)
from grounded_rag.evaluation.plots import point, reliability, reliability_bins, two_directions
from grounded_rag.evaluation.records import JudgedRecord, basis, judged
from grounded_rag.evaluation.report import EvalReport, ItemRow, Standing
from grounded_rag.evaluation.runs import Run, policy_of
from grounded_rag.render.cards import segments
from grounded_rag.types import ClaimVerdict, Located, RetrievedChunk

ANSWERS_SHOWN = 500
"""Answers written out in full; those that went wrong come first."""

_ITEMS_NAMED = 20
_DRAFTS = 6
_GOLD = 4
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
    yield f"<h1>Grounding report</h1>{_small(' · '.join(facts(report)))}"
    if gate is not None:
        yield from _gate(gate)
    yield from _headline(report)
    yield from _plots(report, baseline)
    yield "<h2>Metrics</h2>"
    yield from _table(metric_table(report.metrics))
    if comparison is not None:
        yield from _comparison(comparison)
    if cost := cost_line(report.costs):
        yield f"<h2>Cost</h2><p>{escape(cost)}.</p>"
        yield from _table(latency_table(report.costs))
    yield "<h2>By kind of question</h2>"
    yield from _table(kind_table(report.kinds))
    chosen = _chosen(report)
    yield from _questions(report.items, chosen)
    yield from _answers(run, report, chosen, factuality)
    yield f"</main>\n<script>{script}</script>\n</body>\n</html>"


def _asset(name: str) -> str:
    folder = resources.files("grounded_rag.evaluation").joinpath("assets")
    return folder.joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _small(text: str, tone: Tone = "muted") -> str:
    return f'<p class="small {tone}">{escape(text)}</p>'


def _tag(text: str, tone: Tone = "") -> str:
    return f'<span class="tag {tone}">{escape(text)}</span>'


def _gate(gate: GateResult) -> Iterator[str]:
    verdict, tone = ("passed", "good") if gate.passed else ("failed", "bad")
    yield f'<p class="{tone}"><b>Gate {verdict}</b>: {gate.summary}.</p>'
    if gate.failed:
        yield "<ul>"
        for rule in gate.failed:
            named = f" ({', '.join(rule.items[:_ITEMS_NAMED])})" if rule.items else ""
            yield f"<li>{escape(f'{rule.name}: {rule.detail}{named}')}</li>"
        yield "</ul>"


def _headline(report: EvalReport) -> Iterator[str]:
    yield '<div class="cards">'
    for metric in map(metric_line, map(report.metric, PAIRED)):
        yield (
            f'<div class="card"><div class="small muted">{escape(metric.title)}</div>'
            f'<div class="value">{escape(metric.rate)}</div>'
            f'<div class="small muted">{escape(metric.counted)}</div></div>'
        )
    yield f"</div>{_small(BY_CONSTRUCTION)}"


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


def _comparison(comparison: Comparison) -> Iterator[str]:
    yield f"<h2>Against the baseline {escape(comparison.baseline)}</h2>"
    if comparison.differences:
        yield _small("; ".join(comparison.differences))
    for metric in comparison.metrics:
        yield f"<h3>{escape(f'{metric.metric}: {metric.summary}')}</h3>"
        if metric.flips:
            yield from _table(flip_table(metric.flips))


def _table(table: Table) -> Iterator[str]:
    heads = "".join(
        f"<th{_number(table, at)}>{escape(name)}</th>" for at, name in enumerate(table.columns)
    )
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
    for group in table.groups:
        yield "<tbody>"
        if group.title:
            yield f'<tr><th colspan="{len(table.columns)}">{escape(group.title)}</th></tr>'
        for row in group.rows:
            cells = "".join(
                f"<td{_number(table, at, cell)}>{_cell(cell)}</td>" for at, cell in enumerate(row)
            )
            yield f"<tr>{cells}</tr>"
        yield "</tbody>"
    yield "</table></div>"


def _cell(cell: Cell) -> str:
    note = f'<br><span class="small muted">{escape(cell.note)}</span>' if cell.note else ""
    return f"{escape(cell.text)}{note}"


def _number(table: Table, at: int, cell: Cell | None = None) -> str:
    names = ("num" if at in table.numbers else "", cell.tone if cell is not None else "")
    classes = " ".join(filter(None, names))
    return f' class="{classes}"' if classes else ""


def _questions(rows: Sequence[ItemRow], chosen: Collection[str]) -> Iterator[str]:
    """Yield the table of questions with its filters; those of `chosen` lead to their answers."""
    yield "<h2>Questions</h2>"
    yield '<div class="filters"><label>Search<input id="search" type="search"></label>'
    for name, values in (
        ("standing", {row.standing.value for row in rows}),
        ("diagnosis", {row.diagnosis.kind.value for row in rows}),
        ("kind", {row.kind for row in rows if row.kind}),
    ):
        options = "".join(f'<option value="{escape(v)}">{escape(v)}' for v in sorted(values))
        yield (
            f'<label>{name}<select data-filter="{name}"><option value="">all'
            f"{options}</select></label>"
        )
    yield f'<label>Shown<span id="shown">{len(rows)}</span></label></div>'
    yield '<div class="scroll"><table id="items"><thead><tr>'
    for title in ("item", "kind", "outcome", "what went wrong", "question"):
        yield f'<th scope="col"><button type="button">{title}</button></th>'
    yield "</tr></thead><tbody>"
    for row in rows:
        name = escape(row.id)
        shown = f'<a href="#a-{name}" data-open="{name}">{name}</a>' if row.id in chosen else name
        yield (
            f'<tr data-row="{name}" data-standing="{row.standing}" '
            f'data-diagnosis="{row.diagnosis.kind}" data-kind="{escape(row.kind)}">'
            f"<td>{shown}</td><td>{escape(row.kind)}</td><td>{_outcome(row)}</td>"
            f'<td>{escape(row.wrong)}</td><td class="question">{escape(row.question)}</td></tr>'
        )
    yield "</tbody></table></div>"


def _outcome(row: ItemRow) -> str:
    return _tag(row.standing, STANDING_TONES[row.standing])


def _chosen(report: EvalReport) -> dict[str, ItemRow]:
    ordered = sorted(report.items, key=lambda row: row.standing in _GOOD)
    return {row.id: row for row in ordered[:ANSWERS_SHOWN]}


def _answers(
    run: Run, report: EvalReport, chosen: dict[str, ItemRow], factuality: RunFactuality | None
) -> Iterator[str]:
    yield "<h2>Answers</h2>"
    if len(chosen) < len(report.items):
        yield _small(
            f"{len(chosen)} of {len(report.items)} are written out, those that went wrong first."
        )
    likely = {} if factuality is None else factuality.by_item()
    if factuality is not None:
        yield _small(_about(factuality.model))
    policy = policy_of(report.meta)
    for record in run.records():
        row = chosen.get(record.item.id)
        if row is not None:
            yield from _answer(judged(record, policy), row, likely.get(row.id, ()))


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


def _answer(seen: JudgedRecord, row: ItemRow, likely: Sequence[float | None]) -> Iterator[str]:
    item = seen.item
    name = escape(row.id)
    yield f'<details class="answer" data-row="{name}" id="a-{name}">'
    yield f"<summary>{_outcome(row)} <b>{name}</b> {escape(item.question)}</summary>"
    yield '<div class="body">'
    moment = f"As of {item.as_of}." if item.as_of else ""
    if item.expected or moment:
        expected = f"Expected: {item.expected}. " if item.expected else ""
        yield _small(f"{expected}{moment}")
    if row.wrong:
        yield f'<p class="why"><b>{escape(row.wrong)}</b>: {escape(row.diagnosis.why)}</p>'
    if row.diagnosis.fix:
        yield _small(f"Try ({row.diagnosis.area}): {row.diagnosis.fix}")
    yield from _shown(seen, likely)
    yield from _gold(seen)
    yield "</div></details>"


def _shown(seen: JudgedRecord, likely: Sequence[float | None]) -> Iterator[str]:
    chunks = {chunk.chunk.id: chunk for chunk in seen.retrieved}
    for place, (claim, score) in enumerate(zip_longest(seen.claims, seen.support)):
        figure = "" if score is None else f"support score {score:.2f}"
        if likely:
            p_true = likely[place] if place < len(likely) else None
            figure = f"P(true) {'unknown' if p_true is None else f'{p_true:.2f}'}"
        yield from _claim(claim, chunks, figure)
    for kind, detail in dict.fromkeys((flag.kind, flag.detail) for flag in seen.flags):
        yield _small(f"{kind}: {detail}", "warn")
    for part in seen.unanswered:
        yield _small(f"Said to be open: {part}", "warn")
    if seen.state == "refused":
        refusal = seen.record.answer.refusal if seen.record.answer else None
        detail = f" {escape(refusal.detail)}" if refusal else ""
        yield f'<p class="claim">Refused.{detail}</p>'
    if seen.withheld:
        yield _small("Drafted, and never shown:")
    for claim in seen.withheld[:_DRAFTS]:
        yield from _claim(claim, chunks)
    if seen.apart:
        yield _small(f"Parts that state nothing: {seen.apart}")


def _claim(
    claim: ClaimVerdict, chunks: dict[str, RetrievedChunk], figure: str = ""
) -> Iterator[str]:
    rests = basis(claim)
    reason = f" · {claim.reason}" if claim.reason else ""
    tags = _tag(f"{rests}{reason}", BASIS_TONES[rests]) + (f" {_tag(figure)}" if figure else "")
    yield f'<p class="claim">{escape(claim.text)} {tags}</p>'
    if not claim.supported and claim.why:
        yield _small(claim.why)
    for check in claim.citations:
        chunk = chunks.get(check.located.chunk_id) if check.located else None
        if check.located is not None and chunk is not None:
            yield _located_quote(check.located, chunk)
        else:
            yield _quote(escape(check.citation.quote), check.detail, "bad")


def _located_quote(located: Located, chunk: RetrievedChunk) -> str:
    page = f", page {located.page}" if located.page is not None else ""
    repaired = f", repaired: {', '.join(located.folds)}" if located.folds else ""
    text = "".join(
        f"<mark>{escape(piece.text)}</mark>" if piece.quoted else escape(piece.text)
        for piece in segments(chunk.chunk.text, located.chunk_span)
    )
    where = f"rank {chunk.rank} · {chunk.title or chunk.chunk.doc_id}{page}{repaired}"
    return _quote(text, where)


def _quote(markup: str, where: str, tone: Tone = "muted") -> str:
    source = f'<span class="small {tone}">{escape(where)}</span>'
    return f"<blockquote>{markup}\n{source}</blockquote>"


def _gold(seen: JudgedRecord) -> Iterator[str]:
    if seen.item.gold:
        yield '<details><summary class="small muted">Gold places</summary>'
        for piece in seen.item.gold:
            for option in piece.any_of[:_GOLD]:
                yield _quote(escape(option.quote), option.file)
        yield "</details>"
