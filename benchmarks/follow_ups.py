"""How well the rules for follow-ups complete a question, and how often they touch a whole one.

    python benchmarks/follow_ups.py [--golden FILE] [--before 5] [--show]

`follow_ups.jsonl` holds pairs of questions, written before the rules: a phrase that replaces
another, a pronoun, a new topic, and other languages. What comes of the second question is right
(one of those listed), left as it was asked, or wrong. The rules were changed on the `dev` split.

Every golden question stands alone. Each is asked after BEFORE other ones, as the next question of a
conversation; whatever the rules change is a false rewrite. Intervals are exact (Clopper-Pearson,
95 %), over questions.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from grounded_rag.conversation import stand_alone
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson

_PAIRS = Path(__file__).with_suffix(".jsonl")
_LOOSE = str.maketrans("", "", "?!¿.,'’")


def main() -> None:
    """Print counts for each split."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--golden", type=Path, default=demo_corpus_dir() / "golden.jsonl")
    parser.add_argument("--before", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="show what is not right in dev")
    options = parser.parse_args()
    pairs = _records(_PAIRS)
    records = _records(options.golden)
    draw = random.Random(1)
    for split in ("dev", "test"):
        _complete([pair for pair in pairs if pair["split"] == split], options.show)
        _touched([r["question"] for r in records if r["split"] == split], draw, options)


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _complete(pairs: list[dict[str, Any]], show: bool) -> None:
    """Print how pairs of one split come out, by kind."""
    split = pairs[0]["split"]
    found: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        written = stand_alone(pair["follow_up"], [pair["earlier"]])
        result = "right" if _folded(written) in map(_folded, pair["right"]) else "wrong"
        if result == "wrong" and written == pair["follow_up"]:
            result = "left"
        found[pair["kind"], result] += 1
        found["all", result] += 1
        if show and split == "dev" and result != "right":
            print(f"  {result}: {pair['earlier']} / {pair['follow_up']}\n    -> {written}")
    for kind in dict.fromkeys(kind for kind, _ in found):
        counts = ", ".join(f"{found[kind, each]} {each}" for each in ("right", "left", "wrong"))
        print(f"{split:<5} {kind:<8} {counts}")
    bounds = clopper_pearson(found["all", "wrong"], len(pairs))
    print(f"{split:<5} wrong: {bounds.low:.1%} to {bounds.high:.1%} of {len(pairs)}")


def _folded(text: str) -> str:
    return " ".join(text.translate(_LOOSE).lower().split())


def _touched(questions: list[str], draw: random.Random, options: argparse.Namespace) -> None:
    """Print how many whole questions of one split are rewritten."""
    touched = 0
    for question in questions:
        others = draw.sample([q for q in questions if q != question], options.before)
        rewritten = {stand_alone(question, [other]) for other in others} - {question}
        touched += bool(rewritten)
        if options.show and rewritten:
            print(f"  {question}\n    -> {min(rewritten)}")
    bounds = clopper_pearson(touched, len(questions))
    print(
        f"      {touched} of {len(questions)} golden questions rewritten after any of "
        f"{options.before} others ({bounds.low:.1%} to {bounds.high:.1%})"
    )


if __name__ == "__main__":
    main()
