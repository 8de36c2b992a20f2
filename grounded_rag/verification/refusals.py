"""Recognising the refusal string by the whole text, never by a phrase inside it."""

from __future__ import annotations

from collections.abc import Iterator

from grounded_rag.verification.folding import fold
from grounded_rag.verification.locate import edge_readings

_LONGEST = 4


def is_refusal(text: str, refusal: str) -> bool:
    """Whether `text` is the refusal string and nothing else.

    Apostrophes, white space, emphasis, wrapping quotation marks and a final full stop may differ.

    Args:
        text: Prose of a draft.
        refusal: The refusal string in force.
    """
    if not refusal.strip() or len(text) > _LONGEST * len(refusal) + 200:
        return False
    return not set(_readings(text)).isdisjoint(_readings(refusal))


def _readings(text: str) -> Iterator[str]:
    folded = fold(text).text.strip()
    for reading in edge_readings(folded):
        if reading.text:
            yield reading.text
