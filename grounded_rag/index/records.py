"""Records: the values that the index takes in and gives out. No file is opened here.

A document comes as an `IndexItem`; what is stored comes back as `DocumentState`, `DocumentEntry`,
`StoredChunk`; the index as a whole as `IndexStatus` and `IndexAudit`. `TunedThreshold` is the one
setting that an index keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, Field, JsonValue

from grounded_rag.errors import StoreError
from grounded_rag.types import Chunk, Document, Frozen, PageSpan, Validity

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


Vector: TypeAlias = NDArray[np.float32]
"""One vector, or rows of them."""


def as_rows(vectors: Sequence[Any], *, dimension: int | None) -> Vector:
    """Return at least one vector as the rows of one array, all of `dimension` if it is given."""
    lengths = {len(vector) for vector in vectors}
    if dimension is not None:
        lengths.add(dimension)
    if len(lengths) != 1:
        raise StoreError(
            f"The embedding returned vectors of lengths {sorted(lengths)}.",
            hint="Use one embedding model for the whole index.",
        )
    rows = np.asarray(vectors, dtype=np.float32)
    # Chroma drops a vector with NaN or infinity without a word, and zeros have no direction.
    if not np.isfinite(rows).all() or not rows.any(axis=1).all():
        raise StoreError(
            "The embedding returned a vector of NaN, infinity or only zeros.",
            hint="Check the embedding model; nothing was written.",
        )
    return np.ascontiguousarray(rows)


def from_bytes(blobs: Sequence[bytes]) -> Vector:
    """Return stored vectors as the rows of one array; `blobs` holds at least one."""
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)


def cosine(rows: Vector, vector: Vector) -> Vector:
    """Return the cosine of each row with `vector`."""
    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    return np.asarray(rows @ vector / np.maximum(norms, np.finfo(np.float32).tiny), np.float32)


class EmbeddingIdentity(Frozen):
    """What makes two embedding models interchangeable for one index."""

    name: str
    variant: str = ""  # the format and hash of the weights, or the class that runs them
    dimension: Annotated[int, Field(ge=1)] | None = None  # None until the first vector is seen

    def accepts(self, other: EmbeddingIdentity) -> bool:
        """Whether vectors of `other` may lie beside vectors of this model."""
        unknown = self.dimension is None or other.dimension is None
        return (self.name, self.variant) == (other.name, other.variant) and (
            unknown or self.dimension == other.dimension
        )

    def __str__(self) -> str:
        size = "" if self.dimension is None else f", {self.dimension} dimensions"
        return f"{self.name} ({self.variant}{size})"


def identity_of(embedding: BaseEmbedding) -> EmbeddingIdentity:
    """Return the identity of any LlamaIndex embedding, without calling its model."""
    sizes = (getattr(embedding, name, None) for name in ("dimension", "dimensions"))
    return EmbeddingIdentity(
        name=embedding.model_name,
        variant=str(getattr(embedding, "variant", "") or embedding.class_name()),
        dimension=next((size for size in sizes if isinstance(size, int) and size > 0), None),
    )


@dataclass(frozen=True)
class IndexItem:
    """One document version to be written, its chunks in reading order.

    Vectors, by chunk id, are needed only for the ids in `missing_vectors`; the signs of word pieces
    only where the embedding gives them (see `pieces`).
    """

    document: Document
    chunks: Sequence[Chunk]
    vectors: Mapping[str, Vector | Sequence[float]] = field(default_factory=dict)
    pieces: Mapping[str, bytes] = field(default_factory=dict)
    trust: str = "official"
    recipe: str = ""  # version of the rules that cut the chunks


class DocumentState(Frozen):
    """What ingestion compares a file with: hashes of the live text and of all beside it."""

    doc_id: str
    content_hash: str
    metadata_hash: str
    recipe: str = ""
    chunks: int = 0


class StoredChunk(Frozen):
    """A chunk with the offsets that it has in one version of its document."""

    chunk: Chunk
    document_hash: str
    version: int
    live: bool  # whether that version is the document's current text
    page_spans: tuple[PageSpan, ...] = ()  # pages that the chunk touches


class DocumentEntry(Frozen):
    """What the ledger knows about one live document beside its text."""

    doc_id: str
    source: str
    title: str
    media_type: str
    trust: str
    validity: Validity
    metadata: dict[str, JsonValue]
    content_hash: str


class TunedThreshold(Frozen):
    """A refusal threshold that was chosen for an index, and what it was chosen on.

    It holds for the weights that gave the confidences it was compared with, and no others.
    """

    threshold: float = Field(description="Log-odds below which the built-in generator declines.")
    made_at: AwareDatetime
    package_version: str
    weights: str = Field(description="SHA-256 over the generator's weights.")
    golden: str = Field(description="File name of the golden set.")
    golden_hash: str = Field(description="SHA-256 over its items, in order.")
    alpha: float = Field(description="Most unanswerable questions answered, as a share.")
    beta: float | None = Field(description="Most answers that are wrong, as a share, or None.")
    delta: float = Field(description="Most probability that the golden set misled.")
    answered: int = Field(description="Of the answerable questions.")
    answerable: int
    refused: int = Field(description="Of the unanswerable questions.")
    unanswerable: int
    generation: int = Field(
        default=0, description="Of the index when it was stored; a later one: documents changed."
    )


class IndexStatus(Frozen):
    """The state of an index."""

    documents: int = Field(description="Live documents.")
    chunks: int = Field(description="Live chunks.")
    versions: int = Field(description="Stored document versions, live ones included.")
    vectors: int
    dated: int = Field(description="Live documents that say something about time.")
    undated: int
    embedding: EmbeddingIdentity | None = Field(
        description="Model of the vectors, or None for an index that only searches words."
    )
    schema_version: int
    generation: int = Field(description="Grows with every change.")
    bytes_on_disk: int = Field(description="Size of the whole folder.")
    server: str | None = Field(
        default=None, description="Address of the Chroma server, or None for a folder."
    )
    threshold: TunedThreshold | None = Field(
        default=None, description="What `tune` stored, or None: the built-in threshold."
    )

    @property
    def lexical_only(self) -> bool:
        """Whether retrieval rests on BM25 alone."""
        return self.embedding is None


class IndexAudit(Frozen):
    """Where the derived indexes differ from the ledger, by chunk ids."""

    orphan_vectors: tuple[str, ...] = ()  # held, but by no retrievable version
    missing_vectors: tuple[str, ...] = ()
    unreachable_vectors: tuple[str, ...] = ()  # held, but not found for their own vector
    lexical_mismatch: tuple[str, ...] = ()  # their row is missing or superfluous
    unfinished_versions: int = 0  # document versions whose writing was interrupted
    mended: bool = False

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return self == IndexAudit(mended=self.mended)
