"""Classes that change single characters: what careless Unicode folding cannot tell apart."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

from grounded_rag.testing.tamper.values import (
    WORD,
    Edit,
    EditMaker,
    Kind,
    Pools,
    benign,
    inner,
    one_of,
    put,
    tamper,
)
from grounded_rag.testing.tamper.words import (
    ACCENTS,
    ENTITIES,
    FRACTIONS,
    HOMOGLYPHS,
    LIGATURES,
    OPERATORS,
    OTHER_LETTERS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
)

_BARE_NUMBER = re.compile(r"(?<= )\d{1,6}(?=[ ,;])")
_LOOK_ALIKE = re.compile(f"[{''.join(HOMOGLYPHS)}]")
_ACCENTED = re.compile("[À-ÖØ-öø-ÿ]")
_PLAIN_VOWEL = re.compile(f"(?<=[a-z])[{''.join(ACCENTS)}](?=[a-z])")
_COMMA = re.compile(r"(?<=\w)[,;:](?= )")
_GAP = re.compile(r"(?<=[a-z]) (?=[a-z])")
_CAPITALS = re.compile(r"(?<=\W)[A-Z]{2,}(?=\W)")
_INNER_LETTER = re.compile(r"(?<=[ \w])[A-Za-z](?=\w)")


def _homoglyph(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _LOOK_ALIKE, text)
    if found is None:
        return None
    changed = put(text, found, rng.choice(HOMOGLYPHS[found.group()]))
    return rng.choice([Edit(text, changed), Edit(changed, text)])


def _superscript(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None:
        words = [m for m in WORD.finditer(text) if len(m.group()) > 3]
        if not words:
            return None
        found = rng.choice(words)
    marks = rng.choice([SUPERSCRIPTS, SUBSCRIPTS])
    place = rng.randrange(2, 10)
    raised, level = found.group() + marks[place], found.group() + str(place)
    sides = [put(text, found, raised), put(text, found, level)]
    if found.group().isdigit():
        rng.shuffle(sides)
    return Edit(sides[0], sides[1])


def _fraction(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None:
        return None
    sign, spelled = rng.choice(sorted(FRACTIONS.items()))
    return Edit(put(text, found, found.group() + sign), put(text, found, found.group() + spelled))


def _operator(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None:
        return None
    sign, other = rng.choice(OPERATORS)
    return Edit(put(text, found, sign + found.group()), put(text, found, other + found.group()))


def _case_inside(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    capitals = list(_CAPITALS.finditer(text))
    if capitals and rng.random() < 0.5:
        name = rng.choice(capitals)
        return Edit(text, put(text, name, name.group().lower()))
    found = inner(rng, _INNER_LETTER, text)
    return Edit(text, put(text, found, found.group().swapcase())) if found is not None else None


def _accent(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _ACCENTED, text)
    if found is not None:
        plain = _without_accent(found.group())
        if plain:
            return Edit(text, put(text, found, plain))
    found = inner(rng, _PLAIN_VOWEL, text)
    if found is None:
        return None
    accents = ACCENTS[found.group()]
    changed = put(text, found, rng.choice(accents))
    other = put(text, found, rng.choice(accents))
    return rng.choice([Edit(text, changed), Edit(changed, text), Edit(changed, other)])


def _without_accent(letter: str) -> str:
    return next((plain for plain, those in ACCENTS.items() if letter in those), "")


def _other_letter(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    pairs = [(plain, other) for plain, other in OTHER_LETTERS if plain in text[1:-1]]
    if not pairs:
        return None
    plain, other = rng.choice(pairs)
    place = text.index(plain, 1)
    changed = text[:place] + other + text[place + len(plain) :]
    return rng.choice([Edit(text, changed), Edit(changed, text)])


def _punctuation(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    if text.endswith("?"):
        return Edit(text, f"{text[:-1]}.")
    found = inner(rng, _COMMA, text)
    if found is not None:
        others = [mark for mark in ("", ".", ",", ";", ":", "?") if mark != found.group()]
        return Edit(text, put(text, found, rng.choice(others)))
    found = inner(rng, _GAP, text)
    return Edit(text, put(text, found, rng.choice([", ", "/", ". "]))) if found else None


def _between_digits(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None or found.group().startswith("0"):
        return None
    number = found.group()
    higher = str(int(number) + rng.randrange(1, 90))
    mark = rng.choice(["-", "–", "\N{MINUS SIGN}", "/", ":", "x", "×", "."])
    others = [m for m in ("", " ", "+", "/", ":", ".", "*", ",") if m != mark]
    other = rng.choice(others)
    return Edit(
        put(text, found, f"{number}{mark}{higher}"), put(text, found, f"{number}{other}{higher}")
    )


def _wrapped_range(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None:
        return None
    number, higher = found.group(), str(int(found.group()) + rng.randrange(1, 90))
    dash = rng.choice(["-", "–", "\N{MINUS SIGN}"])
    return Edit(
        put(text, found, f"{number}{dash}\n{higher}"), put(text, found, f"{number}{higher}")
    )


def _markup_trap(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is not None and rng.random() < 0.5:
        number = found.group()
        return Edit(
            put(text, found, f"2*{number}*4"),
            put(text, found, rng.choice([f"2{number}4", f"2 {number} 4"])),
        )
    words = [m for m in WORD.finditer(text) if len(m.group()) > 3]
    if len(words) < 2:
        return None
    word = rng.choice(words)
    name = word.group().upper()
    mark = rng.choice("_*")
    return Edit(
        put(text, word, f"MAX{mark}{name}{mark}MB"),
        put(text, word, rng.choice([f"MAX{name}MB", f"MAX {name} MB"])),
    )


def _damaged(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = [m for m in WORD.finditer(text) if len(m.group()) > 4]
    if not words:
        return None
    word = rng.choice(words)
    place = rng.randrange(1, len(word.group()) - 1)
    mark = rng.choice(["\N{REPLACEMENT CHARACTER}", "\ue001", "?", "\x00"])
    damaged = word.group()[:place] + mark + word.group()[place + 1 :]
    return Edit(put(text, word, damaged), text)


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
_LIGATURE = re.compile("ffi|ffl|ff|fi|fl")
_ASCII_WORD = re.compile(r"(?<=[ ])[A-Za-z0-9]+(?=[ ,;])|\d+")
_VOWEL = re.compile(f"(?<=[a-z])[{''.join(ACCENTS)}](?=[a-z])")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_AND = re.compile(r"(?<= )and(?= )")

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
    return dict(LIGATURES)[match.group()]


def _widen(_rng: random.Random, match: re.Match[str]) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in match.group())


def _unicode_form(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    composed = unicodedata.normalize("NFC", text)
    if composed == unicodedata.normalize("NFD", text):
        found = inner(rng, _VOWEL, text)
        if found is None:
            return None
        composed = put(text, found, rng.choice(ACCENTS[found.group()]))
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
    for plain, entity in ENTITIES[1:]:
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


PRESENTATION_KINDS: tuple[Kind, ...] = (
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
