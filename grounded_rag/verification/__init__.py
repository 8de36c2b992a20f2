"""Checking claims against retrieved text: locating quotes, then judging support."""

from grounded_rag.verification.verifier import verify

__all__ = ["addresses_assistant", "verify"]


def addresses_assistant(text: str) -> bool:
    """Whether a text holds something that is addressed to an assistant instead of its readers."""
    from grounded_rag.verification.support import injected_spans

    return bool(injected_spans(text))
