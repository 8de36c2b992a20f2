"""Cutting text into chunks: speed and exactness of offsets, beside LlamaIndex's SentenceSplitter.

    python benchmarks/chunking.py [--data DIR] [--repeat N]

Both sides cut the same texts to the same capacity in the same run, interleaved, with the same
tokenizer (that of the built-in embedder). "length / 4" counts a token as four characters, so that
what is left is the splitter's own work. Offsets are wrong where a chunk does not lie behind the one
before it, or where text between two chunks is lost; the repeated texts are short paragraphs that
occur many times. Texts are the demo corpus, and the Markdown files below DIR where given.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from llama_index.core import Document as LlamaDocument
from llama_index.core.node_parser import SentenceSplitter
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from grounded_rag.ingest import chunk, read_document, scan
from grounded_rag.ingest.readers import MarkdownReader
from grounded_rag.resources import data_file, demo_corpus_dir
from grounded_rag.types import Document

CAPACITY = 220
REPEATED = [
    "This is important.\n\n" * 400,
    "Fee: none. " * 600,
    "".join(f"## Part {n % 3}\n\nThe fee is waived. The fee is waived.\n\n" for n in range(200)),
]


class Place(NamedTuple):
    """Where a chunk says that it lies."""

    start: int | None
    end: int | None


class Side(NamedTuple):
    """One splitter under one way of counting tokens."""

    name: str
    tokens: str
    cut: Callable[[Document], Sequence[Place]]


def ours(count: Callable[[str], int]) -> Callable[[Document], Sequence[Place]]:
    """Return this package's splitter."""

    def cut(document: Document) -> Sequence[Place]:
        chunks = chunk(document, count=count, capacity=CAPACITY)
        return [Place(one.span.start, one.span.end) for one in chunks]

    return cut


def theirs(tokens: Callable[[str], list[int]]) -> Callable[[Document], Sequence[Place]]:
    """Return LlamaIndex's splitter."""
    splitter = SentenceSplitter(chunk_size=CAPACITY, chunk_overlap=0, tokenizer=tokens)

    def cut(document: Document) -> Sequence[Place]:
        nodes = splitter.get_nodes_from_documents([LlamaDocument(text=document.text)])
        return [Place(node.start_char_idx, node.end_char_idx) for node in nodes]

    return cut


def wrong_share(document: Document, places: Sequence[Place]) -> float:
    """Return the share of chunks that are not where the text goes on."""
    wrong = position = 0
    for place in places:
        if place.start is None or place.end is None:
            wrong += 1
            continue
        lost = document.text[position : place.start].strip()
        wrong += place.start < position or bool(lost)
        position = max(position, place.end)
    return wrong / max(1, len(places))


def plain(text: str, name: str) -> Document:
    """Return a document of a Markdown text."""
    parsed = MarkdownReader().read(text.encode(), source=name)
    return Document(
        id=name,
        source=name,
        title="",
        text=parsed.text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        sections=parsed.sections,
        headings=parsed.headings,
    )


def documents(data: Path | None) -> list[Document]:
    """Return the texts to cut."""
    found = [read_document(file).document for file in scan(demo_corpus_dir()).files]
    more = sorted(data.rglob("*.md")) if data else []
    return found + [plain(path.read_text(encoding="utf-8"), path.name) for path in more]


def main() -> None:
    """Run both splitters and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, help="folder with more Markdown files")
    parser.add_argument("--repeat", type=int, default=5, help="runs over all texts")
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(data_file("minilm-tokenizer.json")))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    sides = [
        Side("grounded_rag", "MiniLM", ours(lambda text: len(tokenizer.encode(text).ids))),
        Side("SentenceSplitter", "MiniLM", theirs(lambda text: tokenizer.encode(text).ids)),
        Side("grounded_rag", "length / 4", ours(lambda text: len(text) // 4)),
        Side("SentenceSplitter", "length / 4", theirs(lambda text: [0] * (len(text) // 4))),
    ]
    texts = documents(arguments.data)
    characters = sum(len(document.text) for document in texts)
    repeated = [plain(text, f"repeated {n}") for n, text in enumerate(REPEATED)]
    seconds: dict[Side, list[float]] = {side: [] for side in sides}
    for _ in range(arguments.repeat):
        for side in sides:
            started = time.perf_counter()
            for document in texts:
                side.cut(document)
            seconds[side].append(time.perf_counter() - started)
    table = Table()
    for heading in ("splitter", "tokens", "M chars/s", "chunks", "wrong offsets", "on repeats"):
        table.add_column(heading, no_wrap=True)
    for side in sides:
        places = [(document, side.cut(document)) for document in texts]
        again = [wrong_share(document, side.cut(document)) for document in repeated]
        table.add_row(
            side.name,
            side.tokens,
            f"{characters / statistics.median(seconds[side]) / 1e6:.2f}",
            str(sum(len(found) for _, found in places)),
            f"{statistics.mean(wrong_share(*place) for place in places):.1%}",
            f"{statistics.mean(again):.1%}",
        )
    Console().print(f"{len(texts)} documents, {characters:,} characters, capacity {CAPACITY}")
    Console().print(table)


if __name__ == "__main__":
    main()
