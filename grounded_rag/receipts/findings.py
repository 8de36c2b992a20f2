"""What checking a receipt again finds out."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from grounded_rag.types import AnswerStatus, FlagKind, Frozen, Instant, OldTier, Reason, Span, Tier


class TextStatus(StrEnum):
    """What became of the text that a claim rests on. Whether it still holds is another question.

    `reformatted` and `link_changed` have the same words: wraps or markup, or the target of a link,
    are what changed.
    """

    STILL_TRUE = "still_true"
    TEXT_MOVED = "text_moved"
    REFORMATTED = "reformatted"
    LINK_CHANGED = "link_changed"
    TEXT_CHANGED = "text_changed"
    REMOVED = "removed"
    DOCUMENT_GONE = "document_gone"
    COULD_NOT_CHECK = "could_not_check"
    ALTERED = "altered"
    NOT_COMPARED = "not_compared"


UNCHANGED = frozenset(
    {
        TextStatus.STILL_TRUE,
        TextStatus.TEXT_MOVED,
        TextStatus.REFORMATTED,
        TextStatus.LINK_CHANGED,
        TextStatus.NOT_COMPARED,
    }
)
"""Statuses under which the words of the evidence still stand; `not_compared` makes no statement."""


class DiffPart(Frozen):
    """A piece of a word diff; all parts but `added` give the old text, but `removed` the new."""

    kind: Literal["same", "removed", "added"]
    text: str


class NumberChange(Frozen):
    """A number, date or time that the old text has and the new one has not, or the reverse.

    Attributes:
        old: As the old text writes it, unit included; None where it was added.
        new: As the new text writes it; None where it is gone.
    """

    old: str | None
    new: str | None


class NearestPassage(Frozen):
    """The passage of today's text that resembles the old one most. It is no evidence.

    Attributes:
        doc_id: The document.
        span: Code points of the document's text that were compared.
        text: The sentence(s) around that span, to read.
        similarity: Share of characters that the compared texts have in common in order, 0 to 1.
        diff: Word diff from the old text to the text at `span`.
        numbers: Every number, date and time that differs, by value.
    """

    doc_id: str
    span: Span
    text: str
    similarity: Annotated[float, Field(ge=0, le=1)]
    diff: tuple[DiffPart, ...] = ()
    numbers: tuple[NumberChange, ...] = ()


class CitationStanding(Frozen):
    """Where one quote stands in the documents as they are now.

    Attributes:
        quote: The quote.
        doc_id: Its document when the answer was given.
        title: Title of that document.
        status: What became of the text.
        found_in: Document in which the quote stands now, or None.
        span: Its place there, in code points.
        nearest: For a changed text, what stands there now.
        sentence_changed: Whether the quote stands and the statement around it reads otherwise.
        also_in: Other documents that hold the sentence, for one whose document is gone.
    """

    quote: str
    doc_id: str
    title: str = ""
    status: TextStatus
    found_in: str | None = None
    span: Span | None = None
    nearest: NearestPassage | None = None
    sentence_changed: bool = False
    also_in: tuple[str, ...] = ()


class StaleSource(Frozen):
    """What the metadata says now against a cited document.

    Attributes:
        kind: Superseded, expired, not yet effective or too old.
        doc_id: The document.
        detail: One sentence for a person.
        since: When the state began, where known.
        successor: Document that replaces it, or None.
        known_then: Whether the answer already carried a flag of this kind.
        successor_says: The passage of the successor that resembles the old one most, or None.
    """

    kind: FlagKind
    doc_id: str
    detail: str
    since: Instant | None = None
    successor: str | None = None
    known_then: bool = False
    successor_says: NearestPassage | None = None


class ClaimCheck(Frozen):
    """What became of one claim: two answers, about its text and about its sources' validity.

    Attributes:
        claim: Text of the claim.
        status: The gravest status of its quotes.
        why: One sentence that says what decided.
        tier: On what its support rested, as the receipt says; None where that is no evidence.
        restated: Whether its words are the source's, in the place of a claim of the generator.
        decided_by: Name of the decider that confirmed it then, or "".
        note: Whether it was confirmed again, or is taken on trust; or "".
        citations: Each of its quotes.
        stale: What no longer holds about its sources.
    """

    claim: str
    status: TextStatus
    why: str
    tier: Tier | OldTier | None = None
    restated: bool = False
    decided_by: str = ""
    note: str = ""
    citations: tuple[CitationStanding, ...] = ()
    stale: tuple[StaleSource, ...] = ()

    @property
    def stands(self) -> bool:
        """Whether the words still stand and nothing in the metadata speaks against the source."""
        return self.status in UNCHANGED and not self.stale


SignatureState = Literal["none", "not_checked", "valid", "invalid", "missing"]
"""`none` and `not_checked` say nothing: no key was given to check with."""


class IntegrityProblem(Frozen):
    """Something in a receipt that does not fit together.

    Attributes:
        kind: What it is: `hash`, `id`, `source`, `span`, `quote`, `sentence`, `tier`, `text`,
            `status`, `unsupported` or `signature`.
        path: Where in the receipt.
        detail: One sentence for a person.
        reason: For `unsupported`, why the verifier rejects the claim.
    """

    kind: str
    path: str = ""
    detail: str
    reason: Reason | None = None


class ReceiptCheck(Frozen):
    """What checking one receipt found.

    Attributes:
        receipt_id: Id of the receipt.
        question: Its question.
        status: Whether the question was answered.
        created_at: When the answer was given.
        answered_as_of: Moment for which the answer was to hold.
        as_of: Moment for which it was checked now.
        against: What it was compared with.
        altered: What in the receipt does not fit together; not empty means that it is no evidence.
        unconfirmed: Claims without the support that the receipt states, on the carried text,
            where other rules gave the answer, or a decider says otherwise now: no sign of
            alteration by itself.
        signature: Whether it is signed, as far as a public key was given to check it with;
            `missing` and `invalid` need one, and count as altered.
        claims: Each claim.
    """

    receipt_id: str
    question: str
    status: AnswerStatus
    created_at: AwareDatetime
    answered_as_of: Instant | None = None
    as_of: Instant
    against: Literal["index", "folder", "nothing"]
    altered: tuple[IntegrityProblem, ...] = ()
    unconfirmed: tuple[IntegrityProblem, ...] = ()
    signature: SignatureState = "none"
    claims: tuple[ClaimCheck, ...] = ()

    @property
    def wrong(self) -> bool:
        """Whether the receipt was altered, or the words of a claim do not stand any more."""
        return bool(self.altered or self.unconfirmed) or any(
            claim.status not in UNCHANGED for claim in self.claims
        )

    @property
    def stale(self) -> bool:
        """Whether a source of a claim is superseded, expired or otherwise outdated now."""
        return any(claim.stale for claim in self.claims)

    @property
    def stands(self) -> bool:
        """Whether nothing speaks against the answer today."""
        return not self.wrong and not self.stale


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
