"""Does splitting claims into parts help? Both directions, with and without.

    python benchmarks/decomposition.py --data DIR [--sets wice …]

DIR holds `wice`, `factcheckgpt_stance`, `attributionbench`, `storysumm` (whole summaries) and
`mtrag_human_eval` (whole responses; supported when the median human rating is 4 of 4). The decider
stands for a judge: a claim passes if none of the built-in checks objects and its support score is
high enough. "sentences" splits at the ends of sentences; every part must pass.

False pass: unsupported claims that pass. False refuse: supported claims that do not. Exact 95 %
intervals. "changed" is paired: claims that splitting alone strips, by what they really are.
The same for claims that consist of several parts; the others cannot change.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from calibration import mtrag_human_eval
from support import Pair, load, rows, share

from grounded_rag.evaluation.decomposition import split_claim
from grounded_rag.verification.support import default_checks, support_score

ENOUGH = 0.67
"""Support score that separates supported claims from the rest best, on average over public sets."""


def storysumm(data: Path) -> Iterator[Pair]:
    """Yield summaries with their stories; rows with torn labels are left out."""
    for row in rows(data / "storysumm" / "val.jsonl"):
        if len(row["summary_sentences"]) == len(row["sentence_supported"]):
            summary = " ".join(row["summary_sentences"])
            yield Pair(summary, row["story"], row["label"] == "supported", id=row["id"])


def mtrag(data: Path) -> Iterator[Pair]:
    """Yield responses of RAG systems with the passages that they were given."""
    for claim in mtrag_human_eval(data):
        yield Pair(claim.claim, "\n".join(claim.evidence), claim.true, question=claim.question)


SETS: dict[str, Callable[[Path], list[Pair]]] = {
    "wice": lambda data: load("wice", data),
    "factcheckgpt_stance": lambda data: load("factcheckgpt_stance", data),
    "attributionbench": lambda data: load("attributionbench", data),
    "storysumm": lambda data: list(storysumm(data)),
    "mtrag_human_eval": lambda data: list(mtrag(data)),
}


@dataclass(frozen=True)
class Outcome:
    """One claim: what it is, how many parts it has, and whether it passes whole and in parts."""

    supported: bool
    parts: int
    whole: bool
    split: bool


def passes(pair: Pair) -> bool:
    """Whether no check objects to the claim, or is undecided, and the words agree."""
    case = pair.case()
    signals = [signal for check in default_checks() if (signal := check(case)) is not None]
    vetoes = [signal for signal in signals if signal.role == "veto" and not signal.passed]
    return not vetoes and support_score(case) >= ENOUGH


def outcome(pair: Pair) -> Outcome:
    """Judge one claim both ways."""
    parts = split_claim(pair.claim).parts
    whole = passes(pair)
    split = all(passes(replace(pair, claim=part)) for part in parts) if len(parts) > 1 else whole
    return Outcome(pair.supported, len(parts), whole, split)


def report(label: str, outcomes: list[Outcome]) -> None:
    """Print both directions, with and without."""
    yes = [item for item in outcomes if item.supported]
    no = [item for item in outcomes if not item.supported]
    if not outcomes:
        print(f"  {label}: none")
        return
    print(f"  {label}: {len(yes)} supported, {len(no)} not")
    for name, passed in (("off", lambda i: i.whole), ("sentences", lambda i: i.split)):
        print(
            f"    {name:9} false pass {share(sum(passed(i) for i in no), len(no)):28} "
            f"false refuse {share(sum(not passed(i) for i in yes), len(yes))}"
        )
    lost = [item for item in outcomes if item.whole and not item.split]
    won = [item for item in outcomes if item.split and not item.whole]
    print(
        f"    changed: {sum(not i.supported for i in lost)} wrong claims and "
        f"{sum(i.supported for i in lost)} right ones stripped by splitting; "
        f"{sum(not i.supported for i in won)} wrong and {sum(i.supported for i in won)} right "
        "ones let through by it"
    )


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    options = parser.parse_args()
    every: list[Outcome] = []
    for name in options.sets:
        if not (options.data / name).is_dir():
            print(f"\n{name}: skipped, not in {options.data}")
            continue
        outcomes = [outcome(pair) for pair in SETS[name](options.data)]
        every += outcomes
        print(f"\n{name}")
        report("all claims", outcomes)
        report("claims of several parts", [item for item in outcomes if item.parts > 1])
    print("\nall sets")
    report("all claims", every)
    report("claims of several parts", [item for item in every if item.parts > 1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
