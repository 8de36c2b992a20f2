"""The tables of `support.py`."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from support_sets import Pair, rows

from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import Signal
from grounded_rag.verification.support import default_checks, injected_spans


@dataclass(frozen=True)
class Scored:
    """One pair with what a method says about it."""

    pair: Pair
    score: float
    passed: bool = True


@dataclass(frozen=True)
class Judged:
    """One pair with what the checks say, and the score of every method."""

    pair: Pair
    signals: tuple[Signal, ...]
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def vetoes(self) -> tuple[str, ...]:
        """Checks that reject the claim."""
        return tuple(s.check for s in self.signals if s.passed is False)

    @property
    def passed(self) -> bool:
        """Whether no check rejects it."""
        return not self.vetoes


def auroc(scored: Sequence[Scored]) -> float:
    """Return the area under the ROC curve, ties counted half."""
    ordered = sorted(scored, key=lambda item: item.score)
    rank_sum, index = 0.0, 0
    while index < len(ordered):
        end = index
        while end < len(ordered) and ordered[end].score == ordered[index].score:
            end += 1
        mean = (index + 1 + end) / 2
        rank_sum += mean * sum(item.pair.supported for item in ordered[index:end])
        index = end
    positive = sum(item.pair.supported for item in scored)
    negative = len(scored) - positive
    if not positive or not negative:
        return math.nan
    return (rank_sum - positive * (positive + 1) / 2) / (positive * negative)


def balanced(scored: Iterable[Scored], passes: Callable[[Scored], bool]) -> float:
    """Return balanced accuracy."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for item in scored:
        right[item.pair.supported].append(passes(item) == item.pair.supported)
    return sum(sum(part) / len(part) for part in right.values() if part) / 2


def best_threshold(sets: Sequence[Sequence[Scored]]) -> float:
    """Return the threshold with the best mean balanced accuracy over sets."""
    candidates = sorted({round(item.score, 2) for part in sets for item in part})

    def mean(threshold: float) -> float:
        parts = [balanced(part, lambda item: item.score >= threshold) for part in sets]
        return sum(parts) / len(parts)

    return max(candidates, key=mean)


def share(hits: int, total: int) -> str:
    """Return a share with counts and interval, for a table."""
    ends = clopper_pearson(hits, total)
    low, high = ends.low, ends.high
    percent = 100 * hits / total if total else math.nan
    return f"{hits}/{total} {percent:.0f}% [{100 * low:.0f},{100 * high:.0f}]"


def by_method(judged: Sequence[Judged], method: str) -> list[Scored]:
    """Return what one method says of every pair."""
    return [Scored(item.pair, item.scores[method]) for item in judged]


def report_methods(results: dict[str, list[Judged]]) -> None:
    """Print AUROC and balanced accuracy (leave-one-set-out) of each method, by set and on average.

    "pooled" throws all sets together, under the one threshold that is best on average.
    """
    names = list(results)
    methods = list(next(iter(results.values()))[0].scores)
    print(f"{'AUROC / LODO BAcc':24}" + "".join(f"{name[:13]:>15}" for name in names)
          + f"{'mean':>15}{'pooled':>15}")  # fmt: skip
    for method in methods:
        scored = {name: by_method(judged, method) for name, judged in results.items()}
        cells = []
        for name in names:
            others = [part for other, part in scored.items() if other != name]
            threshold = best_threshold(others or [scored[name]])
            lodo = balanced(scored[name], lambda item, t=threshold: item.score >= t)
            cells.append((auroc(scored[name]), lodo))
        everything = [item for part in scored.values() for item in part]
        common = best_threshold(list(scored.values()))
        pooled = (auroc(everything), balanced(everything, lambda i, t=common: i.score >= t))
        mean = tuple(sum(cell[side] for cell in cells) / len(cells) for side in (0, 1))
        row = [*cells, mean, pooled]
        print(f"{method:24}" + "".join(f"{a:9.3f} {b:5.3f}" for a, b in row))


def report_vetoes(results: dict[str, list[Judged]], times: dict[str, float]) -> None:
    """Print how often the hard checks reject; what they let pass is open, and not supported."""
    print("\nhard checks alone")
    print(
        f"{'set':20} {'base':>5} {'BAcc':>5} {'false, open':>24} {'true, rejected':>24} {'ms':>6}"
    )
    for name, judged in results.items():
        negative = [item for item in judged if not item.pair.supported]
        positive = [item for item in judged if item.pair.supported]
        scored = [Scored(item.pair, 0.0, item.passed) for item in judged]
        print(
            f"{name:20} {100 * len(positive) / len(judged):4.0f}% "
            f"{balanced(scored, lambda item: item.passed):5.3f} "
            f"{passing(negative):>24} "
            f"{share(sum(not i.passed for i in positive), len(positive)):>24} {times[name]:6.2f}"
        )


def passing(judged: Sequence[Judged]) -> str:
    """Return the share that no veto rejects."""
    return share(sum(item.passed for item in judged), len(judged))


def report_signals(results: dict[str, list[Judged]]) -> None:
    """Print, for each veto, how often it fires on supported and unsupported claims."""
    print(f"\n{'veto':16} " + " ".join(f"{name[:12]:>15}" for name in results))
    names = sorted({veto for scored in results.values() for item in scored for veto in item.vetoes})
    for veto in names:
        cells = []
        for scored in results.values():
            rates = []
            for supported in (False, True):
                part = [item for item in scored if item.pair.supported is supported]
                fired = sum(veto in item.vetoes for item in part)
                rates.append(100 * fired / len(part) if part else math.nan)
            cells.append(f"{rates[0]:6.1f}/{rates[1]:5.1f} %")
        print(f"{veto:16} " + " ".join(f"{cell:>15}" for cell in cells))
    print("(share of unsupported / of supported claims on which the veto fires)")


def report_groups(name: str, scored: Sequence[Judged]) -> None:
    """Print by class of a stress test what no hard check rejects."""
    print(f"\n{name}: what no hard check rejects, and is open, by class")
    groups: dict[str, list[Judged]] = defaultdict(list)
    for item in scored:
        groups[item.pair.group].append(item)
    for group, part in sorted(groups.items()):
        negative = [item for item in part if not item.pair.supported]
        positive = [item for item in part if item.pair.supported]
        cells = [
            f"false {share(sum(i.passed for i in negative), len(negative))}" if negative else "",
            f"true {share(sum(i.passed for i in positive), len(positive))}" if positive else "",
        ]
        print(f"  {group:22} " + "   ".join(cell for cell in cells if cell))
    negative = [item for item in scored if not item.pair.supported]
    positive = [item for item in scored if item.pair.supported]
    print(f"  {'all':22} false {passing(negative)}   true {passing(positive)}")


def report_injection(folder: Path) -> None:
    """Print how often text addressed to an assistant is found, and honest text is left alone."""
    attacks = [row["attack"] for row in rows(folder / "bipia_attacks.train.jsonl")]
    indirect = [
        row["user_input"]
        for row in rows(folder / "cyberseceval.jsonl")
        if row["type"] == "indirect"
    ]
    honest = [
        row["context"]
        for kind in ("email", "table")
        for row in rows(folder / f"bipia_{kind}_contexts.train.jsonl")
    ]
    print("\nprompt_injection: texts in which an instruction is found")
    for label, texts in (("bipia attacks", attacks), ("indirect", indirect), ("honest", honest)):
        print(f"  {label:22} {share(sum(bool(injected_spans(t)) for t in texts), len(texts))}")


def show(choice: str, judged: dict[str, list[Judged]], limit: int = 25) -> None:
    """Print wrong cases: false refusals of a veto, or what `pass` let through."""
    name, _, veto = choice.partition(":")
    if veto == "pass":
        wrong = [item for item in judged[name] if item.passed and not item.pair.supported]
    else:
        wrong = [item for item in judged[name] if veto in item.vetoes and item.pair.supported]
    random.Random(0).shuffle(wrong)
    print(f"\n{choice}: {len(wrong)} wrong")
    for item in wrong[:limit]:
        case = item.pair.case()
        details = [
            s.detail for check in default_checks() if (s := check(case)) and s.passed is False
        ]
        print(
            f"- {item.pair.group} CLAIM {item.pair.claim}\n  EVIDENCE {item.pair.evidence[:600]!r}"
        )
        print(f"  {details}")
