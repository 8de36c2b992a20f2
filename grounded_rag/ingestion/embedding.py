"""The embedding that ingestion uses, its token counter, and why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding


@dataclass(frozen=True)
class EmbeddingChoice:
    """The embedding, its token counter, and why there is none."""

    embedding: BaseEmbedding | None
    count: Callable[[str], int]
    reason: str = ""


def choose(embedding: BaseEmbedding | Literal["default"] | None) -> EmbeddingChoice:
    """Return what a choice of embedding stands for, with a counter of its tokens."""
    reason = ""
    if embedding == "default":
        from grounded_rag.index.embedding import default_embedding

        found = default_embedding()
        embedding, reason = found.embedding, found.reason
    elif embedding is None:
        reason = "no embedding was asked for"
    counter = getattr(embedding, "count_tokens", None)
    return EmbeddingChoice(embedding=embedding, count=counter or approximate_tokens, reason=reason)


def approximate_tokens(text: str) -> int:
    """Return about as many tokens as a subword tokenizer makes, rather more than fewer."""
    return len(text.encode("utf-8", "surrogatepass")) // 3 + 1
