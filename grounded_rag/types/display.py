"""Text for a terminal or a log: without characters that steer it or reorder its line."""

from __future__ import annotations

import unicodedata

_REORDERING = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069"


def safe(text: str) -> str:
    """Return `text` without characters that could steer a terminal or reorder its line."""
    return "".join(
        c if c in "\n\t" or not _steers(c) else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def one_line(text: str) -> str:
    """Return `text` on one line, safe for a terminal."""
    return " ".join(safe(text).split())


def _steers(character: str) -> bool:
    return character in _REORDERING or unicodedata.category(character) in ("Cc", "Cs")
