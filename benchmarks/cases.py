"""Score the verifier on a file of cases, beside plain `quote in chunk`.

python benchmarks/cases.py --cases tests/data/verifier_cases.jsonl [--json] [--min N]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from case_scoring import Score, load_cases, score_case


def main() -> int:
    """Score the cases and print the table; 1 where fewer than `--min` are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).parent.parent / "tests" / "data" / "verifier_cases.jsonl"
    parser.add_argument("--cases", type=Path, default=default, help="JSON lines of cases")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--min", type=int, default=0, help="least number of right cases")
    options = parser.parse_args()
    scores = [score_case(case) for case in load_cases(options.cases)]
    right = sum(score.ok for score in scores)
    if options.json:
        print(json.dumps([asdict(score) for score in scores], ensure_ascii=False, indent=2))
    else:
        _print(scores)
    return 0 if right >= options.min else 1


def _print(scores: list[Score]) -> None:
    width = max((len(score.kind) for score in scores), default=4)
    print(f"{'kind':{width}}  verify  plain in")
    for score in scores:
        print(f"{score.kind:{width}}  {_mark(score.ok):6}  {_mark(score.plain)}")
        for miss in score.misses:
            print(f"{'':{width}}    {miss}")
        for remark in score.remarks:
            print(f"{'':{width}}    (reason {remark})")
    total = len(scores)
    right, plain = sum(s.ok for s in scores), sum(s.plain for s in scores)
    print(f"{'right':{width}}  {right:2} of {total}  {plain:2} of {total}")


def _mark(ok: bool) -> str:
    return "ok" if ok else "miss"


if __name__ == "__main__":
    sys.exit(main())
