"""Refusal quality as a curve: what is still answered when so much is rightly refused.

    python benchmarks/refusal.py --data DIR [--sets squad2 …] [--limit 600] [--svg FILE]

DIR holds `squad2`, `clapnq`, `nomiracl_en` and `fitz_gov` (abstention against direct answers).
The built-in extractive generator says how sure it is of its best answer; each threshold on that
gives one point: the share of unanswerable questions refused (right refusals) and the share of
answerable ones answered. Exact 95 % intervals. "Answered" counts any answer, right or wrong; see
`benchmarks/extractive.py` for how often it is the right sentence.

For `nomiracl_en` the points of the models published with it, on the same questions, from their
stored outputs ("I don't know" is a refusal), and those over all 500 English questions.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from extractive import SETS, auroc, measure, rows, share, thinned

from grounded_rag.generate.extractive import DEFAULT_THRESHOLD, ExtractiveGenerator

CURVES = ("squad2", "clapnq", "nomiracl_en", "fitz_gov")
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# All 500 English questions: hallucination rate and error rate, in percent.
PUBLISHED = {
    "GPT-4": (42.4, 4.8),
    "GPT-3.5": (44.4, 8.0),
    "Mixtral-8x7B": (26.8, 20.4),
    "Mistral-7B-v0.2": (6.4, 59.6),
    "Llama-2-70B": (98.8, 0.0),
    "Flan-T5-XXL": (76.0, 1.2),
}


@dataclass(frozen=True)
class Curve:
    """Confidences of the best answer to answerable and to unanswerable questions."""

    name: str
    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]

    def threshold(self, refused: float) -> float:
        """Return a threshold under which at least a share of the unanswerable ones lies."""
        ordered = sorted(self.unanswerable)
        wanted = math.ceil(refused * len(ordered))
        # Just above the last one that must be refused, and so above all that tie with it.
        return math.nextafter(ordered[wanted - 1], math.inf) if wanted else -math.inf

    def point(self, threshold: float) -> tuple[int, int]:
        """Return unanswerable questions refused and answerable ones answered."""
        return (
            sum(value < threshold for value in self.unanswerable),
            sum(value >= threshold for value in self.answerable),
        )


def report(curve: Curve) -> None:
    """Print the curve at fixed shares of right refusals, and at the default threshold."""
    yes, no = len(curve.answerable), len(curve.unanswerable)
    area = auroc(list(curve.answerable), list(curve.unanswerable))
    print(f"\n{curve.name}: {yes} answerable, {no} unanswerable; area under the curve {area}")
    print(f"  {'':18} {'unanswerable refused':36} answerable answered")
    for level in LEVELS:
        threshold = curve.threshold(level)
        refused, answered = curve.point(threshold)
        print(f"  at {threshold:+.3f}{'':9} {share(refused, no):36} {share(answered, yes)}")
    refused, answered = curve.point(DEFAULT_THRESHOLD)
    print(
        f"  default {DEFAULT_THRESHOLD:+.3f}{'':4} {share(refused, no):36} {share(answered, yes)}"
    )


def report_published(data: Path, curve: Curve) -> None:
    """Print the published models' points, with ours at the same share of right refusals."""
    refused: dict[str, Counter[bool]] = {}
    answered: dict[str, Counter[bool]] = {}
    for row in rows(data / "nomiracl_en" / "test.jsonl"):
        for model, output in row["baseline_outputs"].items():
            said_no = output == "idk"
            side, hit = (answered, not said_no) if row["answerable"] else (refused, said_no)
            side.setdefault(model, Counter())[hit] += 1
    print("  published models on the same questions; ours at no fewer right refusals:")
    for model in sorted(refused, key=lambda name: refused[name][True]):
        no, yes = refused[model].total(), answered[model].total()
        level = refused[model][True] / no
        ours = curve.point(curve.threshold(level))[1]
        print(
            f"  {model[:28]:28} refused {share(refused[model][True], no):30} "
            f"answered {share(answered[model][True], yes):30} "
            f"ours {share(ours, len(curve.answerable))}"
        )
    print("  published models on all 500 questions (refused / answered, %):")
    print(
        "   "
        + "; ".join(
            f"{name} {100 - wrong:.1f} / {100 - error:.1f}"
            for name, (wrong, error) in PUBLISHED.items()
        )
    )


def svg(curves: list[Curve], path: Path) -> None:
    """Draw the curves: right refusals to the right, answers upwards."""
    size, edge = 420, 48
    colours = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")
    whole = size + 2 * edge
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}" font-size="12">',
        f'<rect x="{edge}" y="{edge}" width="{size}" height="{size}" fill="none" stroke="#888"/>',
        f'<line x1="{edge}" y1="{edge}" x2="{edge + size}" y2="{edge + size}" stroke="#ccc"/>',
        f'<text x="{edge}" y="{size + edge + 30}">unanswerable refused, 0 to 1</text>',
        f'<text x="{edge}" y="{edge - 12}">answerable answered, 0 to 1</text>',
    ]
    for number, curve in enumerate(curves):
        points = []
        for threshold in sorted({*curve.answerable, *curve.unanswerable}):
            refused, answered = curve.point(threshold)
            x = edge + size * refused / len(curve.unanswerable)
            y = edge + size * (1 - answered / len(curve.answerable))
            points.append(f"{x:.1f},{y:.1f}")
        colour = colours[number % len(colours)]
        parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}"/>')
        parts.append(
            f'<text x="{edge + 8}" y="{size + edge - 10 - 16 * number}" fill="{colour}">'
            f"{curve.name}</text>"
        )
    path.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def main() -> int:
    """Run the chosen sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", choices=CURVES, default=list(CURVES))
    parser.add_argument("--no-embedding", action="store_true")
    parser.add_argument("--limit", type=int, default=None, help="questions a set, evenly spread")
    parser.add_argument("--svg", type=Path, default=None, help="file for a picture of the curves")
    options = parser.parse_args()
    embedding = None
    if not options.no_embedding:
        from grounded_rag.index.embedding import MiniLMEmbedding

        embedding = MiniLMEmbedding()
    generator = ExtractiveGenerator(embedding=embedding)
    curves = []
    for name in options.sets:
        if not (options.data / name).is_dir():
            print(f"\n{name}: skipped, not in {options.data}")
            continue
        cases = thinned(list(SETS[name](options.data)), options.limit)
        results = [measure(generator, case) for case in cases]
        curve = Curve(
            name,
            tuple(result.confidence for result in results if result.answerable),
            tuple(result.confidence for result in results if not result.answerable),
        )
        curves.append(curve)
        report(curve)
        if name == "nomiracl_en":
            report_published(options.data, curve)
    if options.svg is not None and curves:
        svg(curves, options.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
