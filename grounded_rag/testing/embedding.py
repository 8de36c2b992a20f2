"""An embedding for tests that needs no model.

It stands apart from the other fakes because LlamaIndex takes seconds to import.
"""

from __future__ import annotations

import hashlib
import math

from llama_index.core.base.embeddings.base import BaseEmbedding

from grounded_rag.text.words import content_words


class HashEmbedding(BaseEmbedding):
    """Embeds a text as hashed counts of its word stems: equal words, near vectors."""

    dimension: int = 64  # length of the vectors
    model_name: str = "hash-embedding"

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        # A constant keeps texts without any content word from having no direction at all.
        vector[0] = 0.01
        for word in content_words(text):
            digest = hashlib.blake2b(word.stem.encode("utf-8", "surrogatepass"), digest_size=8)
            number = int.from_bytes(digest.digest(), "big")
            vector[number % self.dimension] += 1.0 if number & (1 << 60) else -1.0
        norm = math.sqrt(sum(value * value for value in vector))
        return [value / norm for value in vector]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._vector(query)
