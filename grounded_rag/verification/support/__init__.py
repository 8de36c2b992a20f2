"""Does the quote carry the claim? One small check a file, each explaining itself in a sentence."""

from __future__ import annotations

from grounded_rag.protocols import SupportCheck
from grounded_rag.verification.support.added_content import added_content
from grounded_rag.verification.support.conflict import Conflict, find_conflicts
from grounded_rag.verification.support.injected import injected, injected_spans
from grounded_rag.verification.support.names import names
from grounded_rag.verification.support.nearness import nearness
from grounded_rag.verification.support.numbers import numbers
from grounded_rag.verification.support.operators import operators
from grounded_rag.verification.support.overlap import overlap
from grounded_rag.verification.support.polarity import polarity
from grounded_rag.verification.support.rule import support_score
from grounded_rag.verification.support.strength import strength
from grounded_rag.verification.support.substitution import substitution
from grounded_rag.verification.support.sufficiency import sufficiency
from grounded_rag.verification.support.table_cells import table_cells, without_row_readings
from grounded_rag.verification.support.units import units

__all__ = [
    "Conflict",
    "added_content",
    "default_checks",
    "find_conflicts",
    "injected",
    "injected_spans",
    "names",
    "nearness",
    "numbers",
    "operators",
    "overlap",
    "polarity",
    "strength",
    "substitution",
    "sufficiency",
    "support_score",
    "table_cells",
    "units",
]


def default_checks() -> tuple[SupportCheck, ...]:
    """Return the built-in checks, most telling first: the first veto names the reason."""
    prose = (
        units,
        numbers,
        names,
        polarity,
        operators,
        strength,
        added_content,
        substitution,
        sufficiency,
        overlap,
        nearness,
    )
    return (injected, table_cells, *map(without_row_readings, prose))
