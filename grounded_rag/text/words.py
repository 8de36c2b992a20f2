"""Words of any script, with their place in the text: the units of matching and of search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from grounded_rag.text.stems import fold_marks, stem
from grounded_rag.types import Span

__all__ = ["STOPWORDS", "Word", "content_words", "stem", "tokenize"]

WordKind = Literal["word", "number", "code", "cjk"]

# Scripts written without spaces, and Hangul, whose particles stick to the word: bigrams.
_BIGRAM = (
    "\u0e00-\u0e4f\u0e80-\u0ecf\u1000-\u103f\u1780-\u17d3\u1100-\u11ff\u3005-\u3007\u3041-\u309f"
    "\u30a1-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
# Combining marks are no word characters for `re`, and invisible characters never end a word.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0abc-\u0acd\u0b01-\u0b03"
    "\u0b3c-\u0b57\u0bbe-\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0cbc-\u0cd6\u0d3b-\u0d57\u0dca-\u0ddf"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f"
)
_INVISIBLE = "\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069"
_RUN = rf"[^\W_{_BIGRAM}](?:[^\W_{_BIGRAM}]|[{_MARKS}{_INVISIBLE}])*"
_JOIN = (
    r"(?:['’ʼ＇\-‐‑_]"  # don't, well-known, QX-2, MAX_SIZE
    r"|(?<=\d)[.,:/](?=\d)"  # 3.14, 1,500, 22:00, 24/7
    r"|(?<=[A-Z])\.(?=[A-Z](?:\b|_))"  # U.S
    r"|(?<=[a-z])-[ \t]*\r?\n[ \t]*(?=[a-z]))"  # approxi-⏎mately
)
_TOKEN = re.compile(rf"(?P<bigram>[{_BIGRAM}]+)|{_RUN}(?:{_JOIN}{_RUN})*")
_DROP = re.compile(rf"[{_INVISIBLE}]|-[ \t]*\r?\n[ \t]*")
_NUMBER = re.compile(r"[\d⁰¹²³⁴-⁹½¼¾⅓⅔⅛⅜⅝⅞.,:/\-]+(?:st|nd|rd|th)?$")
_GLUED = re.compile(
    r"(\d[\d.,]*)(kg|mg|µg|μg|g|t|km|cm|mm|µm|nm|m|ml|cl|l|h|min|s|ms|gb|mb|kb|tb|w|kw|mw|kwh|v|a"
    r"|mah|hz|khz|mhz|ghz|°c|eur|usd|gbp|chf|k|bn|mn|am|pm|px|pt|dpi|bar|psi|lb|lbs|oz|ft|in|mi)$",
    re.IGNORECASE,
)
_COMPOUND = re.compile(r"[-‐‑]")
_ELISION = re.compile(r"(?:l|d|qu|n|s|c|j|m|t)'(?=..)")
_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
    | {chr(0xFF01 + offset): chr(0x21 + offset) for offset in range(94)}
    | dict.fromkeys("’ʼ＇", "'")
    | dict.fromkeys("‐‑", "-")
    | {"µ": "μ"}
)

STOPWORDS = frozenset(
    "a an the this that these those there here it its it's he him his she her hers they them their "
    "theirs we us our ours you your yours i me my mine who whom whose which what and or but nor so "
    "of to in on at by for from with as into onto about is are was were be been being am do does "
    "did done has have had having will would shall if then than also too very just such own same "
    "one's oneself itself himself herself themselves s t "
    "der das den dem des ein eine einen einem einer eines und oder aber in im an am auf aus "
    "bei mit von vom zu zum zur für als wie es er sie wir ihr ihre ihrer sein seine ist sind "
    "waren wird werden wurde wurden hat haben hatte sich dass auch so da dort hier".split()
)
"""Words that carry no content of their own. Negations, hedges, quantifiers and comparators are
not among them: they decide what a sentence says; nor are German words that English uses otherwise
("die", "war")."""


@dataclass(frozen=True, slots=True)
class Word:
    """One token of a text.

    A plain dataclass: an index tokenises millions of them.

    Attributes:
        text: The characters as they stand in the text.
        lower: The same in lower case, invisible characters and line-end hyphens gone.
        stem: Stem for matching; equals `lower` for numbers, codes and bigrams.
        start: First code point.
        end: One past the last code point.
        kind: `word`; `number`; `code`, which mixes letters and digits or underscores; `cjk`, two
            neighbouring characters of a script written without spaces.
    """

    text: str
    lower: str
    stem: str
    start: int
    end: int
    kind: WordKind

    @property
    def span(self) -> Span:
        """Place in the text."""
        return Span(start=self.start, end=self.end)

    @property
    def content(self) -> bool:
        """Whether it is more than a function word."""
        return self.lower not in STOPWORDS


def tokenize(text: str, *, language: str | None = None) -> tuple[Word, ...]:
    """Return the words of `text` in order; hyphenated words and codes stay whole.

    Args:
        text: Any text, in any script.
        language: Passed on to `stem`.
    """
    return tuple(_tokens(text, language))


def content_words(text: str, *, language: str | None = None) -> tuple[Word, ...]:
    """Return the words that carry content, hyphenated words taken apart.

    "a twenty-minute delay" gives "twenty", "minute", "delay"; codes such as QX-2 stay whole.

    Args:
        text: Any text.
        language: Passed on to `stem`.
    """
    return tuple(
        part
        for word in _tokens(text, language)
        for part in split_compound(word, language)
        if part.content
    )


def split_compound(word: Word, language: str | None = None) -> tuple[Word, ...]:
    """Return the parts of a hyphenated word, or the word itself.

    Args:
        word: A word of `tokenize`.
        language: Passed on to `stem`.
    """
    if word.kind != "word" or "-" not in word.lower or len(word.lower) != len(word.text):
        return (word,)
    parts: list[Word] = []
    start = 0
    for piece in _COMPOUND.split(word.text):
        if piece:
            begin = word.start + start
            parts.append(_word(piece, begin, begin + len(piece), language))
        start += len(piece) + 1
    return tuple(parts)


def _tokens(text: str, language: str | None) -> Iterator[Word]:
    for match in _TOKEN.finditer(text):
        raw = match.group()
        start = match.start()
        if match.lastgroup == "bigram":
            yield from _bigrams(raw, start)
            continue
        glued = _GLUED.match(raw) if raw[0].isdigit() else None
        if glued:
            cut = glued.end(1)
            yield _word(raw[:cut], start, start + cut, language)
            yield _word(raw[cut:], start + cut, match.end(), language)
            continue
        yield _word(raw, start, match.end(), language)


def _word(raw: str, start: int, end: int, language: str | None) -> Word:
    lower = raw.lower()
    if not raw.isascii() or "\n" in raw:
        lower = _DROP.sub("", lower.translate(_LIGATURES))
    kind = _kind(lower)
    if kind != "word":
        return Word(raw, lower, fold_marks(lower), start, end, kind)
    root = _ELISION.sub("", lower, count=1) if "'" in lower[:3] else lower
    return Word(raw, lower, stem(root, language), start, end, kind)


def _kind(lower: str) -> WordKind:
    if lower.isalpha():
        return "word"
    if _NUMBER.match(lower):
        return "number"
    if "_" in lower or any(character.isdigit() for character in lower):
        return "code"
    return "word"


def _bigrams(run: str, start: int) -> Iterator[Word]:
    if len(run) == 1:
        yield Word(run, run, run, start, start + 1, "cjk")
    for offset in range(len(run) - 1):
        pair = run[offset : offset + 2]
        yield Word(pair, pair, pair, start + offset, start + offset + 2, "cjk")
