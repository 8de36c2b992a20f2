"""What the built-in checks share: their signals in short, and when they are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal


def veto(check: str, reason: Reason, detail: str) -> Signal:
    """A finding that rejects the claim."""
    return Signal(check=check, passed=False, reason=reason, detail=detail)


def fine(check: str, detail: str) -> Signal:
    """A veto check that found nothing wrong."""
    return Signal(check=check, passed=True, detail=detail)


def of_wording(
    check: Callable[[ClaimCase], Signal | None],
) -> Callable[[ClaimCase], Signal | None]:
    """Return a check that has nothing to say about a verbatim claim: it is the source's."""

    @wraps(check)
    def asked(case: ClaimCase) -> Signal | None:
        return None if case.verbatim else check(case)

    return asked
