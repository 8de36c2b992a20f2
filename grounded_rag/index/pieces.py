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


def by_pieces(asked: TokenVectors, chunks: Mapping[str, bytes]) -> list[str]:
    """Return the ids of chunks, the best match first; those without pieces are left out.

    A rare piece of the question counts more than a common one.
    """
    dimension = asked.rows.shape[1]
    width = (dimension + 7) // 8
    found = [(chunk_id, signs) for chunk_id, signs in chunks.items() if signs]
    if not found or not asked.ranks:
        return []
    counts = [len(signs) // width for _, signs in found]
    rows = np.frombuffer(b"".join(signs for _, signs in found), dtype=np.uint8)
    bits = np.unpackbits(rows.reshape(-1, width), axis=1, count=dimension).astype(np.float32)
    # With signs as -1 and 1 the product would be twice this less a constant: the same order.
    products = asked.rows.astype(np.float32) @ bits.T
    nearest = np.maximum.reduceat(products, np.cumsum([0, *counts[:-1]]), axis=1)
    weights = np.array([piece_weight(rank) for rank in asked.ranks], dtype=np.float32)
    order = (-(weights @ nearest)).argsort(kind="stable")
    return [found[at][0] for at in order]
