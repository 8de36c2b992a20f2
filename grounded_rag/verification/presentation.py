"""Edits for white space, invisible characters, line-end hyphens and the character tables."""

from __future__ import annotations

import re

from grounded_rag.types import Fold
from grounded_rag.verification import characters as chars
from grounded_rag.verification.offsets import Edit

_BLANK = f"[{chars.SPACES}{chars.INVISIBLE}]"
_ONES = "".join(key for key in chars.SINGLE if len(key) == 1)
_NO_PLAIN_SPACE = chars.SPACES.removeprefix(" ")
_ASCII_RUN = r"[\t-\r\x1c-\x1f][ \t-\r\x1c-\x1f]*"
_ANY_RUN = (
    rf"[{_NO_PLAIN_SPACE}{chars.INVISIBLE}]{_BLANK}*"
    rf"|[\uff66-\uff9d][\uff9e\uff9f]|[{chars.JOINERS}]|[{re.escape(_ONES)}]"
)
# A doubled space is looked for only where there is one: looking costs a stop at every space.
_SPECIAL = {
    (True, False): re.compile(_ASCII_RUN),
    (True, True): re.compile(rf"(?<= )[ ][ \t-\r\x1c-\x1f]*|{_ASCII_RUN}"),
    (False, False): re.compile(_ANY_RUN),
    (False, True): re.compile(rf"(?<= )[ ]{_BLANK}*|{_ANY_RUN}"),
}
_SPACE = re.compile(f"[{chars.SPACES}]")
_LINE_BREAK = re.compile(f"[{chars.LINE_BREAKS}]")
_DOUBLE_HYPHEN = re.compile(r"(?<![-\w|:])---?(?![-\w|:])|(?<=[^\W\d_])---?(?=[^\W\d_])")
_HYPHENATED = re.compile(r"[^\W\d_]{1,40}(?:[-‐‑][^\W\d_]{1,40})+")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+\Z")
_LETTERS = re.compile(r"[^\W\d_]{1,40}")
_LOOK_BACK = 40
_PLAIN_BREAKS = frozenset({"\n", "\r\n", "\xa0"})
_HYPHEN_OR_SPACE = "-‐‑ "
_SPACELESS = "\u0e00"


class Presentation:
    """Edits of presentation, and whether a line-end hyphen was among them."""

    __slots__ = ("edits", "line_end_hyphens")

    def __init__(self) -> None:
        self.edits: list[Edit] = []
        self.line_end_hyphens = False


def presentation_edits(text: str, keep: frozenset[str] | None) -> Presentation:
    """Return the edits for `text`, not sorted.

    Args:
        text: Text in canonical composition.
        keep: Words of a quote that decide about line-end hyphens; None lets the text decide.
    """
    found = Presentation()
    edits = found.edits
    hyphenated: frozenset[str] | None = keep
    for match in _SPECIAL[text.isascii(), "  " in text].finditer(text):
        run, start, end = match[0], match.start(), match.end()
        single = chars.SINGLE.get(run)
        if single is not None:
            if run not in chars.BARS or not _reads_as_sign(text, start, end):
                edits.append((start, end, *single))
            continue
        if run in _PLAIN_BREAKS:
            before, after = text[start - 1 : start], text[end : end + 1]
            # The common case: a hard-wrapped line between words of a script with spaces.
            if before not in _HYPHEN_OR_SPACE and before < _SPACELESS and after < _SPACELESS:
                edits.append((start, end, " ", Fold.WHITESPACE))
                continue
        if run in chars.JOINERS:
            if chars.joins_nothing(text[start - 1 : start]) and chars.joins_nothing(
                text[end : end + 1]
            ):
                edits.append((start, end, "", Fold.INVISIBLE))
            continue
        if start and text[start - 1] == " ":
            start -= 1
            run = " " + run
        breaks = _LINE_BREAK.search(run) is not None
        if breaks and start > 0 and end < len(text):
            if text[start - 1] in chars.HYPHENS or run[0] == "\xad":
                if hyphenated is None:
                    hyphenated = frozenset(_HYPHENATED.findall(text))
                joined = _join_line_end(text, start, end, hyphenated, decided=keep is not None)
                if joined is not None:
                    found.line_end_hyphens = True
                    edits.append(joined)
                    continue
            if chars.is_unspaced(text[start - 1]) or chars.is_unspaced(text[end]):
                edits.append((start, end, "", Fold.WHITESPACE))
                continue
        if _SPACE.search(run):
            if run != " ":
                edits.append((start, end, " ", _kind_of_run(run)))
        else:
            edits.append((start, end, "", Fold.INVISIBLE))
    if "--" in text:
        edits += [
            (match.start(), match.end(), "-", Fold.TYPOGRAPHY)
            for match in _DOUBLE_HYPHEN.finditer(text)
        ]
        edits.sort()
    return found


def _kind_of_run(run: str) -> Fold:
    return Fold.INVISIBLE if run.strip("".join(chars.INVISIBLE)) == " " else Fold.WHITESPACE


def _reads_as_sign(text: str, start: int, end: int) -> bool:
    """Whether a long dash would look like a minus sign once it were a hyphen."""
    return text[end : end + 1].isdigit() and not text[start - 1 : start].isalnum()


def _join_line_end(
    text: str, start: int, end: int, hyphenated: frozenset[str], *, decided: bool
) -> Edit | None:
    """Return how a word goes on behind a line-end hyphen; None where it is no such hyphen.

    Args:
        text: The text.
        start: Where the white space at the line end begins.
        end: Where the next line's first character stands.
        hyphenated: Words written with a hyphen, of the quote or of the text itself.
        decided: Whether those are words of a quote, so that "pre- and" counts too.
    """
    after = text[end]
    if text[start] == "\xad":
        joins = text[start - 1].isalpha() and after.isalpha()
        return (start, end, "", Fold.HYPHEN) if joins else None
    before = text[start - 2 : start - 1]
    if not before.isalnum() or not after.isalnum():
        return None
    kept = (start, end, "", Fold.HYPHEN)
    if not (before.isalpha() and after.islower()):
        return kept
    left = _LETTERS_BEFORE.search(text[max(0, start - 1 - _LOOK_BACK) : start - 1])
    right = _LETTERS.match(text, end)
    if left is None or right is None:
        return kept
    if decided and f"{left[0]}-" in hyphenated and right[0] in hyphenated:
        return None
    joined = left[0] + right[0]
    if f"{left[0]}-{right[0]}" in hyphenated or joined.lower() in chars.LINE_END_HOMOGRAPHS:
        return kept
    return (start - 1, end, "", Fold.HYPHEN)
