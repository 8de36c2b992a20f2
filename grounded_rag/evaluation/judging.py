"""One record as all metrics and the diagnosis see it, whichever system gave the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from grounded_rag.config import Policy
from grounded_rag.decision import shippable
from grounded_rag.evaluation.records import Answerable, EvalRecord, GoldenItem
from grounded_rag.types import (
    ClaimStatus,
    ClaimVerdict,
    Flag,
    RefusalReason,
    RetrievedChunk,
    Tier,
)

State = Literal["answered", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was shown for one question, and on what it rests.

    A plain dataclass: a replay makes thousands of them.

    Attributes:
        record: The record.
        state: Answered (in part too), refused, or failed: nothing that could be scored.
        failure: Why it failed, or "".
        text: The text shown.
        claims: The claims shown, with verdicts as the policy sees them.
        drafted: The claims of the first draft, or None where there was none.
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
        policy: Says which tiers of support count.
    """
    if record.error is not None:
        failure = f"{record.error.kind}: {record.error.message}"
        return Judged(record=record, state="failed", failure=failure)
    if record.other is not None:
        return _of_other(record, policy)
    if record.answer is not None:
        return _of_answer(record, policy)
    return Judged(record=record, state="failed", failure="The record holds no answer.")


def _of_answer(record: EvalRecord, policy: Policy) -> Judged:
    answer = record.answer
    if answer is None:
        raise ValueError("the record holds no answer of ours")
    first = next((a.verification for a in answer.trace.attempts if a.verification), None)
    drafted = None if first is None else tuple(shippable(v, policy) for v in first.claims)
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
        drafted=drafted,
        flags=answer.flags,
        found=answer.flags,
        unanswered=answer.unanswered,
        retrieved=answer.trace.retrieved,
    )


def _of_other(record: EvalRecord, policy: Policy) -> Judged:
    other = record.other
    if other is None:
        raise ValueError("the record holds no answer of another system")
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
        claims=tuple(_confirmed(v, policy) for v in other.verification.claims),
        # Ours, found afterwards: the other system's reader was told nothing of them.
        found=other.verification.flags,
        unanswered=other.verification.unanswered,
        retrieved=other.contexts,
        own_citations=other.own_citations,
    )


def _confirmed(verdict: ClaimVerdict, policy: Policy) -> ClaimVerdict:
    """Return a verdict on a foreign claim: one that nothing confirms or rejects is unchecked.

    Our own pipeline refuses such a claim, because it can ask again. About another system's answer
    the truth is that nobody has checked it, and that is never counted as a "no".
    """
    if shippable(verdict, policy).supported or verdict.tier is not Tier.LEXICAL:
        return verdict
    return verdict.model_copy(
        update={
            "status": ClaimStatus.UNCHECKED,
            "why": "Nothing rejects the claim and nothing configured can confirm it.",
        }
    )
