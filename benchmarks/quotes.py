"""False accepts and false refusals of quote checkers, side by side on the same labelled quotes.

    python benchmarks/quotes.py [--data DIR | --corpus demo|FOLDER | --cases FILE]
                                [--per-class N] [--seed N] [--only ours,gtrex,in] [--classes]

The quotes are those of `grounded-rag fuzz`: tampered ones, of which none should be accepted, and
benign ones, of which all should be. Every checker is used as its users get it by default (see
`peers.py`), with the text of the cited chunk. Quotes that cite a chunk which does not exist are
left out: the peers know no chunk ids. For peers any acceptance of a benign quote counts, wherever
they put it; for ours so it does here too (`grounded-rag fuzz` also checks the span). A checker that
raises has refused; one that needs more than LIMIT seconds for a quote has refused as well, and both
are counted. Intervals are exact (Clopper-Pearson, 95 %).
"""

from __future__ import annotations

import argparse
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from peers import PEERS, Checker, available

from grounded_rag.statistics import clopper_pearson
from grounded_rag.testing.tamper import (
    KINDS,
    FuzzCase,
    draw_cases,
    load_corpus,
    load_data,
    pools_of,
    read_cases,
)

LIMIT = 5.0
COLUMNS = ("tampered quotes accepted", "honest quotes refused", "raised", "late", "CPU ms")
ROWS = tuple(peer.name for peer in PEERS)


class TimeUp(BaseException):
    """Raised in a checker that takes too long; no checker catches it by mistake."""


@dataclass
class Tally:
    """What one checker made of the quotes."""

    accepted: Counter[tuple[str, str]] = field(default_factory=Counter)
    raised: int = 0
    late: int = 0
    seconds: float = 0.0

    def total(self, label: str) -> int:
        """Return how many quotes of a label were accepted."""
        return sum(count for (found, _), count in self.accepted.items() if found == label)


def quotes(options: argparse.Namespace) -> list[FuzzCase]:
    """Return the labelled quotes that the options name."""
    if options.cases is not None:
        cases = read_cases(options.cases)
    else:
        corpus = load_data(options.data) if options.data else load_corpus(options.corpus)
        pools = pools_of(corpus)
        cases = tuple(
            case
            for kind in KINDS
            for case in draw_cases(kind, pools, count=options.per_class, seed=options.seed)
        )
    return [case for case in cases if case.cited_text]


def measure(check: Checker, cases: Sequence[FuzzCase]) -> Tally:
    """Run one checker on all quotes."""
    tally = Tally()
    signal.signal(signal.SIGALRM, _time_up)
    started = time.process_time()
    for case in cases:
        signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            if check(case.cited_text, case.quote):
                tally.accepted[case.label, case.kind] += 1
        except TimeUp:
            tally.late += 1
        except Exception:  # noqa: BLE001 - counted, whatever it is
            tally.raised += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    tally.seconds = time.process_time() - started
    return tally


def _time_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeUp


def _share(hits: int, trials: int) -> str:
    interval = clopper_pearson(hits, trials)
    return f"{hits:>6} of {trials:<6} {interval.low * 100:6.2f}-{interval.high * 100:6.2f} %"


def report(tallies: dict[str, Tally], cases: Sequence[FuzzCase], *, classes: bool) -> None:
    """Print the table, and one line a class where asked."""
    made = Counter((case.label, case.kind) for case in cases)
    tampers = sum(n for (label, _), n in made.items() if label == "tamper")
    benign = sum(n for (label, _), n in made.items() if label == "benign")
    accepted, refused, *others = COLUMNS
    print(f"\n{'checker':<14} {accepted:<33} {refused:<33} {'  '.join(others)}")
    for name, tally in tallies.items():
        wrong = _share(tally.total("tamper"), tampers)
        missed = _share(benign - tally.total("benign"), benign)
        pace = tally.seconds * 1000 / max(1, len(cases))
        print(f"{name:<14} {wrong:<33} {missed:<33} {tally.raised:>6} {tally.late:>5} {pace:9.3f}")
    if not classes:
        return
    for label, word in (("tamper", "accepted"), ("benign", "refused")):
        print(f"\n{label}, {word}".ljust(20) + "quotes" + "".join(f"{n:>15}" for n in tallies))
        for (found, kind), number in made.items():
            if found != label:
                continue
            counts = [t.accepted[label, kind] for t in tallies.values()]
            shown = counts if label == "tamper" else [number - count for count in counts]
            print(f"{kind:<18}{number:>7}" + "".join(f"{count:>15}" for count in shown))


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--data", type=Path, help="folder of data sets")
    source.add_argument("--corpus", default="demo", help="demo, or a folder of text files")
    source.add_argument("--cases", type=Path, help="JSON lines of labelled quotes")
    parser.add_argument("--per-class", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="names of checkers, with commas")
    parser.add_argument("--classes", action="store_true", help="a line for each class too")
    options = parser.parse_args()
    cases = quotes(options)
    checkers = available(set(options.only.split(",")) if options.only else None)
    tallies = {name: measure(check, cases) for name, check in checkers.items()}
    report(tallies, cases, classes=options.classes)


if __name__ == "__main__":
    main()
