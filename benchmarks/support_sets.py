"""The public sets of `support.py`: how each is read into labelled pairs of claim and evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounded_rag.protocols import ClaimCase, EvidencePiece
from grounded_rag.types import Chunk, Citation, Claim, Located, RetrievedChunk, Span

SIX = ("wice", "fm2", "summedits", "scifact_nli", "factcheckgpt_stance", "attributionbench")


@dataclass(frozen=True)
class Pair:
    """One labelled claim with its evidence."""

    claim: str
    evidence: str
    supported: bool
    group: str = ""
    title: str = ""
    question: str | None = None
    id: str = ""

    def case(self) -> ClaimCase:
        """Return the pair as the checks see it: all of the evidence is cited."""
        span = Span(start=0, end=len(self.evidence))
        chunk = RetrievedChunk(
            chunk=Chunk(id="c", doc_id="d", span=span, text=self.evidence, content_hash=""),
            title=self.title,
        )
        citation = Citation(chunk_id="c", quote=self.evidence)
        located = Located(
            chunk_id="c", doc_id="d", chunk_span=span, document_span=span, quote=self.evidence
        )
        piece = EvidencePiece(
            citation=citation, located=located, sentence=self.evidence, sentence_span=span,
            chunk=chunk,
        )  # fmt: skip
        return ClaimCase(
            claim=Claim(text=self.claim, citations=(citation,)),
            evidence=(piece,),
            question=self.question,
        )


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def load(name: str, data: Path) -> list[Pair]:
    """Return the pairs of one set."""
    return list(LOADERS[name](data / name))


def _wice(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "oracle_chunks.dev.jsonl"):
        yield Pair(
            row["claim"], "\n".join(row["evidence_sentences"]), row["label"] == "supported",
            title=row["page"], id=row["id"],
        )  # fmt: skip


def _fm2(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "dev.jsonl"):
        yield Pair(
            row["claim"], "\n".join(row["gold_evidence"]), row["label"] == "supported",
            title=row["page"], id=row["id"],
        )  # fmt: skip


def _summedits(folder: Path) -> Iterator[Pair]:
    documents = {row["doc_id"]: row["text"] for row in rows(folder / "documents.jsonl")}
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(
            row["summary"], documents[row["doc_id"]], row["label"] == "supported", row["domain"],
            id=row["id"],
        )  # fmt: skip


def _scifact(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "train.jsonl"):
        yield Pair(
            row["hypothesis"], row["premise"], row["label"] == "entailment", id=row["id"]
        )  # fmt: skip


def _factcheck(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(row["claim"], row["evidence"], row["label"] == "supported", id=row["id"])


def _attribution(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "dev.jsonl"):
        yield Pair(
            row["claim"], "\n".join(row["evidence"]), row["label"] == "supported",
            row["source_dataset"], question=row["question"], id=row["id"],
        )  # fmt: skip


def _breaking(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(
            row["hypothesis"], row["premise"], row["label"] == "entailment", row["category"],
            id=row["id"],
        )  # fmt: skip


def _med(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(
            row["hypothesis"], row["premise"], row["label"] == "entailment",
            row["genre"].rsplit(":", 1)[-1], id=row["id"],
        )  # fmt: skip


LOADERS: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "wice": _wice,
    "fm2": _fm2,
    "summedits": _summedits,
    "scifact_nli": _scifact,
    "factcheckgpt_stance": _factcheck,
    "attributionbench": _attribution,
    "breaking_nli": _breaking,
    "med_nli": _med,
}
