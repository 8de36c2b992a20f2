"""The parts of a question that asks two things."""

from __future__ import annotations

import re

from grounded_rag.text.words import content_words
from grounded_rag.types import Span

_OPENER = (
    r"(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will"
    r"|would|should|has|have|may|must"
    r"|was|wer|wen|wann|wo|warum|wie|welche[rsnm]?|kann|darf|muss|gibt|ist|sind)\b"
)
# A run of signs or blanks is tried from its beginning alone: else each of its characters is one.
_JOINT = re.compile(
    r"(?P<end>(?<![?？;.!])[?？;.!]+\s+|,\s*|(?<!\s)\s+)(?:(?:and|und|or|et|y)\s+(?:also\s+|auch\s+)?)(?="
    + _OPENER
    + ")"
    r"|(?P<stop>[?？]+)\s*(?=\S)",
    re.IGNORECASE,
)
_MOST = 4


def question_parts(question: str) -> tuple[Span, ...]:
    """Return the parts of a question, each a literal span of it, in order.

    "What does it cost, and when is it paid?" gives two parts, the joining word left out. A
    question that asks one thing is one part.

    Args:
        question: The question.
    """
    bounds: list[tuple[int, int]] = []
    start = 0
    for match in _JOINT.finditer(question):
        end = match.end("stop") if match["stop"] else match.start() + _kept(match["end"])
        bounds.append((start, end))
        start = match.end()
    bounds.append((start, len(question)))
    spans = [_trimmed(question, *bound) for bound in bounds]
    asking = [span for span in spans if content_words(span.of(question))]
    if not 1 < len(asking) <= _MOST or len(asking) != len(spans):
        return (_trimmed(question, 0, len(question)),)
    return tuple(asking)


def _kept(joint: str) -> int:
    """Return how much of the joint still belongs to the part before it: a question mark does."""
    return len(joint) - len(joint.lstrip("?？!."))


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(
        start=start + len(piece) - len(piece.lstrip()),
        end=max(start + len(piece.rstrip()), start + len(piece) - len(piece.lstrip())),
    )
