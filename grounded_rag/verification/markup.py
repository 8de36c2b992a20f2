"""Markup that a reader does not see: Markdown emphasis, code ticks, links, table pipes.

Strike-through is no presentation (the text is withdrawn), and a delimiter without its partner,
or inside a word such as MAX_SIZE_MB or 2*3*4, is content.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from grounded_rag.text.lines import Line, LineKind, classify_lines
from grounded_rag.types import Fold
from grounded_rag.verification.characters import is_unspaced
from grounded_rag.verification.offsets import Edit

# Each branch begins with a plain character, which the engine skips to quickly.
_DELIMITERS = re.compile(r"\*\**|__*|``*|\n(?=[ \t]*\r?\n)")
_LINK = re.compile(
    r"(?<!!)\[(?P<label>[^\[\]\n]{1,300})(?P<tail>\]\("
    r"(?:https?://|mailto:|/|\./|\.\./|#|[\w./-]{1,80}\.[a-z]{2,5}(?=[#?)]))[^\s()]{0,600}\))"
)
_PIPE = re.compile(r"[ \t]*\|[ \t]*")
_ROWS = (LineKind.ROW, LineKind.DELIMITER)


class Pair(NamedTuple):
    """An opening and a closing delimiter, as positions in the text."""

    open_start: int
    open_end: int
    close_start: int
    close_end: int


def emphasis_pairs(text: str) -> list[Pair]:
    """Return the pairs of Markdown delimiters at word edges, and of link brackets."""
    pairs: list[Pair] = []
    if text.count("*") > 1 or text.count("_") > 1 or text.count("`") > 1:
        opened: dict[str, int] = {}
        for match in _DELIMITERS.finditer(text):
            run, start, end = match[0], match.start(), match.end()
            if run[0] == "\n":
                opened.clear()
                continue
            if len(run) > 3 or text[start - 1 : start] == "\\":
                continue
            if run in opened and _closes(text, start, end, run):
                begin = opened.pop(run)
                pairs.append(Pair(begin, begin + len(run), start, end))
            elif _opens(text, start, end, run):
                opened[run] = start
    if "](" in text:
        for match in _LINK.finditer(text):
            begin, tail = match.start(), match.start("tail")
            pairs.append(Pair(begin, begin + 1, tail, match.end()))
    return pairs


def pair_edits(pairs: list[Pair]) -> list[Edit]:
    """Return the edits that take the delimiters of `pairs` out."""
    return [
        (start, end, "", Fold.MARKDOWN) for pair in pairs for start, end in (pair[:2], pair[2:])
    ]


def _opens(text: str, start: int, end: int, run: str) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if not after or after.isspace():
        return False
    return not before or not before.isalnum() or (len(run) == 2 and is_unspaced(before))


def _closes(text: str, start: int, end: int, run: str) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if before.isspace():
        return False
    return not after or not after.isalnum() or (len(run) == 2 and is_unspaced(after))


def row_edits(text: str, *, raw: bool = False) -> list[Edit]:
    """Return the edits that read a table row as its cells, one space apart.

    The end of a row becomes a line feed, which no other fold leaves in a folded text, so that
    cells of two rows never join.

    Args:
        text: The text.
        raw: Whether pipes stay and lose only the space around them. Then every line with a pipe
            counts as a row, as it may be a part of one.
    """
    edits: list[Edit] = []
    previous: Line | None = None
    for line in classify_lines(text):
        if line.kind is LineKind.BLANK:
            continue
        if raw and "|" in text[line.start : line.end]:
            line = Line(line.start, line.end, LineKind.ROW)
        if previous is not None and line.kind in _ROWS and previous.kind in _ROWS:
            edits.append((previous.end, line.start, "\n", Fold.WHITESPACE))
        if line.kind is LineKind.ROW:
            edits.extend(_pipe_edits(text, line.start, line.end, raw=raw))
        previous = line
    return edits


def _pipe_edits(text: str, start: int, end: int, *, raw: bool) -> list[Edit]:
    edits: list[Edit] = []
    for match in _PIPE.finditer(text, start, end):
        at_edge = match.start() == start or match.end() == end
        cell = "" if at_edge else " "
        if raw and len(match[0]) == 1:
            continue
        edits.append((match.start(), match.end(), "|" if raw else cell, Fold.TABLE))
    return edits
