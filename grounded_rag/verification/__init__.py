"""Checking claims against retrieved text: locating quotes, then judging support."""

from grounded_rag.verification.verifier import verify

__all__ = ["verify"]
