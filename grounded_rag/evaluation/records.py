"""The records of an evaluation: what became of each golden item, and how metrics see it.

A run is a folder with `run.json` (one `RunMeta`) and `records.jsonl` (lines of `EvalRecord`).
A `JudgedRecord` is one record as all metrics and the diagnosis see it, whichever system answered.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, JsonValue, field_serializer

from grounded_rag.answer import Answer
from grounded_rag.config import Policy
from grounded_rag.decision import shipping
from grounded_rag.evaluation.datasets import Answerable, GoldenItem
from grounded_rag.types import (
    ClaimStatus,
    ClaimVerdict,
    Draft,
    Flag,
    Frozen,
    RefusalReason,
    RetrievedChunk,
    Span,
    Tier,
    Usage,
    Verification,
)


class GoldPlace(Frozen):
    """Where a gold quote stands: a document and code points of its canonical text."""

    doc_id: str
    span: Span


class RecordError(Frozen):
    """Why there is no answer to judge: class of the error, what happened, what to do next."""

    kind: str
    message: str
    hint: str = ""


class OtherAnswer(Frozen):
    """The answer of another system, with what the verifier makes of it.

    `support` says of each open claim how well its words stand in what was retrieved; it orders
    claims and is no probability. It is None for other claims.
    """

    text: str = Field(description="As it was shown.")
    contexts: tuple[RetrievedChunk, ...] = Field(default=(), description="Best first.")
    draft: Draft = Field(default=Draft(), description="Citations: its own, or places looked up.")
    own_citations: bool = Field(default=False, description="Citations are the system's own.")
    refused: bool = False
    verification: Verification | None = Field(default=None, description="None if it is not judged.")
    support: tuple[Annotated[float, Field(ge=0, le=1)] | None, ...] = ()
    apart: tuple[str, ...] = Field(default=(), description="Parts that state nothing.")


class EvalRecord(Frozen):
    """What became of one golden item: an answer, another system's answer, or an error.

    `places` are those of each gold piece in the documents, where these could be read. `judged` has
    further yes-or-no findings by name; None means "could not judge".
    """

    item: GoldenItem
    answer: Answer | None = Field(default=None, description="With its trace.")
    other: OtherAnswer | None = Field(default=None, description="Another system's answer.")
    error: RecordError | None = Field(default=None, description="Why there is no answer.")
    places: tuple[tuple[GoldPlace, ...], ...] = ()
    scores: dict[str, float] = Field(default_factory=dict, description='Such as "relevance".')
    judged: dict[str, bool | None] = Field(default_factory=dict)
    seconds: Annotated[float, Field(ge=0)] = 0.0

    @property
    def unscored(self) -> bool:
        """Whether it ended in an error, or a check of its claims broke down: to be asked again."""
        refusal = None if self.answer is None else self.answer.refusal
        return self.error is not None or (
            refusal is not None and refusal.reason is RefusalReason.COULD_NOT_CHECK
        )

    @field_serializer("answer", mode="plain")
    def _with_trace(self, answer: Answer | None) -> dict[str, Any] | None:
        """Write the trace, which an answer's own JSON leaves out: a replay needs it."""
        if answer is None:
            return None
        whole = answer.model_dump(mode="json")
        whole["trace"] = answer.trace.model_dump(mode="json")
        return whole


class CheckIdentity(Frozen):
    """One support check as it ran: its recorded signals count while both fields stay the same."""

    name: str
    fingerprint: str = Field(description="Differs with code, model and prompt.")


class Prices(Frozen):
    """Money for a million tokens of each kind; the cache's are those read from or written to it."""

    input: Annotated[float, Field(ge=0)] = 0.0
    output: Annotated[float, Field(ge=0)] = 0.0
    cache_read: Annotated[float, Field(ge=0)] = 0.0
    cache_write: Annotated[float, Field(ge=0)] = 0.0
    currency: str = "USD"

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs, in `currency`."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        ) / 1_000_000


class IndexIdentity(Frozen):
    """What was searched."""

    name: str = Field(default="", description="Folder or corpus, as it was named.")
    documents: int = 0
    chunks: int = 0
    embedding: str = Field(default="", description='"" for words alone.')
    content_hash: str = Field(default="", description="SHA-256 over documents' ids and hashes.")


class RunMeta(Frozen):
    """What a run was made with; two runs can be compared where these fields explain the rest."""

    id: str
    started: AwareDatetime
    package_version: str = ""
    golden: str = ""
    golden_hash: str = Field(default="", description="SHA-256 over its items, in order.")
    items: int = Field(default=0, ge=0, description="Items to cover.")
    split: str = ""
    generator: str = Field(default="", description="Name of the generator, or of the other system.")
    policy: dict[str, JsonValue] = Field(default_factory=dict)
    fingerprint: str = Field(default="", description="SHA-256 over policy and prompts.")
    refusal: str = Field(default="", description='Refusal string; "" for the built-in one.')
    verifier: str = Field(default="", description="SHA-256 over the code of the verifier.")
    checks: tuple[CheckIdentity, ...] = ()
    deciders: tuple[CheckIdentity, ...] = ()
    index: IndexIdentity = IndexIdentity()
    prices: Prices | None = None
    relevance_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    replay_of: str = Field(default="", description="The run whose answers were judged again.")


class Basis(StrEnum):
    """On what a claim rests, or why nothing of it was shown; the weakest comes last.

    `open` means that nothing has shown the claim and nothing speaks against it. `unchecked`
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


_BY_STATUS = {
    ClaimStatus.UNCHECKED: Basis.UNCHECKED,
    ClaimStatus.OPEN: Basis.OPEN,
    ClaimStatus.UNCITED: Basis.OPEN,
    ClaimStatus.UNSUPPORTED: Basis.REJECTED,
    ClaimStatus.CONTRADICTED: Basis.REJECTED,
}
_BY_TIER = {
    Tier.VERBATIM: Basis.VERBATIM,
    Tier.CONFIRMED: Basis.CONFIRMED,
    # Its quote exists and nothing else is known: what the policy "spans-only" asks for.
    Tier.NONE: Basis.OPEN,
}


def basis(claim: ClaimVerdict) -> Basis:
    """Return on what a claim that was shown rests."""
    if claim.status in _BY_STATUS:
        return _BY_STATUS[claim.status]
    return Basis.RESTATED if claim.restated else _BY_TIER[claim.tier]


def is_rejected(claim: ClaimVerdict) -> bool:
    """Whether a hard check says what is wrong with a claim; an open claim is not rejected."""
    return basis(claim) is Basis.REJECTED


def is_open(claim: ClaimVerdict) -> bool:
    """Whether nothing has shown a claim and nothing speaks against it."""
    return basis(claim) is Basis.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRecord:
    """What was shown for one question, and on what it rests: what every metric gets.

    A plain dataclass: a replay makes thousands of them.
    """

    record: EvalRecord
    state: Literal["answered", "refused", "failed"]  # failed: could not be scored
    failure: str = ""  # why it failed
    text: str = ""
    claims: tuple[ClaimVerdict, ...] = ()  # shown, restated ones too
    drafted: tuple[ClaimVerdict, ...] | None = None  # of the first draft, where there was one
    withheld: tuple[ClaimVerdict, ...] = ()  # of the last draft, not shown
    support: tuple[float | None, ...] = ()  # by place in `claims`; None unless open
    apart: int = 0  # number of parts of the text that state nothing, such as headings
    flags: tuple[Flag, ...] = ()  # remarks that the reader saw
    found: tuple[Flag, ...] = ()  # remarks of the verifier, shown or not
    unanswered: tuple[str, ...] = ()  # parts of the question said to be open
    retrieved: tuple[RetrievedChunk, ...] = ()  # best first
    own_citations: bool = True  # or places that we looked up

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


def judged(record: EvalRecord, policy: Policy) -> JudgedRecord:
    """Return a record as metrics see it; the policy says what ships of a drafted claim."""
    if record.error is not None:
        message = record.error.message.rstrip(".")
        failure = f"{record.error.kind}: {message}. {record.error.hint}".rstrip()
        return JudgedRecord(record=record, state="failed", failure=failure)
    if record.other is not None:
        return _of_other(record, record.other)
    if record.answer is not None:
        return _of_answer(record, record.answer, policy)
    return JudgedRecord(record=record, state="failed", failure="The record holds no answer.")


def _of_answer(record: EvalRecord, answer: Answer, policy: Policy) -> JudgedRecord:
    drafts = [a.verification for a in answer.trace.attempts if a.verification is not None]
    withheld = drafts[-1].claims if drafts else ()
    if answer.answered:
        withheld = tuple(verdict for verdict in withheld if not shipping(verdict, policy))
    return JudgedRecord(
        record=record,
        # Where a check broke down, the refusal is neither right nor wrong: nobody knows.
        state="failed" if record.unscored else "answered" if answer.answered else "refused",
        failure="A check of the claims could not be completed." if record.unscored else "",
        text=answer.text if answer.answered else "",
        claims=answer.claims,
        drafted=drafts[0].claims if drafts else None,
        withheld=withheld,
        flags=answer.flags,
        found=answer.flags,
        unanswered=answer.unanswered,
        retrieved=answer.trace.retrieved,
    )


def _of_other(record: EvalRecord, other: OtherAnswer) -> JudgedRecord:
    if other.refused:
        return JudgedRecord(
            record=record,
            state="refused",
            retrieved=other.contexts,
            own_citations=other.own_citations,
        )
    if other.verification is None:
        return JudgedRecord(record=record, state="failed", failure="The answer was never verified.")
    return JudgedRecord(
        record=record,
        state="answered",
        text=other.text,
        claims=other.verification.claims,
        support=other.support,
        apart=len(other.apart),
        # Ours, found afterwards: the other system's reader saw nothing of them.
        found=other.verification.flags,
        unanswered=other.verification.unanswered,
        retrieved=other.contexts,
        own_citations=other.own_citations,
    )


_TIERS_BEFORE = {"high": "none", "checked": "confirmed", "lexical": "none"}
_REASONS_GONE = frozenset(
    {"low_overlap", "wrong_entity", "stronger_than_quote", "added_content", "far_from_quote"}
)


def migrated(line: bytes) -> bytes:
    """Return a line as this version writes it, where version 0.1 wrote it.

    Raises:
        ValueError: It is no JSON.
    """
    return json.dumps(_migrated(json.loads(line)), ensure_ascii=False).encode()


def _migrated(value: Any) -> Any:
    if isinstance(value, list):
        return [_migrated(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _migrated(each) for key, each in value.items()}
    if found.get("reason") in _REASONS_GONE:
        found["reason"] = "unproven"
        if found.get("status") == "unsupported":
            # A word list had objected, which proves nothing either.
            found["status"] = "open"
    if found.get("tier") in _TIERS_BEFORE and "status" in found:
        tier = found["tier"]
        found["why"] = f"Version 0.1 called it {tier}; judge the run again to know more."
        found["tier"] = _TIERS_BEFORE[tier]
    return found
