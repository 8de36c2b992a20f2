"""Every class of claims, and drawing claims of one class."""

from __future__ import annotations

import random

from grounded_rag.testing.tamper import altered, claims, joined, mirrors, torn, whole
from grounded_rag.testing.tamper.claim_values import ClaimKind, LabelledClaim
from grounded_rag.testing.tamper.values import Pools

FALSE_CLAIMS: tuple[ClaimKind, ...] = (
    claims.FALSE + torn.KINDS + joined.KINDS + altered.KINDS + mirrors.KINDS
)
"""Classes whose claims their sources do not assert."""

TRUE_CLAIMS: tuple[ClaimKind, ...] = claims.TRUE + whole.KINDS
"""Classes whose claims say what their sources say."""

CLAIM_KINDS: tuple[ClaimKind, ...] = FALSE_CLAIMS + TRUE_CLAIMS
"""Every class, in the order of the report."""


def draw_claims(
    kind: ClaimKind, pools: Pools, *, count: int, seed: int
) -> tuple[LabelledClaim, ...]:
    """Return up to `count` different claims of one class; the same seed gives the same claims.

    Args:
        kind: The class.
        pools: Material of the corpus; classes with material of their own make little use of it.
        count: How many; fewer where there is too little material.
        seed: Seed of the randomness.
    """
    rng = random.Random(f"{seed}:claim:{kind.name}")  # noqa: S311 - no secret depends on it
    found: dict[tuple[object, ...], LabelledClaim] = {}
    for made in kind.stream(rng, pools):
        if len(found) == count:
            break
        key = (made.claim, made.cited)
        found.setdefault(key, LabelledClaim(kind.name, kind.true, *made))
    return tuple(found.values())
