"""How well the built-in extractive generator picks the answering sentence, and when it declines.

    python benchmarks/extractive.py --data DIR [--sets squad2 …] [--no-embedding]

`DIR` holds public question sets, one folder each: `squad2` (answerable and near-miss questions
over one passage), `squad2_retrieved` (the same over the six passages that word overlap finds),
`clapnq`, `nomiracl_en` (ten passages), `fitz_gov` (abstention against direct answers) and
`policyqa` (all answerable). A set that is not there is skipped, and said to be.

Figures, with 95 % intervals: right sentence (the first claim's quote holds a gold answer), AUROC
of the confidence, answerable questions still answered when 80 % of the unanswerable ones are
refused, and answered / refused at the default threshold.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounded_rag.generate.extractive import DEFAULT_THRESHOLD, ExtractiveGenerator
from grounded_rag.protocols import GenerationRequest
from grounded_rag.resources import default_refusal
from grounded_rag.statistics import clopper_pearson
from grounded_rag.text.words import content_words
from grounded_rag.types import Chunk, RetrievedChunk, Span


@dataclass(frozen=True)
class Case:
    """One question with its passages; `gold` are ranges of the passage numbered by the first."""

    question: str
    chunks: tuple[RetrievedChunk, ...]
    answerable: bool
    gold: tuple[tuple[str, int, int], ...] = ()


def chunk(text: str, rank: int, name: str, title: str = "") -> RetrievedChunk:
    """Return a passage as a retriever would hand it over."""
    span = Span(start=0, end=len(text))
    inner = Chunk(id=name, doc_id=name, span=span, text=text, content_hash="")
    return RetrievedChunk(chunk=inner, rank=rank, title=title)


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON-lines file."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def squad2(data: Path) -> Iterator[Case]:
    """Yield the questions of SQuAD 2.0, each with its own passage."""
    passages = {row["passage_id"]: row for row in rows(data / "squad2" / "passages.jsonl")}
    for row in rows(data / "squad2" / "questions.jsonl"):
        passage = passages[row["passage_id"]]
        shown = chunk(passage["text"], 1, passage["passage_id"], passage["title"])
        yield Case(row["question"], (shown,), row["answerable"], _spans(row))


def squad2_retrieved(data: Path) -> Iterator[Case]:
    """Yield the same questions with the six passages that word overlap finds."""
    passages = list(rows(data / "squad2" / "passages.jsonl"))
    search = word_search([f"{row['title']} {row['text']}" for row in passages])
    for row in rows(data / "squad2" / "questions.jsonl"):
        found = search(row["question"], 6)
        shown = tuple(
            chunk(passages[at]["text"], rank, passages[at]["passage_id"], passages[at]["title"])
            for rank, at in enumerate(found, start=1)
        )
        yield Case(row["question"], shown, row["answerable"], _spans(row))


def policyqa(data: Path) -> Iterator[Case]:
    """Yield the questions of PolicyQA; all are answerable."""
    passages = {row["passage_id"]: row for row in rows(data / "policyqa" / "passages.jsonl")}
    for row in rows(data / "policyqa" / "questions.jsonl"):
        passage = passages[row["passage_id"]]
        shown = chunk(passage["text"], 1, passage["passage_id"])
        yield Case(row["question"], (shown,), True, _spans(row))


def clapnq(data: Path) -> Iterator[Case]:
    """Yield the questions of CLAP NQ."""
    for row in rows(data / "clapnq" / "dev.jsonl"):
        gold = tuple(("p", *row["sentence_spans"][at]) for at in row["selected_idx"] or ())
        shown = chunk(row["passage"], 1, "p", row["title"])
        yield Case(row["question"], (shown,), row["answerable"], gold)


def nomiracl_en(data: Path) -> Iterator[Case]:
    """Yield the questions of NoMIRACL, each with ten passages."""
    for row in rows(data / "nomiracl_en" / "test.jsonl"):
        shown = []
        for rank, passage in enumerate(row["passages"], start=1):
            title, colon, text = passage["text"].partition(": ")
            shown.append(chunk(text if colon else title, rank, f"p{rank}", title if colon else ""))
        yield Case(row["question"], tuple(shown), row["answerable"])


def fitz_gov(data: Path) -> Iterator[Case]:
    """Yield abstention cases and direct answers of fitz-gov."""
    for name in ("abstention", "trustworthy_direct"):
        for row in rows(data / "fitz_gov" / f"{name}.jsonl"):
            shown = tuple(chunk(t, n, f"p{n}") for n, t in enumerate(row["contexts"], start=1))
            yield Case(row["query"], shown, name != "abstention")


def _spans(row: dict[str, Any]) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (row["passage_id"], answer["start"], answer["start"] + len(answer["text"]))
        for answer in row["answers"]
    )


def word_search(texts: list[str]) -> Callable[[str, int], list[int]]:
    """Return BM25 over `texts`: good enough to make the task that of a retriever's result."""
    counts = [Counter(word.stem for word in content_words(text)) for text in texts]
    lengths = [sum(count.values()) for count in counts]
    mean = statistics.fmean(lengths)
    frequency = Counter(stem for count in counts for stem in count)
    postings: dict[str, list[int]] = {}
    for number, count in enumerate(counts):
        for stem in count:
            postings.setdefault(stem, []).append(number)

    def search(question: str, k: int) -> list[int]:
        scores: dict[int, float] = {}
        for stem in {word.stem for word in content_words(question)}:
            idf = math.log(1 + (len(texts) - frequency[stem] + 0.5) / (frequency[stem] + 0.5))
            for at in postings.get(stem, ()):
                tf = counts[at][stem]
                norm = tf + 1.2 * (0.25 + 0.75 * lengths[at] / mean)
                scores[at] = scores.get(at, 0.0) + idf * tf * 2.2 / norm
        return sorted(scores, key=lambda at: (-scores[at], at))[:k]

    return search


REFUSED = (0.5, 0.7, 0.8, 0.9)
"""Shares of the unanswerable questions refused, at which the answered ones are counted."""

PUBLISHED = {
    "nomiracl_en": (
        "answered though unanswerable / refused though answerable, published models on all 500 "
        "English rows: GPT-4 42.4 / 4.8 %, GPT-3.5 44.4 / 8.0, Mixtral-8x7B 26.8 / 20.4, "
        "Mistral-7B-v0.2 6.4 / 59.6, Llama-2-70B 98.8 / 0.0, Flan-T5-XXL 76.0 / 1.2"
    )
}

SETS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "squad2": squad2,
    "squad2_retrieved": squad2_retrieved,
    "clapnq": clapnq,
    "nomiracl_en": nomiracl_en,
    "fitz_gov": fitz_gov,
    "policyqa": policyqa,
}


@dataclass(frozen=True)
class Result:
    """What came of one question; `right` is None where there is no gold sentence."""

    answerable: bool
    confidence: float
    right: bool | None
    seconds: float


def measure(generator: ExtractiveGenerator, case: Case) -> Result:
    """Ask the generator for the best it can say, whatever the confidence."""
    request = GenerationRequest(
        question=case.question, chunks=case.chunks, refusal=default_refusal()
    )
    before = time.process_time()
    parts = generator.assess(request)
    seconds = time.process_time() - before
    best = max(parts, key=lambda part: part.confidence)
    right = is_right(case, best.claims[0].citations) if case.gold and best.claims else None
    return Result(case.answerable, best.confidence, right, seconds)


def is_right(case: Case, citations: Iterable[Any]) -> bool:
    """Whether a quote holds a gold answer, or lies inside a gold sentence."""
    texts = {retrieved.chunk.id: retrieved.chunk.text for retrieved in case.chunks}
    for citation in citations:
        start = texts[citation.chunk_id].find(citation.quote)
        end = start + len(citation.quote)
        for name, low, high in case.gold:
            if name != citation.chunk_id:
                continue
            if start <= low and high <= end + 1:
                return True
            if low <= start + 1 and end <= high + 1:
                return True
    return False


def share(hits: int, count: int) -> str:
    """Return a share with its exact interval."""
    if not count:
        return "–"
    ends = clopper_pearson(hits, count)
    return f"{hits}/{count} = {hits / count:.3f} [{ends.low:.3f}, {ends.high:.3f}]"


def auroc(positive: list[float], negative: list[float]) -> str:
    """Return the area with Hanley and McNeil's interval."""
    ordered = sorted([(value, 1) for value in positive] + [(value, 0) for value in negative])
    ranks: dict[float, float] = {}
    at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and ordered[end][0] == ordered[at][0]:
            end += 1
        ranks[ordered[at][0]] = (at + 1 + end) / 2
        at = end
    m, n = len(positive), len(negative)
    area = (sum(ranks[value] for value in positive) - m * (m + 1) / 2) / (m * n)
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)
    half = 1.96 * math.sqrt(variance / (m * n))
    return f"{area:.3f} [{area - half:.3f}, {area + half:.3f}]"


def report(name: str, results: list[Result], threshold: float) -> None:
    """Print the figures of one set."""
    yes = [result for result in results if result.answerable]
    no = [result for result in results if not result.answerable]
    print(f"\n{name}: {len(yes)} answerable, {len(no)} unanswerable")
    judged = [result for result in yes if result.right is not None]
    if judged:
        rights = sum(result.right is True for result in judged)
        print(f"  right sentence            {share(rights, len(judged))}")
    if yes and no:
        refusals = sorted(result.confidence for result in no)
        print(
            "  AUROC                     "
            + auroc([r.confidence for r in yes], [r.confidence for r in no])
        )
        for level in REFUSED:
            bar = refusals[math.ceil(level * len(refusals)) - 1]
            answered = sum(result.confidence > bar for result in yes)
            print(f"  answered at {level:.0%} refusal   {share(answered, len(yes))}")
        refused = sum(result.confidence < threshold for result in no)
        print(f"  refused at {threshold:+.2f}          {share(refused, len(no))}")
    answered = sum(result.confidence >= threshold for result in yes)
    print(f"  answered at {threshold:+.2f}         {share(answered, len(yes))}")
    if judged:
        both = sum(result.right is True and result.confidence >= threshold for result in judged)
        print(f"  answered and right        {share(both, len(judged))}")
    if name in PUBLISHED and yes and no:
        wrong = sum(result.confidence >= threshold for result in no)
        print(
            f"  answered though unanswerable / refused though answerable: {share(wrong, len(no))}"
        )
        print(f"    / {share(len(yes) - answered, len(yes))}; {PUBLISHED[name]}")
    times = sorted(result.seconds * 1000 for result in results)
    print(
        f"  processor ms a question   median {times[len(times) // 2]:.0f}, "
        f"95 % {times[int(len(times) * 0.95)]:.0f} (vectors of sentences seen before are kept)"
    )


def thinned(cases: list[Case], limit: int | None) -> list[Case]:
    """Return about `limit` of the cases, evenly spread."""
    return cases if limit is None else cases[:: max(1, len(cases) // limit)]


def main() -> int:
    """Run the chosen sets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--no-embedding", action="store_true")
    parser.add_argument("--threshold", type=float, default=DEFAULT_THRESHOLD)
    parser.add_argument("--limit", type=int, default=None, help="questions a set, for a quick look")
    options = parser.parse_args()
    embedding = None
    if not options.no_embedding:
        from grounded_rag.index.embedding import MiniLMEmbedding

        embedding = MiniLMEmbedding()
    generator = ExtractiveGenerator(embedding=embedding)
    for name in options.sets:
        if not (options.data / name.removesuffix("_retrieved")).is_dir():
            print(f"\n{name}: skipped, not in {options.data}")
            continue
        cases = thinned(list(SETS[name](options.data)), options.limit)
        report(name, [measure(generator, case) for case in cases], options.threshold)
    return 0


if __name__ == "__main__":
    sys.exit(main())
