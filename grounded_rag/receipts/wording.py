"""Sentences for a person: what became of a claim's text, and on what the claim rests."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.receipts.findings import (
    CitationStanding,
    ClaimCheck,
    NumberChange,
    TextStatus,
)
from grounded_rag.types import OldTier, Tier

_SIMPLE = {
    TextStatus.STILL_TRUE: "The quote stands where it stood.",
    TextStatus.REFORMATTED: "The same words stand, written with other wraps or markup.",
    TextStatus.LINK_CHANGED: "The same words stand; the target of a link is another.",
    TextStatus.NOT_COMPARED: "The receipt is sound; it was not compared with any document.",
    TextStatus.COULD_NOT_CHECK: "A cited document is there and cannot be read.",
}
_NUMBERS = 6
_RESTATED = "In the source’s words, in the place of a claim that nothing had shown"
_RESTS_ON = {
    Tier.VERBATIM: "Word for word from the source",
    Tier.CONFIRMED: "In words of its own",
    Tier.NONE: "Quoted from a real place, not checked further",
    OldTier.HIGH: "Version 0.1 called it “high”: close to its quote by rules of then",
    OldTier.CHECKED: "Version 0.1 called it “checked”",
    OldTier.LEXICAL: "Version 0.1 called it “lexical”: nothing against it by rules of then",
}


def why_changed(status: TextStatus, standings: Sequence[CitationStanding], rejected: str) -> str:
    """Return the sentence.

    Args:
        status: The gravest status.
        standings: The claim's quotes.
        rejected: Why the verifier rejects the claim on today's text, or "".
    """
    worst = next(standing for standing in standings if standing.status is status)
    if rejected:
        return f"The quote stands, but today's text does not carry the claim: {rejected}"
    if status is TextStatus.TEXT_MOVED:
        if worst.found_in == worst.doc_id:
            return "The quote stands at another place of the document."
        return f"The quote stands in {worst.found_in}: the document was renamed."
    if status is TextStatus.REMOVED:
        return f"{worst.doc_id} is there, and nothing in it resembles the quote any more."
    if status is TextStatus.DOCUMENT_GONE:
        also = f"; the same sentence stands in {', '.join(worst.also_in)}" if worst.also_in else ""
        return f"{worst.doc_id} is gone{also}."
    if status is TextStatus.TEXT_CHANGED and worst.nearest is not None:
        changed = "; ".join(number_line(change) for change in worst.nearest.numbers[:_NUMBERS])
        numbers = f" Numbers: {changed}." if changed else ""
        return f"The text reads otherwise now.{numbers}"
    return _SIMPLE[status]


def number_line(change: NumberChange) -> str:
    """Return one change of a number as text."""
    if change.old is None:
        return f"{change.new} is new"
    if change.new is None:
        return f"{change.old} is gone"
    return f"{change.old} became {change.new}"


def support_line(check: ClaimCheck) -> str:
    """Return on what a claim rests, in plain words; "" where the receipt is no evidence of it."""
    if check.tier is None:
        return ""
    rests = _RESTATED if check.restated else _RESTS_ON[check.tier]
    return f"{rests}. {check.note}".rstrip()
