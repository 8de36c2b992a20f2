"""Plots as inline SVG: both directions of error at once, and the reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from grounded_rag.evaluation.metrics import MetricResult, interval
from grounded_rag.statistics import Interval
from grounded_rag.types import Frozen

_SIDE = 300
_LEFT, _TOP, _BOTTOM, _RIGHT = 44, 14, 40, 14


class Point(Frozen):
    """A run by its rates of false refusals (x) and of missed refusals (y)."""

    label: str
    x: float
    y: float
    x_interval: Interval
    y_interval: Interval


class Bin(Frozen):
    """Answers with a score from `low` up, their mean score, and how many of them are right."""

    low: float
    mean: float
    right: int
    trials: int


def point(label: str, false_refusals: MetricResult, right_refusals: MetricResult) -> Point | None:
    """Return a run as a point, or None where one direction was not measured."""
    x, kept = false_refusals.value, right_refusals.value
    if x is None or kept is None:
        return None
    missed = right_refusals.interval
    return Point(
        label=label,
        x=x,
        y=1 - kept,
        x_interval=false_refusals.interval,
        y_interval=Interval(low=1 - missed.high, high=1 - missed.low),
    )


def two_directions(points: Sequence[Point]) -> str:
    """Return the plot of false refusals against missed refusals; down and left is better.

    The run comes first, then what it is compared with.
    """
    parts = _axes("answerable questions refused", "unanswerable questions answered")
    for index, one in reversed(list(enumerate(points))):
        bar, dot = ("bar", "run") if index == 0 else ("basebar", "base")
        x, y = _x(one.x), _y(one.y)
        parts.append(
            f'<line class="{bar}" x1="{_x(one.x_interval.low):.1f}" x2="'
            f'{_x(one.x_interval.high):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<line class="{bar}" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(one.y_interval.low):.1f}" '
            f'y2="{_y(one.y_interval.high):.1f}"/>'
            f'<circle class="{dot}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
        )
        parts.append(_label(x, y, one.label, second=index > 0))
    return _svg(parts, "False refusals against missed refusals")


def reliability_bins(scored: Sequence[tuple[float, bool]], *, count: int = 10) -> tuple[Bin, ...]:
    """Return scores and whether each answer was right, in bins of equal width; no empty ones."""
    groups: list[list[tuple[float, bool]]] = [[] for _ in range(count)]
    for score, right in scored:
        groups[min(count - 1, int(score * count))].append((score, right))
    return tuple(
        Bin(
            low=index / count,
            mean=sum(score for score, _ in group) / len(group),
            right=sum(right for _, right in group),
            trials=len(group),
        )
        for index, group in enumerate(groups)
        if group
    )


def reliability(bins: Sequence[Bin]) -> str:
    """Return the reliability diagram: share of right answers by score, with exact intervals."""
    parts = _axes("score", "share of right answers")
    parts.append(f'<line class="grid" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>')
    for one in bins:
        x, y = _x(one.mean), _y(one.right / one.trials)
        ends = interval(one.right, one.trials, kind="share")
        parts.append(
            f'<line class="bar" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(ends.low):.1f}" '
            f'y2="{_y(ends.high):.1f}"/><circle class="run" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        )
        parts.append(_label(x, y, str(one.trials)))
    return _svg(parts, "Reliability diagram")


def _x(value: float) -> float:
    return _LEFT + value * (_SIDE - _LEFT - _RIGHT)


def _y(value: float) -> float:
    return _SIDE - _BOTTOM - value * (_SIDE - _TOP - _BOTTOM)


def _axes(across: str, up: str) -> list[str]:
    parts: list[str] = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _x(tick), _y(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(0)}" y2="{_y(1)}"/>')
        parts.append(f'<line class="grid" x1="{_x(0)}" x2="{_x(1)}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{_y(0) + 14:.1f}" text-anchor="middle">{tick:g}</text>'
            f'<text x="{_x(0) - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    middle = (_y(0) + _y(1)) / 2
    parts.append(
        f'<text x="{(_x(0) + _x(1)) / 2:.1f}" y="{_SIDE - 8}" text-anchor="middle">'
        f"{escape(across)}</text>"
        f'<text transform="translate(11 {middle:.1f}) rotate(-90)" text-anchor="middle">'
        f"{escape(up)}</text>"
    )
    return parts


def _label(x: float, y: float, label: str, *, second: bool = False) -> str:
    shown = label if len(label) <= 24 else f"{label[:23]}…"
    # Beside the point and inside the frame.
    anchor, shift = ("end", -8) if x > _SIDE * 0.6 else ("start", 8)
    drop = 16 if y < _TOP + 16 else -8
    if second:
        # A line of its own: two runs often lie close together.
        drop = 32 if y < _TOP + 16 else -24 if y > _y(0.1) else 18
    return (
        f'<text x="{x + shift:.1f}" y="{y + drop:.1f}" text-anchor="{anchor}">'
        f"{escape(shown)}</text>"
    )


def _svg(parts: Sequence[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {_SIDE} {_SIDE}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
