"""Late interaction: how well the word pieces of a question are matched by those of a chunk.

For each piece of the question the nearest piece of the chunk is found, as ColBERT does (MaxSim).
The index keeps one bit for each dimension of a chunk's pieces, the sign: that orders candidates as
well as the whole vectors do, and takes a thirty-second of their room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grounded_rag.text.words import TokenVectors, piece_weight


def packed(rows: NDArray[Any]) -> bytes:
    """Return the signs of the vectors of some pieces, one bit for each dimension."""
    return np.packbits(rows > 0, axis=1).tobytes()


_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32)
"""The eight signs of each value of a byte, as 0 and 1."""


def by_pieces(asked: TokenVectors, chunks: Mapping[str, bytes]) -> list[str]:
    """Return the ids of chunks, the best match first; those without pieces are left out.

    A rare piece of the question counts more than a common one.
    """
    width = (asked.rows.shape[1] + 7) // 8
    found = [(chunk_id, signs) for chunk_id, signs in chunks.items() if signs]
    if not found or not asked.ranks:
        return []
    counts = [len(signs) // width for _, signs in found]
    signs = np.frombuffer(b"".join(signs for _, signs in found), dtype=np.uint8)
    nearest = np.maximum.reduceat(
        _products(asked.rows, signs.reshape(-1, width)), np.cumsum([0, *counts[:-1]]), axis=0
    )
    weights = np.array([piece_weight(rank) for rank in asked.ranks], dtype=np.float32)
    order = (-(nearest @ weights)).argsort(kind="stable")
    return [found[at][0] for at in order]


def _products(asked: NDArray[Any], signs: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return a row for each piece of the chunks: its product with each piece of the question.

    With signs as 0 and 1. As -1 and 1 it would be twice that less a constant: the same order. What
    a byte of signs adds is looked up: unpacked, the same product would take a large matrix and the
    threads of BLAS, which cost more than they do wherever anything else runs.
    """
    count, dimension = asked.shape
    width = signs.shape[1]
    padded = np.zeros((count, width * 8), dtype=np.float32)
    padded[:, :dimension] = asked
    # By byte of a piece, its value and piece of the question.
    sums = _BYTES @ padded.reshape(count, width, 8).transpose(1, 2, 0)
    products = np.zeros((len(signs), count), dtype=np.float32)
    for values, column in zip(sums, np.ascontiguousarray(signs.T), strict=True):
        products += values.take(column, axis=0)
    return products
