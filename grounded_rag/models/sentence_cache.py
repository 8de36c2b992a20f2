"""Vectors of sentences, kept for the next question or claim: the same passages come back often."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar, runtime_checkable

from grounded_rag.text.words import TokenVectors

Vector = TypeVar("Vector")

SENTENCES = 4_096
"""Sentences that a cache keeps by default."""


@runtime_checkable
class TokenEmbedding(Protocol):
    """An embedding that also gives the vectors of word pieces, as the built-in one does."""

    def token_vectors(self, texts: Sequence[str], /) -> Sequence[TokenVectors]:
        """Return the pieces of each text, in order."""
        ...


class SentenceCache(Generic[Vector]):
    """The vectors of the sentences that were used last. Safe for several threads at once."""

    def __init__(
        self,
        embed: Callable[[list[str]], Iterable[Vector]],
        *,
        most: int = SENTENCES,
        size: Callable[[Vector], int] = lambda _: 1,
    ) -> None:
        """Keep vectors of at most `most` in `size` together; `embed` makes one per text."""
        self._embed = embed
        self._most = most
        self._size = size
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()

    def of(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each text; those that are not kept are made in one call."""
        wanted = list(dict.fromkeys(texts))
        with self._lock:
            found = {text: self._kept[text] for text in wanted if text in self._kept}
        missing = [text for text in wanted if text not in found]
        if missing:
            # Outside the lock: another thread may embed meanwhile.
            found.update(zip(missing, self._embed(missing), strict=True))
        with self._lock:
            for text in wanted:
                if text not in self._kept:
                    self._total += self._size(found[text])
                    self._kept[text] = found[text]
                self._kept.move_to_end(text)
            while self._total > self._most:
                _, oldest = self._kept.popitem(last=False)
                self._total -= self._size(oldest)
        return found
