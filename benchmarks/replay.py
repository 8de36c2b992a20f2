"""How fast recorded answers are judged again, and that memory does not grow with the run.

    python benchmarks/replay.py [--answers 10000] [--full 500] [--questions 40] [--json]

Real answers of the demo corpus are recorded once and multiplied under new ids. Then the whole run
is judged again with unchanged checks (recorded verdicts count, all metrics are computed), and a
part of it with every check run again: that is the rate of the full stack. Each measurement runs in
a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from grounded_rag import GroundedRAG
from grounded_rag.evaluation.rejudging import replay
from grounded_rag.evaluation.runner import evaluate
from grounded_rag.evaluation.runs import Run
from grounded_rag.resources import demo_corpus_dir


def record(folder: Path, questions: int) -> Path:
    """Ask the first questions of the dev split and return the run."""
    corpus = demo_corpus_dir()
    with GroundedRAG.from_corpus(corpus, index=folder / "index") as rag:
        evaluate(rag, corpus / "golden.jsonl", run=folder / "base", split="dev", limit=questions)
    return folder / "base"


def multiply(base: Path, target: Path, answers: int) -> Path:
    """Write a run of `answers` records made from the recorded ones."""
    source = Run.open(base)
    records = list(source.records())
    meta = source.meta.model_copy(update={"items": answers})
    with Run.create(target, meta) as run:
        for number in range(answers):
            one = records[number % len(records)]
            item = one.item.model_copy(update={"id": f"{one.item.id}-{number:05}"})
            run.append(one.model_copy(update={"item": item}), durable=False)
    return target


def measure(run: Path, *, everything: bool) -> dict[str, float]:
    """Replay a run in a process of its own."""
    command = [sys.executable, __file__, "--one", str(run)] + ["--all-checks"] * everything
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {key: float(value) for key, value in json.loads(done.stdout).items()}


def one(run: Path, *, everything: bool) -> None:
    """Replay a run here and print what it took."""
    before = time.perf_counter()
    report = replay(run, everything=everything)
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - before,
                "answers": len(report.items),
                "cpu_seconds": time.process_time(),
                "peak_mb": peak_megabytes(),
                "failed": report.failed,
            }
        )
    )


def peak_megabytes() -> float:
    """Return the peak memory of this process, or 0 where the system does not say.

    `ru_maxrss` will not do: a child inherits the peak of the process that started it.
    """
    status = Path("/proc/self/status")
    if not status.is_file():
        return 0.0
    line = next(
        one for one in status.read_text(encoding="utf-8").splitlines() if one.startswith("VmHWM")
    )
    return int(line.split()[1]) / 1024


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--full", type=int, default=500, help="answers judged by all checks again")
    parser.add_argument("--questions", type=int, default=40, help="answers recorded at first")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--all-checks", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        one(options.one, everything=options.all_checks)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        base = record(folder, options.questions)
        small = multiply(base, folder / "small", max(1, options.answers // 10))
        large = multiply(base, folder / "large", options.answers)
        full = multiply(base, folder / "full", options.full)
        size = (large / "records.jsonl").stat().st_size / 1e6
        rows = {
            "unchanged, a tenth": measure(small, everything=False),
            "unchanged": measure(large, everything=False),
            "all checks again": measure(full, everything=True),
        }
    if options.json:
        print(json.dumps({"megabytes": size, **rows}))
        return
    print(f"{options.answers} recorded answers, {size:.0f} MB")
    for name, row in rows.items():
        print(
            f"{name:20} {row['answers']:>7.0f} answers {row['seconds']:>7.1f} s "
            f"({row['cpu_seconds']:.1f} s of one core) {row['answers'] / row['seconds']:>6.0f}/s  "
            f"peak {row['peak_mb']:.0f} MB"
        )


if __name__ == "__main__":
    main()
