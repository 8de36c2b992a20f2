"""Does a claim give a cell of a table under the name of another column?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.words import content_words
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.signals import of_wording, veto


@of_wording
def table_cells(case: ClaimCase) -> Signal | None:
    """Reject a claim that names a column of the quoted row and gives another column's cell.

    "988 complaints were decided for the customer" from a row that has 988 under "Received" and 602
    under "Decided for the customer".
    """
    for piece in case.evidence:
        for statement in piece.statements:
            wrong = _wrong(case.claim.text, statement.cells[1:])
            if wrong is not None:
                name, given, right = wrong
                return veto(
                    "table_cells",
                    Reason.WRONG_CELL,
                    f"The claim gives “{given}” for “{name}”; the row gives “{right}” there.",
                )
    return None


def _wrong(claim: str, cells: Sequence[tuple[str, str]]) -> tuple[str, str, str] | None:
    """Return a column that a claim names, the cell that it gives there, and the right one."""
    given = [(name, cell) for name, cell in cells if _holds(claim, cell)]
    if not given:
        return None
    words = {word.stem for word in content_words(claim)}
    named = [
        (name, cell)
        for name, cell in cells
        if (parts := {word.stem for word in content_words(name)}) and parts <= words
    ]
    cells_given = {cell for _, cell in given}
    if any(cell in cells_given for _, cell in named):
        return None
    return (named[0][0], given[0][1], named[0][1]) if named else None


def _holds(claim: str, cell: str) -> bool:
    """Whether a claim holds a cell that says more than a word such as "no"."""
    if not any(map(str.isdigit, cell)):
        return False
    return re.search(rf"(?<![\w.,]){re.escape(cell)}(?!\w|[.,]\d)", claim) is not None
