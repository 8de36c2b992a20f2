"""Similarity of sentences to a question by whatever embedding is at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from operator import mul
from typing import Protocol

from grounded_rag.generate.question import Question
from grounded_rag.models.sentence_cache import SentenceCache, TokenEmbedding
from grounded_rag.text.words import TokenVectors, piece_weight

_KEPT_PIECES = 65_536
"""Word pieces whose vectors are kept: 50 MB for the built-in model, some 2,000 sentences."""

_LEAST = 0.05


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a question and a sentence are; all but `gap` are cosines or means of them."""

    cosine: float = 0.0  # Of both as a whole
    late: float = 0.0  # The mean best cosine over the question's pieces; rare ones count more
    cover: float = 0.0  # The same over its content words alone
    gap: float = 0.0  # Largest weight of a content word times what its best cosine lacks to 1
    # Best cosine of each content word that has a place in the model's window.
    found: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _AskedWord:
    """One content word of a question: the pieces it was cut into, and its weight."""

    pieces: tuple[int, ...]
    weight: float


class LateInteraction:
    """Compares sentences with questions; vectors of sentences are kept for later questions."""

    def __init__(self, embedding: TokenEmbedding) -> None:
        # The vector of the whole text is kept too.
        self._vectors = SentenceCache(
            embedding.token_vectors, most=_KEPT_PIECES, size=lambda vectors: len(vectors.ranks) + 1
        )

    def compare(self, question: Question, sentences: Sequence[str]) -> list[Likeness]:
        """Return the likeness of each sentence to the question, in order."""
        vectors = self._vectors.of((question.text, *sentences))
        asked = vectors[question.text]
        if not asked.ranks:
            return [Likeness()] * len(sentences)
        words = _asked_words(question, asked)
        return [_likeness(asked, words, vectors[text]) for text in sentences]


def _likeness(asked: TokenVectors, words: Sequence[_AskedWord], sentence: TokenVectors) -> Likeness:
    cosine = float(asked.mean @ sentence.mean)
    if not sentence.ranks:
        return Likeness(cosine=cosine)
    # Rows may be kept in half precision; products are made in single.
    rows, others = asked.rows.astype("float32"), sentence.rows.astype("float32")
    best: list[float] = (rows @ others.T).max(axis=1).tolist()
    weights = [piece_weight(rank) for rank in asked.ranks]
    late = sum(map(float.__mul__, best, weights)) / sum(weights)
    if not words:
        return Likeness(cosine=cosine, late=late)
    found = tuple(sum(best[at] for at in word.pieces) / len(word.pieces) for word in words)
    total = sum(word.weight for word in words)
    cover = sum(word.weight * value for word, value in zip(words, found, strict=True)) / total
    gap = max(word.weight * (1.0 - value) for word, value in zip(words, found, strict=True))
    return Likeness(cosine=cosine, late=late, cover=cover, gap=gap, found=found)


def _asked_words(question: Question, asked: TokenVectors) -> list[_AskedWord]:
    words: list[_AskedWord] = []
    for term in question.terms:
        if term.borrowed:
            continue
        pieces = tuple(
            at
            for at, (start, end) in enumerate(asked.places)
            if start < term.word.end and term.word.start < end
        )
        if pieces:
            words.append(_AskedWord(pieces, max(_LEAST, term.weight)))
    return words


class SentenceEmbedding(Protocol):
    """What is used of an embedding; every LlamaIndex `BaseEmbedding` fits."""

    def get_query_embedding(self, query: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        ...

    def get_text_embedding_batch(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """Return one vector per text, in order."""
        ...


class QuestionSimilarity:
    """Cosines of sentences and questions; vectors of sentences are kept for later questions."""

    def __init__(self, embedding: SentenceEmbedding) -> None:
        self._embedding = embedding
        self._vectors = SentenceCache(
            lambda texts: map(_unit, embedding.get_text_embedding_batch(texts))
        )

    def cosines(self, question: str, sentences: Sequence[str]) -> list[float]:
        """Return the cosine of each sentence to the question, in order; 0 for a null vector."""
        query = _unit(self._embedding.get_query_embedding(question))
        vectors = self._vectors.of(sentences)
        return [sum(map(mul, query, vectors[sentence])) for sentence in sentences]


def _unit(vector: Sequence[float]) -> Sequence[float]:
    values = [float(value) for value in vector]
    length = sqrt(sum(map(mul, values, values)))
    return [value / length for value in values] if length > 0 else values
