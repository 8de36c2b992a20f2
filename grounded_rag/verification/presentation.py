"""The edits that take presentation out of a text: characters, white space, line ends, markup.

Nothing here is a blanket normal form. Superscripts, fractions, circled digits, look-alikes of
other scripts and letter case are meaning and appear in no table. Strike-through is no presentation
(the text is withdrawn), and a delimiter without its partner, or inside a word such as MAX_SIZE_MB
or 2*3*4, is content.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from grounded_rag.text.sentences import Line, LineKind, classify_lines
from grounded_rag.types import Fold
from grounded_rag.verification.neighbours import listed_words
from grounded_rag.verification.offsets import Edit

_SPACES = " \t\n\x0b\x0c\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""White space, as the inside of a character class."""

_INVISIBLE = (
    "\xad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u2060\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
"""Characters without a glyph. Bidi overrides (U+202D, U+202E) are missing: they turn digits round
for the reader. Invisible operators are missing: 2x3 is not 23."""

JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners: they shape Persian, Indic and emoji sequences, so they fold only
between characters of scripts that do not join."""

UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3001-\u303f\u3040-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff9f"
    "\U00020000-\U0003ffff"
)
"""Letters and punctuation of scripts written without spaces, as the inside of a class."""

DAMAGED = re.compile("[\x00\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd]")
"""What stands for text that extraction lost."""

SIGNS = frozenset("+-−–±<>≤≥≈~∼")
_HYPHENS = frozenset("-‐‑")

_BARS = frozenset("—―")
"""Dashes that are no sign: before a digit they fold only where a word stands before them."""

_HOMOGRAPH_PREFIXES = frozenset({"re", "co", "un", "pre"})
_CJK_NUMERALS = frozenset("〇零一二三四五六七八九两十百千万億兆亿萬")
# The forms of a letter by its place in a word.
_SHAPES = frozenset({"<initial>", "<medial>", "<final>", "<isolated>"})


class _Replacement(NamedTuple):
    """What a character is folded to, and why that is the same reading."""

    text: str
    fold: Fold


def _typography() -> dict[str, _Replacement]:
    table: dict[str, str] = dict.fromkeys("‘’‚‛′ʼ´", "'")
    table |= dict.fromkeys("“”„‟«»″", '"')
    table |= dict.fromkeys("‹›", "'")
    table |= dict.fromkeys("‐‑‒–—―−﹣", "-")
    table["…"] = "..."
    folded = {key: _Replacement(value, Fold.TYPOGRAPHY) for key, value in table.items()}
    folded["µ"] = _Replacement("μ", Fold.UNICODE)
    folded["℃"] = _Replacement("°C", Fold.UNICODE)
    folded["℉"] = _Replacement("°F", Fold.UNICODE)
    return folded


def _ligatures() -> dict[str, _Replacement]:
    table = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
    table |= {"ĳ": "ij", "Ĳ": "IJ", "ﬓ": "մն", "ﬔ": "մե", "ﬕ": "մի", "ﬖ": "վն", "ﬗ": "մխ"}
    for code in (*range(0xFB50, 0xFE00), *range(0xFE70, 0xFEFD)):
        shape, _, letters = unicodedata.decomposition(chr(code)).partition(" ")
        # An isolated mark decomposes to a space and the mark: not a letter's shape.
        if shape in _SHAPES and not letters.startswith("0020"):
            table[chr(code)] = "".join(chr(int(letter, 16)) for letter in letters.split())
    return {key: _Replacement(value, Fold.LIGATURE) for key, value in table.items()}


def _widths() -> dict[str, _Replacement]:
    codes = (*range(0xFF01, 0xFF5F), *range(0xFF61, 0xFF9E), *range(0xFFE0, 0xFFE7))
    table = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in codes}
    # The wide macron decomposes to a space and a mark.
    table["￣"] = "¯"
    for kana in map(chr, range(0xFF66, 0xFF9E)):
        for mark in "ﾞﾟ":
            table[kana + mark] = unicodedata.normalize("NFKC", kana + mark)
    return {key: _Replacement(value, Fold.WIDTH) for key, value in table.items()}


_SINGLE = _typography() | _ligatures() | _widths()
"""Characters (and half-width kana with their voicing mark) that fold wherever they stand."""

# Each branch begins with a plain character, which the engine skips to quickly.
_DELIMITERS = re.compile(r"\*\**|__*|``*|\n(?=[ \t]*\r?\n)")
_LINK = re.compile(
    r"(?<!!)\[(?P<label>[^\[\]\n]{1,300})(?P<tail>\]\("
    r"(?:https?://|mailto:|/|\./|\.\./|#|[\w./-]{1,80}\.[a-z]{2,5}(?=[#?)]))[^\s()]{0,600}\))"
)
_PIPE = re.compile(r"[ \t]*\|[ \t]*")
_ROWS = (LineKind.ROW, LineKind.DELIMITER)
_BLANK = f"[{_SPACES}{_INVISIBLE}]"
_ONES = "".join(key for key in _SINGLE if len(key) == 1)
_NO_PLAIN_SPACE = _SPACES.removeprefix(" ")
# One set of characters and nothing else, which the regular expression engine skips to quickly.
# A doubled space is looked for only where there is one: looking costs a stop at every space.
_ASCII = r"\t-\r\x1c-\x1f"
_ANY = f"{_NO_PLAIN_SPACE}{_INVISIBLE}{JOINERS}{re.escape(_ONES)}"
_SPECIAL = {
    (True, False): re.compile(f"[{_ASCII}]"),
    (True, True): re.compile(f"[{_ASCII}]|(?<= )[ ]"),
    (False, False): re.compile(f"[{_ANY}]"),
    (False, True): re.compile(f"[{_ANY}]|(?<= )[ ]"),
}
_RUN = re.compile(f"{_BLANK}+")
_SPACE = re.compile(f"[{_SPACES}]")
_LINE_BREAK = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")
_DOUBLE_HYPHEN = re.compile(r"---?(?!-)")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+\Z")
_LETTERS = re.compile(r"[^\W\d_]{1,40}")
# No word is longer; long runs of letters must not make line ends quadratic.
_LOOK_BACK = 40
_AROUND_WORDS = "\"'.,;:!?()[]“”‘’"
_HALF_KANA = frozenset(map(chr, range(0xFF66, 0xFF9E)))


def presentation_edits(text: str, keep: frozenset[str] | None) -> list[Edit]:
    """Return the edits of white space, unseen characters, hyphens and the tables, in order.

    Words of a quote to `keep` decide about line-end hyphens; None lets the text itself decide.
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
    return edits


def _single_edit(text: str, start: int, character: str) -> Edit | None:
    if character in _HALF_KANA:
        voiced = _SINGLE.get(text[start : start + 2])
        if voiced is not None:
            return start, start + 2, voiced.text, voiced.fold
    if character in _BARS and _reads_as_sign(text, start, start + 1):
        return None
    single = _SINGLE[character]
    return start, start + 1, single.text, single.fold


def _reads_as_sign(text: str, start: int, end: int) -> bool:
    """Whether a long dash would look like a minus sign once it were a hyphen."""
    return text[end : end + 1].isdigit() and not text[start - 1 : start].isalnum()


def _joiner_edit(text: str, start: int) -> Edit | None:
    before, after = text[start - 1 : start], text[start + 1 : start + 2]
    if _joins_nothing(before) and _joins_nothing(after):
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


def _wraps_hyphenated_word(text: str, start: int, end: int) -> bool:
    """Whether the white space from `start` to `end` is a line end right behind a hyphen."""
    if start == 0 or end == len(text):
        return False
    hyphen = text[start - 1] in _HYPHENS or text[start] == "\xad"
    return hyphen and _LINE_BREAK.search(text, start, end) is not None


class _LineEnds:
    """Decides how words go on behind a line-end hyphen."""

    def __init__(self, text: str, keep: frozenset[str] | None) -> None:
        self._text = text
        self._keep = keep
        self._pairs: frozenset[str] | None = None

    def join(self, start: int, end: int) -> Edit | None:
        """Return how the word goes on; None where there is no such word.

        The white space at the line end, or its soft hyphen, is at `start`; the next line's first
        character at `end`.
        """
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
        # "re-sign" and "resign" are two words, and a line end shows only one of them.
        homograph = left[0].lower() in _HOMOGRAPH_PREFIXES and (
            (left[0] + right[0]).lower() in listed_words("cuts", "homographs")
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


def _letters_around(parts: tuple[str, str]) -> tuple[str, str]:
    """Return the letters right before and right behind a hyphen, given the text on its sides."""
    left = _LETTERS_BEFORE.search(parts[0][-_LOOK_BACK:])
    right = _LETTERS.match(parts[1])
    return (left[0] if left else "", right[0] if right else "")


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


def pair_edits(pairs: list[Pair]) -> list[Edit]:
    """Return the edits that take the delimiters of `pairs` out."""
    return [
        (start, end, "", Fold.MARKDOWN) for pair in pairs for start, end in (pair[:2], pair[2:])
    ]


def row_edits(text: str, *, raw: bool = False) -> list[Edit]:
    """Return the edits that read a table row as its cells, one space apart.

    The end of a row becomes a line feed, which no other fold leaves in a folded text, so that
    cells of two rows never join. With `raw`, pipes stay and lose only the space around them; then
    every line with a pipe counts as a row, as it may be a part of one.
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


def is_invisible(character: str) -> bool:
    """Whether a viewer shows nothing for `character`, in any script."""
    return character in _INVISIBLE


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


def _joins_nothing(character: str) -> bool:
    """Whether a joiner beside `character` ("" for an edge) cannot change how it is read."""
    return (
        character < "\u0530"
        or "\u3000" <= character <= "\u9fff"
        or "\u2000" <= character <= "\u200b"
        or "\u200e" <= character <= "\u206f"
    )
