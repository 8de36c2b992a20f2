"""Is what a claim quotes asserted by its author at all?"""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.signals import veto

_SHOWN = 80


def asserted(case: ClaimCase) -> Signal | None:
    """Reject a claim that rests on nothing but what its source does not assert.

    A question, struck-out or commented-out text and an unticked box state nothing.
    """
    statements = [statement for piece in case.evidence for statement in piece.statements]
    if not statements or any(statement.asserted for statement in statements):
        return None
    shown = statements[0].text[:_SHOWN]
    return veto(
        "asserted",
        Reason.NOT_ASSERTED,
        f"The source does not assert “{shown}”: it is a question, struck out, hidden or not "
        "ticked. Quote a sentence that states it.",
    )
