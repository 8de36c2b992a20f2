"""The rules of one verification, made once and taken everywhere."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from grounded_rag.config import Policy
from grounded_rag.errors import ConfigError
from grounded_rag.plugins import check_part
from grounded_rag.protocols import EntailmentModel, Judge, SupportCheck
from grounded_rag.types import Tier

LONGEST_RESTATEMENT = 600
"""Characters up to which the source's own words may stand in for a claim."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What counts as support, what may ship, and what decides.

    `verify`, `averify`, `Verifier`, the pipeline, receipts and evaluation all take one of these, so
    that they agree. `GroundedRAG.rules` is the one of its answers.

    Attributes:
        refusal: The refusal string in force; None means the built-in one.
        quote_match: `repair` bridges differences of presentation and records them; `exact` never.
        checks: Support checks; None means the built-in ones. Those with the role of a decider are
            asked about claims that are open.
        entailment: Entailment model for claims that are open, or None.
        judge: Judge for claims that are still open, or None.
        spans_only: Whether the existence of its quotes is all that a claim needs.
        longest_restatement: Most characters of the source that may stand in for one claim.
        max_age: Evidence older than this is flagged; None sets no limit.
        timeout: Most seconds for the deciders of one draft; None sets no limit.
    """

    refusal: str | None = None
    quote_match: Literal["repair", "exact"] = "repair"
    checks: tuple[SupportCheck, ...] | None = None
    entailment: EntailmentModel | None = None
    judge: Judge | None = None
    spans_only: bool = False
    longest_restatement: int = LONGEST_RESTATEMENT
    max_age: dt.timedelta | None = None
    timeout: float | None = None

    @classmethod
    def of(
        cls,
        policy: Policy,
        *,
        refusal: str | None = None,
        checks: Sequence[SupportCheck] | None = None,
        entailment: EntailmentModel | None = None,
        judge: Judge | None = None,
    ) -> Self:
        """Return the rules of a policy with what a policy cannot hold.

        Args:
            policy: The policy.
            refusal: The refusal string.
            checks: Support checks, or None for the built-in ones.
            entailment: Entailment model, or None.
            judge: Judge, or None.
        """
        return cls(
            refusal=refusal,
            quote_match=policy.quote_match,
            checks=None if checks is None else tuple(checks),
            entailment=entailment,
            judge=judge,
            spans_only=policy.support == "spans-only",
            longest_restatement=policy.longest_restatement,
            max_age=policy.max_age,
            timeout=policy.max_seconds,
        )

    @property
    def ships(self) -> frozenset[Tier]:
        """The tiers whose claims ship in their own words."""
        proven = frozenset({Tier.VERBATIM, Tier.CONFIRMED})
        return proven | {Tier.NONE} if self.spans_only else proven

    @property
    def has_deciders(self) -> bool:
        """Whether anything can confirm a claim in words of its own."""
        own = any(getattr(check, "role", None) == "decider" for check in self.checks or ())
        return not self.spans_only and (
            self.entailment is not None or self.judge is not None or own
        )


def rules_from(
    rules: Rules | None,
    *,
    refusal: str | None,
    quote_match: Literal["repair", "exact"] | None,
    checks: Sequence[SupportCheck] | None,
    max_age: dt.timedelta | None,
    entailment: EntailmentModel | None = None,
    judge: Judge | None = None,
    timeout: float | None = None,
) -> Rules:
    """Return rules from what a caller gave: rules, or single keywords for a quick call.

    Raises:
        ConfigError: Both were given.
    """
    single = {
        "refusal": refusal,
        "quote_match": quote_match,
        "checks": None if checks is None else tuple(checks),
        "max_age": max_age,
        "entailment": entailment,
        "judge": judge,
        "timeout": timeout,
    }
    given = {name: value for name, value in single.items() if value is not None}
    for name in ("entailment", "judge"):
        if name in given:
            check_part(given[name], name)
    if rules is None:
        return replace(Rules(), **given)  # type: ignore[arg-type]  # each has its field's type
    if given:
        raise ConfigError(
            f"Rules and {', '.join(sorted(given))} were given.",
            hint="Put everything into the rules: dataclasses.replace(rules, ...).",
        )
    return rules
