"""Fits the linear models of the built-in extractive generator where it sees word pieces.

    python benchmarks/fit_extractive.py --data DIR [--limit N]

The choice: a choice model (conditional logit) among the statements of the questions whose gold
answer is known. The confidence: logistic regression on the features of the chosen statement, over
the sets with unanswerable questions. Both use the `dev` part of the demo's golden set and the
public sets of `DIR`, each set weighing the same, and answerable and unanswerable questions too.

Prints for each set how often the chosen statement is right and the AUROC of the confidence, both by
weights that were fitted on the other sets, and by those in `grounded_rag/generate/ranking.py`; then
the weights fitted on all sets, to be put there by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import extractive
import numpy as np
from golden import Corpus

from grounded_rag.generate.candidates import claim_of, find_candidates, headed
from grounded_rag.generate.late_interaction import LateInteraction
from grounded_rag.generate.overlap import Overlap, as_meant
from grounded_rag.generate.question import analyse
from grounded_rag.generate.ranking import PIECES, Linear
from grounded_rag.index.embedding import default_embedding
from grounded_rag.index.retrieval import HybridRetriever
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import update_index
from grounded_rag.protocols import Query
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.validity import parse_instant
from grounded_rag.verification.passages import Passage

SETS = ("squad2", "squad2_retrieved", "clapnq", "nomiracl_en", "fitz_gov", "policyqa")
CHOICE = ("late", "cover", "chunk_recall", "cosine", "degree_missing")
CONFIDENCE = tuple(PIECES.confidence.weights)
SHORTLIST = 24
CHOICE_PENALTY, CONFIDENCE_PENALTY = 2e-3, 3e-2
STEPS, RATE = 400, 0.05


@dataclass(frozen=True)
class Row:
    """One question: features of its statements, which of them are right, whether it has one."""

    features: np.ndarray
    right: np.ndarray
    answerable: bool


NAMES = tuple(dict.fromkeys((*CHOICE, *CONFIDENCE, *PIECES.choice.weights)))


def row(case: extractive.Case, late: LateInteraction) -> Row | None:
    """Return the features of a question's statements; None where there is none."""
    passages = [Passage(chunk) for chunk in case.chunks]
    candidates = find_candidates(passages)
    question = analyse(as_meant(case.question, candidates))
    overlap = Overlap(question, candidates)
    by_words = sorted(range(len(candidates)), key=lambda at: (-overlap.recall(at), at))
    places = sorted({*by_words[: SHORTLIST // 2], *range(min(SHORTLIST // 2, len(candidates)))})
    if not places:
        return None
    likeness = late.compare(question, [headed(candidates[at], question) for at in places])
    measured = [overlap.features(at, like) for at, like in zip(places, likeness, strict=True)]
    right = [
        extractive.is_right(case, claim_of(at, candidates, passages, question).citations)
        for at in places
    ]
    return Row(
        np.array([[getattr(each, name) for name in NAMES] for each in measured]),
        np.array(right),
        case.answerable,
    )


def golden(folder: Path) -> list[extractive.Case]:
    """Return the questions of the golden set's dev part with what retrieval finds."""
    lines = (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    items = [item for item in map(json.loads, lines) if item["split"] == "dev"]
    corpus = Corpus.read(folder)
    embedding = default_embedding().embedding
    cases = []
    with tempfile.TemporaryDirectory() as scratch:
        update_index([folder], index=Path(scratch), embedding=embedding)
        index = Index.open(Path(scratch), embedding=embedding)
        retriever = HybridRetriever(index, embedding=embedding)
        for item in items:
            if item["answerable"] == "part":
                continue
            query = Query(text=item["question"], k=8, as_of=parse_instant(item["as_of"]))
            chunks = tuple(asyncio.run(retriever.retrieve(query)))
            gold = [
                (found.chunk.id, start - found.chunk.span.start, end - found.chunk.span.start)
                for piece in item["gold"]
                for option in piece["any_of"]
                for start, end in corpus.spans(option["file"], option["quote"])
                for found in chunks
                if found.chunk.doc_id == option["file"]
                and found.chunk.span.start <= start < found.chunk.span.end
            ]
            answerable = item["answerable"] == "yes"
            cases.append(extractive.Case(item["question"], chunks, answerable, tuple(gold)))
        index.close()
    return cases


def vector(linear: Linear) -> np.ndarray:
    """Return the weights of a model in the order of `NAMES`."""
    return np.array([linear.weights.get(name, 0.0) for name in NAMES])


def descend(gradient: Callable[[np.ndarray], np.ndarray], size: int) -> np.ndarray:
    """Minimise by Adam from zero; `gradient` maps weights to their gradient."""
    w, m, v = np.zeros(size), np.zeros(size), np.zeros(size)
    for step in range(1, STEPS + 1):
        g = gradient(w)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w -= RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return w


def fit_choice(sets: Sequence[list[Row]]) -> np.ndarray:
    """Return weights by which right statements come before the others of their question."""
    at = [NAMES.index(name) for name in CHOICE]
    known = [
        (each.features[:, at], each.right, 1 / len(rows))
        for rows in sets
        for each in rows
        if each.right.any() and not each.right.all()
    ]
    spread = np.concatenate([features for features, _, _ in known]).std(axis=0) + 1e-9
    total = sum(weight for _, _, weight in known)

    def gradient(w: np.ndarray) -> np.ndarray:
        g = 2 * CHOICE_PENALTY * w
        for features, right, weight in known:
            scores = features / spread @ w
            p = np.exp(scores - scores.max())
            p /= p.sum()
            q = p * right / (p * right).sum()
            g -= weight / total * ((q - p) @ (features / spread))
        return g

    found = np.zeros(len(NAMES))
    found[at] = descend(gradient, len(at)) / spread
    return found


def chosen(rows: list[Row], choice: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of each question's chosen statement, and which have an answer."""
    best = [each.features[int(np.argmax(each.features @ choice))] for each in rows]
    return np.array(best), np.array([each.answerable for each in rows], float)


def fit_confidence(sets: Sequence[list[Row]], choice: np.ndarray) -> np.ndarray:
    """Return weights and, last, the intercept of the confidence."""
    at = [NAMES.index(name) for name in CONFIDENCE]
    pairs = [chosen(rows, choice) for rows in sets]
    x = np.concatenate([features for features, _ in pairs])[:, at]
    y = np.concatenate([answerable for _, answerable in pairs])
    weight = np.concatenate(
        [np.where(yes > 0, 0.5 / yes.sum(), 0.5 / (1 - yes).sum()) for _, yes in pairs]
    )
    weight /= weight.sum()
    middle, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    z = np.c_[(x - middle) / spread, np.ones(len(x))]

    def gradient(w: np.ndarray) -> np.ndarray:
        g = z.T @ (weight * (1 / (1 + np.exp(-z @ w)) - y))
        g[:-1] += 2 * CONFIDENCE_PENALTY * w[:-1]
        return g

    w = descend(gradient, z.shape[1])
    found = np.zeros(len(NAMES) + 1)
    found[at] = w[:-1] / spread
    found[-1] = w[-1] - middle / spread @ w[:-1]
    return found


def tell(name: str, rows: list[Row], choice: np.ndarray, confidence: np.ndarray) -> None:
    """Print what weights are worth on one set."""
    judged = [each for each in rows if each.right.any()]
    hits = sum(bool(each.right[int(np.argmax(each.features @ choice))]) for each in judged)
    features, answerable = chosen(rows, choice)
    scores = features @ confidence[:-1]
    yes, no = scores[answerable > 0].tolist(), scores[answerable == 0].tolist()
    area = extractive.auroc(yes, no) if yes and no else "–"
    print(f"{name:17} right statement {extractive.share(hits, len(judged)):32} AUROC {area}")


def show(names: Sequence[str], weights: np.ndarray, scale: float = 1.0) -> None:
    """Print weights as they stand in the code."""
    for name in names:
        print(f'    "{name}": {weights[NAMES.index(name)] / scale:.2f},')


def main() -> None:
    """Measure, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=500, help="questions of a public set")
    options = parser.parse_args()
    late = LateInteraction(default_embedding().embedding)
    cases = {"golden, dev": golden(demo_corpus_dir())}
    for name in SETS:
        if not (options.data / name.removesuffix("_retrieved")).is_dir():
            print(f"{name}: skipped, not in {options.data}")
            continue
        found = list(extractive.SETS[name](options.data))
        random.Random(0).shuffle(found)
        cases[name] = found[: options.limit]
    sets = {
        name: [each for case in found if (each := row(case, late)) is not None]
        for name, found in cases.items()
    }
    judged = {name for name, rows in sets.items() if any(each.right.any() for each in rows)}
    mixed = {name for name, rows in sets.items() if len({each.answerable for each in rows}) > 1}
    print("\nfitted on the other sets")
    for name, rows in sets.items():
        choice = fit_choice([sets[other] for other in judged - {name}])
        tell(name, rows, choice, fit_confidence([sets[o] for o in mixed - {name}], choice))
    print("\nas in grounded_rag/generate/ranking.py")
    today = vector(PIECES.choice)
    for name, rows in sets.items():
        tell(name, rows, today, np.append(vector(PIECES.confidence), PIECES.confidence.intercept))
    choice = fit_choice([sets[name] for name in judged])
    confidence = fit_confidence([sets[name] for name in mixed], choice)
    print("\nfitted on all: choice, in units of `late`")
    show(CHOICE, choice, choice[NAMES.index("late")])
    print("confidence")
    show(CONFIDENCE, confidence)
    print(f"    intercept={confidence[-1]:.2f}")


if __name__ == "__main__":
    main()
