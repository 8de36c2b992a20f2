"""Whether claims have again the support that a receipt says they had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pydantic import ValidationError

from grounded_rag._sync import BackgroundLoop
from grounded_rag.config import Policy
from grounded_rag.errors import ConfigError
from grounded_rag.types import (
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Draft,
    Reason,
    Receipt,
    ReceiptClaim,
    RetrievedChunk,
    Tier,
)
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verdict import confirmed_by, doubted
from grounded_rag.verification.verifier import verify

COMPUTED = "arithmetic"
"""The decider that is part of the verifier: what it confirmed is worked out again, not believed."""


def rules_of(receipt: Receipt, rules: Rules | None = None) -> Rules:
    """Return the rules that a receipt's claims were shipped under, as far as its policy says.

    What another version of the package wrote and this one cannot read counts as the default.

    Args:
        receipt: The receipt.
        rules: What a policy cannot hold: checks, deciders, refusal string and timeout.
    """
    given = rules or Rules()
    known: dict[str, object] = {}
    for name in Policy.model_fields.keys() & receipt.policy.keys():
        try:
            Policy.model_validate({name: receipt.policy[name]})
        except (ValidationError, ConfigError):
            continue
        known[name] = receipt.policy[name]
    own = Rules.of(Policy.model_validate(known))
    return replace(
        own,
        refusal=given.refusal,
        checks=given.checks,
        entailment=given.entailment,
        judge=given.judge,
        timeout=given.timeout,
    )


class Asking:
    """Runs the public verifier on one claim, with an entailment model or a judge where named."""

    def __init__(self) -> None:
        self._loop = BackgroundLoop()

    def __call__(
        self, claim: Claim, chunks: Sequence[RetrievedChunk], question: str, rules: Rules
    ) -> ClaimVerdict:
        """Return the verdict on a claim; staleness is judged elsewhere.

        Args:
            claim: The claim.
            chunks: The chunks that it cites.
            question: The question that it answered.
            rules: The rules.
        """
        draft = Draft(claims=(claim,))
        if rules.entailment is None and rules.judge is None:
            return verify(draft, chunks, question=question, rules=rules).claims[0]
        # Only who asks a model again loads what waits for models.
        from grounded_rag.verification.verifier import averify

        asked = partial(averify, draft, chunks, question=question, rules=rules)
        return self._loop.run(asked).claims[0]

    def close(self) -> None:
        """Stop the background loop, where one was needed."""
        self._loop.close()


class Again(NamedTuple):
    """What the verifier says now of the support that a claim was shipped with.

    Attributes:
        why: Why it is not there, or "" where it is.
        note: What was confirmed again, or is taken on trust; or "".
        reason: Typed reason, where it is not there.
        proves: Whether rules alone say that it is not there: they say the same whenever asked.
        trusted: Whether the claim rests on a decider that was not asked again.
    """

    why: str = ""
    note: str = ""
    reason: Reason | None = None
    proves: bool = False
    trusted: bool = False


def look_again(claim: ReceiptClaim, verdict: ClaimVerdict, rules: Rules) -> Again:
    """Compare what a receipt says of a claim's support with a verdict of today.

    Verbatim must be verbatim again. What a decider confirmed must pass every rule; the decider's
    word counts anew where one is named, and is taken on trust otherwise.

    Args:
        claim: The claim of the receipt.
        verdict: The verdict.
        rules: The rules that it was given under.
    """
    if verdict.supported:
        demoted = claim.rests_on is Tier.VERBATIM and verdict.tier is not Tier.VERBATIM
        if demoted and doubted(verdict.signals) is None:
            why = (
                "The claim is called verbatim, and it is no statement of its source word for word."
            )
            return Again(why, reason=Reason.UNPROVEN, proves=True)
        name = confirmed_by(verdict)
        return Again(note=f"Confirmed again by {name}." if name else "")
    believed = claim.rests_on is Tier.CONFIRMED and claim.decided_by != COMPUTED
    if verdict.status is ClaimStatus.OPEN and believed:
        if not rules.has_deciders:
            return on_trust(claim)
        why = f"What decides now did not confirm it. {verdict.why}"
        return Again(why, reason=verdict.reason)
    why = verdict.why
    if verdict.status is ClaimStatus.OPEN and claim.is_old:
        why = f"Version 0.1 called it “{claim.tier}” by rules that do not hold any more. {why}"
    return Again(why, reason=verdict.reason, proves=_by_rules(verdict))


def on_trust(claim: ReceiptClaim) -> Again:
    """Return what is said of a confirmed claim whose decider is not asked again."""
    name = claim.decided_by or "a model, a judge or a check that the receipt does not name"
    return Again(note=f"Confirmed then by {name}; not asked again.", trusted=True)


def _by_rules(verdict: ClaimVerdict) -> bool:
    """Whether rules decided a verdict, and not a decider or a check that could not work."""
    if verdict.status is ClaimStatus.UNCHECKED:
        return False
    rejecting = (s for s in verdict.signals if s.passed is False and s.role in ("veto", "decider"))
    first = next(rejecting, None)
    return first is None or first.role == "veto"
