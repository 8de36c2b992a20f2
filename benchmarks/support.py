"""How well the support checks tell supported claims from the rest, signal by signal.

    python benchmarks/support.py --data DIR [--sets wice,fm2] [--embedding] [--entailment DIR]
                                 [--signals] [--show set:veto]

DIR holds one folder per public set (wice, fm2, summedits, scifact_nli, factcheckgpt_stance,
attributionbench, breaking_nli, med_nli, prompt_injection). One threshold serves all sets; for
"LODO" it is chosen on the other five. Intervals are Clopper-Pearson at 95 %. `ms` is processor
time a claim, evidence read for the first time; it is high where the evidence is long.

Methods: word overlap; the same less a number check; each part of the support score alone; the
score, and the score without each part; with `--embedding` the score with the built-in embedding's
similarity; with `--entailment` a cross-encoder from a folder. The hard checks (`default_checks`)
are reported as vetoes: how many unsupported claims they let pass, and how many supported they stop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from support_sets import LOADERS, SIX, Pair, load, rows
from support_tables import (
    Judged,
    report_groups,
    report_injection,
    report_methods,
    report_signals,
    report_vetoes,
    share,
    show,
)

from grounded_rag.protocols import ClaimCase, TextPair
from grounded_rag.text.quantities import Agreement, compare
from grounded_rag.text.words import content_words
from grounded_rag.verification.support import default_checks
from grounded_rag.verification.support.score import CAP, ScoreParts, score_parts
from grounded_rag.verification.support.terms import read

_BATCH = 64

__all__ = ["Pair", "load", "rows", "share"]

Similarity = Callable[[ClaimCase], float]


def plain_overlap(pair: Pair) -> float:
    """Baseline: share of the claim's content words, stemmed, that the evidence has."""
    claim = {word.stem for word in content_words(pair.claim)}
    evidence = {word.stem for word in content_words(pair.evidence)}
    return len(claim & evidence) / len(claim) if claim else 1.0


def overlap_minus_numbers(pair: Pair) -> float:
    """Baseline: plain overlap less 0.25 where the claim has a number that the evidence lacks."""
    theirs = read(pair.evidence).quantities
    absent = any(
        all(compare(ours, other) is not Agreement.SAME for other in theirs)
        for ours in read(pair.claim).quantities
    )
    return plain_overlap(pair) - 0.25 * absent


def judge(pairs: Sequence[Pair], similarity: Similarity | None) -> tuple[list[Judged], float]:
    """Run the built-in checks; also return their milliseconds of processor time a claim."""
    cases, checks = [pair.case() for pair in pairs], default_checks()
    started = time.process_time()
    found = [tuple(s for check in checks if (s := check(case)) is not None) for case in cases]
    spent = 1000 * (time.process_time() - started) / len(pairs)
    judged = []
    for pair, case, signals in zip(pairs, cases, found, strict=True):
        item = Judged(pair, signals)
        scores = item.scores
        scores["word overlap"] = plain_overlap(pair)
        scores["overlap minus numbers"] = overlap_minus_numbers(pair)
        parts = score_parts(case, signals)
        scores |= by_part(parts)
        if similarity is not None:
            scores["similarity alone"] = value = similarity(case)
            scores["score with similarity"] = parts.score(value)
        judged.append(item)
    return judged, spent


def by_part(parts: ScoreParts) -> dict[str, float]:
    """Return each part of the score alone, the score, and the score without each part."""
    share = min(parts.coverage, CAP) / CAP
    return {
        "coverage alone": parts.coverage,
        "nearest sentence alone": parts.nearest,
        "wrong number alone": float(not parts.wrong_number),
        "strange name alone": float(not parts.strange_name),
        "denial alone": float(not parts.denial),
        "support score": parts.score(),
        "without coverage": replace(parts, coverage=CAP * parts.nearest).score(),
        "without nearest": replace(parts, nearest=share).score(),
        "without wrong number": replace(parts, wrong_number=False).score(),
        "without strange name": replace(parts, strange_name=False).score(),
        "without denial": replace(parts, denial=False).score(),
    }


def add_entailment(judged: Sequence[Judged], folder: Path) -> float:
    """Add the scores of a cross-encoder; return its milliseconds a claim.

    A claim that is too long for the model counts as not entailed, as in the pipeline it would not
    be shown; how many were, is printed.
    """
    from grounded_rag import OnnxEntailment
    from grounded_rag.errors import InputError

    model = OnnxEntailment(folder)
    started = time.process_time()
    too_long = 0
    for first in range(0, len(judged), _BATCH):
        batch = judged[first : first + _BATCH]
        pairs = [TextPair(premise=item.pair.evidence, hypothesis=item.pair.claim) for item in batch]
        try:
            entailed = [scores.entailment for scores in model.score(pairs)]
        except InputError:
            entailed = []
            for pair in pairs:
                try:
                    entailed.append(model.score([pair])[0].entailment)
                except InputError:
                    entailed.append(0.0)
                    too_long += 1
        for item, score in zip(batch, entailed, strict=True):
            item.scores["entailment"] = score
            item.scores["entailment, vetoes"] = 0.0 if item.vetoes else score
    if too_long:
        print(f"{too_long} of {len(judged)} claims are too long for the model")
    return 1000 * (time.process_time() - started) / len(judged)


def built_in_similarity() -> Similarity:
    """Return the similarity of the built-in embedding."""
    from grounded_rag.index.embedding import MiniLMEmbedding
    from grounded_rag.models.similarity import TokenSimilarity

    return TokenSimilarity(MiniLMEmbedding()).of


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--sets", default="", help="comma-separated names; all by default")
    parser.add_argument("--signals", action="store_true", help="also print each veto's rates")
    parser.add_argument("--embedding", action="store_true", help="add the built-in embedding")
    parser.add_argument("--entailment", type=Path, help="folder with an ONNX cross-encoder")
    parser.add_argument("--show", default="", help="set:veto whose wrong cases are printed")
    arguments = parser.parse_args()
    wanted = arguments.sets.split(",") if arguments.sets else [*LOADERS, "prompt_injection"]
    similarity = built_in_similarity() if arguments.embedding else None
    judged: dict[str, list[Judged]] = {}
    times: dict[str, float] = {}
    for name in wanted:
        if name not in LOADERS:
            continue
        if not (arguments.data / name).is_dir():
            print(f"{name}: not in {arguments.data}, skipped")
            continue
        pairs = load(name, arguments.data)
        judged[name], times[name] = judge(pairs, similarity if name in SIX else None)
        if arguments.entailment and name in SIX:
            spent = add_entailment(judged[name], arguments.entailment)
            print(f"{name}: entailment {spent:.1f} ms a claim")
    six = {name: judged[name] for name in SIX if name in judged}
    if six:
        report_methods(six)
        report_vetoes(six, times)
    if arguments.signals:
        report_signals(judged)
    for name in ("breaking_nli", "med_nli"):
        if name in judged:
            report_groups(name, judged[name])
            print(f"  {times[name]:.2f} ms a claim")
    if "prompt_injection" in wanted and (arguments.data / "prompt_injection").is_dir():
        report_injection(arguments.data / "prompt_injection")
    if arguments.show:
        show(arguments.show, judged)


if __name__ == "__main__":
    main()
