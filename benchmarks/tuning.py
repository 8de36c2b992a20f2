"""Does a tuned refusal threshold keep its promise on new questions, and what does it answer?

    python benchmarks/tuning.py --data DIR [--sets squad2 …] [--alpha 0.2] [--beta 0.4]

Sets as in `extractive.py`, and two that need a threshold of their own:

- `policyqa_other`: PolicyQA, half of it made unanswerable by another passage of the same site,
  whose own questions are about other practices. Some of these passages answer all the same.
- `policyqa_squad2`: the answerable questions of PolicyQA among those of SQuAD 2.0.

Every question is asked once. Then, many times over, as many questions as half the set are drawn
with replacement, a threshold is tuned on them as `grounded-rag tune` does, and its true error rates
are those over the whole set, from which was drawn: the share of draws in which one is over its
bound (`over alpha`, `over beta`) must be at most delta. `halves over` is the same for halves drawn
without replacement, and the rate counted on the other half: that count is itself uncertain by as
much, so it exceeds the bound more often than delta without any promise being broken. The columns
`answered`, `right` and `refused` are means over all draws with a certified threshold; `now` is what
the default threshold does. `questions` are answerable and unanswerable ones. Nothing was tuned on
these figures.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from extractive import SETS, Case, chunk, is_right, rows, thinned
from numpy.typing import NDArray

from grounded_rag.evaluation.tuning import (
    GRID,
    Bounds,
    Outcome,
    Performance,
    Share,
    choose,
    outcome_of,
)
from grounded_rag.generate.extractive import DEFAULT_THRESHOLD, Assessment, ExtractiveGenerator
from grounded_rag.protocols import GenerationRequest
from grounded_rag.resources import default_refusal

COLUMNS = (
    "questions", "certified", "threshold", "over alpha", "over beta", "halves over",
    "answered", "right", "refused", "answered now", "right now", "refused now",
)  # fmt: skip
ROWS = ("squad2", "clapnq", "nomiracl_en", "fitz_gov", "policyqa_other", "policyqa_squad2")


def policyqa_other(data: Path) -> Iterator[Case]:
    """Yield PolicyQA's questions, every other one over a passage that is about something else."""
    passages = {row["passage_id"]: row for row in rows(data / "policyqa" / "passages.jsonl")}
    questions = list(rows(data / "policyqa" / "questions.jsonl"))
    about: dict[str, set[str]] = defaultdict(set)
    for row in questions:
        about[row["passage_id"]].add(_practice(row))
    draw = random.Random(0)
    for number, (row, case) in enumerate(zip(questions, SETS["policyqa"](data), strict=True)):
        site = passages[row["passage_id"]]["site"]
        others = [
            passage
            for name, passage in passages.items()
            if passage["site"] == site and about[name] and _practice(row) not in about[name]
        ]
        if number % 2 and others:
            other = draw.choice(others)
            yield Case(case.question, (chunk(other["text"], 1, other["passage_id"]),), False)
        else:
            yield case


def _practice(row: dict[str, str]) -> str:
    return row["practice"].partition("|||")[0]


def policyqa_squad2(data: Path) -> Iterator[Case]:
    """Yield the questions of both sets."""
    yield from SETS["policyqa"](data)
    yield from SETS["squad2"](data)


FOLDERS = {"policyqa_other": ("policyqa",), "policyqa_squad2": ("policyqa", "squad2")}
ALL = {**SETS, "policyqa_other": policyqa_other, "policyqa_squad2": policyqa_squad2}


def ask(generator: ExtractiveGenerator, case: Case) -> Outcome:
    """Return what the generator would say, for any threshold."""

    def right(assessment: Assessment) -> bool | None:
        if not case.gold:
            return None
        return any(is_right(case, claim.citations) for claim in assessment.claims)

    request = GenerationRequest(
        question=case.question, chunks=case.chunks, refusal=default_refusal()
    )
    return outcome_of(generator, request, answerable=case.answerable, is_right=right)


class Table(NamedTuple):
    """What is said to each question (rows) under each threshold (columns)."""

    thresholds: tuple[float, ...]
    answerable: NDArray[np.bool_]
    gold: NDArray[np.bool_]
    said: NDArray[np.bool_]
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], thresholds: Sequence[float]) -> Table:
        """Work it out once, so that draws are sums."""
        said = [[one.said(at) for at in thresholds] for one in outcomes]
        return cls(
            tuple(thresholds),
            np.array([one.answerable for one in outcomes]),
            np.array([one.answerable and one.whole.right is not None for one in outcomes]),
            np.array([[bool(cell) for cell in row] for row in said]),
            np.array([[any(part.right for part in cell) for cell in row] for row in said]),
        )

    def performances(self, picked: NDArray[np.int_]) -> list[Performance]:
        """Return what each threshold does on some of the questions."""
        yes, gold = self.answerable[picked], self.gold[picked]
        said, right = self.said[picked], self.right[picked]
        answered = said[yes].sum(axis=0)
        on_gold, given = right[gold].sum(axis=0), said[gold].sum(axis=0)
        refused = (~said[~yes]).sum(axis=0)
        return [
            Performance.trusted(
                threshold=threshold,
                answered=share(answered[at], yes.sum()),
                right=share(on_gold[at], gold.sum()),
                wrong=share(given[at] - on_gold[at], given[at]),
                refused=share(refused[at], (~yes).sum()),
            )
            for at, threshold in enumerate(self.thresholds)
        ]


def share(hits: np.integer, trials: np.integer) -> Share:
    """Return a share of counts that were summed here."""
    return Share.trusted(hits=int(hits), trials=int(trials))


def rate(share: Share) -> float:
    """Return a share as a number."""
    return share.hits / share.trials if share.trials else 0.0


def over(at: Performance, bounds: Bounds) -> tuple[bool, bool]:
    """Whether each error rate is over its bound."""
    return (
        1 - rate(at.refused) > bounds.alpha,
        bounds.beta is not None and rate(at.wrong) > bounds.beta,
    )


def report(name: str, outcomes: Sequence[Outcome], bounds: Bounds, draws: int) -> None:
    """Print the row of one set."""
    table = Table.of(outcomes, GRID)
    everything = np.arange(len(outcomes))
    truth = {at.threshold: at for at in table.performances(everything)}
    (now,) = Table.of(outcomes, [DEFAULT_THRESHOLD]).performances(everything)
    draw = np.random.default_rng(0)
    chosen: list[Performance] = []
    broken = [0, 0]
    halves = 0
    for _ in range(draws):
        picked = draw.choice(everything, size=len(everything) // 2)
        found = choose(table.performances(picked), bounds)
        if found is not None:
            chosen.append(truth[found.threshold])
            for kind, is_over in enumerate(over(chosen[-1], bounds)):
                broken[kind] += is_over
        mixed = draw.permutation(everything)
        half, rest = mixed[: len(mixed) // 2], mixed[len(mixed) // 2 :]
        found = choose(table.performances(half), bounds)
        if found is not None:
            tested = {at.threshold: at for at in table.performances(rest)}
            halves += any(over(tested[found.threshold], bounds))

    def mean(values: Iterator[float]) -> str:
        listed = list(values)
        return f"{statistics.fmean(listed):.0%}" if listed else "–"

    yes = int(table.answerable.sum())
    cells = (
        f"{yes} + {len(outcomes) - yes}",
        f"{len(chosen)}/{draws}",
        f"{statistics.median(at.threshold for at in chosen):+.2f}" if chosen else "–",
        f"{broken[0] / draws:.1%}",
        f"{broken[1] / draws:.1%}" if bounds.beta is not None else "–",
        f"{halves / draws:.1%}",
        mean(rate(at.answered) for at in chosen),
        mean(rate(at.right) for at in chosen) if now.right.trials else "–",
        mean(rate(at.refused) for at in chosen),
        f"{rate(now.answered):.0%}",
        f"{rate(now.right):.0%}" if now.right.trials else "–",
        f"{rate(now.refused):.0%}",
    )
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> int:
    """Run the chosen sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", choices=ROWS, default=list(ROWS))
    parser.add_argument("--alpha", type=float, default=Bounds().alpha)
    parser.add_argument("--beta", type=float, default=None)
    parser.add_argument("--delta", type=float, default=Bounds().delta)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--limit", type=int, default=None, help="questions a set, evenly spread")
    parser.add_argument("--no-embedding", action="store_true")
    options = parser.parse_args()
    bounds = Bounds(alpha=options.alpha, beta=options.beta, delta=options.delta)
    embedding = None
    if not options.no_embedding:
        from grounded_rag.index.embedding import MiniLMEmbedding

        embedding = MiniLMEmbedding()
    generator = ExtractiveGenerator(embedding=embedding)
    print(f"| set | {' | '.join(COLUMNS)} |")
    print("|---|" + "--:|" * len(COLUMNS))
    for name in options.sets:
        if not all((options.data / folder).is_dir() for folder in FOLDERS.get(name, (name,))):
            print(f"{name}: skipped, not in {options.data}")
            continue
        cases = thinned(list(ALL[name](options.data)), options.limit)
        report(name, [ask(generator, case) for case in cases], bounds, options.draws)
    return 0


if __name__ == "__main__":
    sys.exit(main())
