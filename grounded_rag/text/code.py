"""Blocks of code in a text: fenced as in Markdown, or moved in below a line with a colon."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grounded_rag.types import Span

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
# A list is often moved in too; and a line without any sign is no line of code.
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪●○·–]|\(?[0-9A-Za-z]{1,3}[.)])[ \t]|[ \t]*$")
_INDENT = 4
_LEADS = (":", "：")


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """One block of code, in code points of the text.

    Attributes:
        outer: All of its lines, the fences included, without the white space around them.
        inner: The code itself, from its first character that is no white space to its last.
    """

    outer: Span
    inner: Span


def code_blocks(text: str) -> tuple[CodeBlock, ...]:
    """Return the blocks of code of a text, in order; blocks without a character are none.

    Lines moved in by four columns are code where the paragraph above ends with a colon: in plain
    text they may as well be a paragraph. A fence that is not closed reaches to the end.
    """
    if not any(mark in text for mark in ("```", "~~~", "    ", "\t")):
        return ()
    found: list[CodeBlock] = []
    lines = list(_lines(text))
    at = 0
    above = ""
    while at < len(lines):
        start, end = lines[at]
        line = text[start:end]
        fence = _FENCE.match(line)
        if fence and not ("`" in fence[1] and "`" in fence[2]):
            last = _closing(text, lines, at, fence[1])
            inside = (
                lines[at + 1 : last] if _closes(text, lines, last, fence[1]) else lines[at + 1 :]
            )
            _add(found, text, lines[at][0], lines[min(last, len(lines) - 1)][1], inside)
            at, above = last + 1, ""
            continue
        if _ITEM.match(line) is None and above.endswith(_LEADS) and _is_indented(line):
            last = at
            for later in range(at, len(lines)):
                body = text[slice(*lines[later])]
                if body.strip():
                    if not _is_indented(body):
                        break
                    last = later
            _add(found, text, start, lines[last][1], lines[at : last + 1])
            at, above = last + 1, ""
            continue
        above = line.rstrip() or above
        at += 1
    return tuple(found)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line without its line end."""
    start = 0
    for raw in text.splitlines(keepends=True):
        yield start, start + len(raw.rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
        start += len(raw)


def _closing(text: str, lines: list[tuple[int, int]], opened: int, fence: str) -> int:
    """Return the line that closes a fence, or the last one."""
    for at in range(opened + 1, len(lines)):
        if _closes(text, lines, at, fence):
            return at
    return len(lines) - 1


def _closes(text: str, lines: list[tuple[int, int]], at: int, fence: str) -> bool:
    line = text[slice(*lines[at])].strip()
    return line.startswith(fence) and not line.strip(fence[0])


def _is_indented(line: str) -> bool:
    head = line[: len(line) - len(line.lstrip())].expandtabs(_INDENT)
    return len(head) >= _INDENT


def _add(
    found: list[CodeBlock], text: str, start: int, end: int, inside: list[tuple[int, int]]
) -> None:
    """Add a block, if it holds any code."""
    if not inside:
        return
    first, last = inside[0][0], inside[-1][1]
    code = text[first:last]
    if not code.strip():
        return
    first += len(code) - len(code.lstrip())
    last -= len(code) - len(code.rstrip())
    outer = text[start:end]
    start += len(outer) - len(outer.lstrip())
    end -= len(outer) - len(outer.rstrip())
    found.append(CodeBlock(Span(start=start, end=end), Span(start=first, end=last)))
