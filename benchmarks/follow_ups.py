"""How often the rules for follow-ups touch a question that stands alone.

    python benchmarks/follow_ups.py [--golden FILE] [--before 5] [--show]

Every golden question stands alone. Each is asked after BEFORE other ones, as the next question of a
conversation; whatever the rules change is a false rewrite. The rules were changed on the `dev`
split; `test` is told apart. How many real follow-ups they miss is not measured here. Intervals are
exact (Clopper-Pearson, 95 %), over questions.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

from grounded_rag.conversation import stand_alone
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson


def main() -> None:
    """Print counts for each split."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--golden", type=Path, default=demo_corpus_dir() / "golden.jsonl")
    parser.add_argument("--before", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="show the rewritten questions of dev")
    options = parser.parse_args()
    lines = options.golden.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    draw = random.Random(1)
    for split in ("dev", "test"):
        questions = [record["question"] for record in records if record["split"] == split]
        touched = 0
        for question in questions:
            others = draw.sample([q for q in questions if q != question], options.before)
            rewritten = {stand_alone(question, [other]) for other in others} - {question}
            touched += bool(rewritten)
            if options.show and split == "dev" and rewritten:
                print(f"  {question}\n    -> {min(rewritten)}")
        bounds = clopper_pearson(touched, len(questions))
        print(
            f"{split:<5} {touched} of {len(questions)} questions rewritten after any of "
            f"{options.before} others ({bounds.low:.1%} to {bounds.high:.1%})"
        )


if __name__ == "__main__":
    main()
