"""Vectors as arrays: their type, their bytes in the ledger and the checks before they get there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grounded_rag.errors import StoreError

Vector: TypeAlias = NDArray[np.float32]
"""One vector, or rows of them."""


def as_rows(vectors: Sequence[Any], *, dimension: int | None) -> Vector:
    """Return vectors as the rows of one array.

    Args:
        vectors: Arrays or lists of numbers, at least one.
        dimension: Length that each must have, or None where the first decides.

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
