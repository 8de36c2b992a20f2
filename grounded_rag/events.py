"""What a question tells while it is being answered. Only verified claims and refusals leave."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grounded_rag.answer import Answer
from grounded_rag.types import ClaimVerdict, Flag, Frozen, Reason, RetrievedChunk


class Retrieved(Frozen):
    """The passages are there.

    Attributes:
        chunks: What may be cited, best first. It is material, not an answer.
    """

    kind: Literal["retrieved"] = "retrieved"
    chunks: tuple[RetrievedChunk, ...]


class Drafting(Frozen):
    """The generator is writing.

    Attributes:
        attempt: 1 for the first draft, then one more for each re-ask.
        drafted: Claims complete so far in this attempt, none of them verified by that.
    """

    kind: Literal["drafting"] = "drafting"
    attempt: Annotated[int, Field(ge=1)]
    drafted: Annotated[int, Field(ge=0)] = 0


class ClaimVerified(Frozen):
    """A claim that will be in the answer. It is never taken back.

    It is the generator's own sentence where that is word for word from its source or was
    confirmed. Otherwise it is the source's own statement in the place of that sentence, and
    `verdict.restated` is true; one drafted claim may bring several of those.

    Under the policy `refuse` it comes only when the whole answer stands; under `drop` as soon as
    the claim has passed, so that its place in the final text may be another.

    Attributes:
        verdict: The verdict on what is shown, with the places of its quotes.
        flags: Remarks on it: staleness, conflict, ambiguity.
    """

    kind: Literal["claim_verified"] = "claim_verified"
    verdict: ClaimVerdict
    flags: tuple[Flag, ...] = ()


class ClaimRejected(Frozen):
    """Nothing ships of a claim of this attempt, in its own words or in the source's.

    A later attempt may mend it.

    Attributes:
        attempt: The attempt.
        reason: Why nothing ships: why the source's words may not stand in, or why the claim
            cannot be shown.
        verdict: The verdict with the rejected text; None unless it was asked for.
    """

    kind: Literal["claim_rejected"] = "claim_rejected"
    attempt: Annotated[int, Field(ge=1)]
    reason: Reason | None = None
    verdict: ClaimVerdict | None = None


class ReAsked(Frozen):
    """The generator is asked once more about what did not pass.

    Attributes:
        attempt: The attempt that begins.
        reasons: Why, one reason a failed claim.
        note: What was wrong with the output as a whole, or "".
    """

    kind: Literal["re_asked"] = "re_asked"
    attempt: Annotated[int, Field(ge=2)]
    reasons: tuple[Reason, ...] = ()
    note: str = ""


class Final(Frozen):
    """The answer or the refusal; always the last event."""

    kind: Literal["final"] = "final"
    answer: Answer


Event = Annotated[
    Retrieved | Drafting | ClaimVerified | ClaimRejected | ReAsked | Final,
    Field(discriminator="kind"),
]
"""Any event, told apart by `kind`; pydantic reads it back from JSON."""
