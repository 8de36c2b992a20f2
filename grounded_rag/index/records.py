"""Records: the values that the index takes in and gives out. No file is opened here.

A document comes as an `IndexItem`; what is stored comes back as `DocumentState`, `DocumentEntry`,
`StoredChunk`; the index as a whole as `IndexStatus` and `IndexAudit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, JsonValue

from grounded_rag.errors import StoreError
from grounded_rag.types import Chunk, Document, Frozen, PageSpan, Validity

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


Vector: TypeAlias = NDArray[np.float32]
"""One vector, or rows of them."""


def as_rows(vectors: Sequence[Any], *, dimension: int | None) -> Vector:
    """Return at least one vector as the rows of one array, all of `dimension` if it is given.

    Raises:
        StoreError: Lengths differ, or a value is NaN or infinite, or a vector is all zeros.
    """
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
    """What makes two embedding models interchangeable for one index.

    Attributes:
        name: Name of the model.
        variant: Its build: the format and hash of its weights, or the class that runs it.
        dimension: Length of its vectors; None until the first vector is seen.
    """

    name: str
    variant: str = ""
    dimension: Annotated[int, Field(ge=1)] | None = None

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
    """One document version to be written.

    Attributes:
        document: The document.
        chunks: Its chunks in reading order.
        vectors: Vectors by chunk id; needed only for the ids in `missing_vectors`.
        trust: "official", "internal" or "untrusted".
        recipe: Version of the rules that cut the chunks; a later one makes them anew.
    """

    document: Document
    chunks: Sequence[Chunk]
    vectors: Mapping[str, Vector | Sequence[float]] = field(default_factory=dict)
    trust: str = "official"
    recipe: str = ""


class DocumentState(Frozen):
    """What ingestion compares a file with: hashes of the live text and of all beside it."""

    doc_id: str
    content_hash: str
    metadata_hash: str
    recipe: str = ""
    chunks: int = 0


class StoredChunk(Frozen):
    """A chunk with the offsets that it has in one version of its document.

    Attributes:
        chunk: The chunk.
        document_hash: `content_hash` of that version.
        version: Number of the version, growing with time.
        live: Whether that version is the document's current text.
        page_spans: Pages that the chunk touches, in code points of the document.
    """

    chunk: Chunk
    document_hash: str
    version: int
    live: bool
    page_spans: tuple[PageSpan, ...] = ()


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


class IndexStatus(Frozen):
    """The state of an index.

    Attributes:
        documents: Live documents; `dated` ones say something about time, `undated` ones nothing.
        chunks: Live chunks.
        versions: Stored document versions, live ones included.
        vectors: Vectors in the vector index.
        embedding: Model of the vectors, or None for an index that only searches words.
        schema_version: Schema of the ledger.
        generation: Grows with every change.
        bytes_on_disk: Size of the whole folder.
        server: Address of the Chroma server, or None for a folder.
    """

    documents: int
    chunks: int
    versions: int
    vectors: int
    dated: int
    undated: int
    embedding: EmbeddingIdentity | None
    schema_version: int
    generation: int
    bytes_on_disk: int
    server: str | None = None

    @property
    def lexical_only(self) -> bool:
        """Whether retrieval rests on BM25 alone."""
        return self.embedding is None


class IndexAudit(Frozen):
    """Where the derived indexes differ from the ledger.

    Attributes:
        orphan_vectors: Ids in the vector index that no retrievable version holds.
        missing_vectors: Ids that the vector index should hold.
        unreachable_vectors: Ids that it holds but does not return for their own vector.
        lexical_mismatch: Ids whose row in the lexical index is missing or superfluous.
        unfinished_versions: Document versions whose writing was interrupted.
        mended: Whether everything above was put right.
    """

    orphan_vectors: tuple[str, ...] = ()
    missing_vectors: tuple[str, ...] = ()
    unreachable_vectors: tuple[str, ...] = ()
    lexical_mismatch: tuple[str, ...] = ()
    unfinished_versions: int = 0
    mended: bool = False

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        return self == IndexAudit(mended=self.mended)
