"""Receipts: an answer as a file that anyone can check again, offline and later."""

from __future__ import annotations

from typing import Any

__all__ = [
    "AuditReport",
    "ReceiptCheck",
    "audit_receipts",
    "load_receipt",
    "make_receipt",
    "save_receipt",
    "sign",
    "text_fragment_links",
    "to_web_annotation",
    "verify_receipt",
    "verify_signature",
]

_LAZY = {
    "AuditReport": "grounded_rag.receipts.findings",
    "ReceiptCheck": "grounded_rag.receipts.findings",
    "audit_receipts": "grounded_rag.receipts.check",
    "load_receipt": "grounded_rag.receipts.make",
    "make_receipt": "grounded_rag.receipts.make",
    "save_receipt": "grounded_rag.receipts.make",
    "sign": "grounded_rag.receipts.make",
    "text_fragment_links": "grounded_rag.receipts.interchange",
    "to_web_annotation": "grounded_rag.receipts.interchange",
    "verify_receipt": "grounded_rag.receipts.check",
    "verify_signature": "grounded_rag.receipts.make",
}


def __getattr__(name: str) -> Any:
    # An answer makes its receipt without loading what reads indexes and files.
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)
