"""Retrieval alone: BM25, dense and fused beside LlamaIndex's default, in one run over one folder.

    python benchmarks/retrieval.py [--corpus DIR] [--split dev|test|all] [--data DIR]
                                   [--reranker FOLDER]

A hit is a passage that overlaps a gold quote; questions that need several pieces count as hit when
every piece is among the k passages that were asked for. The peer is a `VectorStoreIndex` of
LlamaIndex with its default splitter and the same embedding; its passages are longer, which the
column of characters shows.

With `--data DIR` (laid out as the public sets are) those of the following that are there are
measured the same way, each over all passages of the set: SQuAD 2.0, CLAP NQ, PolicyQA (the same
question is asked of many policies: any passage labelled for it counts), TAT-QA (table and
paragraphs of a report are one document) and TimeQA. (NoMIRACL does not say which of its passages
is relevant.) Tuned on the golden `dev` questions and on half of the questions of each set.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from golden import Corpus
from llama_index.core import Document as LlamaDocument
from llama_index.core import VectorStoreIndex
from rich.console import Console
from rich.table import Table

from grounded_rag.index.embedding import default_embedding
from grounded_rag.index.reranking import make_rerankers
from grounded_rag.index.retrieval import HybridRetriever, Signals
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import update_index
from grounded_rag.protocols import Query, Retriever
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import Chunk, RetrievedChunk, Span
from grounded_rag.validity import parse_instant

DEPTHS = (1, 5, 10)
COLUMNS = (*(f"hit@{k}" for k in DEPTHS), "MRR", "characters of 5", "ms, median")
SIGNALS: tuple[Signals, ...] = ("lexical", "dense", "fused")
ROWS = (*SIGNALS, "reranked", "LlamaIndex")
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


class LlamaDefault:
    """The peer: what LlamaIndex does with the same texts and the same embedding by default."""

    def __init__(self, index: Index, embedding: Any) -> None:
        with index.view() as view:
            documents = [view.ledger.document(doc_id) for doc_id in view.catalogue.entries]
        self._store = VectorStoreIndex.from_documents(
            [LlamaDocument(text=d.text, id_=d.id) for d in documents if d is not None],
            embed_model=embedding,
        )

    async def retrieve(self, query: Query) -> list[RetrievedChunk]:
        """Return the nearest nodes with their places."""
        nodes = self._store.as_retriever(similarity_top_k=query.k).retrieve(query.text)
        return [
            RetrievedChunk(
                chunk=Chunk(
                    id=found.node.node_id,
                    doc_id=found.node.ref_doc_id or "",
                    span=Span(start=found.node.start_char_idx, end=found.node.end_char_idx),
                    text=found.node.text,
                    content_hash="",
                ),
                rank=rank,
                score=found.score or 0.0,
            )
            for rank, found in enumerate(nodes, start=1)
        ]


class Measured(NamedTuple):
    """What one retriever gives for one question."""

    rank: int | None
    hits: dict[int, bool]
    characters: int
    seconds: float


async def measure(retriever: Retriever, text: str, as_of: Any, gold: Gold) -> Measured:
    """Return what became of one question.

    With a moment, what does not hold is ranked last among the k that were asked for, so each depth
    is asked for; without one, the first of ten are the five of five.
    """
    deepest = max(DEPTHS)
    started = time.perf_counter()
    chunks = await retriever.retrieve(Query(text=text, k=deepest, as_of=as_of))
    seconds = time.perf_counter() - started
    rank = rank_of_last_piece(chunks, gold)
    hits = {}
    for k in DEPTHS:
        if as_of is None or k == deepest:
            hits[k] = rank is not None and rank <= k
        else:
            found = await retriever.retrieve(Query(text=text, k=k, as_of=as_of))
            hits[k] = rank_of_last_piece(found, gold) is not None
    return Measured(rank, hits, sum(len(chunk.chunk.text) for chunk in chunks[:5]), seconds)


async def measure_all(
    retriever: Retriever, questions: list[tuple[str, Any, Gold]]
) -> list[Measured]:
    """Return what became of each question."""
    return [await measure(retriever, *question) for question in questions]


def compare(
    index: Index, embedding: Any, questions: Any, *, title: str, reranker: Path | None = None
) -> Table:
    """Return the table of the three signals, the reranker and the peer on the same questions."""
    rivals: dict[str, Retriever] = {
        signals: HybridRetriever(index, embedding=embedding, signals=signals) for signals in SIGNALS
    }
    if reranker is not None:
        rivals["reranked"] = HybridRetriever(
            index, embedding=embedding, rerankers=make_rerankers(reranker)
        )
    rivals["LlamaIndex"] = LlamaDefault(index, embedding)
    table = Table(title=f"{title}: {len(questions)} questions", title_justify="left")
    for column in ("signal", *COLUMNS):
        table.add_column(column, no_wrap=True)
    for name, retriever in rivals.items():
        measured = asyncio.run(measure_all(retriever, questions))
        cells = []
        for k in DEPTHS:
            hits = sum(one.hits[k] for one in measured)
            ends = clopper_pearson(hits, len(measured))
            cells.append(f"{hits / len(measured):.3f} [{ends.low:.3f}, {ends.high:.3f}]")
        mrr = sum(1 / one.rank for one in measured if one.rank) / len(measured)
        size = statistics.mean(one.characters for one in measured)
        wait = statistics.median(one.seconds for one in measured) * 1000
        table.add_row(name, *cells, f"{mrr:.3f}", f"{size:,.0f}", f"{wait:.1f}")
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


def policyqa(data: Path, scratch: Path) -> tuple[Path, list[tuple[str, Any, Gold]]]:
    """Write the passages of PolicyQA as a folder and return it with its distinct questions."""
    root, folder = data / "policyqa", scratch / "policyqa"
    folder.mkdir()
    for passage in rows_of(root / "passages.jsonl"):
        (folder / f"{passage['passage_id']}.txt").write_bytes(passage["text"].encode())
    found: dict[str, list[tuple[str, tuple[int, int]]]] = {}
    for row in rows_of(root / "questions.jsonl"):
        found.setdefault(row["question"], []).extend(
            (f"{row['passage_id']}.txt", (a["start"], a["start"] + len(a["text"])))
            for a in row["answers"]
        )
    return folder, [(question, None, [places]) for question, places in found.items()]


def tatqa(data: Path, scratch: Path) -> tuple[Path, list[tuple[str, Any, Gold]]]:
    """Write each report of TAT-QA as Markdown; gold are the named paragraphs and the table."""
    folder = scratch / "tatqa"
    folder.mkdir()
    questions: list[tuple[str, Any, Gold]] = []
    for report in rows_of(data / "tatqa" / "dev.jsonl"):
        file, text, places = f"{report['id']}.md", "", {}
        for paragraph in sorted(report["paragraphs"], key=lambda one: one["order"]):
            said = " ".join(paragraph["text"].split())
            places[str(paragraph["order"])] = (file, (len(text), len(text) + len(said)))
            text += f"{said}\n\n"
        width = max(map(len, report["table"]))
        cells = [
            [" ".join(str(cell).split()).replace("|", "/") for cell in row]
            for row in report["table"]
        ]
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
        lines.insert(1, "|" + " --- |" * width)
        table = (file, (len(text), len(text) + len("\n".join(lines))))
        (folder / file).write_bytes((text + "\n".join(lines) + "\n").encode())
        for row in report["questions"]:
            gold: Gold = []
            if "text" in row["answer_from"] and row["rel_paragraphs"]:
                gold.append([places[name] for name in row["rel_paragraphs"] if name in places])
            if "table" in row["answer_from"]:
                gold.append([table])
            if gold and all(gold):
                questions.append((row["question"], None, gold))
    return folder, questions


def timeqa(data: Path, scratch: Path) -> tuple[Path, list[tuple[str, Any, Gold]]]:
    """Write each page of TimeQA as a document and return its answerable questions."""
    folder = scratch / "timeqa"
    folder.mkdir()
    questions: list[tuple[str, Any, Gold]] = []
    for number, page in enumerate(rows_of(data / "timeqa_human" / "train.jsonl")):
        file, text, starts = f"p{number}.txt", "", []
        for paragraph in page["paragraphs"]:
            starts.append(len(text))
            text += f"{paragraph}\n\n"
        (folder / file).write_bytes(text.encode())
        for row in page["questions"]:
            if row["answerable"]:
                gold = [
                    (file, (starts[a["para"]] + a["start"], starts[a["para"]] + a["end"]))
                    for a in row["answers"]
                ]
                questions.append((row["question"], None, [gold]))
    return folder, questions


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


SETS: dict[str, Callable[[Path, Path], tuple[Path, list[tuple[str, Any, Gold]]]]] = {
    "squad2": squad,
    "clapnq": clapnq,
    "policyqa": policyqa,
    "tatqa": tatqa,
    "timeqa_human": timeqa,
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--split", choices=["dev", "test", "all"], default="dev")
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument("--reranker", type=Path, help="folder of a cross-encoder in ONNX")
    options = parser.parse_args()
    embedding = default_embedding().embedding
    screen = Console(width=140)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        update_index([options.corpus], index=scratch / "demo", embedding=embedding)
        with Index.open(scratch / "demo", embedding=embedding) as index:
            for split in ("dev", "test") if options.split == "all" else (options.split,):
                questions = golden_questions(options.corpus, split)
                screen.print(
                    compare(
                        index,
                        embedding,
                        questions,
                        title=f"golden, {split}",
                        reranker=options.reranker,
                    )
                )
        if options.data is None:
            return
        for name, passages in SETS.items():
            if not (options.data / name).is_dir():
                print(f"{name}: skipped, not in {options.data}")
                continue
            folder, questions = passages(options.data, scratch)
            place = scratch / f"{name}-index"
            update_index([folder], index=place, embedding=embedding)
            with Index.open(place, embedding=embedding) as index:
                screen.print(
                    compare(index, embedding, questions, title=name, reranker=options.reranker)
                )


if __name__ == "__main__":
    main()
