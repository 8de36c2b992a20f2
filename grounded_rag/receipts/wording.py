"""One sentence for a person on what became of a claim's text."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.receipts.findings import CitationStanding, NumberChange, TextStatus

_SIMPLE = {
    TextStatus.STILL_TRUE: "The quote stands where it stood.",
    TextStatus.REFORMATTED: "The same words stand, written with other wraps or markup.",
    TextStatus.LINK_CHANGED: "The same words stand; the target of a link is another.",
    TextStatus.NOT_COMPARED: "The receipt is sound; it was not compared with any document.",
    TextStatus.COULD_NOT_CHECK: "A cited document is there and cannot be read.",
}
_NUMBERS = 6


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
