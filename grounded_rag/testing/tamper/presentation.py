"""Benign classes of characters: what a renderer, an extractor or a keyboard changes."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

from grounded_rag.testing.tamper import wordlists
from grounded_rag.testing.tamper.pick import inner, put
from grounded_rag.testing.tamper.values import Edit, EditMaker, Kind, Pools, benign

_SPACE = re.compile(r"(?<=[^\s]) (?=[^\W\d_]{2})")
_LONG_WORD = re.compile(r"(?<![\w-])[a-z]{8,}(?![\w-])")
_COMPOUND = re.compile(r"(?<=[a-z]{2})-(?=[a-z]{2})")
_INSIDE_WORD = re.compile(r"(?<=[^\W\d_])(?=[^\W\d_])")
_WORD_EDGE = re.compile(r"(?<= )(?=[^\W\d_])|(?<=[^\W\d_])(?= )")
_LIGATURE = re.compile("ffi|ffl|ff|fi|fl")
_ASCII_WORD = re.compile(r"(?<=[ ])[A-Za-z0-9]+(?=[ ,;])|\d+")
_VOWEL = re.compile(f"(?<=[a-z])[{''.join(wordlists.ACCENTS)}](?=[a-z])")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_AND = re.compile(r"(?<= )and(?= )")
_BARE_NUMBER = re.compile(r"(?<= )\d{1,6}(?=[ ,;])")

Change = Callable[[random.Random, re.Match[str]], str]


def _some(
    rng: random.Random, pattern: re.Pattern[str], text: str, change: Change, *, most: int
) -> str | None:
    """Change one to `most` inner matches of a pattern, or return None where there is none."""
    found = [m for m in pattern.finditer(text) if m.start() > 0 and m.end() < len(text) - 1]
    if not found:
        return None
    chosen = rng.sample(found, min(len(found), rng.randrange(1, most + 1)))
    for match in sorted(chosen, key=lambda m: -m.start()):
        text = text[: match.start()] + change(rng, match) + text[match.end() :]
    return text


def _varied(
    pattern: re.Pattern[str], change: Change, *, most: int = 4, sides: str = "source"
) -> EditMaker:
    """Return a maker that varies the source, the quote, or either of them at random."""

    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        other = _some(rng, pattern, text, change, most=most)
        if other is None:
            return None
        in_source = sides == "source" or (sides == "both" and rng.random() < 0.5)
        return Edit(other, text) if in_source else Edit(text, other)

    return make


def _any(marks: tuple[str, ...]) -> Change:
    return lambda rng, _match: rng.choice(marks)


def _split(rng: random.Random, match: re.Match[str]) -> str:
    word = match.group()
    place = rng.randrange(3, len(word) - 2)
    line_end = rng.choice(["\n", "\r\n"])
    return f"{word[:place]}-{line_end}{word[place:]}"


def _ligate(_rng: random.Random, match: re.Match[str]) -> str:
    return dict(wordlists.LIGATURES)[match.group()]


def _widen(_rng: random.Random, match: re.Match[str]) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in match.group())


def _unicode_form(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    composed = unicodedata.normalize("NFC", text)
    if composed == unicodedata.normalize("NFD", text):
        found = inner(rng, _VOWEL, text)
        if found is None:
            return None
        composed = put(text, found, rng.choice(wordlists.ACCENTS[found.group()]))
    decomposed = unicodedata.normalize("NFD", composed)
    return rng.choice([Edit(composed, decomposed), Edit(decomposed, composed)])


def _curly(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    if '"' in text:
        parts = text.split('"')
        if len(parts) % 2 == 0:
            return None
        marks = rng.choice([("“", "”"), ("„", "“"), ("“", "”")])
        curly = parts[0] + "".join(marks[place % 2] + part for place, part in enumerate(parts[1:]))
        curly = curly.replace("'", "’")
    elif "'" in text or "’" in text:
        curly = text.replace("'", "’")
    else:
        words = text.split(" ")
        place = rng.randrange(1, len(words) - 2) if len(words) > 4 else 0
        if not place or not words[place].isalpha():
            return None
        straight = " ".join([*words[:place], f'"{words[place]}"', *words[place + 1 :]])
        curly = " ".join([*words[:place], f"“{words[place]}”", *words[place + 1 :]])
        return rng.choice([Edit(straight, curly), Edit(curly, straight)])
    straight = curly.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"'})
    return rng.choice([Edit(straight, curly), Edit(curly, straight)])


def _dash(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _SPACE, text)
    if found is None:
        return None
    first, second = rng.sample([" - ", " – ", " — "], 2)
    return Edit(put(text, found, first), put(text, found, second))


def _sign_glyph(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _BARE_NUMBER, text)
    if found is None:
        return None
    first, second = rng.sample(["-", "–", "\N{MINUS SIGN}"], 2)
    return Edit(put(text, found, first + found.group()), put(text, found, second + found.group()))


def _range_dash(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _BARE_NUMBER, text)
    if found is None:
        return None
    number, higher = found.group(), int(found.group()) + rng.randrange(1, 90)
    first, second = rng.sample(["-", "–"], 2)
    return Edit(
        put(text, found, f"{number}{first}{higher}"), put(text, found, f"{number}{second}{higher}")
    )


def _ellipsis_glyph(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _SPACE, text)
    if found is None:
        return None
    first, second = rng.sample(["...", "…"], 2)
    return Edit(put(text, found, f"{first} "), put(text, found, f"{second} "))


def _entity(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _AND, text)
    if found is not None:
        text = put(text, found, "&")
    source = text.replace("&", "&amp;")
    for plain, entity in wordlists.ENTITIES[1:]:
        if plain in text[1:-1] and rng.random() < 0.7:
            source = source[0] + source[1:-1].replace(plain, entity) + source[-1]
    space = inner(rng, _SPACE, source)
    if space is not None and rng.random() < 0.5:
        source = put(source, space, "&nbsp;")
    return Edit(source, text) if source != text else None


def _both_hyphens(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    kept = inner(rng, _COMPOUND, text)
    divided = inner(rng, _LONG_WORD, text)
    if kept is None or divided is None:
        return None
    breaks = [(kept, "-\n"), (divided, _split(rng, divided))]
    source = text
    for place, broken in sorted(breaks, key=lambda item: -item[0].start()):
        source = put(source, place, broken)
    return Edit(source, text)


def _mixed(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    source: str | None = _some(rng, _SPACE, text, _any(("\n", "  ", "\u00a0")), most=3)
    if source is None:
        return None
    for pattern, change in (
        (_LIGATURE, _ligate),
        (_APOSTROPHE, _any(("’", "'"))),
        (_INSIDE_WORD, _any(("\u00ad", "\u200b"))),
        (_LONG_WORD, _split),
    ):
        source = _some(rng, pattern, source, change, most=2) or source
    return Edit(source, text)


KINDS: tuple[Kind, ...] = (
    benign("linewrap", "line breaks for spaces, or the reverse",
           _varied(_SPACE, _any(("\n", "\n  ", " \n")), sides="both")),
    benign("space_runs", "several spaces or a tab for a space",
           _varied(_SPACE, _any(("  ", "   ", "\t", " \t ")), sides="both")),
    benign("nbsp", "no-break, thin and other spaces",
           _varied(_SPACE, _any(("\u00a0", "\u202f", "\u2009", "\u2007")), sides="both")),
    benign("crlf", "lines end in CR LF", _varied(_SPACE, _any(("\r\n",)), sides="source")),
    benign("line_end_hyphen", "a word divided at the end of a line", _varied(_LONG_WORD, _split)),
    benign("kept_hyphen", "a hyphenated word broken at its hyphen",
           _varied(_COMPOUND, _any(("-\n", "-\r\n")), most=1)),
    benign("both_hyphens", "a word divided at a line end, and a compound broken", _both_hyphens),
    benign("hyphen_glyph", "another hyphen character within a word",
           _varied(_COMPOUND, _any(("\u2010", "\u2011")), sides="both")),
    benign("soft_hyphen", "soft hyphens",
           _varied(_INSIDE_WORD, _any(("\u00ad",)), most=6, sides="both")),
    benign("zero_width", "zero-width characters",
           _varied(_INSIDE_WORD, _any(("\u200b", "\u2060", "\ufeff")), sides="both")),
    benign("bidi_marks", "direction marks",
           _varied(_WORD_EDGE, _any(("\u200e", "\u200f", "\u2068", "\u2069", "\u061c")),
                   sides="both")),
    benign("ligature", "ligatures for pairs of letters",
           _varied(_LIGATURE, _ligate, most=6, sides="both")),
    benign("full_width", "full-width letters and digits",
           _varied(_ASCII_WORD, _widen, most=3, sides="both")),
    benign("unicode_form", "composed or decomposed accents", _unicode_form),
    benign("curly_quotes", "curly or straight quotation marks and apostrophes", _curly),
    benign("dash", "hyphen, en dash or em dash between spaces", _dash),
    benign("sign_glyph", "another glyph for the same minus", _sign_glyph),
    benign("range_dash", "hyphen or en dash in a range", _range_dash),
    benign("ellipsis_glyph", "three full stops or one ellipsis", _ellipsis_glyph),
    benign("html_entity", "entities left in the source", _entity),
    benign("mixed", "several of these at once", _mixed),
)  # fmt: skip
