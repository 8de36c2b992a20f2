"""Numbers written in words.

English in full, German up to a million, French up to 99, of Spanish, Italian, Portuguese and Dutch
the short ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: value * 10
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
}
SCALES = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "lakh": 10**5, "lakhs": 10**5, "crore": 10**7, "crores": 10**7, "dozen": 12, "millions": 10**6,
    "billions": 10**9, "mio": 10**6, "mrd": 10**9, "tsd": 1000, "milliarde": 10**9,
    "milliarden": 10**9, "millionen": 10**6, "tausend": 1000, "hundert": 100,
    "mille": 1000, "milliard": 10**9, "milliards": 10**9,
}  # fmt: skip
"""Words that multiply the number before them."""
_LARGE = {name: value for name, value in SCALES.items() if value >= 100}
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12,
    "hundredth": 100, "thousandth": 1000, "millionth": 10**6,
}  # fmt: skip
_ORDINALS |= {
    f"{word}th": value
    for word, value in _UNITS.items()
    if word not in ("zero", "one", "two", "three", "five", "eight", "nine", "twelve")
}
_ORDINALS |= {f"{word[:-1]}ieth": value for word, value in _TENS.items()}
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5,
    "fifths": 5, "sixth": 6, "sixths": 6, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10,
}  # fmt: skip


def _german() -> dict[str, int]:
    ones = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
    table = dict(zip(ones, range(13), strict=True))
    del table["ein"], table["elf"]  # an article; an English word
    teens = "drei vier fünf sech sieb acht neun".split()
    table |= {f"{stem}zehn": 13 + index for index, stem in enumerate(teens)}
    tens = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
    for index, word in enumerate(tens, start=2):
        table[word] = index * 10
        table |= {f"{ones[one]}und{word}": index * 10 + one for one in range(1, 10)}
    return table | {"eins": 1, "elf": 11, "einhundert": 100, "zweihundert": 200, "eintausend": 1000}


def _french() -> dict[str, int]:
    ones = (
        "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
        "dix-sept dix-huit dix-neuf"
    ).split()
    table = dict(zip(ones, range(1, 20), strict=True))
    for word, value in zip("vingt trente quarante cinquante soixante".split(), range(20, 70, 10),
                           strict=True):  # fmt: skip
        table |= {word: value, f"{word}-et-un": value + 1}
        table |= {f"{word}-{ones[one - 1]}": value + one for one in range(2, 10)}
    table |= {f"soixante-{ones[one - 1]}": 60 + one for one in range(10, 20)}
    table |= {f"quatre-vingt-{ones[one - 1]}": 80 + one for one in range(1, 20)}
    table |= {"quatre-vingts": 80, "cent": 100}
    for word in ("un", "six", "cent", "sept", "dix"):  # an article; words of English too
        del table[word]
    return table


# Words that English has for something else ("due", "once", "elf") are left out.
_SHORT = {
    value: words.split()
    for value, words in {
        2: "twee", 3: "tres tre três drie", 4: "cuatro quattro quatro vier", 5: "cinco cinque vijf",
        6: "seis zes", 7: "siete sette sete zeven", 8: "ocho otto oito acht",
        9: "nueve negen", 10: "diez dieci dez tien", 11: "undici", 12: "doce dodici doze twaalf",
        14: "catorce quattordici veertien", 15: "quince quindici vijftien",
        20: "veinte venti vinte twintig", 30: "treinta trenta trinta dertig",
        40: "cuarenta quaranta quarenta veertig", 50: "cincuenta cinquanta cinquenta vijftig",
    }.items()
}  # fmt: skip


_OTHER = {word: value for value, words in _SHORT.items() for word in words}
_OTHER |= {**_french(), **_german()}


FIRST_WORDS = frozenset(
    {word.split("-")[0] for word in _OTHER} | set(_UNITS) | set(_TENS) | set(_ORDINALS)
    | set(_PARTS) | {"a", "an", "half"}
)  # fmt: skip
"""Lower-case words with which a number can begin."""


def may_begin(word: str) -> bool:
    """Whether a number in words can begin with this lower-case word."""
    return word in FIRST_WORDS


def is_foreign(word: str) -> bool:
    """Whether a lower-case number is no word of English, which may use it otherwise."""
    return word in _OTHER


@dataclass(frozen=True, slots=True)
class SpelledNumber:
    """A number read from words: its value, how many tokens it took, and what it is."""

    value: Fraction
    length: int
    kind: str
    soft: bool = False


def read_spelled(words: Sequence[str]) -> SpelledNumber | None:
    """Read the number that some lower-case tokens begin with, hyphens being tokens too, or None."""
    if not words:
        return None
    joined = _joined(words)
    if joined:
        return joined
    first = words[0]
    if first in ("a", "an", "half") or first in _PARTS:
        return _fraction(words)
    if first in _ORDINALS:
        return SpelledNumber(Fraction(_ORDINALS[first]), 1, "ordinal", first in ("first", "second"))
    if first not in _UNITS and first not in _TENS:
        return None
    return _cardinal(words)


def _joined(words: Sequence[str]) -> SpelledNumber | None:
    """Read German and French compounds, which are one word or joined by hyphens."""
    for length in (5, 3, 1):
        value = _OTHER.get("".join(words[:length])) if len(words) >= length else None
        if value is not None:
            return SpelledNumber(Fraction(value), length, "number")
    return None


def _cardinal(words: Sequence[str]) -> SpelledNumber:
    total = current = 0
    index = used = 0
    kind = "number"
    while index < len(words) and index < 24:
        word = words[index]
        if word == "-" or (word == "and" and used and words[used - 1] in _LARGE):
            index += 1
            continue
        if word in _UNITS and (current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20
                                                      and _UNITS[word] < 10)):  # fmt: skip
            current += _UNITS[word]
        elif word in _TENS and current % 100 == 0:
            current += _TENS[word]
        elif word in _ORDINALS and used and current % 10 == 0 and words[index - 1] in ("-", "and"):
            current += _ORDINALS[word]
            kind = "ordinal"
        elif word == "hundred" and 0 < current < 100:
            current *= 100
        elif word in _LARGE and word != "hundred" and current:
            total += current * _LARGE[word]
            current = 0
        elif word == "dozen" and current:
            current *= 12
        else:
            break
        index += 1
        used = index
        if kind == "ordinal":
            break
    value = Fraction(total + current)
    tail = [word for word in words[used : used + 4] if word != "-"]
    part = tail[0] if kind == "number" and tail and value < 20 else ""
    if part in _PARTS and (value == 1 or part.endswith("s")):
        length = used + 1 + (words[used] == "-")
        return SpelledNumber(value / _PARTS[part], length, "fraction")
    if kind == "number" and tail[:3] == ["and", "a", "half"]:
        value += Fraction(1, 2)
        if tail[3:] and tail[3] in _LARGE:  # "twelve and a half thousand"
            return SpelledNumber(value * _LARGE[tail[3]], used + 4, "number")
        return SpelledNumber(value, used + 3, "number")
    return SpelledNumber(value, used, kind, soft=words[0] == "one" and used == 1)


def _fraction(words: Sequence[str]) -> SpelledNumber | None:
    if words[0] == "half":
        if words[1:3] == ["past"]:
            return None
        scale = SCALES.get(words[2], 1) if len(words) > 2 and words[1] == "a" else 1
        length = 3 if scale > 1 else 1
        value = Fraction(scale, 2)
        return SpelledNumber(value, length, "fraction" if length == 1 else "number", length == 1)
    if words[0] in ("a", "an") and len(words) > 1:
        if words[1] in _LARGE:
            whole = _cardinal(["one", *words[1:]])
            return SpelledNumber(whole.value, whole.length, whole.kind, soft=whole.length == 2)
        if words[1] == "dozen":
            return SpelledNumber(Fraction(SCALES[words[1]]), 2, "number", soft=True)
        ends = len(words) < 3 or not words[2].isalpha() or words[2] in ("of", "to", "or", "and")
        if words[1] in ("half", "third", "quarter", "fifth", "tenth") and ends:
            return SpelledNumber(Fraction(1, _PARTS[words[1]]), 2, "fraction", soft=True)
    if words[0] in _ORDINALS:
        return SpelledNumber(Fraction(_ORDINALS[words[0]]), 1, "ordinal", words[0] == "second")
    return None
