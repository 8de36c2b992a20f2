"""What a run is made with, read off the object that is measured."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Callable
from functools import lru_cache

from grounded_rag.evaluation.checks import (
    check_identities,
    decider_identities,
    verifier_fingerprint,
)
from grounded_rag.evaluation.records import IndexIdentity, Prices, RunMeta
from grounded_rag.rag import GroundedRAG
from grounded_rag.version import __version__

_TEXTS_KEPT = 256


def meta_of(
    rag: GroundedRAG,
    *,
    golden: str,
    golden_hash: str,
    items: int,
    split: str,
    prices: Prices | None,
    threshold: float | None,
) -> RunMeta:
    """Return what a run over `rag` is made with.

    Args:
        rag: What is measured.
        golden: Name of the golden set.
        golden_hash: Hash over its items.
        items: Number of items.
        split: Split chosen, or "".
        prices: Prices of tokens.
        threshold: Least relevance score, or None without relevance.
    """
    parts = rag._parts
    return RunMeta(
        id=new_id(),
        started=dt.datetime.now(dt.UTC),
        package_version=__version__,
        golden=golden,
        golden_hash=golden_hash,
        items=items,
        split=split,
        generator=generator_name(rag),
        policy=parts.policy.model_dump(mode="json"),
        fingerprint=parts.fingerprint,
        refusal=parts.refusal,
        verifier=verifier_fingerprint(),
        checks=check_identities(parts.rules.checks),
        deciders=decider_identities(parts.rules.entailment, parts.rules.judge),
        index=index_identity(rag),
        prices=prices,
        relevance_threshold=threshold,
    )


def generator_name(rag: GroundedRAG) -> str:
    """Return what the generator calls itself, or how it was named."""
    parts = rag._parts
    for attribute in ("name", "model"):
        value = getattr(parts.generator, attribute, None)
        if isinstance(value, str) and value:
            return value
    return parts.generator_name


def new_id() -> str:
    """Return a name for a run that sorts by time."""
    now = dt.datetime.now(dt.UTC)
    return f"{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


def index_identity(rag: GroundedRAG) -> IndexIdentity:
    """Return what is searched; an object made from a retriever alone does not say."""
    opened = rag._index
    if opened is None:
        return IndexIdentity(name=type(rag._parts.retriever).__name__)
    status = opened.index.status()
    digest = hashlib.sha256()
    for doc_id, state in sorted(opened.index.states().items()):
        digest.update(f"{doc_id}\x00{state.content_hash}\x00".encode("utf-8", "surrogatepass"))
    embedding = status.embedding
    return IndexIdentity(
        name=str(opened.path),
        documents=status.documents,
        chunks=status.chunks,
        embedding="" if embedding is None else embedding.name,
        content_hash=digest.hexdigest(),
    )


def text_reader(rag: GroundedRAG) -> Callable[[str], str | None] | None:
    """Return a function that gives the text of a document, or None without an index."""
    opened = rag._index
    if opened is None:
        return None

    @lru_cache(maxsize=_TEXTS_KEPT)
    def text_of(doc_id: str) -> str | None:
        document = opened.index.document(doc_id)
        return None if document is None else document.text

    return text_of
