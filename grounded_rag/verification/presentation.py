"""Edits for white space, invisible characters, line-end hyphens and the character tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from grounded_rag.text.sentences import Line, LineKind, classify_lines
from grounded_rag.types import Fold
from grounded_rag.verification.offsets import Edit


class Replacement(NamedTuple):
    """What a character is folded to, and why that is the same reading."""

    text: str
    fold: Fold


LINE_BREAKS = "\n\r\x0b\x0c\x85\u2028\u2029"
SPACES = " \t\n\x0b\x0c\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space, as the inside of a character class."""

INVISIBLE = "\xad\u061c\u200b\u200e\u200f\u202a-\u202c\u2060\u2066-\u2069\ufe0e\ufe0f\ufeff"
"""Characters without a glyph, as the inside of a class. Bidi overrides (U+202D, U+202E) are
missing: they turn digits round for the reader. Invisible operators are missing: 2x3 is not 23."""

JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners: they shape Persian, Indic and emoji sequences, so they fold only
between characters of scripts that do not join."""

INVISIBLE_CHARACTERS = frozenset(
    "\xad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
SIGNS = frozenset("+-−–±<>≤≥≈~∼")
HYPHENS = frozenset("-‐‑")
SCALES = frozenset("十百千万億兆亿萬")
_CJK_NUMERALS = SCALES | frozenset("〇零一二三四五六七八九两")


def is_invisible(character: str) -> bool:
    """Whether a viewer shows nothing for `character`, in any script."""
    return character in INVISIBLE_CHARACTERS


def is_damaged(character: str) -> bool:
    """Whether `character` stands for text that extraction lost."""
    return (
        character in "\x00\ufffd"
        or "\ue000" <= character <= "\uf8ff"
        or "\U000f0000" <= character <= "\U0010fffd"
    )


DAMAGED = "\x00\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd"
"""The same, as the inside of a character class."""

UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3001-\u303f\u3040-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f"
    "\U00020000-\U0003ffff"
)
"""Letters and punctuation of scripts written without spaces, as the inside of a class."""


def is_unspaced(character: str) -> bool:
    """Whether words of the script of `character` are not separated by spaces."""
    return character > "\u0dff" and (
        "\u3001" <= character <= "\u9fff"
        or "\u0e00" <= character <= "\u109f"
        or "\u1780" <= character <= "\u17ff"
        or "\uf900" <= character <= "\ufaff"
        or "\uff5f" <= character <= "\uff9f"
        or "\U00020000" <= character <= "\U0003ffff"
    )


def is_numeral(character: str) -> bool:
    """Whether `character` is a digit, or a Chinese or Japanese number word."""
    return character.isdigit() or character in _CJK_NUMERALS


def joins_nothing(character: str) -> bool:
    """Whether a joiner beside `character` ("" for an edge) cannot change how it is read."""
    return (
        character < "\u0530"
        or "\u3000" <= character <= "\u9fff"
        or "\u2000" <= character <= "\u200b"
        or "\u200e" <= character <= "\u206f"
    )


def _typography() -> dict[str, Replacement]:
    table: dict[str, str] = dict.fromkeys("‘’‚‛′ʼ´", "'")
    table |= dict.fromkeys("“”„‟«»″", '"')
    table |= dict.fromkeys("‹›", "'")
    table |= dict.fromkeys("‐‑‒–—―−﹣", "-")
    table["…"] = "..."
    folded = {key: Replacement(value, Fold.TYPOGRAPHY) for key, value in table.items()}
    folded["µ"] = Replacement("μ", Fold.UNICODE)
    folded["℃"] = Replacement("°C", Fold.UNICODE)
    folded["℉"] = Replacement("°F", Fold.UNICODE)
    return folded


def _ligatures() -> dict[str, Replacement]:
    table = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
    table |= {"ĳ": "ij", "Ĳ": "IJ", "ﬓ": "մն", "ﬔ": "մե", "ﬕ": "մի", "ﬖ": "վն", "ﬗ": "մխ"}
    for code in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFEFD)):
        shape, _, letters = unicodedata.decomposition(chr(code)).partition(" ")
        # An isolated mark decomposes to a space and the mark: not a letter's shape.
        if shape in _SHAPES and not letters.startswith("0020"):
            table[chr(code)] = "".join(chr(int(letter, 16)) for letter in letters.split())
    return {key: Replacement(value, Fold.LIGATURE) for key, value in table.items()}


_SHAPES = frozenset({"<initial>", "<medial>", "<final>", "<isolated>"})


def _widths() -> dict[str, Replacement]:
    codes = (*range(0xFF01, 0xFF5F), *range(0xFF61, 0xFF9E), *range(0xFFE0, 0xFFE7))
    table = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in codes}
    # The wide macron decomposes to a space and a mark.
    table["￣"] = "¯"
    for kana in map(chr, range(0xFF66, 0xFF9E)):
        for mark in "ﾞﾟ":
            table[kana + mark] = unicodedata.normalize("NFKC", kana + mark)
    return {key: Replacement(value, Fold.WIDTH) for key, value in table.items()}


SINGLE: Mapping[str, Replacement] = MappingProxyType(_typography() | _ligatures() | _widths())
"""Characters (and half-width kana with their voicing mark) that fold wherever they stand."""

BARS = frozenset("—―")
"""Dashes that are no sign: before a digit they fold only where a word stands before them."""

HOMOGRAPH_PREFIXES = frozenset({"re", "co", "un", "pre"})
LINE_END_HOMOGRAPHS = frozenset(
    """
    resign resigned resigning resigns resignation recover recovered recovering recovers reform
    reformed reforming resent resort resorted recreation recreate relay relays release released
    repress recount recounted remark remarked retreat redress reserve reserved represent recollect
    coop unionised unionized prefix
    """.split()
)
"""Words that mean something else with a hyphen behind their prefix, which a line end may hide."""


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


_BLANK = f"[{SPACES}{INVISIBLE}]"
_ONES = "".join(key for key in SINGLE if len(key) == 1)
_NO_PLAIN_SPACE = SPACES.removeprefix(" ")
# One set of characters and nothing else, which the regular expression engine skips to quickly.
# A doubled space is looked for only where there is one: looking costs a stop at every space.
_ASCII = r"\t-\r\x1c-\x1f"
_ANY = f"{_NO_PLAIN_SPACE}{INVISIBLE}{JOINERS}{re.escape(_ONES)}"
_SPECIAL = {
    (True, False): re.compile(f"[{_ASCII}]"),
    (True, True): re.compile(f"[{_ASCII}]|(?<= )[ ]"),
    (False, False): re.compile(f"[{_ANY}]"),
    (False, True): re.compile(f"[{_ANY}]|(?<= )[ ]"),
}
_RUN = re.compile(f"{_BLANK}+")
_SPACE = re.compile(f"[{SPACES}]")
_LINE_BREAK = re.compile(f"[{LINE_BREAKS}]")
_DOUBLE_HYPHEN = re.compile(r"---?(?!-)")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+\Z")
_LETTERS = re.compile(r"[^\W\d_]{1,40}")
_LOOK_BACK = 40
_SINGLE = dict(SINGLE)
_INVISIBLE = "".join(INVISIBLE_CHARACTERS)
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
        elif character in JOINERS:
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
    if character in BARS and _reads_as_sign(text, start, start + 1):
        return None
    single = _SINGLE[character]
    return start, start + 1, single.text, single.fold


def _joiner_edit(text: str, start: int) -> Edit | None:
    before, after = text[start - 1 : start], text[start + 1 : start + 2]
    if joins_nothing(before) and joins_nothing(after):
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
    wrapped = before and after and (is_unspaced(before) or is_unspaced(after))
    if wrapped and _LINE_BREAK.search(run):
        # Scripts without spaces are wrapped anywhere; the line end is no space.
        return start, end, "", Fold.WHITESPACE
    return start, end, " ", kind


def _wraps_hyphenated_word(text: str, start: int, end: int) -> bool:
    """Whether the white space from `start` to `end` is a line end right behind a hyphen."""
    if start == 0 or end == len(text):
        return False
    hyphen = text[start - 1] in HYPHENS or text[start] == "\xad"
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
        homograph = left[0].lower() in HOMOGRAPH_PREFIXES and (
            (left[0] + right[0]).lower() in LINE_END_HOMOGRAPHS
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
