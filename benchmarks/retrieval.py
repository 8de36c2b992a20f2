"""Retrieval of the golden questions: BM25, dense and fused, in one run over one index.

    python benchmarks/retrieval.py [--corpus DIR] [--split dev|test|all] [--data DIR]

A hit is a chunk that overlaps a gold quote; questions that need several pieces count as hit when
every piece is among the first k. With `--data DIR` (laid out as the public sets are), the
answerable questions of SQuAD 2.0 and CLAP NQ over all passages of their sets are measured the same
way. (NoMIRACL does not say which of its passages is relevant.)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from golden import Corpus
from rich.console import Console
from rich.table import Table

from grounded_rag.index.embedding import default_embedding
from grounded_rag.index.retrieval import HybridRetriever
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import update_index
from grounded_rag.protocols import Query
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson
from grounded_rag.validity import parse_instant

DEPTHS = (1, 5, 10)
COLUMNS = (*(f"hit@{k}" for k in DEPTHS), "MRR", "ms, median")
ROWS = ("lexical", "dense", "fused")
Gold = list[list[tuple[str, tuple[int, int]]]]
"""For each needed piece, the places (document, span) that would do."""


def rank_of_last_piece(chunks: Any, gold: Gold) -> int | None:
    """Return the rank at which every piece has been seen, or None."""
    ranks = []
    for piece in gold:
        rank = next(
            (
                chunk.rank
                for chunk in chunks
                for doc_id, (start, end) in piece
                if chunk.chunk.doc_id == doc_id
                and chunk.chunk.span.start < end
                and start < chunk.chunk.span.end
            ),
            None,
        )
        if rank is None:
            return None
        ranks.append(rank)
    return max(ranks)


async def measure(
    retriever: HybridRetriever, questions: list[tuple[str, Any, Gold]]
) -> tuple[list[int | None], list[float]]:
    """Return the rank of each question's evidence and the seconds it took."""
    ranks, seconds = [], []
    for text, as_of, gold in questions:
        started = time.perf_counter()
        chunks = await retriever.retrieve(Query(text=text, k=max(DEPTHS), as_of=as_of))
        seconds.append(time.perf_counter() - started)
        ranks.append(rank_of_last_piece(chunks, gold))
    return ranks, seconds


def compare(index: Index, embedding: Any, questions: Any, *, title: str) -> Table:
    """Return the table of the three signals on the same questions."""
    table = Table(title=f"{title}: {len(questions)} questions", title_justify="left")
    for column in ("signal", *COLUMNS):
        table.add_column(column, no_wrap=True)
    for signals in ROWS:
        retriever = HybridRetriever(index, embedding=embedding, signals=signals)
        ranks, seconds = asyncio.run(measure(retriever, questions))
        cells = []
        for k in DEPTHS:
            hits = sum(rank is not None and rank <= k for rank in ranks)
            ends = clopper_pearson(hits, len(ranks))
            cells.append(f"{hits / len(ranks):.3f} [{ends.low:.3f}, {ends.high:.3f}]")
        mrr = sum(1 / rank for rank in ranks if rank) / len(ranks)
        table.add_row(signals, *cells, f"{mrr:.3f}", f"{statistics.median(seconds) * 1000:.1f}")
    return table


def golden_questions(folder: Path, split: str) -> list[tuple[str, Any, Gold]]:
    """Return the answerable golden questions of a split."""
    corpus = Corpus.read(folder)
    lines = (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines if line.strip()]
    return [
        (
            item["question"],
            parse_instant(item["as_of"]),
            [
                [
                    (option["file"], span)
                    for option in piece["any_of"]
                    for span in corpus.spans(option["file"], option["quote"])
                ]
                for piece in item["gold"]
            ],
        )
        for item in items
        if item["split"] == split and item["answerable"] == "yes"
    ]


def squad(data: Path, scratch: Path) -> tuple[Path, list[tuple[str, Any, Gold]]]:
    """Write the passages of SQuAD 2.0 as a folder and return it with its questions."""
    root = data / "squad2"
    folder = scratch / "squad2"
    folder.mkdir()
    for line in (root / "passages.jsonl").read_text(encoding="utf-8").splitlines():
        passage = json.loads(line)
        (folder / f"{passage['passage_id']}.txt").write_bytes(passage["text"].encode())
    questions: list[tuple[str, Any, Gold]] = []
    for line in (root / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["answerable"]:
            file = f"{row['passage_id']}.txt"
            spans = [(a["start"], a["start"] + len(a["text"])) for a in row["answers"]]
            questions.append((row["question"], None, [[(file, span) for span in spans]]))
    return folder, questions


def clapnq(data: Path, scratch: Path) -> tuple[Path, list[tuple[str, Any, Gold]]]:
    """Write the passages of CLAP NQ as a folder and return it with its questions."""
    folder = scratch / "clapnq"
    folder.mkdir()
    questions: list[tuple[str, Any, Gold]] = []
    lines = (data / "clapnq" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    files: dict[str, str] = {}
    for row in map(json.loads, lines):
        file = files.setdefault(row["passage"], f"p{len(files)}.txt")
        (folder / file).write_bytes(row["passage"].encode())
        if row["answerable"]:
            spans = [tuple(row["sentence_spans"][at]) for at in row["selected_idx"] or ()]
            questions.append((row["question"], None, [[(file, span) for span in spans]]))
    return folder, questions


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--split", choices=["dev", "test", "all"], default="dev")
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    options = parser.parse_args()
    embedding = default_embedding().embedding
    screen = Console(width=130)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        update_index([options.corpus], index=scratch / "demo", embedding=embedding)
        with Index.open(scratch / "demo", embedding=embedding) as index:
            for split in ("dev", "test") if options.split == "all" else (options.split,):
                questions = golden_questions(options.corpus, split)
                screen.print(compare(index, embedding, questions, title=f"golden, {split}"))
        if options.data is None:
            return
        for name, passages in (("squad2", squad), ("clapnq", clapnq)):
            if not (options.data / name).is_dir():
                print(f"{name}: skipped, not in {options.data}")
                continue
            folder, questions = passages(options.data, scratch)
            place = scratch / f"{name}-index"
            update_index([folder], index=place, embedding=embedding)
            with Index.open(place, embedding=embedding) as index:
                screen.print(compare(index, embedding, questions, title=f"{name}, answerable"))


if __name__ == "__main__":
    main()
