"""The text around a located quote that its support is judged on.

A sentence stands for itself; a table row stands with its header; a list item stands with the
line that leads into the list ("The following are not covered:"). Headings stand for nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from grounded_rag.protocols import EvidencePiece
from grounded_rag.text.lines import Line, LineKind, classify_lines
from grounded_rag.text.sentences import enclosing_bounds
from grounded_rag.types import Citation, Located, Span
from grounded_rag.verification.passages import Passage

_LEAD_IN = (":", "：", "-", "–", "—")
_LINES_BACK = 200
_MARKER = re.compile(r"(?:\d{1,3}[.)]|[a-zA-Z][.)]|[-*+•‣–])[ \t]+")


def evidence_piece(citation: Citation, located: Located, passage: Passage) -> EvidencePiece:
    """Return a located quote with its enclosing sentence(s), or its row and header."""
    span = located.chunk_span
    start, end = enclosing_bounds(passage.sentences, span.start, span.end)
    start, end = _without_headings(passage, span, start, end)
    marker = _MARKER.match(passage.text, start)
    if marker is not None and marker.end() <= span.start:
        # The number of a list item says nothing of what the item says.
        start = marker.end()
    sentence = passage.text[start:end]
    lead = _lead(passage, start)
    if lead:
        sentence = f"{lead}\n{sentence}"
    return EvidencePiece(
        citation=citation,
        located=located,
        sentence=sentence,
        sentence_span=Span(start=start, end=end),
        chunk=passage.retrieved,
    )


def _without_headings(passage: Passage, span: Span, start: int, end: int) -> tuple[int, int]:
    for heading in passage.headings:
        if heading.start <= start < heading.end < end and heading.end <= span.start:
            start = heading.end
            while passage.text[start].isspace():
                start += 1
    return start, end


def _lead(passage: Passage, start: int) -> str:
    """Return the header of the row, or the sentence that leads into the list, at `start`."""
    text = passage.text
    if "|" not in text and "\t" not in text and ":" not in text and "：" not in text:
        return ""
    lines = [line for line in classify_lines(text) if line.kind is not LineKind.BLANK]
    index = bisect_right([line.start for line in lines], start) - 1
    if index < 0:
        return ""
    if lines[index].kind is LineKind.ROW:
        header = _header(text, lines, index)
        return text[header.start : header.end] if header else ""
    if lines[index].kind is LineKind.ITEM:
        return _lead_in(passage, lines, index)
    return ""


def _header(text: str, lines: list[Line], index: int) -> Line | None:
    """Return the row above the table's rule; without a rule, a first row that holds no figures.

    A chunk may begin in the middle of a table: its first row is then no header, and cells of two
    rows must not be read together.
    """
    first = index
    while first and lines[first - 1].kind in (LineKind.ROW, LineKind.DELIMITER):
        first -= 1
    if first == index or lines[first].kind is not LineKind.ROW:
        return None
    if lines[first + 1].kind is LineKind.DELIMITER:
        return lines[first] if index > first + 1 else None
    top = text[lines[first].start : lines[first].end]
    row = text[lines[index].start : lines[index].end]
    return lines[first] if _figures(row) and not _figures(top) else None


def _figures(row: str) -> bool:
    return any(character.isdigit() for character in row)


def _lead_in(passage: Passage, lines: list[Line], index: int) -> str:
    text = passage.text
    for back in range(index - 1, max(-1, index - _LINES_BACK), -1):
        line = lines[back]
        if line.kind in (LineKind.TEXT, LineKind.LABEL):
            if text[line.start : line.end].endswith(_LEAD_IN):
                start, end = enclosing_bounds(passage.sentences, line.start, line.end)
                return text[start:end]
            # It may be the second line of a wrapped item, whose first line is still above.
            if not any(above.kind is LineKind.ITEM for above in lines[max(0, back - 3) : back]):
                return ""
        elif line.kind is not LineKind.ITEM:
            return ""
    return ""
