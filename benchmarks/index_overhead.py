"""What the index costs beside a bare Chroma collection of the same vectors.

    python benchmarks/index_overhead.py [--chunks 20000] [--repeats 3]

Ingestion without embedding: reading nothing, but writing texts, versions, offsets, the lexical
index and the vectors, in batches as ingestion makes them, each of them crash-safe; beside one
upsert of the same vectors in the largest batches that Chroma takes. Then one question: dense, BM25,
fusion, currency and everything that a citation needs; beside one bare query. Each measurement runs
in a process of its own, both kinds in turn; medians are printed.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIMENSION = 384
WORDS = 90
CHUNKS_PER_DOCUMENT = 20
BATCH = 512
QUERIES = 200
K = 6


def unit_vectors(count: int) -> np.ndarray:
    """Return random unit vectors, the same for everybody."""
    rows = np.random.default_rng(7).standard_normal((count, DIMENSION)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def paragraphs(count: int) -> list[str]:
    """Return texts whose words are as unevenly frequent as those of a language."""
    vocabulary = np.array([f"w{number:x}" for number in range(20_000)])
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    chance = np.random.default_rng(7)
    words = chance.choice(vocabulary, size=(count, WORDS), p=weights / weights.sum())
    return [" ".join(row).capitalize() + "." for row in words]


def questions(texts: list[str]) -> list[str]:
    """Return questions of eight words that stand in some text."""
    chance = random.Random(11)
    return [" ".join(chance.choice(texts)[:-1].split()[10:18]) for _ in range(QUERIES)]


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


class Clock:
    """Wall-clock and processor seconds since its making."""

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.cpu = time.process_time()

    def seconds(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self.wall, time.process_time() - self.cpu


def resident() -> int:
    """Return the memory that this process holds now, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() // 2**20


def report(writing: tuple[float, float], waits: list[tuple[float, float]], before: int) -> None:
    """Print one measurement as JSON."""
    wall, cpu = (statistics.median(times) * 1000 for times in zip(*waits, strict=True))
    print(
        json.dumps(
            {
                "ingest": writing[0],
                "ingest_cpu": writing[1],
                "query": wall,
                "query_cpu": cpu,
                "memory": resident() - before,
            }
        )
    )


def bare(count: int, batch: int | None) -> None:
    """Upsert and query Chroma alone."""
    import chromadb
    from chromadb.config import Settings

    vectors = unit_vectors(count)
    ids = [digest(str(number))[:32] for number in range(count)]
    before = resident()
    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(folder, Settings(anonymized_telemetry=False))
        collection = client.create_collection(
            "bare", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        size = batch or client.get_max_batch_size()
        clock = Clock()
        for start in range(0, count, size):
            end = start + size
            collection.upsert(ids=ids[start:end], embeddings=vectors[start:end])
        written = clock.seconds()
        waits = []
        for row in unit_vectors(count + QUERIES)[-QUERIES:]:
            clock = Clock()
            collection.query(query_embeddings=row[np.newaxis], n_results=K)
            waits.append(clock.seconds())
        report(written, waits[5:], before)
        client.close()


def ours(count: int, signals: str) -> None:
    """Write and query the index."""
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from grounded_rag.index.records import IndexItem
    from grounded_rag.index.retrieval import HybridRetriever
    from grounded_rag.index.store import Index
    from grounded_rag.protocols import Query
    from grounded_rag.types import Chunk, Document, Span

    class Given(BaseEmbedding):
        """Returns the next of the given vectors: embedding costs nothing here."""

        model_name: str = "given"
        dimension: int = DIMENSION
        rows: list[list[float]] = []  # noqa: RUF012

        def _get_query_embedding(self, query: str) -> list[float]:  # noqa: ARG002
            return self.rows.pop()

        def _get_text_embedding(self, text: str) -> list[float]:
            raise NotImplementedError

        async def _aget_query_embedding(self, query: str) -> list[float]:
            raise NotImplementedError

    import chromadb  # noqa: F401  # its import is no part of the measurement

    vectors = unit_vectors(count)
    texts = paragraphs(count)
    embedding = Given(rows=unit_vectors(count + QUERIES)[-QUERIES:].tolist())
    before = resident()
    with tempfile.TemporaryDirectory() as folder:
        clock = Clock()
        with Index.open(Path(folder) / "i", embedding=embedding, write=True, create=True) as index:
            batch: list[IndexItem] = []
            for first in range(0, count, CHUNKS_PER_DOCUMENT):
                parts = texts[first : first + CHUNKS_PER_DOCUMENT]
                doc_id = f"folder/document-{first}.md"
                text = "\n\n".join(parts)
                chunks, start = [], 0
                for part in parts:
                    chunks.append(
                        Chunk(
                            id=digest(f"{doc_id}\0{part}")[:32],
                            doc_id=doc_id,
                            span=Span(start=start, end=start + len(part)),
                            text=part,
                            content_hash=digest(part),
                            headings=("Part", "Section"),
                        )
                    )
                    start += len(part) + 2
                document = Document(
                    id=doc_id, source=doc_id, title=doc_id, text=text, content_hash=digest(text)
                )
                missing = index.missing_vectors([chunk.id for chunk in chunks])
                rows = {
                    chunk.id: vectors[first + offset]
                    for offset, chunk in enumerate(chunks)
                    if chunk.id in missing
                }
                batch.append(IndexItem(document, chunks, rows))
                if len(batch) * CHUNKS_PER_DOCUMENT >= BATCH:
                    index.replace_many(batch)
                    batch = []
            if batch:
                index.replace_many(batch)
            written = clock.seconds()
            retriever = HybridRetriever(index, embedding=embedding, signals=signals)

            async def ask() -> list[tuple[float, float]]:
                import datetime as dt

                waits = []
                for question in questions(texts):
                    query = Query(text=question, k=K, as_of=dt.date(2026, 11, 29))
                    clock = Clock()
                    await retriever.retrieve(query)
                    waits.append(clock.seconds())
                return waits

            report(written, asyncio.run(ask())[5:], before)


def measure(*part: str, count: int) -> dict[str, float]:
    """Return one measurement, made in a process of its own."""
    command = [sys.executable, __file__, "--chunks", str(count), "--part", *part]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(found.stdout)
    return result


def main() -> None:
    """Run all measurements in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--part", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        kind, argument = options.part
        if kind == "bare":
            bare(options.chunks, int(argument) or None)
        else:
            ours(options.chunks, argument)
        return
    parts = {
        "Chroma alone, largest batches": ("bare", "0"),
        f"Chroma alone, batches of {BATCH}": ("bare", str(BATCH)),
        "index, fused": ("ours", "fused"),
        "index, dense only": ("ours", "dense"),
        "index, BM25 only": ("ours", "lexical"),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in parts}
    for _ in range(options.repeats):
        for name, part in parts.items():
            found[name].append(measure(*part, count=options.chunks))
    columns = ("ingest", "ingest_cpu", "query", "query_cpu")
    print(f"{options.chunks} chunks, {DIMENSION} dimensions, medians of {options.repeats} runs")
    print(
        f"{'':32}{'ingest s':>10}{'':>7}{'CPU s':>9}{'':>7}{'query ms':>10}{'CPU ms':>8}{'MB':>6}"
    )
    reference: dict[str, float] = {}
    for name, runs in found.items():
        median = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        reference = reference or median
        ratio = {key: f"x{median[key] / reference[key]:.2f}" for key in columns}
        print(
            f"{name:32}{median['ingest']:10.1f}{ratio['ingest']:>7}"
            f"{median['ingest_cpu']:9.1f}{ratio['ingest_cpu']:>7}"
            f"{median['query']:10.2f}{median['query_cpu']:8.2f}{median['memory']:6.0f}"
        )


if __name__ == "__main__":
    main()
