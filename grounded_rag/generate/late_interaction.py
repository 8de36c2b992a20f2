"""Similarity of sentences to a question by whatever embedding is at hand."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from operator import mul
from typing import Protocol, runtime_checkable

from grounded_rag.generate.question import Question
from grounded_rag.text.words import TokenVectors

_KEPT_PIECES = 65_536
"""Word pieces whose vectors are kept: 50 MB for the built-in model, some 2,000 sentences."""

_LEAST = 0.05
_COMMON = 0.1
_COMMON_RANK = 1_000
_RARE_RANK = 30_000


@runtime_checkable
class TokenEmbedding(Protocol):
    """An embedding that also gives the vectors of word pieces, as the built-in one does."""

    def token_vectors(self, texts: Sequence[str], /) -> Sequence[TokenVectors]:
        """Return the pieces of each text, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike a question and a sentence are; all but `gap` are cosines or means of them.

    Attributes:
        cosine: Of both as a whole.
        late: Over the pieces of the question, rare ones counting more, the mean best cosine.
        cover: The same over its content words alone.
        gap: Largest weight of a content word times what its best cosine lacks to 1.
        found: Best cosine of each content word that has a place in the model's window.
    """

    cosine: float = 0.0
    late: float = 0.0
    cover: float = 0.0
    gap: float = 0.0
    found: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _AskedWord:
    """One content word of a question: the pieces it was cut into, and how much it tells."""

    pieces: tuple[int, ...]
    weight: float


class LateInteraction:
    """Compares sentences with questions; vectors of sentences are kept for later questions.

    Safe to be used by several threads at once.
    """

    def __init__(self, embedding: TokenEmbedding) -> None:
        self._embedding = embedding
        self._kept: OrderedDict[str, TokenVectors] = OrderedDict()
        self._pieces = 0
        self._lock = threading.Lock()

    def compare(self, question: Question, sentences: Sequence[str]) -> list[Likeness]:
        """Return the likeness of each sentence to the question, in order."""
        vectors = self._vectors((question.text, *sentences))
        asked = vectors[question.text]
        if not asked.ranks:
            return [Likeness()] * len(sentences)
        words = _asked_words(question, asked)
        return [_likeness(asked, words, vectors[text]) for text in sentences]

    def _vectors(self, texts: Sequence[str]) -> dict[str, TokenVectors]:
        wanted = list(dict.fromkeys(texts))
        with self._lock:
            found = {text: self._kept[text] for text in wanted if text in self._kept}
        missing = [text for text in wanted if text not in found]
        if missing:
            found.update(zip(missing, self._embedding.token_vectors(missing), strict=True))
        with self._lock:
            for text in wanted:
                if text not in self._kept:
                    self._pieces += _size(found[text])
                    self._kept[text] = found[text]
                self._kept.move_to_end(text)
            while self._pieces > _KEPT_PIECES:
                _, oldest = self._kept.popitem(last=False)
                self._pieces -= _size(oldest)
        return found


def _size(vectors: TokenVectors) -> int:
    # The vector of the whole text is kept too.
    return len(vectors.ranks) + 1


def _likeness(asked: TokenVectors, words: Sequence[_AskedWord], sentence: TokenVectors) -> Likeness:
    cosine = float(asked.mean @ sentence.mean)
    if not sentence.ranks:
        return Likeness(cosine=cosine)
    # Rows may be kept in half precision; products are made in single.
    rows, others = asked.rows.astype("float32"), sentence.rows.astype("float32")
    best: list[float] = (rows @ others.T).max(axis=1).tolist()
    weights = [_piece_weight(rank) for rank in asked.ranks]
    late = sum(map(float.__mul__, best, weights)) / sum(weights)
    if not words:
        return Likeness(cosine=cosine, late=late)
    found = tuple(sum(best[at] for at in word.pieces) / len(word.pieces) for word in words)
    told = sum(word.weight for word in words)
    cover = sum(word.weight * value for word, value in zip(words, found, strict=True)) / told
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


def _piece_weight(rank: int) -> float:
    """Return how much a piece tells: more, the later it comes in a list ordered by frequency."""
    share = math.log(max(rank, _COMMON_RANK) / _COMMON_RANK) / math.log(_RARE_RANK / _COMMON_RANK)
    return min(1.0, max(_COMMON, share))


_KEPT = 4_096


class SentenceEmbedding(Protocol):
    """What is used of an embedding; every LlamaIndex `BaseEmbedding` fits."""

    def get_query_embedding(self, query: str, /) -> Sequence[float]:
        """Return the vector of a question."""
        ...

    def get_text_embedding_batch(self, texts: list[str], /) -> Sequence[Sequence[float]]:
        """Return one vector a text, in order."""
        ...


class QuestionSimilarity:
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
