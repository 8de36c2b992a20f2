"""Similarity of sentences to a question by whatever embedding is at hand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from math import sqrt
from operator import mul
from typing import Protocol

_KEPT = 4_096


class SentenceEmbedding(Protocol):
    """What is used of an embedding; every LlamaIndex `BaseEmbedding` fits."""

    def get_query_embedding(self, query: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        ...

    def get_text_embedding_batch(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """Return one vector a text, in order."""
        ...


class Similarity:
    """Cosines of sentences and questions; vectors of sentences are kept for later questions.

    Safe to be used by several threads at once.
    """

    def __init__(self, embedding: SentenceEmbedding) -> None:
        self._embedding = embedding
        self._kept: OrderedDict[str, Sequence[float]] = OrderedDict()
        self._lock = threading.Lock()

    def cosines(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return the cosine of each sentence to the question, in order; 0 for a null vector."""
        query = _unit(self._embedding.get_query_embedding(question))
        vectors = self._vectors(sentences)
        return [sum(map(mul, query, vectors[sentence])) for sentence in sentences]

    def _vectors(self, sentences: Sequence[str]) -> dict[str, Sequence[float]]:
        wanted = list(dict.fromkeys(sentences))
        with self._lock:
            found = {text: self._kept[text] for text in wanted if text in self._kept}
        missing = [text for text in wanted if text not in found]
        if missing:
            made = self._embedding.get_text_embedding_batch(missing)
            found.update((text, _unit(vector)) for text, vector in zip(missing, made, strict=True))
        with self._lock:
            for text in wanted:
                self._kept[text] = found[text]
                self._kept.move_to_end(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


def _unit(vector: Sequence[float]) -> Sequence[float]:
    values = [float(value) for value in vector]
    length = sqrt(sum(map(mul, values, values)))
    return [value / length for value in values] if length > 0 else values
