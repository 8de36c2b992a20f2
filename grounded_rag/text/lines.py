"""Lines of a text grouped into units that a sentence never crosses.

Hard-wrapped lines belong together; blank lines, headings, list items, table rows and runs of
`Label: value` lines do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

_HEADING = re.compile(r"#{1,6}(?=\s|$)")
_RULE = re.compile(r"(?:=[ \t=]*|-[ \t-]*|\*[ \t*]*|_[ \t_]*)$")
_BULLETS = frozenset("-–*+•‣◦▪●○·☐□☑✓✔✅✗✘✖❌⊠")
_NUMBERED = re.compile(r"\(?([0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)](?=\s)")
_FULL_ITEM = re.compile(
    r"[0-9]{1,3}、|[一二三四五六七八九十]{1,3}、|[①-⑳]|（[0-9一二三四五六七八九十]{1,3}）"
)
_DELIMITER_ROW = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$")
_LABEL = re.compile(r"(\S(?:[^:\n]{0,40}\S)?):[ \t]+\S")
_LABEL_WORDS = 5


class LineKind(Enum):
    """What a line is, as far as it decides where a unit begins and ends."""

    BLANK = "blank"
    TEXT = "text"
    HEADING = "heading"
    RULE = "rule"
    ITEM = "item"
    ROW = "row"
    DELIMITER = "delimiter"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without the white space around it: code points of the text, and its kind."""

    start: int
    end: int
    kind: LineKind


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that belong together, in code points of the text; `kind` is that of the first."""

    start: int
    end: int
    kind: LineKind


def classify_lines(text: str) -> list[Line]:
    """Return every line of `text` with its kind, in order. Linear in the length of the text."""
    lines: list[Line] = []
    contents: list[str] = []
    offset = 0
    for raw in text.splitlines(keepends=True):
        content = raw.strip()
        start = offset + len(raw) - len(raw.lstrip()) if content else offset
        lines.append(Line(start, start + len(content), _kind(content)))
        contents.append(content)
        offset += len(raw)
    _mark_neighbours(lines, contents)
    return lines


def group_units(text: str) -> list[Unit]:
    """Return the units of `text`, in order; only white space lies between them."""
    units: list[Unit] = []
    opened = False
    number: str | None = None
    for line in classify_lines(text):
        if line.kind is LineKind.BLANK:
            opened = False
            continue
        kind = line.kind
        if kind is LineKind.ITEM:
            label = _item_number(text[line.start : line.start + 8])
            if opened and label is not None and not _continues_list(units[-1], number, label):
                kind = LineKind.TEXT
            else:
                number = label
        if opened and kind is LineKind.TEXT:
            units[-1] = Unit(units[-1].start, line.end, units[-1].kind)
            continue
        units.append(Unit(line.start, line.end, kind))
        opened = kind in _OPEN_KINDS
    return units


_OPEN_KINDS = frozenset({LineKind.TEXT, LineKind.ITEM, LineKind.LABEL})


def is_delimiter_row(line: str) -> bool:
    """Whether `line` is the rule between the header and the body of a Markdown table."""
    return bool(_DELIMITER_ROW.match(line.strip()))


def cell_separators(line: str) -> int:
    """Return how many separators (inner tabs or free-standing pipes) `line` has."""
    tabs = line.strip().count("\t")
    return tabs or line.count(" | ")


def _kind(content: str) -> LineKind:
    if not content:
        return LineKind.BLANK
    first = content[0]
    if first == "#" and _HEADING.match(content):
        return LineKind.HEADING
    if "|" in content:
        if "-" in content and _DELIMITER_ROW.match(content):
            return LineKind.DELIMITER
        if (first == "|" and content.count("|") > 1) or content.count(" | ") > 1:
            return LineKind.ROW
    if first in "=-*_" and _RULE.match(content):
        return LineKind.RULE
    if _is_item(content, first):
        return LineKind.ITEM
    if ":" in content[:44]:
        label = _LABEL.match(content)
        if label and not first.islower() and len(label[1].split()) <= _LABEL_WORDS:
            return LineKind.LABEL
    return LineKind.TEXT


def _is_item(content: str, first: str) -> bool:
    if first in _BULLETS:
        return content[1:2].isspace()
    if first > "\x7f":
        return bool(_FULL_ITEM.match(content) or _NUMBERED.match(content))
    head = content[:7]
    return (")" in head or "." in head) and bool(_NUMBERED.match(content))


def _mark_neighbours(lines: list[Line], contents: list[str]) -> None:
    """Settle what only the neighbouring line tells: rows without a leading pipe, labels."""
    rows: set[int] = set()
    labels: set[int] = set()
    for below in range(1, len(lines)):
        above = below - 1
        if ("|" in contents[above] or "\t" in contents[above]) and _form_table(
            contents[above], contents[below]
        ):
            rows.update((above, below))
        if lines[above].kind is lines[below].kind is LineKind.LABEL:
            labels.update((above, below))
    for index, line in enumerate(lines):
        if index in rows and line.kind in (LineKind.TEXT, LineKind.LABEL):
            lines[index] = Line(line.start, line.end, LineKind.ROW)
        elif line.kind is LineKind.LABEL and index not in labels:
            lines[index] = Line(line.start, line.end, LineKind.TEXT)


def _form_table(above: str, below: str) -> bool:
    separators = cell_separators(above)
    if is_delimiter_row(below) or is_delimiter_row(above):
        return True
    return separators > 0 and separators == cell_separators(below)


def _item_number(head: str) -> str | None:
    match = _NUMBERED.match(head)
    return match[1] if match else None


def _continues_list(previous: Unit, number: str | None, label: str) -> bool:
    """Whether a numbered line can start an item although no blank line stands before it.

    A wrapped sentence may put "40." at the start of a line; a list starts with 1 or goes on.
    """
    if previous.kind is LineKind.ITEM:
        if number is None or not (number.isdigit() and label.isdigit()):
            return True
        return int(label) in (int(number), int(number) + 1, 1)
    return label in ("1", "a", "A", "i", "I")
