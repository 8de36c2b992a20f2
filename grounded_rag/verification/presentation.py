"""Edits for white space, invisible characters, line-end hyphens and the character tables."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from grounded_rag.types import Fold
from grounded_rag.verification import characters as chars
from grounded_rag.verification.offsets import Edit

_BLANK = f"[{chars.SPACES}{chars.INVISIBLE}]"
_ONES = "".join(key for key in chars.SINGLE if len(key) == 1)
_NO_PLAIN_SPACE = chars.SPACES.removeprefix(" ")
# One set of characters and nothing else, which the regular expression engine skips to quickly.
# A doubled space is looked for only where there is one: looking costs a stop at every space.
_ASCII = r"\t-\r\x1c-\x1f"
_ANY = f"{_NO_PLAIN_SPACE}{chars.INVISIBLE}{chars.JOINERS}{re.escape(_ONES)}"
_SPECIAL = {
    (True, False): re.compile(f"[{_ASCII}]"),
    (True, True): re.compile(f"[{_ASCII}]|(?<= )[ ]"),
    (False, False): re.compile(f"[{_ANY}]"),
    (False, True): re.compile(f"[{_ANY}]|(?<= )[ ]"),
}
_RUN = re.compile(f"{_BLANK}+")
_SPACE = re.compile(f"[{chars.SPACES}]")
_LINE_BREAK = re.compile(f"[{chars.LINE_BREAKS}]")
_DOUBLE_HYPHEN = re.compile(r"---?(?!-)")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+\Z")
_LETTERS = re.compile(r"[^\W\d_]{1,40}")
_LOOK_BACK = 40
_SINGLE = dict(chars.SINGLE)
_INVISIBLE = "".join(chars.INVISIBLE_CHARACTERS)
_AROUND_WORDS = "\"'.,;:!?()[]“”‘’"
_HALF_KANA = frozenset(map(chr, range(0xFF66, 0xFF9E)))


class Presentation(NamedTuple):
    """Edits of presentation in order, and whether a line-end hyphen was among them."""

    edits: list[Edit]
    line_end_hyphens: bool


def presentation_edits(text: str, keep: frozenset[str] | None) -> Presentation:
    """Return the edits for `text`.

    Args:
        text: Text in canonical composition.
        keep: Words of a quote that decide about line-end hyphens; None lets the text decide.
    """
    edits: list[Edit] = []
    hyphens: _LineEnds | None = None
    done = 0
    for match in _SPECIAL[text.isascii(), "  " in text].finditer(text):
        start = match.start()
        if start < done:
            continue
        character = match[0]
        if character == "\n":
            before, after = text[start - 1 : start], text[start + 1 : start + 2]
            # The common case by far: a hard-wrapped line between plain characters.
            if "!" <= after <= "~" and "!" <= before <= "~" and before != "-":
                edits.append((start, start + 1, " ", Fold.WHITESPACE))
                continue
        if character in _SINGLE:
            edit = _single_edit(text, start, character)
        elif character in chars.JOINERS:
            edit = _joiner_edit(text, start)
        else:
            blanks = _RUN.match(text, start)
            end = blanks.end() if blanks is not None else start + 1
            if text[start - 1 : start] == " ":
                start -= 1
            edit = None
            if _wraps_hyphenated_word(text, start, end):
                hyphens = hyphens or _LineEnds(text, keep)
                edit = hyphens.join(start, end)
                if edit is not None and edits and edits[-1][1] > edit[0]:
                    # The hyphen itself was already read as a plain one.
                    edits.pop()
            edit = edit or _blank_edit(text, start, end)
        if edit is not None:
            edits.append(edit)
            done = edit[1]
    if "--" in text:
        edits += _double_hyphens(text)
        edits.sort()
    return Presentation(edits, hyphens is not None and hyphens.joined)


def _single_edit(text: str, start: int, character: str) -> Edit | None:
    if character in _HALF_KANA:
        voiced = _SINGLE.get(text[start : start + 2])
        if voiced is not None:
            return start, start + 2, voiced.text, voiced.fold
    if character in chars.BARS and _reads_as_sign(text, start, start + 1):
        return None
    single = _SINGLE[character]
    return start, start + 1, single.text, single.fold


def _joiner_edit(text: str, start: int) -> Edit | None:
    before, after = text[start - 1 : start], text[start + 1 : start + 2]
    if chars.joins_nothing(before) and chars.joins_nothing(after):
        return start, start + 1, "", Fold.INVISIBLE
    return None


def _blank_edit(text: str, start: int, end: int) -> Edit | None:
    """Read white space as one space, invisible characters as nothing."""
    run = text[start:end]
    kind = Fold.WHITESPACE
    if not run.isspace():
        if not _SPACE.search(run):
            return start, end, "", Fold.INVISIBLE
        if run.strip(_INVISIBLE) == " ":
            kind = Fold.INVISIBLE
    elif run == " ":
        return None
    before, after = text[start - 1 : start], text[end : end + 1]
    wrapped = before and after and (chars.is_unspaced(before) or chars.is_unspaced(after))
    if wrapped and _LINE_BREAK.search(run):
        # Scripts without spaces are wrapped anywhere; the line end is no space.
        return start, end, "", Fold.WHITESPACE
    return start, end, " ", kind


def _wraps_hyphenated_word(text: str, start: int, end: int) -> bool:
    """Whether the white space from `start` to `end` is a line end right behind a hyphen."""
    if start == 0 or end == len(text):
        return False
    hyphen = text[start - 1] in chars.HYPHENS or text[start] == "\xad"
    return hyphen and _LINE_BREAK.search(text, start, end) is not None


def _double_hyphens(text: str) -> list[Edit]:
    """Read two or three hyphens as the dash they stand for, between words or standing free."""
    edits: list[Edit] = []
    for match in _DOUBLE_HYPHEN.finditer(text):
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        free = (not before or before.isspace()) and (not after or after.isspace() or after in ".,;")
        if free or (before.isalpha() and after.isalpha()):
            edits.append((match.start(), match.end(), "-", Fold.TYPOGRAPHY))
    return edits


def _reads_as_sign(text: str, start: int, end: int) -> bool:
    """Whether a long dash would look like a minus sign once it were a hyphen."""
    return text[end : end + 1].isdigit() and not text[start - 1 : start].isalnum()


def _letters_around(parts: tuple[str, str]) -> tuple[str, str]:
    """Return the letters right before and right behind a hyphen, given the text on its sides."""
    left = _LETTERS_BEFORE.search(parts[0][-_LOOK_BACK:])
    right = _LETTERS.match(parts[1])
    return (left[0] if left else "", right[0] if right else "")


class _LineEnds:
    """Decides how words go on behind a line-end hyphen.

    Attributes:
        joined: Whether any was decided.
    """

    def __init__(self, text: str, keep: frozenset[str] | None) -> None:
        self._text = text
        self._keep = keep
        self._pairs: frozenset[str] | None = None
        self.joined = False

    def join(self, start: int, end: int) -> Edit | None:
        """Return how the word goes on; None where there is no such word.

        Args:
            start: Where the white space at the line end begins, or its soft hyphen.
            end: Where the next line's first character stands.
        """
        edit = self._decide(start, end)
        self.joined = self.joined or edit is not None
        return edit

    def _decide(self, start: int, end: int) -> Edit | None:
        text, after = self._text, self._text[end]
        if text[start] == "\xad":
            joins = text[start - 1].isalpha() and after.isalpha()
            return (start, end, "", Fold.HYPHEN) if joins else None
        before = text[start - 2 : start - 1]
        if not before.isalnum() or not after.isalnum():
            return None
        kept = (start, end, "", Fold.HYPHEN)
        # "10-15", "COVID-19" and "Anglo-Saxon" keep their hyphen; only "approxi-mately" may not.
        if not (before.isalpha() and after.islower()):
            return kept
        left = _LETTERS_BEFORE.search(text[max(0, start - 1 - _LOOK_BACK) : start - 1])
        right = _LETTERS.match(text, end)
        if left is None or right is None:
            return kept
        words = self._words()
        if self._keep is not None and f"{left[0]}-" in words and right[0] in words:
            return None
        homograph = left[0].lower() in chars.HOMOGRAPH_PREFIXES and (
            (left[0] + right[0]).lower() in chars.LINE_END_HOMOGRAPHS
        )
        if homograph or f"{left[0]}-{right[0]}" in words:
            return kept
        return start - 1, end, "", Fold.HYPHEN

    def _words(self) -> frozenset[str]:
        """Return the quote's words, or the text's hyphenated ones, and all their hyphenations."""
        if self._pairs is None:
            words = self._keep if self._keep is not None else self._text.split()
            bare = [word.strip(_AROUND_WORDS) for word in words]
            pairs = {
                f"{left}-{right}"
                for word in bare
                if "-" in word
                for left, right in map(_letters_around, pairwise(word.split("-")))
            }
            self._pairs = frozenset(pairs.union(bare) if self._keep is not None else pairs)
        return self._pairs
