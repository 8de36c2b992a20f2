"""Are the probabilities of truth that `grounded-rag calibrate` gives any good?

    python benchmarks/calibration.py --data DIR [--sets wice …] [--deals 5]

DIR holds `mtrag_human_eval` (a response is true when its median human rating is 4 of 4), `wice`
(first oracle chunks) and `factcheckgpt_stance` (full support against the rest). Their one label
says whether the evidence supports the claim; none carries a second one for truth beyond the
evidence, so that the gain from telling the two regimes apart shows on the synthetic population of
`tests/factuality` only.

Every figure is from claims that were not fitted on: five parts, claims of one page, passages
of one claim or responses to one task kept together, dealt several times; mean over the deals.
Ranking figures are means within the parts, for raw and calibrated alike. Intervals: percentile
bootstrap over groups, 1,000 resamples of the first deal. "ECE by chance" is what perfectly
calibrated probabilities of these values would show on as many claims, for bins are never full.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from support import rows

from grounded_rag.evaluation.factuality import (
    LabelledClaim,
    LabelledScores,
    Measured,
    Variant,
    builtin_scorers,
    cross_fit,
    ece,
    label_scores,
    measure,
    reliability,
)

PAPER = (
    "The paper (arXiv 2505.21072; other data, other scorers, not comparable row by row): "
    "ECE .44 raw, .02-.03 calibrated; ROC-AUC .64 raw, .69 condition-calibrated."
)


def wice(data: Path) -> Iterator[LabelledClaim]:
    """Yield the claims of WiCE with the first chunk of their article."""
    for row in rows(data / "wice" / "oracle_chunks.dev.jsonl"):
        yield LabelledClaim(
            claim=row["claim"],
            evidence="\n".join(row["evidence_sentences"]),
            title=row["page"],
            true=row["label"] == "supported",
            group=row["page"],
        )


def factcheckgpt_stance(data: Path) -> Iterator[LabelledClaim]:
    """Yield claims of a model with web passages found for them."""
    for row in rows(data / "factcheckgpt_stance" / "pairs.jsonl"):
        yield LabelledClaim(
            claim=row["claim"],
            evidence=row["evidence"],
            true=row["label"] == "supported",
            group=row["claim"],
        )


def mtrag_human_eval(data: Path) -> Iterator[LabelledClaim]:
    """Yield whole responses of RAG systems with the passages that they were given."""
    folder = data / "mtrag_human_eval"
    documents = {row["document_id"]: row["text"] for row in rows(folder / "documents.jsonl")}
    tasks = {row["task_id"]: row for row in rows(folder / "tasks.jsonl")}
    for row in rows(folder / "responses.jsonl"):
        task = tasks[row["task_id"]]
        evidence = tuple(documents[name] for name in task["context_ids"] if name in documents)
        ratings = row["human"].get("faithfulness")
        if not ratings or not any(text.strip() for text in evidence):
            continue
        yield LabelledClaim(
            claim=row["response"],
            evidence=evidence,
            question=task["turns"][-1]["text"],
            true=statistics.median(ratings) >= 4,
            group=row["task_id"],
        )


SETS = {
    "mtrag_human_eval": mtrag_human_eval,
    "wice": wice,
    "factcheckgpt_stance": factcheckgpt_stance,
}


def figures(
    scored: list[LabelledScores], variant: Variant, deals: int
) -> tuple[dict[str, float], dict[str, Measured]]:
    """Return the mean of each figure over the deals, and the first deal with its intervals."""
    labels = [row.true for row in scored]
    groups = [row.group for row in scored]
    values: dict[str, list[float]] = {}
    first: dict[str, Measured] = {}
    for seed in range(deals):
        crossed = cross_fit(scored, variant=variant, seed=seed)
        found = measure(
            crossed.probabilities,
            labels,
            groups=groups,
            folds=crossed.folds,
            resamples=0 if seed else 1000,
        )
        for each in found:
            values.setdefault(each.name, []).append(each.value or 0.0)
            if not seed:
                first[each.name] = each
    return {name: statistics.fmean(part) for name, part in values.items()}, first


def chance_ece(probabilities: tuple[float, ...], draws: int = 200) -> float:
    """Return the mean ECE of labels that are drawn from the probabilities themselves."""
    draw = random.Random(0)
    values = []
    for _ in range(draws):
        labels = [draw.random() < probability for probability in probabilities]
        values.append(ece(probabilities, labels) or 0.0)
    return statistics.fmean(values)


def report(name: str, scored: list[LabelledScores], deals: int) -> bool:
    """Print the figures of one set; return whether all that is asked of it holds."""
    labels = [row.true for row in scored]
    base = sum(labels) / len(labels)
    print(
        f"\n{name}: {len(scored)} claims in {len({row.group for row in scored})} groups, "
        f"{sum(labels)} true ({base:.1%}); Brier of the base rate {base * (1 - base):.4f}"
    )
    means: dict[Variant, dict[str, float]] = {}
    for variant in Variant:
        means[variant], first = figures(scored, variant, deals)
        cells = []
        for figure, value in means[variant].items():
            ends = first[figure].interval
            interval = f"[{ends.low:.3f}, {ends.high:.3f}]" if ends else ""
            cells.append(f"{figure} {value:.4f} {interval}")
        print(f"  {variant:22} " + "  ".join(cells))
    raw, fitted = means[Variant.NONE], means[Variant.CONDITION_CALIBRATED]
    demands = {
        "ECE at most .05": fitted["ece"] <= 0.05,
        "ROC-AUC no lower than raw": fitted["roc_auc"] >= raw["roc_auc"] - 1e-9,
        "Brier below the base rate's": fitted["brier"] < base * (1 - base),
    }
    print("  " + ", ".join(f"{what}: {'yes' if met else 'NO'}" for what, met in demands.items()))
    crossed = cross_fit(scored, variant=Variant.CONDITION_CALIBRATED)
    print(f"  ECE by chance {chance_ece(crossed.probabilities):.4f}")
    print("  reliability (first deal): " + "  ".join(
        f"{each.mean_score:.2f}→{each.share_true:.2f} (n={each.count})"
        for each in reliability(crossed.probabilities, labels)
    ))  # fmt: skip
    return all(demands.values())


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--deals", type=int, default=5, help="deals into five parts")
    options = parser.parse_args()
    scorers = builtin_scorers()
    print(f"scorers: {', '.join(scorers.names)}")
    print(PAPER)
    well = True
    for name in options.sets:
        if not (options.data / name).is_dir():
            print(f"\n{name}: skipped, not in {options.data}")
            continue
        claims = list(SETS[name](options.data))
        started = time.process_time()
        scored = list(label_scores(claims, scorers=scorers))
        seconds = time.process_time() - started
        well &= report(name, scored, options.deals)
        print(f"  {1000 * seconds / len(claims):.0f} processor ms a claim")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
