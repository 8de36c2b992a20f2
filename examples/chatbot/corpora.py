"""Folders of documents with their indexes, and what is known about their documents."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, TypeAdapter

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import InputError
from grounded_rag.generate.clients import connect
from grounded_rag.index.records import DocumentEntry
from grounded_rag.ingest.update import IngestProgress, IngestReport, update_index
from grounded_rag.options import OpenIndex
from grounded_rag.protocols import Generator, Query, Retriever
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.types import Instant, RetrievedChunk
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
class Documents:
    """A folder of documents with its index.

    Attributes:
        folder: Where the files are.
        opened: The index, with the embedding that it is searched with.
        retriever: Finds passages in it.
        names: Names for people of uploaded documents, by document id.
    """

    folder: Path
    opened: OpenIndex
    retriever: Retriever
    names: Mapping[str, str] = field(default_factory=dict)

    def entry(self, doc_id: str) -> DocumentEntry | None:
        """Return what is known about a document."""
        return self.opened.index.entry(doc_id)

    def file_of(self, doc_id: str) -> Path | None:
        """Return the file of a document; None where it is not there, or not in the folder."""
        root = self.folder.resolve()
        path = (root / doc_id).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None

    def count(self) -> int:
        """Return how many documents there are."""
        return self.opened.index.status().documents

    def close(self) -> None:
        """Close the index."""
        self.opened.close()


class JoinedRetriever:
    """Finds passages in several indexes at once; each gives an equal share, best first."""

    def __init__(self, retrievers: Sequence[Retriever]) -> None:
        self._retrievers = retrievers

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        """Return at most `query.k` chunks, taken from the indexes in turn."""
        share = query.model_copy(update={"k": max(1, query.k // len(self._retrievers))})
        found = [await retriever.retrieve(share) for retriever in self._retrievers]
        turns = [chunk for turn in zip_longest(*found) for chunk in turn if chunk is not None]
        return [
            chunk.model_copy(update={"rank": rank})
            for rank, chunk in enumerate(turns[: query.k], start=1)
        ]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents that can be asked.

    Attributes:
        id: Name in requests.
        title: Name for people.
        parts: Its documents; a session's own follow the common ones.
        rag: Answers from them.
        policy: Its rules.
        today: The date to ask for where none is given, if the corpus lives at a fixed one.
        suggestions: Questions that the page offers, written by hand.
    """

    id: str
    title: str
    parts: tuple[Documents, ...]
    rag: GroundedRAG
    policy: Policy
    today: dt.date | None = None
    suggestions: tuple[Suggestion, ...] = ()

    def entry(self, doc_id: str) -> DocumentEntry | None:
        """Return what is known about a document."""
        return next(filter(None, (part.entry(doc_id) for part in self.parts)), None)

    def title_of(self, doc_id: str) -> str:
        """Return a document's title for people."""
        entry = self.entry(doc_id)
        named = self._named(doc_id)
        return named or (entry.title if entry is not None and entry.title else doc_id)

    def file_name_of(self, doc_id: str) -> str:
        """Return the name of a document's file for people."""
        return self._named(doc_id) or doc_id

    def media_type_of(self, doc_id: str) -> str:
        """Return the media type that a document was read from; plain text where it is gone."""
        entry = self.entry(doc_id)
        return entry.media_type if entry is not None else "text/plain"

    def successor(self, doc_id: str, *, as_of: Instant) -> DocumentEntry | None:
        """Return the document in force that replaces `doc_id`, over as many steps as it takes."""
        entry = self.entry(doc_id)
        for _ in range(_LONGEST_CHAIN):
            if entry is None or entry.validity.superseded_by is None:
                return None
            entry = self.entry(entry.validity.superseded_by)
            if entry is not None and current(entry.validity, as_of=as_of):
                return entry
        return None

    def file_of(self, doc_id: str) -> Path:
        """Return the file of a document of this corpus.

        Raises:
            OSError: It is not there, or not in a folder of the corpus.
        """
        found = next(filter(None, (part.file_of(doc_id) for part in self.parts)), None)
        if found is None:
            raise FileNotFoundError(f"The file of {self.title_of(doc_id)} is not there any more.")
        return found

    def with_documents(self, own: Documents) -> Corpus:
        """Return this corpus with further documents, which are asked together with its own.

        Each index gives as many passages as it gives alone. Close the `rag` of what is returned,
        and nothing else of it.
        """
        parts = (*self.parts, own)
        rag = GroundedRAG(
            JoinedRetriever([part.retriever for part in parts]),
            generator=self.rag.generator,
            policy=self.policy.model_copy(update={"k": self.policy.k * len(parts)}),
        )
        return replace(self, parts=parts, rag=rag)

    def close(self) -> None:
        """Close indexes and background work."""
        self.rag.close()
        for part in self.parts:
            part.close()

    def _named(self, doc_id: str) -> str:
        return next(filter(None, (part.names.get(doc_id) for part in self.parts)), "")


def open_documents(
    folder: Path,
    *,
    index: Path,
    embedding: BaseEmbedding | None,
    policy: Policy,
    names: Mapping[str, str] | None = None,
    progress: Callable[[IngestProgress], object] | None = None,
) -> tuple[Documents, IngestReport]:
    """Bring the index of a folder up to date and open it.

    Raises:
        InputError: The folder is missing, empty or has a broken manifest.
        ReadError: No document of it can be read.
    """
    report = update_index([folder], index=index, embedding=embedding, progress=progress)
    opened = OpenIndex(index, embedding)
    documents = Documents(
        folder=folder,
        opened=opened,
        retriever=opened.retriever(policy),
        names={} if names is None else names,
    )
    return documents, report


def open_corpus(
    folder: Path,
    *,
    corpus_id: str,
    index: Path,
    generator: str | Generator,
    embedding: BaseEmbedding | None,
    policy: Policy | None = None,
    title: str = "",
    progress: Callable[[IngestProgress], object] | None = None,
) -> tuple[Corpus, IngestReport]:
    """Open a folder that everybody may ask; see `open_documents`."""
    policy = policy or Policy()
    documents, report = open_documents(
        folder, index=index, embedding=embedding, policy=policy, progress=progress
    )
    try:
        rag = GroundedRAG.open(index, embedding=embedding, generator=generator, policy=policy)
    except BaseException:
        documents.close()
        raise
    about = _about(folder)
    corpus = Corpus(
        id=corpus_id,
        title=title or str(about.get("title", folder.name)),
        parts=(documents,),
        rag=rag,
        policy=policy,
        today=_date(about.get("today")),
        suggestions=_suggestions() if folder == demo_corpus_dir() else (),
    )
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
