"""One record as all metrics and the diagnosis see it, whichever system gave the answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

from grounded_rag.answer import Answer
from grounded_rag.config import Policy
from grounded_rag.decision import shipping
from grounded_rag.evaluation.records import Answerable, EvalRecord, GoldenItem, OtherAnswer
from grounded_rag.types import (
    ClaimStatus,
    ClaimVerdict,
    Flag,
    RefusalReason,
    RetrievedChunk,
    Tier,
    Verification,
)


class Observation(NamedTuple):
    """Hits among trials of one record.

    No trials and no failures mean "not applicable". Failures are never counted as misses.

    Attributes:
        hits: What counts for the rate; a share between 0 and 1 for a mean.
        trials: Number of things looked at.
        failed: Number of things that could not be scored.
        why: Why they could not.
    """

    hits: float = 0
    trials: int = 0
    failed: int = 0
    why: str = ""


NOT_APPLICABLE = Observation()


def yes_or_no(hit: bool) -> Observation:
    """Return the observation of one thing looked at."""
    return Observation(hits=int(hit), trials=1)


def share(hits: int, trials: int) -> Observation:
    """Return the observation of several things looked at."""
    return Observation(hits=hits, trials=trials)


def failed(why: str, *, things: int = 1) -> Observation:
    """Return the observation of things that could not be scored."""
    return Observation(failed=things, why=why)


State = Literal["answered", "refused", "failed"]


class Basis(StrEnum):
    """On what a claim rests, or why nothing of it was shown; the weakest comes last.

    `open` is no reproach: nothing has shown the claim, and nothing speaks against it. `unchecked`
    says that a check broke down, `rejected` that a hard check found what is wrong with the claim,
    and `refused` that it was never shown.
    """

    VERBATIM = "verbatim"
    CONFIRMED = "confirmed"
    RESTATED = "restated"
    OPEN = "open"
    UNCHECKED = "unchecked"
    REJECTED = "rejected"
    REFUSED = "refused"


_OPEN = frozenset({ClaimStatus.OPEN, ClaimStatus.UNCITED})
_REJECTED = frozenset({ClaimStatus.UNSUPPORTED, ClaimStatus.CONTRADICTED})
_TIERS = {
    Tier.VERBATIM: Basis.VERBATIM,
    Tier.CONFIRMED: Basis.CONFIRMED,
    # Its quote exists and nothing else is known: what the policy "spans-only" asks for.
    Tier.NONE: Basis.OPEN,
}


def basis(claim: ClaimVerdict) -> Basis:
    """Return on what a claim that was shown rests."""
    if claim.status is ClaimStatus.UNCHECKED:
        return Basis.UNCHECKED
    if claim.status in _OPEN:
        return Basis.OPEN
    if claim.status in _REJECTED:
        return Basis.REJECTED
    return Basis.RESTATED if claim.restated else _TIERS[claim.tier]


def is_rejected(claim: ClaimVerdict) -> bool:
    """Whether a hard check says what is wrong with a claim; an open claim is not rejected."""
    return basis(claim) is Basis.REJECTED


def is_open(claim: ClaimVerdict) -> bool:
    """Whether nothing has shown a claim and nothing speaks against it."""
    return basis(claim) is Basis.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was shown for one question, and on what it rests.

    A plain dataclass: a replay makes thousands of them.

    Attributes:
        record: The record.
        state: Answered (in part too), refused, or failed: nothing that could be scored.
        failure: Why it failed, or "".
        text: The text shown.
        claims: The claims shown: in their own words, or restated in those of the source.
        drafted: The claims of the first draft, or None where there was none.
        withheld: The claims of the last draft of which nothing was shown.
        support: Support score of each shown claim that is open, by its place in `claims`.
        apart: Number of parts of the text that state nothing: headings, greetings, source lists.
        flags: Remarks on the claims that the reader was told.
        found: Remarks that the verifier would have made, told or not.
        unanswered: Parts of the question said to be open.
        retrieved: What was retrieved, best first.
        own_citations: Whether the citations are the system's own.
    """

    record: EvalRecord
    state: State
    failure: str = ""
    text: str = ""
    claims: tuple[ClaimVerdict, ...] = ()
    drafted: tuple[ClaimVerdict, ...] | None = None
    withheld: tuple[ClaimVerdict, ...] = ()
    support: tuple[float | None, ...] = ()
    apart: int = 0
    flags: tuple[Flag, ...] = ()
    found: tuple[Flag, ...] = ()
    unanswered: tuple[str, ...] = ()
    retrieved: tuple[RetrievedChunk, ...] = ()
    own_citations: bool = True

    @property
    def item(self) -> GoldenItem:
        """The golden item."""
        return self.record.item

    @property
    def answered(self) -> bool:
        """Whether an answer was given."""
        return self.state == "answered"

    @property
    def answerable(self) -> bool | None:
        """Whether the documents answer the question, at least in part; None: nobody has said."""
        label = self.item.answerable
        return None if label is None else label is not Answerable.NO


def judged(record: EvalRecord, policy: Policy) -> Judged:
    """Return a record as metrics see it.

    Args:
        record: The record.
        policy: Says what ships of a drafted claim.
    """
    if record.error is not None:
        message = record.error.message.rstrip(".")
        failure = f"{record.error.kind}: {message}. {record.error.hint}".rstrip()
        return Judged(record=record, state="failed", failure=failure)
    if record.other is not None:
        return _of_other(record, record.other)
    if record.answer is not None:
        return _of_answer(record, record.answer, policy)
    return Judged(record=record, state="failed", failure="The record holds no answer.")


def _of_answer(record: EvalRecord, answer: Answer, policy: Policy) -> Judged:
    drafts = [a.verification for a in answer.trace.attempts if a.verification is not None]
    unchecked = (
        answer.refusal is not None and answer.refusal.reason is RefusalReason.COULD_NOT_CHECK
    )
    return Judged(
        record=record,
        # Neither a right nor a wrong refusal: the check broke down, and nobody knows.
        state="failed" if unchecked else "answered" if answer.answered else "refused",
        failure="A check of the claims could not be completed." if unchecked else "",
        text=answer.text if answer.answered else "",
        claims=answer.claims,
        drafted=drafts[0].claims if drafts else None,
        withheld=_withheld(drafts[-1], policy, answered=answer.answered) if drafts else (),
        flags=answer.flags,
        found=answer.flags,
        unanswered=answer.unanswered,
        retrieved=answer.trace.retrieved,
    )


def _withheld(last: Verification, policy: Policy, *, answered: bool) -> tuple[ClaimVerdict, ...]:
    if not answered:
        return last.claims
    return tuple(verdict for verdict in last.claims if not shipping(verdict, policy))


def _of_other(record: EvalRecord, other: OtherAnswer) -> Judged:
    if other.refused:
        return Judged(
            record=record,
            state="refused",
            retrieved=other.contexts,
            own_citations=other.own_citations,
        )
    if other.verification is None:
        return Judged(record=record, state="failed", failure="The answer was never verified.")
    return Judged(
        record=record,
        state="answered",
        text=other.text,
        claims=other.verification.claims,
        support=other.support,
        apart=len(other.apart),
        # Ours, found afterwards: the other system's reader was told nothing of them.
        found=other.verification.flags,
        unanswered=other.verification.unanswered,
        retrieved=other.contexts,
        own_citations=other.own_citations,
    )
