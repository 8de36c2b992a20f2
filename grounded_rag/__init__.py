"""grounded_rag: answers that can be checked, each claim with a verified quote, or a refusal.

    from grounded_rag import GroundedRAG

    rag = GroundedRAG.from_corpus("handbook/")
    answer = rag.query("How long is the notice period?")

The verifier alone, for any other stack, needs pydantic only:

    from grounded_rag import verify
"""

from typing import TYPE_CHECKING, Any

from grounded_rag.answer import Answer
from grounded_rag.config import Policy
from grounded_rag.errors import GroundedRAGError
from grounded_rag.types import (
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
    Receipt,
    Refusal,
    RefusalReason,
    Restatement,
    RetrievedChunk,
    Signal,
    Span,
    Statement,
    Tier,
    Validity,
    Verification,
)
from grounded_rag.version import __version__ as __version__

if TYPE_CHECKING:
    from grounded_rag.conversation.conversation import Conversation
    from grounded_rag.generate.citations_api import CitationsGenerator
    from grounded_rag.generate.extractive import ExtractiveGenerator
    from grounded_rag.generate.structured import StructuredGenerator
    from grounded_rag.index.embedding import MiniLMEmbedding
    from grounded_rag.ingest.update import IngestReport, update_index
    from grounded_rag.judge import LLMJudge
    from grounded_rag.llama import LlamaIndexRetriever
    from grounded_rag.models.cross_encoder import CrossEncoder
    from grounded_rag.models.entailment import OnnxEntailment
    from grounded_rag.models.nli import CrossEncoderEntailment
    from grounded_rag.models.token_detector import TokenDetector
    from grounded_rag.rag import GroundedRAG
    from grounded_rag.receipts.check import audit_receipts, verify_receipt
    from grounded_rag.receipts.findings import AuditReport, ReceiptCheck
    from grounded_rag.receipts.make import load_receipt, save_receipt
    from grounded_rag.relevance import RelevanceCheck
    from grounded_rag.verification import verify
    from grounded_rag.verification.checks import role
    from grounded_rag.verification.rules import Rules
    from grounded_rag.verification.support import default_checks
    from grounded_rag.verification.verifier import Verifier, averify

__all__ = [
    "Answer",
    "AnswerStatus",
    "AuditReport",
    "Chunk",
    "Citation",
    "CitationCheck",
    "CitationsGenerator",
    "Claim",
    "ClaimStatus",
    "ClaimVerdict",
    "Conversation",
    "CrossEncoder",
    "CrossEncoderEntailment",
    "Document",
    "Draft",
    "ExtractiveGenerator",
    "Flag",
    "FlagKind",
    "Fold",
    "GroundedRAG",
    "GroundedRAGError",
    "IngestReport",
    "LLMJudge",
    "LlamaIndexRetriever",
    "Located",
    "MiniLMEmbedding",
    "OnnxEntailment",
    "Outcome",
    "Policy",
    "Reason",
    "Receipt",
    "ReceiptCheck",
    "Refusal",
    "RefusalReason",
    "RelevanceCheck",
    "Restatement",
    "RetrievedChunk",
    "Rules",
    "Signal",
    "Span",
    "Statement",
    "StructuredGenerator",
    "Tier",
    "TokenDetector",
    "Validity",
    "Verification",
    "Verifier",
    "audit_receipts",
    "averify",
    "default_checks",
    "load_receipt",
    "role",
    "save_receipt",
    "update_index",
    "verify",
    "verify_receipt",
]

# What is large, or pulls in LlamaIndex, Chroma or a provider's SDK, is imported at first use: a
# bare `import grounded_rag` stays fast, and `verify` works where only pydantic is installed.
_LAZY = {
    "AuditReport": "grounded_rag.receipts.findings",
    "Conversation": "grounded_rag.conversation.conversation",
    "CitationsGenerator": "grounded_rag.generate.citations_api",
    "CrossEncoder": "grounded_rag.models.cross_encoder",
    "CrossEncoderEntailment": "grounded_rag.models.nli",
    "ExtractiveGenerator": "grounded_rag.generate.extractive",
    "GroundedRAG": "grounded_rag.rag",
    "IngestReport": "grounded_rag.ingest.update",
    "LLMJudge": "grounded_rag.judge",
    "LlamaIndexRetriever": "grounded_rag.llama",
    "MiniLMEmbedding": "grounded_rag.index.embedding",
    "OnnxEntailment": "grounded_rag.models.entailment",
    "ReceiptCheck": "grounded_rag.receipts.findings",
    "RelevanceCheck": "grounded_rag.relevance",
    "Rules": "grounded_rag.verification.rules",
    "StructuredGenerator": "grounded_rag.generate.structured",
    "TokenDetector": "grounded_rag.models.token_detector",
    "Verifier": "grounded_rag.verification.verifier",
    "audit_receipts": "grounded_rag.receipts.check",
    "averify": "grounded_rag.verification.verifier",
    "default_checks": "grounded_rag.verification.support",
    "load_receipt": "grounded_rag.receipts.make",
    "role": "grounded_rag.verification.checks",
    "save_receipt": "grounded_rag.receipts.make",
    "update_index": "grounded_rag.ingest.update",
    "verify": "grounded_rag.verification",
    "verify_receipt": "grounded_rag.receipts.check",
}

# Names of version 0.1 that have moved to a namespace of their own.
_MOVED = {
    "ClaimCase": "grounded_rag.protocols",
    "ConfigError": "grounded_rag.errors",
    "DraftError": "grounded_rag.errors",
    "EncryptedError": "grounded_rag.errors",
    "IndexLockedError": "grounded_rag.errors",
    "IndexMismatchError": "grounded_rag.errors",
    "IndexNotFoundError": "grounded_rag.errors",
    "InputError": "grounded_rag.errors",
    "ManifestError": "grounded_rag.errors",
    "MissingExtraError": "grounded_rag.errors",
    "MissingKeyError": "grounded_rag.errors",
    "NoTextError": "grounded_rag.errors",
    "PromptError": "grounded_rag.errors",
    "ProviderError": "grounded_rag.errors",
    "ProviderUnavailableError": "grounded_rag.errors",
    "QuestionError": "grounded_rag.errors",
    "ReadError": "grounded_rag.errors",
    "ReceiptError": "grounded_rag.errors",
    "StoreError": "grounded_rag.errors",
    "UndecodableError": "grounded_rag.errors",
    "UnsupportedFormatError": "grounded_rag.errors",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _MOVED:
        import warnings

        module = _MOVED[name]
        warnings.warn(
            f"Import {name} from {module}; grounded_rag.{name} will go in version 0.3.",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
