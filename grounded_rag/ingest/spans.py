"""Small helpers on spans of a text."""

from __future__ import annotations


def trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the bounds without white space at either end, or None where nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
