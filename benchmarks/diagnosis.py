"""How often the diagnosis names the right kind of failure, on a labelled set of failures.

    python benchmarks/diagnosis.py [--corpus DIR] [--ids even|odd|all] [--misses] [--json]

Each line of `failures.jsonl` is one constructed failure: what was retrieved, what was answered,
and the kind. The rules were mended on the even ids alone; the figure that counts is the odd half's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from grounded_rag import Policy, verify
from grounded_rag.evaluation.datasets import GoldenItem
from grounded_rag.evaluation.diagnosis import Diagnosis, diagnose
from grounded_rag.evaluation.gold import gold_places
from grounded_rag.evaluation.records import EvalRecord, OtherAnswer, judged
from grounded_rag.ingest import read_document, scan
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import Chunk, Citation, Claim, Document, Draft, RetrievedChunk, Span
from grounded_rag.validity import resolve


@dataclass
class Corpus:
    """The documents of a folder, read without any index."""

    documents: dict[str, Document] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Corpus:
        """Read every document of a folder."""
        return cls({f.doc_id: read_document(f).document for f in scan(folder).files})

    def chunk(
        self, file: str, quote: str, *, rank: int, cited: Iterable[tuple[str, str]] = ()
    ) -> RetrievedChunk:
        """Return a retrieved chunk that holds one quote of a document.

        Where a citation begins inside the quote and goes on behind it, so does the chunk.
        """
        document = self.documents[file]
        start = document.text.index(quote)
        end = start + len(quote)
        for other, longer in cited:
            at = document.text.find(longer) if other == file else -1
            if 0 <= at < end and start < at + len(longer):
                start, end = min(start, at), max(end, at + len(longer))
        quote = document.text[start:end]
        successor = self.documents.get(document.validity.superseded_by or "")
        return RetrievedChunk(
            chunk=Chunk(
                id=f"{file}#{start}",
                doc_id=file,
                span=Span(start=start, end=start + len(quote)),
                text=quote,
                content_hash=hashlib.sha256(quote.encode()).hexdigest(),
            ),
            rank=rank,
            title=document.title,
            validity=resolve(
                document.validity, successor=successor.validity if successor else None
            ),
        )


def diagnosed(row: dict[str, Any], corpus: Corpus) -> Diagnosis:
    """Return what the classifier says about one line; the label is not handed on."""
    item = GoldenItem.model_validate(
        {key: row[key] for key in ("id", "question", "as_of", "answerable", "expected", "gold")}
    )
    places = [(one["file"], one["quote"]) for one in row["retrieved"]]
    cited = [(claim["file"], claim["quote"]) for claim in row["answer"]["claims"]]
    chunks = [
        corpus.chunk(*place, rank=rank, cited=cited) for rank, place in enumerate(places, start=1)
    ]
    refused = row["answer"]["status"] == "refused"
    draft = Draft(
        claims=tuple(
            Claim(text=c["text"], citations=(_citation(c["file"], c["quote"], chunks),))
            for c in row["answer"]["claims"]
        )
    )
    verification = None
    if not refused:
        verification = verify(draft, chunks, question=item.question, as_of=item.as_of)
    record = EvalRecord(
        item=item,
        other=OtherAnswer(
            text=" ".join(claim.text for claim in draft.claims),
            contexts=tuple(chunks),
            draft=draft,
            own_citations=True,
            refused=refused,
            verification=verification,
        ),
        places=gold_places(item, lambda name: corpus.documents[name].text),
    )
    return diagnose(judged(record, Policy()))


def _citation(file: str, quote: str, chunks: list[RetrievedChunk]) -> Citation:
    """Return the citation of the retrieved chunk of `file` that holds the quote."""
    for chunk in chunks:
        if chunk.chunk.doc_id == file and quote in chunk.chunk.text:
            return Citation(chunk_id=chunk.chunk.id, quote=quote)
    return Citation(chunk_id=file, quote=quote)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--ids", choices=["even", "odd", "all"], default="even")
    parser.add_argument("--misses", action="store_true", help="print what was taken for what")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    corpus = Corpus.read(options.corpus)
    lines = (options.corpus / "failures.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    if options.ids != "all":
        rest = options.ids == "odd"
        rows = [r for r in rows if int("".join(filter(str.isdigit, r["id"]))) % 2 == rest]
    right: Counter[str] = Counter()
    total = Counter(row["kind"] for row in rows)
    taken: Counter[tuple[str, str]] = Counter()
    for row in rows:
        found = diagnosed(row, corpus)
        right[row["kind"]] += found.kind == row["kind"]
        if found.kind != row["kind"]:
            taken[row["kind"], found.kind] += 1
            if options.misses:
                print(f"{row['id']} {row['kind']} taken for {found.kind}: {found.why}")
    hits, trials = sum(right.values()), len(rows)
    interval = clopper_pearson(hits, trials)
    if options.json:
        print(
            json.dumps(
                {
                    "ids": options.ids,
                    "right": hits,
                    "of": trials,
                    "interval": [interval.low, interval.high],
                    "kinds": {kind: [right[kind], total[kind]] for kind in sorted(total)},
                }
            )
        )
        return
    table = Table(title=f"{options.ids} ids: {trials} failures", title_justify="left")
    for column in ("kind", "right", "taken for"):
        table.add_column(column)
    for kind in sorted(total):
        others = ", ".join(f"{b} {n}" for (a, b), n in taken.items() if a == kind)
        table.add_row(kind, f"{right[kind]}/{total[kind]}", others)
    screen = Console(width=110)
    screen.print(table)
    screen.print(
        f"right: {hits}/{trials} = {hits / trials:.3f} [{interval.low:.3f}, {interval.high:.3f}]",
        highlight=False,
    )


if __name__ == "__main__":
    main()
