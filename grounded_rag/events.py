"""What a question tells while it is being answered. Only verified claims and refusals leave."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grounded_rag.answer import Answer
from grounded_rag.types import ClaimVerdict, Flag, Frozen, Reason, RetrievedChunk

_KIND = "Which event it is; the other fields follow from it."


class Retrieved(Frozen):
    """The passages are there."""

    kind: Literal["retrieved"] = Field(default="retrieved", description=_KIND)
    chunks: tuple[RetrievedChunk, ...] = Field(
        description="What may be cited, best first. It is material, not an answer."
    )


class Drafting(Frozen):
    """The generator is writing."""

    kind: Literal["drafting"] = Field(default="drafting", description=_KIND)
    attempt: int = Field(ge=1, description="1 for the first draft, then one more for each re-ask.")
    drafted: int = Field(
        default=0,
        ge=0,
        description="Claims complete so far in this attempt, none of them verified by that.",
    )


class ClaimVerified(Frozen):
    """A claim that will be in the answer. It is never taken back.

    It is the generator's own sentence where that is word for word from its source or was
    confirmed. Otherwise it is the source's own statement in the place of that sentence, and
    `verdict.restated` is true; one drafted claim may bring several of those.

    Under the policy `refuse` it comes only when the whole answer stands; under `drop` as soon as
    the claim has passed, so that its place in the final text may be another.
    """

    kind: Literal["claim_verified"] = Field(default="claim_verified", description=_KIND)
    verdict: ClaimVerdict = Field(
        description="The verdict on what is shown, with the places of its quotes."
    )
    flags: tuple[Flag, ...] = Field(
        default=(), description="Remarks on it: staleness, conflict, ambiguity."
    )


class ClaimRejected(Frozen):
    """Nothing ships of a claim of this attempt, in its own words or in the source's.

    A later attempt may mend it.
    """

    kind: Literal["claim_rejected"] = Field(default="claim_rejected", description=_KIND)
    attempt: int = Field(ge=1, description="The attempt.")
    reason: Reason | None = Field(
        default=None,
        description=(
            "Why nothing ships: why the source's words may not stand in, or why the claim cannot "
            "be shown."
        ),
    )
    verdict: ClaimVerdict | None = Field(
        default=None,
        description="The verdict with the rejected text; None unless it was asked for.",
    )


class ReAsked(Frozen):
    """The generator is asked once more about what did not pass."""

    kind: Literal["re_asked"] = Field(default="re_asked", description=_KIND)
    attempt: int = Field(ge=2, description="The attempt that begins.")
    reasons: tuple[Reason, ...] = Field(default=(), description="Why, one reason a failed claim.")
    note: str = Field(default="", description='What was wrong with the output as a whole, or "".')


class Final(Frozen):
    """The answer or the refusal; always the last event."""

    kind: Literal["final"] = Field(default="final", description=_KIND)
    answer: Answer = Field(description="The answer or the refusal.")


Event = Annotated[
    Retrieved | Drafting | ClaimVerified | ClaimRejected | ReAsked | Final,
    Field(discriminator="kind"),
]
"""Any event, told apart by `kind`; pydantic reads it back from JSON."""
