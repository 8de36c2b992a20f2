"""Classes that change single characters: what careless Unicode folding cannot tell apart."""

from __future__ import annotations

import random
import re

from grounded_rag.testing.tamper import wordlists
from grounded_rag.testing.tamper.pick import WORD, inner, one_of, put
from grounded_rag.testing.tamper.values import Edit, Kind, Pools, tamper

_BARE_NUMBER = re.compile(r"(?<= )\d{1,6}(?=[ ,;])")
_LOOK_ALIKE = re.compile(f"[{''.join(wordlists.HOMOGLYPHS)}]")
_ACCENTED = re.compile("[À-ÖØ-öø-ÿ]")
_PLAIN_VOWEL = re.compile(f"(?<=[a-z])[{''.join(wordlists.ACCENTS)}](?=[a-z])")
_COMMA = re.compile(r"(?<=\w)[,;:](?= )")
_GAP = re.compile(r"(?<=[a-z]) (?=[a-z])")
_CAPITALS = re.compile(r"(?<=\W)[A-Z]{2,}(?=\W)")
_INNER_LETTER = re.compile(r"(?<=[ \w])[A-Za-z](?=\w)")


def _homoglyph(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _LOOK_ALIKE, text)
    if found is None:
        return None
    changed = put(text, found, rng.choice(wordlists.HOMOGLYPHS[found.group()]))
    return rng.choice([Edit(text, changed), Edit(changed, text)])


def _superscript(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None:
        words = [m for m in WORD.finditer(text) if len(m.group()) > 3]
        if not words:
            return None
        found = rng.choice(words)
    marks = rng.choice([wordlists.SUPERSCRIPTS, wordlists.SUBSCRIPTS])
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
    sign, spelled = rng.choice(sorted(wordlists.FRACTIONS.items()))
    return Edit(put(text, found, found.group() + sign), put(text, found, found.group() + spelled))


def _operator(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE_NUMBER, text)
    if found is None:
        return None
    sign, other = rng.choice(wordlists.OPERATORS)
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
    accents = wordlists.ACCENTS[found.group()]
    changed = put(text, found, rng.choice(accents))
    other = put(text, found, rng.choice(accents))
    return rng.choice([Edit(text, changed), Edit(changed, text), Edit(changed, other)])


def _without_accent(letter: str) -> str:
    return next((plain for plain, those in wordlists.ACCENTS.items() if letter in those), "")


def _other_letter(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    pairs = [(plain, other) for plain, other in wordlists.OTHER_LETTERS if plain in text[1:-1]]
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


KINDS: tuple[Kind, ...] = (
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
