"""Fakes and assertions for the tests of applications built on grounded_rag."""

from typing import TYPE_CHECKING, Any

from grounded_rag.testing.assertions import assert_grounded
from grounded_rag.testing.fakes import ScriptedGenerator, StaticRetriever, make_chunk, make_draft

if TYPE_CHECKING:
    from grounded_rag.testing.embedding import HashEmbedding

__all__ = [
    "HashEmbedding",
    "ScriptedGenerator",
    "StaticRetriever",
    "assert_grounded",
    "make_chunk",
    "make_draft",
]


def __getattr__(name: str) -> Any:
    # LlamaIndex takes seconds to import; only the embedding needs it.
    if name == "HashEmbedding":
        from grounded_rag.testing.embedding import HashEmbedding

        return HashEmbedding
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
