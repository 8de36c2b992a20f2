"""grounded_rag: answers that can be checked, each claim with a verified quote, or a refusal.

    from grounded_rag import GroundedRAG

    rag = GroundedRAG.from_corpus("handbook/")
    answer = rag.query("How long is the notice period?")

The verifier alone, for any other stack, needs pydantic only:

    from grounded_rag import verify
"""

from typing import TYPE_CHECKING, Any

from grounded_rag.config import Policy
from grounded_rag.errors import (
    ConfigError,
    DraftError,
    EncryptedError,
    GroundedRAGError,
    IndexLockedError,
    IndexMismatchError,
    IndexNotFoundError,
    InputError,
    ManifestError,
    MissingExtraError,
    MissingKeyError,
    NoTextError,
    PromptError,
    ProviderError,
    ProviderUnavailableError,
    QuestionError,
    ReadError,
    StoreError,
    UndecodableError,
    UnsupportedFormatError,
)
from grounded_rag.types import (
    Answer,
    AnswerStatus,
    Chunk,
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Document,
    Draft,
    Flag,
    FlagKind,
    Fold,
    Located,
    Outcome,
    Reason,
    Refusal,
    RefusalReason,
    RetrievedChunk,
    Signal,
    Span,
    Tier,
    Validity,
    Verification,
)

if TYPE_CHECKING:
    from grounded_rag.generate.extractive import ExtractiveGenerator
    from grounded_rag.generate.structured import StructuredGenerator
    from grounded_rag.index.embedding import MiniLMEmbedding
    from grounded_rag.index.foreign import LlamaIndexRetriever
    from grounded_rag.ingestion import IngestReport, update_index
    from grounded_rag.rag import GroundedRAG
    from grounded_rag.verification import verify

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AnswerStatus",
    "Chunk",
    "Citation",
    "CitationCheck",
    "Claim",
    "ClaimStatus",
    "ClaimVerdict",
    "ConfigError",
    "Document",
    "Draft",
    "DraftError",
    "EncryptedError",
    "ExtractiveGenerator",
    "Flag",
    "FlagKind",
    "Fold",
    "GroundedRAG",
    "GroundedRAGError",
    "IndexLockedError",
    "IndexMismatchError",
    "IndexNotFoundError",
    "IngestReport",
    "InputError",
    "LlamaIndexRetriever",
    "Located",
    "ManifestError",
    "MiniLMEmbedding",
    "MissingExtraError",
    "MissingKeyError",
    "NoTextError",
    "Outcome",
    "Policy",
    "PromptError",
    "ProviderError",
    "ProviderUnavailableError",
    "QuestionError",
    "ReadError",
    "Reason",
    "Refusal",
    "RefusalReason",
    "RetrievedChunk",
    "Signal",
    "Span",
    "StoreError",
    "StructuredGenerator",
    "Tier",
    "UndecodableError",
    "UnsupportedFormatError",
    "Validity",
    "Verification",
    "update_index",
    "verify",
]

# What is large, or pulls in LlamaIndex, Chroma or a provider's SDK, is imported at first use: a
# bare `import grounded_rag` stays fast, and `verify` works where only pydantic is installed.
_LAZY = {
    "ExtractiveGenerator": "grounded_rag.generate.extractive",
    "GroundedRAG": "grounded_rag.rag",
    "IngestReport": "grounded_rag.ingestion",
    "LlamaIndexRetriever": "grounded_rag.index.foreign",
    "MiniLMEmbedding": "grounded_rag.index.embedding",
    "StructuredGenerator": "grounded_rag.generate.structured",
    "update_index": "grounded_rag.ingestion",
    "verify": "grounded_rag.verification",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
