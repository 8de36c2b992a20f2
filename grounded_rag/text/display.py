"""Text for a terminal or a log: without characters that steer it or reorder its line."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.types import Span

# Where values print themselves, which needs them too.
from grounded_rag.types._base import one_line as one_line
from grounded_rag.types._base import safe as safe

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


def utf16_span(text: str, span: Span) -> Span:
    """Return `span` in UTF-16 code units, as browsers and JavaScript count.

    Args:
        text: The text that `span` refers to.
        span: Code points of `text`.
    """
    start = _utf16_length(text[: span.start])
    return Span(start=start, end=start + _utf16_length(span.of(text)))


def utf8_span(text: str, span: Span) -> Span:
    """Return `span` in UTF-8 bytes.

    Args:
        text: The text that `span` refers to.
        span: Code points of `text`.
    """
    start = len(text[: span.start].encode("utf-8", "surrogatepass"))
    return Span(start=start, end=start + len(span.of(text).encode("utf-8", "surrogatepass")))


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
