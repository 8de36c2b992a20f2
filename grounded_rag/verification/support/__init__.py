"""What can be decided without a model: hard checks, a score that orders claims, and conflicts."""

from __future__ import annotations

from grounded_rag.protocols import SupportCheck
from grounded_rag.verification.support.arithmetic import arithmetic
from grounded_rag.verification.support.conflict import Conflict, find_conflicts
from grounded_rag.verification.support.numbers import numbers
from grounded_rag.verification.support.quoted import (
    asserted,
    identifiers,
    injected,
    injected_spans,
    table_cells,
)
from grounded_rag.verification.support.score import coverage, support_score

__all__ = [
    "BUILT_IN",
    "Conflict",
    "arithmetic",
    "asserted",
    "coverage",
    "default_checks",
    "find_conflicts",
    "identifiers",
    "injected",
    "injected_spans",
    "numbers",
    "support_score",
    "table_cells",
]


BUILT_IN: tuple[SupportCheck, ...] = (
    injected, asserted, table_cells, identifiers, arithmetic, numbers,
)  # fmt: skip
"""The most telling first: the first veto names the reason."""


def default_checks() -> tuple[SupportCheck, ...]:
    """Return the built-in checks, to which you can add your own."""
    return BUILT_IN
