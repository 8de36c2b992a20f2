"""The folders and files of one call, and what keeps their documents apart."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grounded_rag.errors import InputError
from grounded_rag.ingest import Scan, scan


@dataclass(frozen=True)
class Source:
    """What a path holds; a folder's documents are kept together by where the folder is."""

    found: Scan
    corpus: str | None = None
    corpus_id: str | None = None

    @property
    def origin(self) -> dict[str, str]:
        """Metadata that tells the documents of one folder from those of another."""
        if self.corpus is None or self.corpus_id is None:
            return {}
        return {"corpus": self.corpus, "corpus_id": self.corpus_id}


def open_source(path: Path, *, strict: bool) -> Source:
    """Return what a folder or a file holds, with what tells its documents from others."""
    found = scan(path, strict=strict)
    if not path.is_dir():
        return Source(found=found)
    place = str(path.resolve()).encode("utf-8", "surrogatepass")
    return Source(
        found=found,
        corpus=path.resolve().name,
        corpus_id=hashlib.sha256(place).hexdigest()[:12],
    )


def check_ids(doc_ids: Sequence[str]) -> None:
    """Refuse two files of one name in one call, before anything is written."""
    twice = [doc_id for doc_id, times in Counter(doc_ids).items() if times > 1]
    if twice:
        raise InputError(
            f"{twice[0]} is there twice, in two of the folders.",
            hint="Ingest a folder that holds both, or use an index for each.",
        )
