"""A report laid out for people: which tables, rows, cells and states every rendering shows.

The HTML, Markdown, JUnit and terminal reports mark this up, and decide nothing but how much of it
they have room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.gate import Flip
from grounded_rag.evaluation.metrics import OWN_METRICS, MetricResult
from grounded_rag.evaluation.records import Basis
from grounded_rag.evaluation.report import Costs, EvalReport, ItemRow, KindRow, Standing

Tone = Literal["", "good", "bad", "warn", "muted"]

STANDING_TONES: dict[Standing, Tone] = {
    Standing.RIGHT: "good",
    Standing.RIGHT_REFUSAL: "good",
    Standing.WRONG: "bad",
    Standing.MISSED_REFUSAL: "bad",
    Standing.FALSE_REFUSAL: "warn",
    Standing.UNLABELLED: "muted",
    Standing.ERROR: "bad",
}
BASIS_TONES: dict[Basis, Tone] = {
    Basis.VERBATIM: "good",
    Basis.CONFIRMED: "good",
    Basis.RESTATED: "good",
    Basis.OPEN: "muted",
    Basis.UNCHECKED: "muted",
    Basis.REJECTED: "bad",
    Basis.REFUSED: "warn",
}
BY_CONSTRUCTION = (
    "Faithfulness is measured with the verifier that gates the answers: for our own pipeline it is "
    "100 % by construction, and says that nothing slipped past it. “Answered with a gold citation” "
    "is measured against people's labels."
)


class Cell(NamedTuple):
    """One cell of a table."""

    text: str
    tone: Tone = ""
    data: bool = False  # written by a user, a document or a model: may hold markup
    note: str = ""  # what a rendering with room for it adds: the name in gate files


class Group(NamedTuple):
    """Rows under a common title, which may be ""."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


class Table(NamedTuple):
    """A table; `numbers` are the columns that hold numbers."""

    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    numbers: range = range(0)


class MetricLine(NamedTuple):
    """One metric in words: its rate, what was counted, and both in one sentence."""

    name: str
    title: str
    rate: str
    counted: str
    sentence: str


def went_wrong(report: EvalReport) -> str:
    """Return the number of items by what went wrong, in words; "" for nothing."""
    return ", ".join(
        f"{count} {kind.replace('_', ' ')}"
        for kind, count in report.diagnoses.items()
        if kind != FailureKind.NONE
    )


def wrong_items(report: EvalReport) -> list[ItemRow]:
    """Return the questions with which something went wrong."""
    return [row for row in report.items if row.wrong]


def facts(report: EvalReport) -> Iterator[str]:
    """Yield what the run was made with."""
    meta = report.meta
    policy = ("support", "unproven", "on_failed_claim")
    yield f"{len(report.items)} of {meta.items} questions"
    yield f"generator {meta.generator or '-'}"
    yield f"policy {', '.join(str(meta.policy.get(name, '-')) for name in policy)}"
    # The folder's name alone: where it lies on a machine is nobody's business.
    yield f"index {Path(meta.index.name).name or '-'} ({meta.index.documents} documents)"
    yield f"{meta.started:%Y-%m-%d %H:%M} UTC"
    yield f"run {meta.id}"
    if meta.replay_of:
        yield f"judged again from {meta.replay_of}"


def _rate(result: MetricResult) -> str:
    if result.value is None:
        return result.state.replace("_", " ")
    return f"{result.value:.1%}" if result.kind == "share" else f"{result.value:.3f}"


def metric_line(result: MetricResult) -> MetricLine:
    """Return one metric in words."""
    low, high = result.interval.low, result.interval.high
    rate, failed = _rate(result), f"{result.failed} failed to score" if result.failed else ""
    if not result.trials:
        return MetricLine(result.name, result.title, rate, failed or "nothing to count", rate)
    hits = f"{result.hits:g} of " if result.kind == "share" else ""
    counted = f"{hits}{result.trials} {result.unit}, {low:.1%} to {high:.1%}"
    count = f"{_count(result)} {result.unit}"
    return MetricLine(
        name=result.name,
        title=result.title,
        rate=rate,
        counted=f"{counted}, {failed}" if failed else counted,
        sentence=f"{rate} ({count}, 95 % interval {low:.1%} to {high:.1%})",
    )


def _count(result: MetricResult) -> str:
    return f"{result.hits:g}/{result.trials}" if result.kind == "share" else f"{result.trials}"


def metric_table(results: Sequence[MetricResult]) -> Table:
    """Return all metrics by their groups."""
    return Table(
        columns=("metric", "rate", "count", "95 % interval", "n/a", "failed"),
        groups=tuple(
            Group(title, tuple(map(_metric_row, group)))
            for title, group in groupby(results, key=lambda result: result.group)
        ),
        numbers=range(1, 6),
    )


def _metric_row(result: MetricResult) -> tuple[Cell, ...]:
    low, high = result.interval.low, result.interval.high
    return (
        Cell(result.title, data=result.group == OWN_METRICS, note=result.name),
        Cell(_rate(result)),
        Cell(_count(result) if result.trials else ""),
        Cell(f"{low:.1%} – {high:.1%}" if result.trials else ""),
        Cell(str(result.not_applicable)),
        Cell(str(result.failed), tone="bad" if result.failed else ""),
    )


def flip_table(flips: Sequence[Flip]) -> Table:
    """Return what flipped in one metric between a baseline and a run."""
    rows = tuple(
        (
            Cell(flip.change, tone="bad" if flip.change == "worse" else "good"),
            Cell(flip.item, data=True),
            Cell(flip.before),
            Cell(flip.now),
            Cell(flip.question, data=True),
        )
        for flip in flips
    )
    return Table(("", "item", "before", "now", "question"), (Group("", rows),))


def cost_line(costs: Costs) -> str:
    """Return what a run cost, in words; "" where that is unknown."""
    if not costs.answers:
        return ""
    money = "" if costs.money is None else f", {costs.money:.4f} {costs.currency}"
    return (
        f"{costs.usage.calls} calls, {costs.usage.total_tokens:,} tokens{money}, "
        f"re-asks: {costs.reasks}, in {costs.reasked} of {costs.answers} answers"
    )


def latency_table(costs: Costs) -> Table:
    """Return the seconds of each stage."""
    rows = tuple(
        (
            Cell(stage.stage),
            *(Cell(f"{seconds:.3f} s") for seconds in (stage.median, stage.p95, stage.longest)),
        )
        for stage in costs.latency
    )
    return Table(("stage", "median", "95 %", "longest"), (Group("", rows),), range(1, 4))


def kind_table(kinds: Sequence[KindRow]) -> Table:
    """Return the counts by kind of question."""
    rows = tuple(
        (
            Cell(row.kind, data=True),
            Cell(row.answerable or "-"),
            *(
                Cell(str(count))
                for count in (row.right, row.refused, row.wrong, row.errors, row.items)
            ),
        )
        for row in kinds
    )
    columns = ("kind", "answerable", "right", "refused", "wrong", "errors", "items")
    return Table(columns, (Group("", rows),), range(2, 7))
