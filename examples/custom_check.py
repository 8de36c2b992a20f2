"""A check of your own: one function from a claim with its evidence to a signal, or to None.

    python examples/custom_check.py

The rule here: whoever quotes a price must quote it from a current price list.
"""

import re

from grounded_rag import ClaimVerdict, Signal, Verification, default_checks, verify
from grounded_rag.protocols import ClaimCase

PRICE = re.compile(r"[€$£]\s?\d|\d\s?(?:euros?|dollars?|pounds?)\b", re.IGNORECASE)

PASSAGES = [
    {
        "id": "list",
        "text": "A ticket costs 12 euros. The museum opens at 10:00.",
        "metadata": {"title": "Price list 2026"},
    },
    {
        "id": "blog",
        "text": "A ticket costs 9 euros. We had a lovely day.",
        "metadata": {"title": "A visitor's blog"},
    },
]


def prices_from_price_lists(case: ClaimCase) -> Signal | None:
    """Veto a price that stands in anything but a price list; None for what is no price."""
    if not PRICE.search(case.claim.text):
        return None
    elsewhere = [
        piece.chunk.title
        for piece in case.evidence
        if not piece.chunk.title.lower().startswith("price list")
    ]
    return Signal(
        check="prices_from_price_lists",
        passed=not elsewhere,
        detail=f"A price from {elsewhere[0]}, which is no price list." if elsewhere else "",
    )


def checked(*claims: tuple[str, str]) -> Verification:
    """Verify claims that are copies of their quotes, with the built-in checks and ours."""
    draft = {"claims": [{"text": t, "quote": t, "chunk_id": chunk_id} for t, chunk_id in claims]}
    # With GroundedRAG: GroundedRAG.open("my-index", checks=[*default_checks(), ...])
    return verify(draft, PASSAGES, checks=[*default_checks(), prices_from_price_lists])


def told(verdict: ClaimVerdict) -> str:
    """Return a verdict as lines for a person."""
    return f"{'✓' if verdict.supported else '✗'} {verdict.text}\n    {verdict.why}"


def main() -> None:
    """Check three literal quotes, of which one breaks the rule."""
    result = checked(
        ("A ticket costs 12 euros.", "list"),
        ("A ticket costs 9 euros.", "blog"),
        ("We had a lovely day.", "blog"),
    )
    print("\n".join(told(verdict) for verdict in result.claims))


if __name__ == "__main__":
    main()
