"""The explicit tables of folding: which characters differ in presentation only.

Nothing here is a blanket normal form. Superscripts, fractions, circled digits, look-alikes of
other scripts and letter case are meaning and appear in no table.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from grounded_rag.types import Fold


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
