"""Words of any script, with their place in the text: the units of matching and of search."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from grounded_rag.resources import read_table
from grounded_rag.types import Span

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TABLE = read_table("words")

WordKind = Literal["word", "number", "code", "cjk"]
"""A `code` mixes letters and digits or underscores; `cjk` is two neighbouring characters of a
script that is written without spaces."""

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

STOPWORDS = frozenset(" ".join(_TABLE["stopwords"].values()).split())
"""Words that carry no content: no negations, hedges, quantifiers or comparators."""


@dataclass(frozen=True, slots=True)
class Word:
    """One token of a text. A plain dataclass: an index tokenises millions of them."""

    text: str
    lower: str  # without invisible characters and line-end hyphens
    stem: str  # `lower` for numbers, codes and bigrams
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
    """Return the words of `text` in order; hyphenated words and codes stay whole."""
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        start, end = match.span()
        if match.lastgroup == "bigram":
            found += _bigrams(raw, start)
            continue
        if raw[0].isdigit() and (glued := _GLUED.match(raw)):
            cut = glued.end(1)
            found.append(_word(raw[:cut], start, start + cut, language))
            found.append(_word(raw[cut:], start + cut, end, language))
            continue
        found.append(_word(raw, start, end, language))
    return tuple(found)


def content_words(text: str, *, language: str | None = None) -> tuple[Word, ...]:
    """Return the words that carry content, hyphenated words taken apart.

    "a twenty-minute delay" gives "twenty", "minute", "delay"; codes such as QX-2 stay whole.
    """
    found: list[Word] = []
    for word in tokenize(text, language=language):
        # Few words are compounds: only those are worth a call.
        parts = split_compound(word, language) if "-" in word.lower else (word,)
        found += (part for part in parts if part.lower not in STOPWORDS)
    return tuple(found)


def split_compound(word: Word, language: str | None = None) -> tuple[Word, ...]:
    """Return the parts of a hyphenated word, or the word itself."""
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


def _word(raw: str, start: int, end: int, language: str | None) -> Word:
    lower = raw.lower()
    if not raw.isascii() or "\n" in raw:
        lower = _DROP.sub("", lower.translate(_LIGATURES))
    kind: WordKind = "word" if lower.isalpha() else _kind(lower)
    if kind != "word":
        return Word(raw, lower, fold_marks(lower), start, end, kind)
    root = _ELISION.sub("", lower, count=1) if "'" in lower[:3] else lower
    return Word(raw, lower, stem(root, language), start, end, kind)


def _kind(lower: str) -> WordKind:
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


_IRREGULAR: dict[str, str] = {
    form: row.split()[0] for row in _TABLE["irregular"].split("|") for form in row.split()
}
_IRREGULAR["leaves"] = "leave"
_KEEP_S, _KEEP_ING, _KEEP_ED = (
    frozenset(_TABLE["keep"][ending].split()) for ending in ("s", "ing", "ed")
)
_VOWELS = frozenset("aeiouy")

_DERIVATIONS = frozenset([*_TABLE["derivations"]["en"].split(), ""])


@lru_cache(maxsize=65536)
def stem(word: str, language: str | None = None) -> str:
    """Return the stem of one lower-case word.

    "de" takes off German endings, everything else English ones, which leave most words of other
    languages alone.
    """
    folded = fold_marks(word)
    folded = folded.removesuffix("'s")
    folded = folded.replace("'", "") if not folded.endswith("n't") else folded
    if language == "de":
        return _german(folded)
    if folded in _IRREGULAR:
        return _IRREGULAR[folded]
    if not folded.isalpha() or len(folded) < 4:
        return folded
    return _final(_tense(_plural(folded)))


def related(left: str, right: str) -> bool:
    """Whether two stems look like derivations of one another ("inspect", "inspection")."""
    if left == right:
        return True
    pairs = enumerate(zip(left, right, strict=False))
    common = next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))
    if common < 4 or common < max(len(left), len(right)) * 0.5:
        return False
    endings = {left[common:], right[common:]}
    return "less" not in endings and endings <= _DERIVATIONS


def fold_marks(word: str) -> str:
    """Return a lower-case word without Latin diacritics ("café" → "cafe", "ß" → "ss")."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.replace("ß", "ss").replace("ı", "i"))
    kept: list[str] = []
    latin = False
    for character in decomposed:
        if "\u0300" <= character <= "\u036f":
            if not latin:
                kept.append(character)
            continue
        latin = character < "\u0250" or "\u1e00" <= character <= "\u1eff"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


def _plural(word: str) -> str:
    if word in _KEEP_S or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def _tense(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for suffix, keep in (("ing", _KEEP_ING), ("ed", _KEEP_ED)):
        if word.endswith(suffix) and word not in keep:
            base = word[: -len(suffix)]
            if len(base) >= 3 and not _VOWELS.isdisjoint(base):
                return _undouble(base)
    return word


def _undouble(base: str) -> str:
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base


def _final(word: str) -> str:
    if word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    if word.endswith("ll") and len(word) > 4:
        word = word[:-1]
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


def _german(word: str) -> str:
    word = word.removesuffix("s") if len(word) > 5 and word[-2:-1] in "bdfghklmnrt" else word
    for ending in ("ern", "em", "er", "en", "es", "e", "n"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


_LETTERS = 600
_WORD = re.compile(r"[^\W\d_]+")
_SPOKEN_IN: dict[str, tuple[str, ...]] = {}
"""Languages of a frequent word."""
for _language, _frequent in _TABLE["markers"].items():
    for _each in _frequent.split():
        _SPOKEN_IN[_each] = (*_SPOKEN_IN.get(_each, ()), _language)
_SCRIPTS = (
    ("latin", 0x0041, 0x024F), ("latin", 0x1E00, 0x1EFF), ("greek", 0x0370, 0x03FF),
    ("cyrillic", 0x0400, 0x052F), ("armenian", 0x0530, 0x058F), ("hebrew", 0x0590, 0x05FF),
    ("arabic", 0x0600, 0x077F), ("indic", 0x0900, 0x0DFF), ("thai", 0x0E00, 0x0EFF),
    ("hangul", 0x1100, 0x11FF), ("kana", 0x3040, 0x30FF), ("han", 0x3400, 0x9FFF),
    ("hangul", 0xAC00, 0xD7AF), ("kana", 0xFF66, 0xFF9F),
)  # fmt: skip


@lru_cache(maxsize=2048)
def guess_language(text: str) -> str | None:
    """Return "en", "de", "fr", "es", "it", "pt" or "nl" for a Latin text, or None if unsure.

    Only the first 4,000 characters count.
    """
    counts = dict.fromkeys(_TABLE["markers"], 0.0)
    for word in _WORD.findall(text[:4000].lower()):
        owners = _SPOKEN_IN.get(word, ())
        for owner in owners:
            counts[owner] += 1 / len(owners)
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    (best, score), (_, second) = ranked[:2]
    return best if score >= 1 and score > second * 1.3 else None


def comparable(left: str, right: str) -> bool:
    """Whether the words of two texts can be compared: same script, no two known languages."""
    scripts = _main_script(left), _main_script(right)
    if None not in scripts and scripts[0] != scripts[1] and set(scripts) - {"kana", "han"}:
        return False
    languages = guess_language(left), guess_language(right)
    return None in languages or languages[0] == languages[1]


@lru_cache(maxsize=2048)
def _main_script(text: str) -> str | None:
    """Return the script of most letters of the beginning of `text` ("latin", "han"…), or None."""
    if text[:_LETTERS].isascii():
        return "latin" if any(map(str.isalpha, text[:_LETTERS])) else None
    counts = Counter(_script(ord(letter)) for letter in text[:_LETTERS] if letter.isalpha())
    return counts.most_common(1)[0][0] if counts else None


def _script(code: int) -> str:
    return next((name for name, low, high in _SCRIPTS if low <= code <= high), "other")


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The vectors of the word pieces of one text, each as it stands in its sentence."""

    rows: NDArray[Any]  # a unit vector per piece, special pieces left out
    mean: NDArray[Any]  # the unit vector of the whole text
    places: tuple[tuple[int, int], ...]  # start and end of each piece, in code points
    ranks: tuple[int, ...]  # rank of each piece in a vocabulary that is ordered by frequency


_COMMON = 0.1
_COMMON_RANK = 1_000
_RARE_RANK = 30_000


def piece_weight(rank: int) -> float:
    """Return the weight of a piece: rare ones, late in a list ordered by frequency, count more."""
    share = math.log(max(rank, _COMMON_RANK) / _COMMON_RANK) / math.log(_RARE_RANK / _COMMON_RANK)
    return min(1.0, max(_COMMON, share))


@cache
def synonyms() -> Mapping[str, frozenset[str]]:
    """Return the stems of everyday words of like meaning, by stem: for ranking and warnings."""
    found: dict[str, frozenset[str]] = {}
    for row in read_table("thesaurus")["synonyms"]:
        stems = frozenset(map(stem, row.split()))
        for each in stems:
            found[each] = found.get(each, frozenset()) | stems - {each}
    return found
