"""Spans in the units that other systems count in."""

from __future__ import annotations

from grounded_rag.types import Span


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
