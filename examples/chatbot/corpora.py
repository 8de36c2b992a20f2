"""Folders of documents with their indexes, and what is known about their documents."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, TypeAdapter

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import InputError
from grounded_rag.generate.clients import connect
from grounded_rag.index.records import DocumentEntry
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import IngestProgress, IngestReport, update_index
from grounded_rag.protocols import Generator
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.types import Instant
from grounded_rag.validity import current

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from chatbot.settings import Settings

_SUGGESTIONS = Path(__file__).parent / "suggestions.json"
_LONGEST_CHAIN = 10


class Suggestion(BaseModel):
    """A question that the page offers.

    Attributes:
        label: What it shows.
        question: The question.
        as_of: Date to ask for in place of the one that is set.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    question: str
    as_of: dt.date | None = None


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents that can be asked.

    Attributes:
        id: Name in requests.
        title: Name for people.
        folder: Where the files are.
        rag: Answers from them.
        index: The same index, to look documents up.
        today: The date to ask for where none is given, if the corpus lives at a fixed one.
        suggestions: Questions that the page offers.
        names: Names for people of uploaded documents, by document id.
    """

    id: str
    title: str
    folder: Path
    rag: GroundedRAG
    index: Index
    today: dt.date | None = None
    suggestions: tuple[Suggestion, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def title_of(self, doc_id: str) -> str:
        """Return a document's title for people."""
        if doc_id in self.names:
            return self.names[doc_id]
        entry = self.index.entry(doc_id)
        return entry.title if entry is not None and entry.title else doc_id

    def media_type_of(self, doc_id: str) -> str:
        """Return the media type that a document was read from; plain text where it is gone."""
        entry = self.index.entry(doc_id)
        return entry.media_type if entry is not None else "text/plain"

    def successor(self, doc_id: str, *, as_of: Instant) -> DocumentEntry | None:
        """Return the document in force that replaces `doc_id`, over as many steps as it takes."""
        entry = self.index.entry(doc_id)
        for _ in range(_LONGEST_CHAIN):
            if entry is None or entry.validity.superseded_by is None:
                return None
            entry = self.index.entry(entry.validity.superseded_by)
            if entry is not None and current(entry.validity, as_of=as_of):
                return entry
        return None

    def file_of(self, doc_id: str) -> Path:
        """Return the file of a document of this corpus.

        Raises:
            OSError: It is not there, or not in the folder.
        """
        root = self.folder.resolve()
        path = (root / doc_id).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            raise FileNotFoundError(f"The file of {self.title_of(doc_id)} is not there any more.")
        return path

    def close(self) -> None:
        """Close index and background work."""
        self.rag.close()
        self.index.close()


def open_corpus(
    folder: Path,
    *,
    corpus_id: str,
    index: Path,
    generator: str | Generator,
    embedding: BaseEmbedding | None,
    policy: Policy | None = None,
    title: str = "",
    names: Mapping[str, str] | None = None,
    progress: Callable[[IngestProgress], object] | None = None,
) -> tuple[Corpus, IngestReport]:
    """Bring the index of a folder up to date and open it.

    Raises:
        InputError: The folder is missing, empty or has a broken manifest.
        ReadError: No document of it can be read.
    """
    report = update_index([folder], index=index, embedding=embedding, progress=progress)
    rag = GroundedRAG.open(
        index, embedding=embedding, generator=generator, policy=policy or Policy()
    )
    try:
        about = _about(folder)
        corpus = Corpus(
            id=corpus_id,
            title=title or str(about.get("title", folder.name)),
            folder=folder,
            rag=rag,
            index=Index.open(index),
            today=_date(about.get("today")),
            suggestions=_suggestions() if folder == demo_corpus_dir() else (),
            names={} if names is None else names,
        )
    except BaseException:
        rag.close()
        raise
    return corpus, report


def open_all(
    settings: Settings,
    *,
    embedding: BaseEmbedding | None,
    progress: Callable[[IngestProgress], object] | None = None,
) -> dict[str, Corpus]:
    """Open every corpus that the settings name, the demo first.

    Raises:
        InputError: There is none, or a folder cannot be used.
        MissingKeyError: The generator's provider has no credentials.
    """
    folders = {"demo": demo_corpus_dir()} if settings.demo else {}
    folders |= settings.corpora
    if not folders:
        raise InputError("There is no corpus.", hint="Set CHATBOT_CORPORA, or CHATBOT_DEMO=true.")
    if settings.generator.startswith("anthropic"):
        # A missing key is said now, not to the first visitor.
        connect(None, None)
    opened: dict[str, Corpus] = {}
    try:
        for name, folder in folders.items():
            place = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
            opened[name], _ = open_corpus(
                folder,
                corpus_id=name,
                title="" if name == "demo" else name,
                index=settings.data / "indexes" / place,
                generator=settings.generator,
                embedding=embedding,
                policy=settings.policy,
                progress=progress,
            )
    except BaseException:
        for corpus in opened.values():
            corpus.close()
        raise
    return opened


def _about(folder: Path) -> dict[str, object]:
    """Return the `[corpus]` table of a manifest, which ingestion has read and accepted."""
    manifest = folder / "manifest.toml"
    if not manifest.is_file():
        return {}
    about = tomllib.loads(manifest.read_text(encoding="utf-8")).get("corpus", {})
    return dict(about) if isinstance(about, dict) else {}


def _date(value: object) -> dt.date | None:
    return value if isinstance(value, dt.date) else None


def _suggestions() -> tuple[Suggestion, ...]:
    text = json.loads(_SUGGESTIONS.read_text(encoding="utf-8"))
    return TypeAdapter(tuple[Suggestion, ...]).validate_python(text)
