"""One draft, whole or as it comes in: claims that may be shown at once are verified at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from grounded_rag.config import Policy
from grounded_rag.decision import Progress, advance, shipping
from grounded_rag.protocols import (
    Generation,
    GenerationRequest,
    Generator,
    StartedOver,
    StreamingGenerator,
)
from grounded_rag.types import Claim, Draft, Outcome, StopReason, Verification
from grounded_rag.verification.drafts import uncited_sentences
from grounded_rag.verification.examination import outcome_of

Verify = Callable[[Draft], Awaitable[Verification]]


def shows_early(policy: Policy) -> bool:
    """Whether a claim that passed may be shown before the others are known.

    Only where nothing that comes later can take it back: `drop` ships what passed whatever
    becomes of the rest, except that `stale="refuse"` may still decline the whole answer.
    """
    return policy.on_failed_claim == "drop" and policy.stale != "refuse"


class Incoming:
    """The claims of one draft as they come in.

    Attributes:
        drafted: Claims complete so far.
        verified: What verification found about each claim that was looked at on arrival.
        shown: Claims among them that were shown, in order.
    """

    def __init__(self) -> None:
        self.drafted = 0
        self.verified: dict[Claim, Verification] = {}
        self.shown: list[Claim] = []

    def start_over(self) -> None:
        """Forget what came so far, except what was shown: that stays."""
        self.drafted = 0
        self.verified = {claim: self.verified[claim] for claim in self.shown}

    async def look_at(self, claim: Claim, verify: Verify, policy: Policy) -> Verification | None:
        """Verify a claim on its own, once; return the verification when it is new.

        A claim that the policy ships counts as shown from here on. One that cannot be read is
        left for the whole draft, which cannot be read either.
        """
        if claim in self.verified:
            return None
        verification = await verify(Draft(claims=(claim,)))
        if verification.outcome is Outcome.INVALID_OUTPUT:
            return None
        self.verified[claim] = verification
        if shipping(verification.claims[0], policy):
            self.shown.append(claim)
        return verification

    def whole(self, draft: Draft) -> Draft:
        """Return the draft with every claim that was shown, also those of an earlier start."""
        missing = tuple(claim for claim in self.shown if claim not in draft.claims)
        if not missing:
            return draft
        return draft.model_copy(update={"claims": (*missing, *draft.claims)})

    async def verification(self, draft: Draft, verify: Verify) -> Verification:
        """Return the verification of a whole draft; what was looked at is not looked at again."""
        if not self.verified or (draft.prose.strip() and not self.shown):
            return await verify(draft)
        rest = tuple(dict.fromkeys(c for c in draft.claims if c not in self.verified))
        # Prose is told apart from all claims, not from the rest; and what was shown stays shown,
        # also if the prose turns out to refuse.
        others = await verify(draft.model_copy(update={"claims": rest, "prose": ""}))
        if others.outcome is Outcome.INVALID_OUTPUT:
            return others
        beside = uncited_sentences(draft.prose, [claim.text for claim in draft.claims])
        others = others.model_copy(update={"problems": (*others.problems, *beside)})
        found = {claim: _alone(others, index) for index, claim in enumerate(rest)}
        return _joined(draft, {**found, **self.verified}, others)

    def shown_alone(self) -> Verification:
        """Return the verification of what was shown, for a draft that never became whole."""
        draft = Draft(claims=tuple(self.shown))
        return _joined(draft, self.verified, Verification(outcome=Outcome.REFUSED))


async def generate(
    generator: Generator,
    request: GenerationRequest,
    *,
    on_claim: Callable[[Claim], Awaitable[None]] | None,
    on_start_over: Callable[[], None],
) -> Generation:
    """Call a generator once.

    Args:
        generator: The generator.
        request: What to ask.
        on_claim: Told each claim as it comes in, where the generator can stream; None calls it
            for the whole draft.
        on_start_over: Told when the claims so far are no part of the draft.

    Raises:
        ProviderError: The provider failed, or a stream broke off.
    """
    if on_claim is None or not isinstance(generator, StreamingGenerator):
        return await generator.generate(request)
    async with aclosing(generator.stream(request)) as items:
        async for item in items:
            if isinstance(item, Generation):
                return item
            if isinstance(item, StartedOver):
                on_start_over()
            else:
                await on_claim(item)
    # A generator of someone's own that ends without a word about how.
    return Generation(draft=None, stop=StopReason.TRUNCATED, detail="The stream broke off.")


def keep(progress: Progress, shown: Verification, policy: Policy) -> Progress:
    """Return progress with claims that were shown, when the draft they came in has no end.

    Args:
        progress: State before this attempt.
        shown: Verification of the claims that were shown.
        policy: Rules in force.
    """
    held = advance(progress, shown, policy)
    before = {"failed": progress.failed, "unanswered": progress.unanswered}
    return held.model_copy(update=before)


def _alone(verification: Verification, index: int) -> Verification:
    """Return what a verification says about one of its claims, as if it stood alone."""
    flags = (flag for flag in verification.flags if flag.claim == index)
    return verification.model_copy(
        update={
            "claims": (verification.claims[index],),
            "flags": tuple(flag.model_copy(update={"claim": 0}) for flag in flags),
        }
    )


def _joined(draft: Draft, found: dict[Claim, Verification], rest: Verification) -> Verification:
    """Return one verification of a draft from those of its claims.

    Args:
        draft: The draft.
        found: A verification of each claim.
        rest: What was found about the draft apart from its claims.
    """
    verdicts = [found[claim].claims[0] for claim in draft.claims]
    if draft.repaired:
        verdicts = [verdict.model_copy(update={"repaired": True}) for verdict in verdicts]
    flags = [
        flag.model_copy(update={"claim": index})
        for index, claim in enumerate(draft.claims)
        for flag in found[claim].flags
    ]
    return Verification(
        claims=tuple(verdicts),
        outcome=outcome_of(verdicts, problems=rest.problems, unanswered=rest.unanswered),
        flags=tuple(flags),
        problems=rest.problems,
        unanswered=rest.unanswered,
    )
