"""Fits the confidence of the built-in extractive generator where it sees word pieces.

    python benchmarks/fit_extractive.py --data DIR [--limit N]

Logistic regression with fixed signs on the features of the chosen sentence, over the `dev` part of
the demo's golden set and the public sets that have unanswerable questions, each set weighing the
same. Prints the weights, to be put by hand into `grounded_rag/generate/ranking.py`, and what they
are worth: the AUROC in each set, questions never judged by weights that were fitted on them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from dataclasses import asdict
from pathlib import Path

import extractive
import numpy as np

from grounded_rag.generate.extractive import ExtractiveGenerator
from grounded_rag.generate.ranking import PIECES, Features, Linear, Ranker
from grounded_rag.index.embedding import default_embedding
from grounded_rag.index.retrieval import HybridRetriever
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import update_index
from grounded_rag.protocols import GenerationRequest, Query
from grounded_rag.resources import default_refusal, demo_corpus_dir
from grounded_rag.validity import parse_instant

SETS = ("squad2", "clapnq", "nomiracl_en", "fitz_gov")
FREE = ("terms",)
RISING = ("cosine", "cover", "chunk_recall")
FOLDS = 5
PENALTY = 2.0
A_SET = 200.0
"""Questions that each set counts for, however many it has."""


class Recorder(Linear):
    """Takes down the features whose confidence is asked for; the first are those of the choice."""

    seen: list[Features] = []  # noqa: RUF012 - one run, one list

    def __call__(self, features: Features) -> float:
        """Record."""
        self.seen.append(features)
        return 0.0


def row(generator: ExtractiveGenerator, request: GenerationRequest) -> list[float] | None:
    """Return the features of the sentence chosen for the first part of a question."""
    Recorder.seen.clear()
    generator.assess(request)
    if not Recorder.seen:
        return None
    measured = asdict(Recorder.seen[0])
    return [measured[name] for name in PIECES.confidence.weights]


def golden(generator: ExtractiveGenerator, folder: Path) -> list[tuple[list[float], bool]]:
    """Return the rows of the golden set's dev part."""
    lines = (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    items = [item for item in map(json.loads, lines) if item["split"] == "dev"]
    found = []
    embedding = default_embedding().embedding
    with tempfile.TemporaryDirectory() as scratch:
        update_index([folder], index=Path(scratch), embedding=embedding)
        index = Index.open(Path(scratch), embedding=embedding)
        retriever = HybridRetriever(index, embedding=embedding)
        for item in items:
            as_of = parse_instant(item["as_of"])
            chunks = asyncio.run(retriever.retrieve(Query(text=item["question"], k=8, as_of=as_of)))
            request = GenerationRequest(
                question=item["question"],
                chunks=tuple(chunks),
                refusal=default_refusal(),
                as_of=as_of,
            )
            features = row(generator, request)
            if features is not None and item["answerable"] != "part":
                found.append((features, item["answerable"] == "yes"))
        index.close()
    return found


def public(
    generator: ExtractiveGenerator, data: Path, name: str, limit: int
) -> list[tuple[list[float], bool]]:
    """Return the rows of a public set, or of a part of it drawn at random."""
    cases = list(extractive.SETS[name](data))
    random.Random(0).shuffle(cases)
    found = []
    for case in cases[:limit]:
        features = row(
            generator,
            GenerationRequest(
                question=case.question, chunks=case.chunks, refusal=default_refusal()
            ),
        )
        if features is not None:
            found.append((features, case.answerable))
    return found


def fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray, names: list[str]) -> np.ndarray:
    """Return weights and intercept by projected gradient descent; `x` is standardised."""
    rising = np.array([name in RISING for name in names])
    falling = np.array([name not in RISING and name not in FREE for name in names])
    w, step = np.zeros(x.shape[1] + 1), 2.0 / weight.sum()
    a = np.c_[x, np.ones(len(x))]
    for _ in range(4_000):
        p = 1 / (1 + np.exp(-a @ w))
        gradient = a.T @ (weight * (p - y))
        gradient[:-1] += 2 * PENALTY * w[:-1]
        w -= step * gradient
        w[:-1][rising] = np.maximum(w[:-1][rising], 0)
        w[:-1][falling] = np.minimum(w[:-1][falling], 0)
    return w


def main() -> None:
    """Measure, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=600, help="questions of a public set")
    options = parser.parse_args()
    generator = ExtractiveGenerator(
        embedding=default_embedding().embedding,
        ranker=Ranker(choice=PIECES.choice, confidence=Recorder({})),
    )
    sets = {"golden, dev": golden(generator, demo_corpus_dir())}
    for name in SETS:
        if (options.data / name).is_dir():
            sets[name] = public(generator, options.data, name, options.limit)
        else:
            print(f"{name}: skipped, not in {options.data}")
    names = list(PIECES.confidence.weights)
    x = np.array([features for rows in sets.values() for features, _ in rows])
    y = np.array([float(yes) for rows in sets.values() for _, yes in rows])
    which = np.concatenate([np.full(len(rows), at) for at, rows in enumerate(sets.values())])
    weight = A_SET / np.bincount(which)[which]
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = (x - middle) / spread
    fold = np.random.default_rng(0).integers(FOLDS, size=len(y))
    held_out = np.zeros(len(y))
    for at in range(FOLDS):
        w = fit(z[fold != at], y[fold != at], weight[fold != at], names)
        held_out[fold == at] = z[fold == at] @ w[:-1] + w[-1]
    for at, name in enumerate(sets):
        here = which == at
        yes, no = held_out[here & (y == 1)], held_out[here & (y == 0)]
        print(f"{name:14} AUROC {extractive.auroc(yes.tolist(), no.tolist())}")
    w = fit(z, y, weight, names)
    raw = w[:-1] / spread
    for name, value in zip(names, raw, strict=True):
        print(f'"{name}": {value:.2f},')
    print(f"intercept={w[-1] - raw @ middle:.2f}")


if __name__ == "__main__":
    main()
