"""What leaves the pipeline: an answer made only of verified claims, or a refusal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field, JsonValue

from grounded_rag.types._base import Frozen
from grounded_rag.types.documents import Instant, RetrievedChunk
from grounded_rag.types.verdicts import ClaimVerdict, Draft, Flag, FlagKind, Located, Verification


class AnswerStatus(StrEnum):
    """Whether the question was answered."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    REFUSED = "refused"


class RefusalReason(StrEnum):
    """Why there is no answer. Each calls for a different fix."""

    NOTHING_RETRIEVED = "nothing_retrieved"
    GENERATOR_DECLINED = "generator_declined"
    CLAIMS_FAILED = "claims_failed"
    INVALID_OUTPUT = "invalid_output"
    MODEL_REFUSED = "model_refused"
    OUTPUT_TRUNCATED = "output_truncated"
    BUDGET_EXHAUSTED = "budget_exhausted"
    STALE_EVIDENCE = "stale_evidence"
    COULD_NOT_CHECK = "could_not_check"


class Refusal(Frozen):
    """A refusal is a value, not an exception."""

    reason: RefusalReason = Field(description="Typed reason.")
    detail: str = Field(description="One sentence for a person.")
    next_step: str = Field(default="", description="What the asker or the operator can do.")


class Usage(Frozen):
    """Tokens and calls that an answer cost, summed over its attempts."""

    calls: int = Field(default=0, ge=0, description="Calls of the generator.")
    input_tokens: int = Field(default=0, ge=0, description="Tokens read, the cached ones left out.")
    output_tokens: int = Field(default=0, ge=0, description="Tokens written.")
    cache_read_tokens: int = Field(
        default=0, ge=0, description="Tokens read from the provider's cache."
    )
    cache_write_tokens: int = Field(
        default=0, ge=0, description="Tokens written to the provider's cache."
    )

    @property
    def total_tokens(self) -> int:
        """All tokens, in and out, cached or not."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class StopReason(StrEnum):
    """How a generation ended, in terms common to all providers."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    INVALID = "invalid"


class Attempt(Frozen):
    """One call of the generator and what verification made of it. Holds rejected text."""

    number: int = Field(ge=1, description="1 for the first draft, then one more for each re-ask.")
    stop: StopReason = Field(description="How the generation ended.")
    draft: Draft | None = Field(
        default=None, description="The draft, or None where none could be read."
    )
    verification: Verification | None = Field(
        default=None, description="Its verification, or None without a draft."
    )
    usage: Usage = Field(default=Usage(), description="Tokens of this attempt.")
    seconds: float = Field(
        default=0.0, ge=0, description="Wall-clock seconds of the generator's call."
    )
    detail: str = Field(default="", description="What went wrong outside the claims.")


class Trace(Frozen):
    """Everything behind an answer, rejected text included; left out of JSON unless asked for."""

    retrieved: tuple[RetrievedChunk, ...] = Field(
        default=(), description="What the retriever found, by rank."
    )
    attempts: tuple[Attempt, ...] = Field(default=(), description="Every attempt, in order.")


class Timings(Frozen):
    """Wall-clock seconds by stage."""

    retrieve: float = Field(default=0.0, description="Finding the passages.")
    generate: float = Field(default=0.0, description="All calls of the generator.")
    verify: float = Field(default=0.0, description="Checking all drafts.")
    relevance: float = Field(default=0.0, description="Looking whether it answers the question.")
    total: float = Field(default=0.0, description="From the question to the answer.")


STALENESS_KINDS = frozenset(
    {
        FlagKind.SUPERSEDED,
        FlagKind.EXPIRED,
        FlagKind.NOT_YET_EFFECTIVE,
        FlagKind.TOO_OLD,
        FlagKind.UNDATED,
    }
)


class Reference(Frozen):
    """One numbered mark of an answer's text."""

    number: int = Field(ge=1, description='1-based number, as in "[1]".')
    located: Located = Field(description="The place that it points to.")
    claims: tuple[int, ...] = Field(description="0-based indexes of the claims that carry it.")


def number_references(claims: Sequence[ClaimVerdict]) -> tuple[Reference, ...]:
    """Number the places that claims cite, each place once, in order of first use."""
    order: dict[tuple[str, int, int], list[int]] = {}
    places: dict[tuple[str, int, int], Located] = {}
    for index, verdict in enumerate(claims):
        for located in verdict.located:
            key = (located.chunk_id, located.chunk_span.start, located.chunk_span.end)
            places.setdefault(key, located)
            users = order.setdefault(key, [])
            if index not in users:
                users.append(index)
    return tuple(
        Reference(number=number, located=places[key], claims=tuple(users))
        for number, (key, users) in enumerate(order.items(), start=1)
    )


class AnswerData(Frozen):
    """The result of one question."""

    question: str = Field(description="The question as it was asked.")
    status: AnswerStatus = Field(description="Answered, partial or refused.")
    text: str = Field(
        description=(
            "Composed by code from supported claims, with [1] marks that number the citations, or "
            "exactly the refusal string."
        )
    )
    claims: tuple[ClaimVerdict, ...] = Field(
        default=(), description="The shipped claims; every one is supported. Empty for a refusal."
    )
    unanswered: tuple[str, ...] = Field(
        default=(), description="Parts of the question that stay open, as spans of the question."
    )
    dropped: int = Field(
        default=0,
        ge=0,
        description="Claims of the draft that failed and are left out; the trace has them.",
    )
    refusal: Refusal | None = Field(default=None, description="Why it was refused, or None.")
    flags: tuple[Flag, ...] = Field(
        default=(), description="Remarks on shipped claims: staleness, conflict, ambiguity."
    )
    evidence: tuple[RetrievedChunk, ...] = Field(
        default=(), description="The chunks that shipped claims cite, in order of first citation."
    )
    attempts: int = Field(default=0, description="Number of generator calls.")
    usage: Usage = Field(default=Usage(), description="Tokens summed over them.")
    generator: str = Field(default="", description="Name of the generator that wrote the draft.")
    policy: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="The whole policy in force, as JSON; empty where it is not known.",
    )
    fingerprint: str = Field(default="", description="SHA-256 over policy and prompts.")
    as_of: Instant | None = Field(
        default=None, description="The moment for which staleness was judged."
    )
    timings: Timings = Field(default=Timings(), description="Seconds by stage.")
    trace: Trace = Field(
        default_factory=Trace,
        exclude=True,
        repr=False,
        description="Everything behind the answer, rejected text included.",
    )

    @property
    def answered(self) -> bool:
        """Whether there is an answer, whole or partial."""
        return self.status is not AnswerStatus.REFUSED

    @property
    def staleness(self) -> tuple[Flag, ...]:
        """Flags about the age or validity of the evidence."""
        return tuple(flag for flag in self.flags if flag.kind in STALENESS_KINDS)

    @property
    def conflicts(self) -> tuple[Flag, ...]:
        """Flags about other current sources that say something else."""
        return tuple(flag for flag in self.flags if flag.kind is FlagKind.CONFLICT)

    @property
    def references(self) -> tuple[Reference, ...]:
        """The numbered marks of `text`, in order."""
        return number_references(self.claims)

    def to_json(self, *, trace: bool = False, indent: int | None = 2) -> str:
        """Return the answer as JSON.

        Args:
            trace: Whether to include the trace, which holds rejected text.
            indent: Spaces of indentation, or None for one line.
        """
        if not trace:
            return self.model_dump_json(indent=indent)
        whole = self.model_dump(mode="json")
        whole["trace"] = self.trace.model_dump(mode="json")
        text = json.dumps(whole, ensure_ascii=False, indent=indent)
        # A rejected draft may hold half a surrogate pair, which JSON escapes as Python does.
        return text.encode("utf-8", "backslashreplace").decode()
