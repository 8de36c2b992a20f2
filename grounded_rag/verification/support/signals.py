"""Short constructors for the signals of the built-in checks."""

from __future__ import annotations

from collections.abc import Iterable

from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.terms import Term

_SHOWN = 5


def veto(check: str, reason: Reason, detail: str, *, score: float | None = None) -> Signal:
    """A finding that rejects the claim."""
    return Signal(check=check, passed=False, reason=reason, detail=detail, score=score)


def fine(check: str, detail: str, *, score: float | None = None) -> Signal:
    """A veto check that found nothing wrong."""
    return Signal(check=check, passed=True, detail=detail, score=score)


def listed(terms: Iterable[Term | str]) -> str:
    """Return at most five terms as quoted text for a person."""
    texts = [term if isinstance(term, str) else term.text for term in terms]
    shown = ", ".join(f"“{text}”" for text in texts[:_SHOWN])
    return shown + (f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else "")
