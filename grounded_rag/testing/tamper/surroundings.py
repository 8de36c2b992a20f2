"""Putting a text into a passage: alone, among neighbours, under a heading."""

from __future__ import annotations

import random
from collections.abc import Sequence

from grounded_rag.testing.tamper.claim_data import fillers, gap, read
from grounded_rag.testing.tamper.values import Passage


def passage(
    rng: random.Random,
    text: str,
    *,
    language: str = "en",
    near: Sequence[str] = (),
    block: bool = False,
    title: str = "",
    headings: tuple[str, ...] | None = None,
    number: int = 1,
) -> Passage:
    """Return a passage that holds a text, alone or with other sentences around it.

    Args:
        rng: Source of randomness.
        text: The text; it is kept as it stands.
        language: Its language, in which the other sentences are too.
        near: Sentences that may stand around it; by default the fillers of the language.
        block: Whether the text must stand in a paragraph of its own.
        title: Title of its document.
        headings: Headings above the passage; None for none or a plain one, by chance.
        number: Which passage of the claim it is; it gives the id.
    """
    others = [item for item in near or fillers(language) if item not in text]
    before, after = _beside(rng, others), _beside(rng, others)
    joint = "\n\n" if block else rng.choice([gap(language), gap(language), "\n\n"])
    whole = joint.join(part for part in (before, text, after) if part)
    if headings is None:
        plain = read("headings")["plain"].get(language, ())
        headings = (rng.choice(plain),) if plain and rng.random() < 0.3 else ()
    return Passage(
        id=f"p{number}", source=f"made-{number}", text=whole, title=title, headings=headings
    )


def _beside(rng: random.Random, others: Sequence[str]) -> str:
    return rng.choice(others) if others and rng.random() < 0.6 else ""
