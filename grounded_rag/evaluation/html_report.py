"""The HTML report: one file, nothing from elsewhere, and nothing in it that a document could run.

The page carries a Content-Security-Policy that allows its own style sheet and script by hash and
nothing else: no image, no font, no request. Every text is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from pathlib import Path

from grounded_rag.errors import InputError
from grounded_rag.evaluation.comparison import Comparison
from grounded_rag.evaluation.factuality import FactualityModel, RunFactuality
from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.markdown_report import rate
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.observed import Basis, Judged, basis, judged
from grounded_rag.evaluation.plots import point, reliability, reliability_bins, two_directions
from grounded_rag.evaluation.report import EvalReport, ItemRow, Standing
from grounded_rag.evaluation.runs import Run, policy_of
from grounded_rag.render.cards import segments
from grounded_rag.types import ClaimVerdict, Located, RetrievedChunk

TONES = {
    Standing.RIGHT: "good",
    Standing.RIGHT_REFUSAL: "good",
    Standing.WRONG: "bad",
    Standing.MISSED_REFUSAL: "bad",
    Standing.FALSE_REFUSAL: "warn",
    Standing.UNLABELLED: "muted",
    Standing.ERROR: "bad",
}
BASES = {
    Basis.VERBATIM: "good",
    Basis.CONFIRMED: "good",
    Basis.RESTATED: "good",
    Basis.OPEN: "muted",
    Basis.UNCHECKED: "muted",
    Basis.REJECTED: "bad",
    Basis.REFUSED: "warn",
}
_DRAFTS = 6
_GOLD = 4


def answer_section(judged: Judged, row: ItemRow, likely: Sequence[float | None] = ()) -> str:
    """Return one answer as a folded section; every text of a document or model is escaped.

    Args:
        judged: The record, judged.
        row: Its row in the report.
        likely: P(true) of its claims in order, where a model gives it; None is unknown.
    """
    return "\n".join(_parts(judged, row, likely))


def tag(standing: Standing) -> str:
    """Return what became of a question as a coloured label."""
    return f'<span class="tag {TONES[standing]}">{escape(standing)}</span>'


def _parts(judged: Judged, row: ItemRow, likely: Sequence[float | None]) -> Iterator[str]:
    item = judged.item
    name = escape(row.id, quote=True)
    yield f'<details class="answer" data-row="{name}" id="a-{name}">'
    yield f"<summary>{tag(row.standing)} <b>{escape(row.id)}</b> {escape(item.question)}</summary>"
    yield '<div class="body">'
    moment = f" As of {escape(str(item.as_of))}." if item.as_of else ""
    if item.expected:
        yield f'<p class="small muted">Expected: {escape(item.expected)}.{moment}</p>'
    elif moment:
        yield f'<p class="small muted">{moment}</p>'
    if row.diagnosis.kind != "none":
        yield (
            f'<p class="why"><b>{escape(row.diagnosis.kind.replace("_", " "))}</b>: '
            f"{escape(row.diagnosis.why)}</p>"
        )
        if row.diagnosis.fix:
            yield (
                f'<p class="small muted">Try ({escape(row.diagnosis.area)}): '
                f"{escape(row.diagnosis.fix)}</p>"
            )
    yield from _shown(judged, likely)
    yield from _gold(judged)
    yield "</div></details>"


def _shown(judged: Judged, likely: Sequence[float | None]) -> Iterator[str]:
    chunks = {chunk.chunk.id: chunk for chunk in judged.retrieved}
    for place, claim in enumerate(judged.claims):
        yield from _claim(
            claim, chunks, likely[place : place + 1], judged.support[place : place + 1]
        )
    for flag in dict.fromkeys((flag.kind, flag.detail) for flag in judged.flags):
        yield f'<p class="small warn">{escape(flag[0])}: {escape(flag[1])}</p>'
    for part in judged.unanswered:
        yield f'<p class="small warn">Said to be open: {escape(part)}</p>'
    if judged.state == "refused":
        refusal = judged.record.answer.refusal if judged.record.answer else None
        detail = f" {escape(refusal.detail)}" if refusal else ""
        yield f'<p class="claim">Refused.{detail}</p>'
    if judged.withheld:
        yield '<p class="small muted">Drafted, and never shown:</p>'
    for claim in judged.withheld[:_DRAFTS]:
        yield from _claim(claim, chunks)
    if judged.apart:
        yield f'<p class="small muted">Parts that state nothing: {judged.apart}</p>'


def _claim(
    claim: ClaimVerdict,
    chunks: dict[str, RetrievedChunk],
    likely: Sequence[float | None] = (),
    support: Sequence[float | None] = (),
) -> Iterator[str]:
    rests = basis(claim)
    reason = f" · {escape(claim.reason)}" if claim.reason else ""
    figures = "".join(map(_likely, likely)) if likely else "".join(map(_support, support))
    yield (
        f'<p class="claim">{escape(claim.text)} '
        f'<span class="tag {BASES[rests]}">{escape(rests)}{reason}</span>{figures}</p>'
    )
    if not claim.supported and claim.why:
        yield f'<p class="small muted">{escape(claim.why)}</p>'
    for check in claim.citations:
        chunk = chunks.get(check.located.chunk_id) if check.located else None
        if check.located is not None and chunk is not None:
            yield _quote(check.located, chunk)
        else:
            yield (
                f"<blockquote>{escape(check.citation.quote)}\n"
                f'<span class="small bad">{escape(check.detail)}</span></blockquote>'
            )


def _likely(share: float | None) -> str:
    return f' <span class="tag">P(true) {"unknown" if share is None else f"{share:.2f}"}</span>'


def _support(score: float | None) -> str:
    return "" if score is None else f' <span class="tag">support score {score:.2f}</span>'


def _quote(located: Located, chunk: RetrievedChunk) -> str:
    page = f", page {located.page}" if located.page is not None else ""
    repaired = f", repaired: {', '.join(located.folds)}" if located.folds else ""
    where = f"rank {chunk.rank} · {chunk.title or chunk.chunk.doc_id}{page}{repaired}"
    text = "".join(
        f"<mark>{escape(piece.text)}</mark>" if piece.quoted else escape(piece.text)
        for piece in segments(chunk.chunk.text, located.chunk_span)
    )
    return f'<blockquote>{text}\n<span class="small muted">{escape(where)}</span></blockquote>'


def _gold(judged: Judged) -> Iterator[str]:
    if not judged.item.gold:
        return
    yield '<details><summary class="small muted">Gold places</summary>'
    for piece in judged.item.gold:
        for option in piece.any_of[:_GOLD]:
            yield (
                f"<blockquote>{escape(option.quote)}\n"
                f'<span class="small muted">{escape(option.file)}</span></blockquote>'
            )
    yield "</details>"


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
