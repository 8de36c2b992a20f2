"""Lists and table rows as one line of text."""

from __future__ import annotations

from collections.abc import Sequence

_LEAVES_OFF = ";,"
_ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", "：", "؟", "।")


def listed(parts: Sequence[str]) -> str:
    """Return a line and the items that it leads into as one line, the items set apart by "; ".

    Args:
        parts: The line, then the items, without their bullets and numbers.
    """
    line = parts[0]
    for item in parts[1:]:
        line = line if line.endswith(_ENDS) else f"{line.rstrip(_LEAVES_OFF)};"
        line = f"{line} {item}"
    return line.rstrip(_LEAVES_OFF)


def told_row(label: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return a table row in words: "Single room, Weekday: 80 EUR; Sunday: 95 EUR".

    Args:
        label: What the row is about: its first cell.
        pairs: Names of columns, each with its cell.
    """
    told = "; ".join(f"{name}: {cell}" for name, cell in pairs)
    return ", ".join(part for part in (label.rstrip("."), told) if part)
