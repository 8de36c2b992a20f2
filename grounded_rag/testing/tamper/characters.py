"""Classes of quotes that change single characters.

The tampered ones are what careless Unicode folding cannot tell apart, the benign ones what a source
and a faithful quote of it may differ in.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from grounded_rag.testing.tamper.cases import Kind, read
from grounded_rag.testing.tamper.quotes import (
    WORD,
    Change,
    Edit,
    EditMaker,
    at,
    benign,
    inner,
    long_word,
    matches_inside,
    one_of,
    put,
    tamper,
)

HOMOGLYPHS: Mapping[str, str] = read("characters")["homoglyphs"]
_ACCENTS: Mapping[str, str] = read("characters")["accents"]
_FRACTIONS: Mapping[str, str] = read("characters")["fractions"]
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"

_BARE_NUMBER = re.compile(r"(?<= )\d{1,6}(?=[ ,;])")
_LOOK_ALIKE = re.compile(f"[{''.join(HOMOGLYPHS)}]")
_ACCENTED = re.compile("[À-ÖØ-öø-ÿ]")
_PLAIN_VOWEL = re.compile(f"(?<=[a-z])[{''.join(_ACCENTS)}](?=[a-z])")
_COMMA = re.compile(r"(?<=\w)[,;:](?= )")
_GAP = re.compile(r"(?<=[a-z]) (?=[a-z])")
_CAPITALS = re.compile(r"(?<=\W)[A-Z]{2,}(?=\W)")
_INNER_LETTER = re.compile(r"(?<=[ \w])[A-Za-z](?=\w)")


@at(_LOOK_ALIKE, inside=True)
def _homoglyph(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    letter = found.group()
    other = rng.choice(HOMOGLYPHS[letter])
    return rng.choice([(letter, other), (other, letter)])


def _superscript(rng: random.Random, text: str) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text) or long_word(rng, text, letters=4)
    if found is None:
        return None
    marks = rng.choice([_SUPERSCRIPTS, _SUBSCRIPTS])
    place = rng.randrange(2, 10)
    sides = [found.group() + marks[place], found.group() + str(place)]
    if found.group().isdigit():
        rng.shuffle(sides)
    return Edit(put(text, found, sides[0]), put(text, found, sides[1]))


@at(_BARE_NUMBER)
def _fraction(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    sign, spelled = rng.choice(sorted(_FRACTIONS.items()))
    return found.group() + sign, found.group() + spelled


@at(_BARE_NUMBER)
def _operator(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    sign, other = rng.choice(read("characters")["operators"])
    return sign + found.group(), other + found.group()


def _case_inside(rng: random.Random, text: str) -> str | None:
    capitals = list(_CAPITALS.finditer(text))
    if capitals and rng.random() < 0.5:
        name = rng.choice(capitals)
        return put(text, name, name.group().lower())
    found = inner(rng, _INNER_LETTER, text)
    return put(text, found, found.group().swapcase()) if found is not None else None


def _accent(rng: random.Random, text: str) -> Edit | str | None:
    found = inner(rng, _ACCENTED, text)
    if found is not None:
        plain = [plain for plain, those in _ACCENTS.items() if found.group() in those]
        if plain:
            return put(text, found, plain[0])
    found = inner(rng, _PLAIN_VOWEL, text)
    if found is None:
        return None
    accents = _ACCENTS[found.group()]
    changed = put(text, found, rng.choice(accents))
    other = put(text, found, rng.choice(accents))
    return rng.choice([Edit(text, changed), Edit(changed, text), Edit(changed, other)])


def _other_letter(rng: random.Random, text: str) -> Edit | None:
    known = read("characters")["other_letters"]
    pairs = [(plain, other) for plain, other in known if plain in text[1:-1]]
    if not pairs:
        return None
    plain, other = rng.choice(pairs)
    place = text.index(plain, 1)
    changed = text[:place] + other + text[place + len(plain) :]
    return rng.choice([Edit(text, changed), Edit(changed, text)])


def _punctuation(rng: random.Random, text: str) -> str | None:
    if text.endswith("?"):
        return f"{text[:-1]}."
    found = inner(rng, _COMMA, text)
    if found is not None:
        others = [mark for mark in ("", ".", ",", ";", ":", "?") if mark != found.group()]
        return put(text, found, rng.choice(others))
    found = inner(rng, _GAP, text)
    return put(text, found, rng.choice([", ", "/", ". "])) if found is not None else None


@at(_BARE_NUMBER)
def _between_digits(rng: random.Random, found: re.Match[str]) -> tuple[str, str] | None:
    if found.group().startswith("0"):
        return None
    number, higher = _range(rng, found)
    mark = rng.choice(["-", "–", "\N{MINUS SIGN}", "/", ":", "x", "×", "."])
    other = rng.choice([m for m in ("", " ", "+", "/", ":", ".", "*", ",") if m != mark])
    return f"{number}{mark}{higher}", f"{number}{other}{higher}"


@at(_BARE_NUMBER)
def _wrapped_range(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    number, higher = _range(rng, found)
    dash = rng.choice(["-", "–", "\N{MINUS SIGN}"])
    return f"{number}{dash}\n{higher}", f"{number}{higher}"


def _range(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    """Return a number and a higher one."""
    return found.group(), str(int(found.group()) + rng.randrange(1, 90))


def _markup_trap(rng: random.Random, text: str) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is not None and rng.random() < 0.5:
        number = found.group()
        bare = rng.choice([f"2{number}4", f"2 {number} 4"])
        return Edit(put(text, found, f"2*{number}*4"), put(text, found, bare))
    words = [m for m in WORD.finditer(text) if len(m.group()) > 3]
    if len(words) < 2:
        return None
    word = rng.choice(words)
    name = word.group().upper()
    mark = rng.choice("_*")
    bare = rng.choice([f"MAX{name}MB", f"MAX {name} MB"])
    return Edit(put(text, word, f"MAX{mark}{name}{mark}MB"), put(text, word, bare))


def _damaged(rng: random.Random, text: str) -> Edit | None:
    found = long_word(rng, text, letters=5)
    if found is None:
        return None
    word = found.group()
    place = rng.randrange(1, len(word) - 1)
    mark = rng.choice(["\N{REPLACEMENT CHARACTER}", "\ue001", "?", "\x00"])
    return Edit(put(text, found, word[:place] + mark + word[place + 1 :]), text)


CHARACTER_KINDS: tuple[Kind, ...] = (
    tamper("homoglyph", "a letter is a look-alike, mostly of another script", _homoglyph),
    tamper("superscript", "10⁵ is 105, H₂O is H2O, or the reverse", _superscript),
    tamper("fraction", "2½ is 21/2", _fraction),
    tamper("operator", "≤ is <, ≠ is =", _operator),
    tamper("case_inside", "US is us, a letter inside changes its case", _case_inside),
    tamper("accent", "an accent comes, goes or is another one", _accent),
    tamper("other_letter", "ß is ss, ø is o, æ is ae", _other_letter),
    tamper("punctuation", "a comma comes, goes or is a full stop; a question is a statement",
           _punctuation),
    tamper("between_digits", "10-20 is 10.20, 10 20 or 1020", _between_digits),
    tamper("wrapped_range", "10-20, broken at its dash, is 1020", _wrapped_range),
    tamper("markup_trap", "2*3*4 is 234, MAX_SIZE_MB is MAXSIZEMB", _markup_trap),
    tamper("damaged_glyph", "a character that was lost in extraction is guessed", _damaged),
)  # fmt: skip


_SPACE = re.compile(r"(?<=[^\s]) (?=[^\W\d_]{2})")
_LONG_WORD = re.compile(r"(?<![\w-])[a-z]{8,}(?![\w-])")
_COMPOUND = re.compile(r"(?<=[a-z]{2})-(?=[a-z]{2})")
_INSIDE_WORD = re.compile(r"(?<=[^\W\d_])(?=[^\W\d_])")
_WORD_EDGE = re.compile(r"(?<= )(?=[^\W\d_])|(?<=[^\W\d_])(?= )")
_LIGATURE = re.compile("|".join(read("characters")["ligatures"]))
_ASCII_WORD = re.compile(r"(?<=[ ])[A-Za-z0-9]+(?=[ ,;])|\d+")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_AND = re.compile(r"(?<= )and(?= )")


def _some(
    rng: random.Random, pattern: re.Pattern[str], text: str, change: Change, *, most: int
) -> str | None:
    """Change one to `most` inner matches of a pattern, or return None where there is none."""
    found = matches_inside(pattern, text)
    if not found:
        return None
    chosen = rng.sample(found, min(len(found), rng.randrange(1, most + 1)))
    for match in sorted(chosen, key=lambda m: -m.start()):
        text = put(text, match, change(rng, match))
    return text


def _varied(
    pattern: re.Pattern[str], change: Change, *, most: int = 4, either: bool = False
) -> EditMaker:
    """Return an edit that varies the source; or either side, at random."""

    def edit(rng: random.Random, text: str) -> Edit | None:
        other = _some(rng, pattern, text, change, most=most)
        if other is None:
            return None
        return Edit(text, other) if either and rng.random() >= 0.5 else Edit(other, text)

    return edit


def _any(*marks: str) -> Change:
    return lambda rng, _match: rng.choice(marks)


def _split(rng: random.Random, match: re.Match[str]) -> str:
    word = match.group()
    place = rng.randrange(3, len(word) - 2)
    line_end = rng.choice(["\n", "\r\n"])
    return f"{word[:place]}-{line_end}{word[place:]}"


def _ligate(_rng: random.Random, match: re.Match[str]) -> str:
    ligature: str = read("characters")["ligatures"][match.group()]
    return ligature


def _widen(_rng: random.Random, match: re.Match[str]) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in match.group())


def _unicode_form(rng: random.Random, text: str) -> Edit | None:
    composed = unicodedata.normalize("NFC", text)
    if composed == unicodedata.normalize("NFD", text):
        found = inner(rng, _PLAIN_VOWEL, text)
        if found is None:
            return None
        composed = put(text, found, rng.choice(_ACCENTS[found.group()]))
    decomposed = unicodedata.normalize("NFD", composed)
    return rng.choice([Edit(composed, decomposed), Edit(decomposed, composed)])


def _curly(rng: random.Random, text: str) -> Edit | None:
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
        straight, curly = (
            " ".join([*words[:place], marked, *words[place + 1 :]])
            for marked in (f'"{words[place]}"', f"“{words[place]}”")
        )
        return rng.choice([Edit(straight, curly), Edit(curly, straight)])
    straight = curly.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"'})
    return rng.choice([Edit(straight, curly), Edit(curly, straight)])


def _glyphs(
    marks: Sequence[str],
    pattern: re.Pattern[str],
    around: Callable[[random.Random, re.Match[str]], tuple[str, str]],
) -> EditMaker:
    """Return an edit that puts two marks of one meaning into the source and into the quote."""

    @at(pattern, inside=True)
    def edit(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
        before, after = around(rng, found)
        first, second = rng.sample(marks, 2)
        return before + first + after, before + second + after

    return edit


def _entity(rng: random.Random, text: str) -> Edit | None:
    found = inner(rng, _AND, text)
    if found is not None:
        text = put(text, found, "&")
    # The ampersand first: the other entities begin with one.
    source = text.replace("&", "&amp;")
    for plain, entity in read("characters")["entities"][1:]:
        if plain in text[1:-1] and rng.random() < 0.7:
            source = source[0] + source[1:-1].replace(plain, entity) + source[-1]
    space = inner(rng, _SPACE, source)
    if space is not None and rng.random() < 0.5:
        source = put(source, space, "&nbsp;")
    return Edit(source, text) if source != text else None


def _both_hyphens(rng: random.Random, text: str) -> Edit | None:
    kept = inner(rng, _COMPOUND, text)
    divided = inner(rng, _LONG_WORD, text)
    if kept is None or divided is None:
        return None
    breaks = [(kept, "-\n"), (divided, _split(rng, divided))]
    source = text
    for place, broken in sorted(breaks, key=lambda item: -item[0].start()):
        source = put(source, place, broken)
    return Edit(source, text)


def _mixed(rng: random.Random, text: str) -> Edit | None:
    source = _some(rng, _SPACE, text, _any("\n", "  ", "\u00a0"), most=3)
    if source is None:
        return None
    for pattern, change in (
        (_LIGATURE, _ligate),
        (_APOSTROPHE, _any("’", "'")),
        (_INSIDE_WORD, _any("\u00ad", "\u200b")),
        (_LONG_WORD, _split),
    ):
        source = _some(rng, pattern, source, change, most=2) or source
    return Edit(source, text)


PRESENTATION_KINDS: tuple[Kind, ...] = (
    benign("linewrap", "line breaks for spaces, or the reverse",
           _varied(_SPACE, _any("\n", "\n  ", " \n"), either=True)),
    benign("space_runs", "several spaces or a tab for a space",
           _varied(_SPACE, _any("  ", "   ", "\t", " \t "), either=True)),
    benign("nbsp", "no-break, thin and other spaces",
           _varied(_SPACE, _any("\u00a0", "\u202f", "\u2009", "\u2007"), either=True)),
    benign("crlf", "lines end in CR LF", _varied(_SPACE, _any("\r\n"))),
    benign("line_end_hyphen", "a word divided at the end of a line",
           _varied(_LONG_WORD, _split)),
    benign("kept_hyphen", "a hyphenated word broken at its hyphen",
           _varied(_COMPOUND, _any("-\n", "-\r\n"), most=1)),
    benign("both_hyphens", "a word divided at a line end, and a compound broken", _both_hyphens),
    benign("hyphen_glyph", "another hyphen character within a word",
           _varied(_COMPOUND, _any("\u2010", "\u2011"), either=True)),
    benign("soft_hyphen", "soft hyphens",
           _varied(_INSIDE_WORD, _any("\u00ad"), most=6, either=True)),
    benign("zero_width", "zero-width characters",
           _varied(_INSIDE_WORD, _any("\u200b", "\u2060", "\ufeff"), either=True)),
    benign("bidi_marks", "direction marks",
           _varied(_WORD_EDGE, _any("\u200e", "\u200f", "\u2068", "\u2069", "\u061c"),
                   either=True)),
    benign("ligature", "ligatures for pairs of letters",
           _varied(_LIGATURE, _ligate, most=6, either=True)),
    benign("full_width", "full-width letters and digits",
           _varied(_ASCII_WORD, _widen, most=3, either=True)),
    benign("unicode_form", "composed or decomposed accents", _unicode_form),
    benign("curly_quotes", "curly or straight quotation marks and apostrophes", _curly),
    benign("dash", "hyphen, en dash or em dash between spaces",
           _glyphs((" - ", " – ", " — "), _SPACE, lambda _rng, _found: ("", ""))),
    benign("sign_glyph", "another glyph for the same minus",
           _glyphs(("-", "–", "\N{MINUS SIGN}"), _BARE_NUMBER, lambda _rng, m: ("", m.group()))),
    benign("range_dash", "hyphen or en dash in a range", _glyphs(("-", "–"), _BARE_NUMBER, _range)),
    benign("ellipsis_glyph", "three full stops or one ellipsis",
           _glyphs(("...", "…"), _SPACE, lambda _rng, m: ("", m.group()))),
    benign("html_entity", "entities left in the source", _entity),
    benign("mixed", "several of these at once", _mixed),
)  # fmt: skip
