"""What checking receipts again finds out, and the words that say so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from grounded_rag.types import AnswerStatus, FlagKind, Frozen, Instant, OldTier, Reason, Span, Tier
from grounded_rag.types.display import one_line


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


Against = Literal["index", "folder", "nothing"]


class DiffPart(Frozen):
    """A piece of a word diff; all parts but `added` give the old text, but `removed` the new."""

    kind: Literal["same", "removed", "added"] = Field(description="Which of the texts has it.")
    text: str = Field(description="Whole words, numbers, marks or white space.")


class NumberChange(Frozen):
    """A number, date or time that the old text has and the new one has not, or the reverse."""

    old: str | None = Field(
        description="As the old text writes it, unit included; None where it was added."
    )
    new: str | None = Field(description="As the new text writes it; None where it is gone.")


class NearestPassage(Frozen):
    """The passage of today's text that resembles the old one most. It is no evidence."""

    doc_id: str = Field(description="The document.")
    span: Span = Field(description="Code points of the document's text that were compared.")
    text: str = Field(description="The sentence(s) around that span, to read.")
    similarity: float = Field(
        ge=0,
        le=1,
        description="Share of characters that the compared texts have in common in order, 0 to 1.",
    )
    diff: tuple[DiffPart, ...] = Field(
        default=(), description="Word diff from the old text to the text at `span`."
    )
    numbers: tuple[NumberChange, ...] = Field(
        default=(), description="Every number, date and time that differs, by value."
    )


class CitationStanding(Frozen):
    """Where one quote stands in the documents as they are now."""

    quote: str = Field(description="The quote.")
    doc_id: str = Field(description="Its document when the answer was given.")
    title: str = Field(default="", description="Title of that document.")
    status: TextStatus = Field(description="What became of the text.")
    found_in: str | None = Field(
        default=None, description="Document in which the quote stands now, or None."
    )
    span: Span | None = Field(default=None, description="Its place there, in code points.")
    nearest: NearestPassage | None = Field(
        default=None, description="For a changed text, what stands there now."
    )
    sentence_changed: bool = Field(
        default=False,
        description="Whether the quote stands and the statement around it reads otherwise.",
    )
    also_in: tuple[str, ...] = Field(
        default=(),
        description="Other documents that hold the sentence, for one whose document is gone.",
    )


class StaleSource(Frozen):
    """What the metadata says now against a cited document."""

    kind: FlagKind = Field(description="Superseded, expired, not yet effective or too old.")
    doc_id: str = Field(description="The document.")
    detail: str = Field(description="One sentence for a person.")
    since: Instant | None = Field(default=None, description="When the state began, where known.")
    successor: str | None = Field(default=None, description="Document that replaces it, or None.")
    known_then: bool = Field(
        default=False, description="Whether the answer already carried a flag of this kind."
    )
    successor_says: NearestPassage | None = Field(
        default=None,
        description="The passage of the successor that resembles the old one most, or None.",
    )


class ClaimCheck(Frozen):
    """What became of one claim: two answers, about its text and about its sources' validity."""

    claim: str = Field(description="Text of the claim.")
    status: TextStatus = Field(description="The gravest status of its quotes.")
    why: str = Field(description="One sentence that says what decided.")
    tier: Tier | OldTier | None = Field(
        default=None,
        description=(
            "On what its support rested, as the receipt says; None where that is no evidence."
        ),
    )
    restated: bool = Field(
        default=False,
        description="Whether its words are the source's, in the place of a claim of the generator.",
    )
    decided_by: str = Field(
        default="", description='Name of the decider that confirmed it then, or "".'
    )
    note: str = Field(
        default="", description='Whether it was confirmed again, or is taken on trust; or "".'
    )
    citations: tuple[CitationStanding, ...] = Field(default=(), description="Each of its quotes.")
    stale: tuple[StaleSource, ...] = Field(
        default=(), description="What no longer holds about its sources."
    )

    @property
    def stands(self) -> bool:
        """Whether the words still stand and nothing in the metadata speaks against the source."""
        return self.status in UNCHANGED and not self.stale


SignatureState = Literal["none", "not_checked", "valid", "invalid", "missing"]
"""`none` and `not_checked` say nothing: no key was given to check with."""


class IntegrityProblem(Frozen):
    """Something in a receipt that does not fit together."""

    kind: str = Field(
        description=(
            "What it is: `hash`, `id`, `source`, `span`, `quote`, `sentence`, `tier`, `text`, "
            "`status`, `unsupported` or `signature`."
        )
    )
    path: str = Field(default="", description="Where in the receipt.")
    detail: str = Field(description="One sentence for a person.")
    reason: Reason | None = Field(
        default=None, description="For `unsupported`, why the verifier rejects the claim."
    )


class ReceiptCheck(Frozen):
    """What checking one receipt found."""

    receipt_id: str = Field(description="Id of the receipt.")
    question: str = Field(description="Its question.")
    status: AnswerStatus = Field(description="Whether its answer was whole, partial or a refusal.")
    created_at: AwareDatetime = Field(description="When the answer was given.")
    answered_as_of: Instant | None = Field(
        default=None, description="Moment for which the answer was to hold."
    )
    as_of: Instant = Field(description="Moment for which it was checked now.")
    against: Against = Field(description="What it was compared with.")
    altered: tuple[IntegrityProblem, ...] = Field(
        default=(),
        description=(
            "What in the receipt does not fit together; not empty means that it is no evidence."
        ),
    )
    unconfirmed: tuple[IntegrityProblem, ...] = Field(
        default=(),
        description=(
            "Claims without the support that the receipt states, on the carried text, where other "
            "rules gave the answer, or a decider says otherwise now: no sign of alteration by "
            "itself."
        ),
    )
    signature: SignatureState = Field(
        default="none",
        description=(
            "Whether it is signed, as far as a public key was given to check it with; `missing` "
            "and `invalid` need one, and count as altered."
        ),
    )
    claims: tuple[ClaimCheck, ...] = Field(default=(), description="Each claim.")

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

    def __str__(self) -> str:
        return "\n".join(_check_lines(self, self.claims))


class AuditFinding(Frozen):
    """A receipt that does not stand any more, and the file it is in."""

    file: str = Field(description="Name of the file.")
    check: ReceiptCheck = Field(description="What checking it found.")


class UnreadableReceipt(Frozen):
    """A file in the folder that is no receipt, and why."""

    file: str = Field(description="Name of the file.")
    message: str = Field(description="Why it is no receipt.")


class AuditReport(Frozen):
    """What an audit of a folder of receipts found."""

    as_of: Instant = Field(description="Moment for which the documents were read and judged.")
    against: Against = Field(description="What the receipts were compared with.")
    receipts: int = Field(default=0, description="Number of receipts that were read.")
    refusals: int = Field(
        default=0, description="Those among them that answered nothing and so claim nothing."
    )
    statuses: dict[str, int] = Field(
        default_factory=dict, description="Number of claims by status of their text."
    )
    findings: tuple[AuditFinding, ...] = Field(
        default=(), description="Receipts that are altered, wrong or stale, by file name."
    )
    unreadable: tuple[UnreadableReceipt, ...] = Field(
        default=(), description="Files that are no receipt, by file name."
    )

    @property
    def wrong(self) -> tuple[AuditFinding, ...]:
        """Receipts that were altered, or whose words do not stand any more."""
        return tuple(finding for finding in self.findings if finding.check.wrong)

    @property
    def stale(self) -> tuple[AuditFinding, ...]:
        """Receipts of which a source is superseded, expired or otherwise outdated now."""
        return tuple(finding for finding in self.findings if finding.check.stale)

    @property
    def clean(self) -> bool:
        """Whether every file is a receipt that stands."""
        return not self.findings and not self.unreadable

    def __str__(self) -> str:
        return "\n".join(_report_lines(self))


_WHY = {
    TextStatus.STILL_TRUE: "The quote stands where it stood.",
    TextStatus.REFORMATTED: "The same words stand, written with other wraps or markup.",
    TextStatus.LINK_CHANGED: "The same words stand; the target of a link is another.",
    TextStatus.NOT_COMPARED: "The receipt is sound; it was not compared with any document.",
    TextStatus.COULD_NOT_CHECK: "A cited document is there and cannot be read.",
}
_NUMBERS_SHOWN = 6
_RESTATED = "In the source’s words, in the place of a claim that nothing had shown"
_RESTS_ON = {
    Tier.VERBATIM: "Word for word from the source",
    Tier.CONFIRMED: "In words of its own",
    Tier.NONE: "Quoted from a real place, not checked further",
    OldTier.HIGH: "Version 0.1 called it “high”: close to its quote by rules of then",
    OldTier.CHECKED: "Version 0.1 called it “checked”",
    OldTier.LEXICAL: "Version 0.1 called it “lexical”: nothing against it by rules of then",
}


def why_line(status: TextStatus, standings: Sequence[CitationStanding], rejected: str) -> str:
    """Return one sentence that says what decided about a claim, of whose quotes one has the status.

    `rejected` is why the verifier rejects the claim on today's text, or "".
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
        changed = "; ".join(
            number_line(change) for change in worst.nearest.numbers[:_NUMBERS_SHOWN]
        )
        numbers = f" Numbers: {changed}." if changed else ""
        return f"The text reads otherwise now.{numbers}"
    return _WHY[status]


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


def _check_lines(check: ReceiptCheck, claims: Sequence[ClaimCheck]) -> Iterator[str]:
    headline = "stands" if check.stands else "stale"
    if check.wrong:
        headline = "altered" if check.altered else "wrong"
    yield f"{headline}: {one_line(check.question)}"
    against = "itself only" if check.against == "nothing" else f"the {check.against}"
    yield (
        f"  answered {check.created_at.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC, checked as of "
        f"{check.as_of} against {against}; receipt {one_line(check.receipt_id[:12])}"
    )
    for name, problems in (("altered", check.altered), ("not confirmed", check.unconfirmed)):
        for problem in problems:
            place = f" @ {one_line(problem.path)}" if problem.path else ""
            yield f"  {name}{place}: {one_line(problem.detail)}"
    if not check.claims:
        yield "  A refusal: it claims nothing."
    for claim in claims:
        yield from _claim_lines(claim)


def _claim_lines(claim: ClaimCheck) -> Iterator[str]:
    mark = "✓" if claim.stands else "!" if claim.status in UNCHANGED else "✗"
    yield f"  {mark} {one_line(claim.claim)}"
    yield f"      {claim.status.replace('_', ' ')}: {one_line(claim.why)}"
    if support := support_line(claim):
        yield f"      {one_line(support)}"
    for standing in claim.citations:
        if standing.nearest is not None:
            yield f"      reads now: {_diff_line(standing.nearest)}"
    for stale in claim.stale:
        known = "flagged already when it was answered" if stale.known_then else "not flagged then"
        yield f"      ! {stale.kind.replace('_', ' ')}: {one_line(stale.detail)} ({known})"
        if stale.successor_says is not None:
            successor = one_line(stale.successor_says.doc_id)
            yield f"        {successor}, which holds now: {_diff_line(stale.successor_says)}"


def _diff_line(nearest: NearestPassage) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return one_line("".join(marks[part.kind].format(part.text) for part in nearest.diff))


def _report_lines(report: AuditReport) -> Iterator[str]:
    yield (
        f"{report.receipts} receipts as of {report.as_of}; "
        f"still right: {report.receipts - len(report.findings)}, "
        f"wrong or altered: {len(report.wrong)}, stale: {len(report.stale)}"
    )
    if report.refusals:
        yield f"{report.refusals} of them are refusals."
    for finding in report.findings:
        yield f"{one_line(finding.file)}:"
        fallen = [claim for claim in finding.check.claims if not claim.stands]
        yield from (f"  {line}" for line in _check_lines(finding.check, fallen))
    for item in report.unreadable:
        yield f"unreadable: {one_line(item.file)}: {one_line(item.message)}"
