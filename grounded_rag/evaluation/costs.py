"""What a run cost: calls, tokens, money where prices are given, and seconds by stage."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from grounded_rag.evaluation.records import EvalRecord, Prices
from grounded_rag.types import Frozen, Usage

_KEPT = 4_096


class Latency(Frozen):
    """Seconds of one stage over the answers of a run.

    Attributes:
        stage: Retrieve, generate, verify or total.
        median: Half of the answers took no longer.
        p95: 95 % of the answers took no longer.
        longest: The longest.
    """

    stage: str
    median: float
    p95: float
    longest: float


class Costs(Frozen):
    """What the answers of a run cost together; other systems' answers carry no costs.

    Attributes:
        answers: Answers counted.
        usage: Calls and tokens, summed.
        reasked: Answers that took more than one draft.
        reasks: Drafts beyond the first, summed.
        money: What the tokens cost, or None without prices.
        currency: Currency of `money`.
        latency: Seconds by stage.
    """

    answers: int = 0
    usage: Usage = Usage()
    reasked: int = 0
    reasks: int = 0
    money: float | None = None
    currency: str = ""
    latency: tuple[Latency, ...] = ()


@dataclass
class _Sample:
    """A uniform sample of at most `_KEPT` values (reservoir): exact for smaller runs."""

    seed: int
    seen: int = 0
    longest: float = 0.0
    values: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - sampling, no secret

    def add(self, value: float) -> None:
        self.seen += 1
        self.longest = max(self.longest, value)
        if len(self.values) < _KEPT:
            self.values.append(value)
            return
        place = self._random.randrange(self.seen)
        if place < _KEPT:
            self.values[place] = value

    def latency(self, stage: str) -> Latency:
        ordered = sorted(self.values)
        last = len(ordered) - 1
        return Latency(
            stage=stage,
            median=ordered[last // 2],
            p95=ordered[min(last, int(0.95 * len(ordered)))],
            longest=self.longest,
        )


class CostTally:
    """Sums the costs of records; its size does not grow with the run."""

    def __init__(self, prices: Prices | None) -> None:
        self._prices = prices
        self._answers = self._reasked = self._reasks = 0
        self._usage = Usage()
        stages = ("retrieve", "generate", "verify", "total")
        self._stages = {stage: _Sample(seed) for seed, stage in enumerate(stages)}

    def add(self, record: EvalRecord) -> None:
        """Count one record; one without an answer of ours costs nothing that is known."""
        answer = record.answer
        if answer is None:
            return
        self._answers += 1
        self._usage = self._usage + answer.usage
        self._reasked += answer.attempts > 1
        self._reasks += max(0, answer.attempts - 1)
        for stage, sample in self._stages.items():
            sample.add(getattr(answer.timings, stage))

    def result(self) -> Costs:
        """Return the sums."""
        if not self._answers:
            return Costs()
        return Costs(
            answers=self._answers,
            usage=self._usage,
            reasked=self._reasked,
            reasks=self._reasks,
            money=None if self._prices is None else self._prices.cost(self._usage),
            currency="" if self._prices is None else self._prices.currency,
            latency=tuple(sample.latency(stage) for stage, sample in self._stages.items()),
        )
