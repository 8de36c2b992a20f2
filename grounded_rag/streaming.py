"""A draft as it arrives: which claims may be shown early, and one verification in the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
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
from grounded_rag.types import Claim, ClaimVerdict, Draft, Outcome, StopReason, Verification
from grounded_rag.verification.drafts import uncited_sentences
from grounded_rag.verification.examination import outcome_of


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

    def take(self, claim: Claim, found: Verification, policy: Policy) -> tuple[ClaimVerdict, ...]:
        """Keep what was found about a claim on arrival; return what of it may be shown."""
        if found.outcome is Outcome.INVALID_OUTPUT:
            return ()
        self.verified[claim] = found
        ships = shipping(found.claims[0], policy)
        if ships:
            self.shown.append(claim)
        return ships

    def whole(self, draft: Draft) -> Draft:
        """Return the draft with every claim that was shown, also those of an earlier start."""
        missing = tuple(claim for claim in self.shown if claim not in draft.claims)
        if not missing:
            return draft
        return draft.model_copy(update={"claims": (*missing, *draft.claims)})

    def unverified(self, draft: Draft) -> Draft:
        """Return the part of a whole draft that was not verified on arrival."""
        if not self.verified or (draft.prose.strip() and not self.shown):
            return draft
        rest = tuple(dict.fromkeys(c for c in draft.claims if c not in self.verified))
        # What was shown stays shown, also if the prose turns out to refuse.
        return draft.model_copy(update={"claims": rest, "prose": ""})

    def joined(self, draft: Draft, rest: Draft, found: Verification) -> Verification:
        """Return the verification of a whole draft from that of `rest` and of what arrived.

        Args:
            draft: The whole draft.
            rest: What `unverified` returned for it.
            found: The verification of `rest`.
        """
        if rest is draft or found.outcome is Outcome.INVALID_OUTPUT:
            return found
        # Prose is set apart from all claims, not from the rest.
        beside = uncited_sentences(draft.prose, [claim.text for claim in draft.claims])
        found = found.model_copy(update={"problems": (*found.problems, *beside)})
        alone = {claim: _alone(found, index) for index, claim in enumerate(rest.claims)}
        return _joined(draft, {**alone, **self.verified}, found)

    def shown_alone(self) -> Verification:
        """Return the verification of what was shown, for a draft that never became whole."""
        draft = Draft(claims=tuple(self.shown))
        return _joined(draft, self.verified, Verification(outcome=Outcome.REFUSED))


async def drafted(
    generator: Generator, request: GenerationRequest, *, stream: bool
) -> AsyncGenerator[Claim | StartedOver | Generation]:
    """Yield what one call of a generator gives; the last item is the generation.

    Args:
        generator: The generator.
        request: What to ask.
        stream: Whether to yield each claim as it arrives, where the generator can stream.

    Raises:
        ProviderError: The provider failed, or a stream broke off.
    """
    if not stream or not isinstance(generator, StreamingGenerator):
        yield await generator.generate(request)
        return
    async with aclosing(generator.stream(request)) as items:
        async for item in items:
            yield item
            if isinstance(item, Generation):
                return
    # A user's own generator may end without saying how.
    yield Generation(draft=None, stop=StopReason.TRUNCATED, detail="The stream broke off.")


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
