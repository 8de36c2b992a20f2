"""Why drafted claims were withheld: what that says about a refusal, and where to mend it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from grounded_rag.types import ClaimVerdict, Reason


class Area(StrEnum):
    """Where a fix belongs."""

    NOWHERE = "nowhere"
    RETRIEVAL = "retrieval"
    PROMPT = "prompt"
    VERIFICATION = "verification"
    DATA = "data pipeline"
    GOLDEN = "golden set"
    OPERATION = "operation"


class Cause(NamedTuple):
    """What a reason means.

    Attributes:
        area: Where the fix belongs.
        what: What happened, as the end of "its draft was withheld: ".
        fix: What to try.
    """

    area: Area
    what: str
    fix: str


def main_reason(claims: Iterable[ClaimVerdict]) -> Reason | None:
    """Return the commonest reason for which nothing of drafted claims was shown, or None.

    Claims whose statement could have been shown count only where there are no others: the answer
    was refused because of those. Why a statement may not stand in counts before why a claim is not
    supported.

    Args:
        claims: The claims of the last draft that were not shown.
    """
    failed = [claim for claim in claims if not claim.supported]
    lost = [claim for claim in failed if not claim.restatements] or failed
    reasons = [reason for claim in lost if (reason := claim.withheld or claim.reason) is not None]
    return Counter(reasons).most_common(1)[0][0] if reasons else None


def cause_of(reason: Reason) -> Cause:
    """Return what a reason means."""
    return _CAUSES.get(reason, _CITED_BADLY)


_CITED_BADLY = Cause(
    Area.PROMPT,
    "a quote does not stand in the passage that it names",
    "Look at the trace: ask for quotes copied from the passages, or change the model.",
)
_SAYS_ANOTHER = Cause(
    Area.PROMPT,
    "a claim says another value than its source",
    "Look at the trace: ask for the words of the passages, or change the model.",
)

_CAUSES = {
    Reason.UNPROVEN: Cause(
        Area.VERIFICATION,
        "nothing showed a claim in words of its own",
        'Set unproven="restate", or name an entailment model or a judge that can confirm it.',
    ),
    Reason.TOO_LONG: Cause(
        Area.VERIFICATION,
        "the sentences that would stand in for a claim are too long",
        "Raise `longest_restatement`, or name an entailment model or a judge.",
    ),
    Reason.COULD_NOT_CHECK: Cause(
        Area.OPERATION,
        "a check could not be completed",
        "Look at the trace for the check that failed, and ask again.",
    ),
    Reason.BESIDE_QUESTION: Cause(
        Area.RETRIEVAL,
        "what it quotes speaks of another name than the question asks about",
        "Look at what was retrieved: the passage about that name has to come first, under its "
        "headings and title.",
    ),
    Reason.CUT_CONTEXT: Cause(
        Area.RETRIEVAL,
        "a passage begins or ends inside the cited sentence",
        "Cut chunks at the ends of sentences, with table headers and lead-ins.",
    ),
    Reason.NOT_ASSERTED: Cause(
        Area.PROMPT,
        "it quotes what its author does not assert: a question, a heading, struck-out text",
        "Ask for sentences that state the fact; clear withdrawn text out of the documents.",
    ),
    Reason.INJECTED_INSTRUCTION: Cause(
        Area.DATA,
        "it quotes text that is addressed to the assistant",
        "Clear such text out of the documents, or keep it out of retrieval with "
        'injected="quarantine".',
    ),
    Reason.NUMBER_MISMATCH: _SAYS_ANOTHER,
    Reason.UNIT_MISMATCH: _SAYS_ANOTHER,
    Reason.IDENTIFIER_MISMATCH: _SAYS_ANOTHER,
    Reason.WRONG_CELL: Cause(
        Area.PROMPT,
        "a claim reads another cell of its table",
        "Look at the trace: ask for the row's label, the column's name and the cell, or change the "
        "model.",
    ),
    Reason.CONTRADICTED: _SAYS_ANOTHER,
    Reason.NOT_ENTAILED: Cause(
        Area.PROMPT,
        "a decider says that a claim does not follow from its source",
        "Look at the trace: the draft says more than its quotes, or the decider is too strict.",
    ),
    Reason.NOT_A_STATEMENT: Cause(
        Area.PROMPT,
        "the draft asks instead of stating",
        "Ask for statements; a question is no claim.",
    ),
    Reason.BESIDE_REFUSAL: Cause(
        Area.PROMPT,
        "the output refuses and makes claims",
        "Ask the model to do one of the two.",
    ),
}
