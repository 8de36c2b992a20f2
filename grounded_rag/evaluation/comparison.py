"""Two runs side by side: which items flipped, and whether that is more than chance."""

from __future__ import annotations

import math
from typing import Literal

from grounded_rag.errors import InputError
from grounded_rag.evaluation.metrics import PAIRED
from grounded_rag.evaluation.report import EvalReport, ItemRow
from grounded_rag.types import Frozen

_LOWER_IS_BETTER = frozenset({"false_refusals"})


class Flip(Frozen):
    """One item that came out otherwise.

    Attributes:
        item: Its id.
        question: Its question.
        change: Whether it got better or worse.
        before: What became of it in the baseline.
        now: What became of it now.
        why: What the diagnosis says now.
    """

    item: str
    question: str
    change: Literal["worse", "better"]
    before: str
    now: str
    why: str = ""


class Paired(Frozen):
    """One metric over the items that both runs have scored.

    Attributes:
        metric: Name of the metric.
        both: Items scored in both runs.
        worse: Items that got worse.
        better: Items that got better.
        p_value: Exact two-sided McNemar test: the chance of so uneven a split of the flips, or a
            more uneven one, if each flip were as likely to go either way.
        flips: The items, worse ones first.
    """

    metric: str
    both: int
    worse: int
    better: int
    p_value: float
    flips: tuple[Flip, ...] = ()

    def got_worse(self, alpha: float) -> bool:
        """Whether more got worse than better, and chance is an unlikely reason.

        Args:
            alpha: Least p-value that still counts as chance.
        """
        return self.worse > self.better and self.p_value < alpha


class Comparison(Frozen):
    """A run beside its baseline.

    Attributes:
        baseline: Id of the baseline.
        run: Id of the run.
        same_golden: Whether both ran the same golden set.
        metrics: One comparison a paired metric.
        only_baseline: Items that only the baseline has.
        only_run: Items that only the run has.
        differences: What the runs were made with that is not the same.
    """

    baseline: str
    run: str
    same_golden: bool
    metrics: tuple[Paired, ...]
    only_baseline: int = 0
    only_run: int = 0
    differences: tuple[str, ...] = ()

    def metric(self, name: str) -> Paired:
        """Return the comparison of one metric.

        Raises:
            KeyError: It is no paired metric.
        """
        for paired in self.metrics:
            if paired.metric == name:
                return paired
        raise KeyError(name)


def mcnemar(worse: int, better: int) -> float:
    """Return the two-sided p-value of the exact McNemar test.

    McNemar (1947), with the binomial distribution in place of the approximation.

    Args:
        worse: Items that flipped one way.
        better: Items that flipped the other way.
    """
    flips = worse + better
    if flips == 0:
        return 1.0
    tail = sum(math.comb(flips, count) for count in range(min(worse, better) + 1))
    return float(min(1.0, 2 * tail / 2**flips))


def compare(run: EvalReport, baseline: EvalReport) -> Comparison:
    """Compare a run with a baseline, item by item.

    Args:
        run: The report of the run.
        baseline: The report that it is held against.

    Raises:
        InputError: They have no item in common.
    """
    before = {row.id: row for row in baseline.items}
    now = {row.id: row for row in run.items}
    common = [name for name in now if name in before]
    if not common:
        raise InputError(
            "The run and its baseline have no item in common.",
            hint="Compare runs over the same golden set.",
        )
    left, new = len(before) - len(common), len(now) - len(common)
    return Comparison(
        baseline=baseline.meta.id,
        run=run.meta.id,
        same_golden=run.meta.golden_hash == baseline.meta.golden_hash,
        metrics=tuple(_paired(name, [(before[c], now[c]) for c in common]) for name in PAIRED),
        only_baseline=left,
        only_run=new,
        differences=(*_differences(run, baseline), *_uncompared(left, new)),
    )


def _paired(metric: str, rows: list[tuple[ItemRow, ItemRow]]) -> Paired:
    both = [(old, new) for old, new in rows if metric in old.paired and metric in new.paired]
    flips = [
        _flip(metric, old, new) for old, new in both if old.paired[metric] != new.paired[metric]
    ]
    flips.sort(key=lambda flip: (flip.change != "worse", flip.item))
    worse = sum(flip.change == "worse" for flip in flips)
    return Paired(
        metric=metric,
        both=len(both),
        worse=worse,
        better=len(flips) - worse,
        p_value=mcnemar(worse, len(flips) - worse),
        flips=tuple(flips),
    )


def _flip(metric: str, old: ItemRow, new: ItemRow) -> Flip:
    improved = new.paired[metric] != (metric in _LOWER_IS_BETTER)
    return Flip(
        item=new.id,
        question=new.question,
        change="better" if improved else "worse",
        before=old.standing,
        now=new.standing,
        why="" if improved else new.diagnosis.why,
    )


def _uncompared(left: int, new: int) -> tuple[str, ...]:
    """Say that items are not compared: dropping those that went wrong is one way to look better."""
    if not left and not new:
        return ()
    return (f"items not compared: {left} in the baseline alone, {new} in this run alone",)


def _differences(run: EvalReport, baseline: EvalReport) -> tuple[str, ...]:
    found: list[str] = []
    for what, old, new in (
        ("generator", baseline.meta.generator, run.meta.generator),
        ("package", baseline.meta.package_version, run.meta.package_version),
        ("policy and prompts", baseline.meta.fingerprint[:12], run.meta.fingerprint[:12]),
        ("verifier", baseline.meta.verifier[:12], run.meta.verifier[:12]),
        (
            "index",
            baseline.meta.index.content_hash[:12],
            run.meta.index.content_hash[:12],
        ),
        ("golden set", baseline.meta.golden_hash[:12], run.meta.golden_hash[:12]),
    ):
        if old != new:
            found.append(f"{what}: {old or '-'} before, {new or '-'} now")
    return tuple(found)
