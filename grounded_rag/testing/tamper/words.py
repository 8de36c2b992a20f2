"""Classes of quotes that change, move, add or drop words and numbers within a sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from grounded_rag.testing.tamper.cases import Draw, Kind, Pools, Sentence, read
from grounded_rag.testing.tamper.corpora import NAME
from grounded_rag.testing.tamper.quotes import (
    WORD,
    Change,
    Edit,
    EditMaker,
    at,
    exchanged,
    first_of,
    in_passage,
    in_series,
    long_word,
    one_of,
    put,
    swapping,
    tamper,
    tampers,
)

MONTHS: Sequence[str] = read("words")["series"]["months"]
WEEKDAYS: Sequence[str] = read("words")["series"]["weekdays"]

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_DECIMAL = re.compile(r"(?<![\d.,])\d+\.\d+(?![\d.,]\d)")
GROUPED_NUMBER = re.compile(r"(?<![\d.,])\d{1,3},\d{3}(?![\d,])")
_LONG_NUMBER = re.compile(r"(?<![\d.,])\d{4,}(?![\d.,]\d)")
_TIME = re.compile(r"(?<![\d€$£.,:])([01]?\d|2[0-3]):([0-5]\d)\b")
_HALF_DAY = re.compile(r"\b([ap])(\.?m\.?)(?=\W|$)", re.IGNORECASE)
_PERCENT = re.compile(r"(?<=\d)\s?%|\bper ?cent\b|\bpercent\b")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_DAY = re.compile(rf"\b(\d{{1,2}})(?= (?:{'|'.join(MONTHS)})\b)")
_SUFFIXED = re.compile(r"\b(\d{1,3})(st|nd|rd|th)\b")
_BARE_NUMBER = re.compile(r"(?<= )\d+(?:[.,]\d+)*(?=[ ,;])")


@at(re.compile(r"\d"))
def change_digit(rng: random.Random, found: re.Match[str]) -> str:
    """Put another digit in the place of one."""
    return rng.choice([digit for digit in "0123456789" if digit != found.group()])


@at(_DECIMAL)
def _moved_point(rng: random.Random, found: re.Match[str]) -> str:
    whole, _, part = found.group().partition(".")
    moved = f"{whole}{part[0]}.{part[1:]}" if len(part) > 1 else whole + part
    return rng.choice([whole + part, moved, f"{whole},{part}"])


@at(_NUMBER)
def _new_point(_rng: random.Random, found: re.Match[str]) -> str | None:
    number = found.group()
    return f"{number[:-1]}.{number[-1]}" if len(number) > 1 and number.isdigit() else None


@at(GROUPED_NUMBER)
def _regrouped(rng: random.Random, found: re.Match[str]) -> str:
    digits = found.group().replace(",", "")
    shifted = f"{digits[:-2]},{digits[-2:]}"
    return rng.choice([shifted, found.group().replace(",", "."), f"{digits}0"])


@at(_LONG_NUMBER)
def _grouped(_rng: random.Random, found: re.Match[str]) -> str:
    return f"{found.group()[:-2]},{found.group()[-2:]}"


@at(_BARE_NUMBER)
def _sign(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    number = found.group()
    minus, plus = rng.choice(["-", "\N{MINUS SIGN}"]) + number, f"+{number}"
    return rng.choice([(number, minus), (minus, number), (minus, plus), (plus, minus)])


@at(_BARE_NUMBER)
def _accounting(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    number, bracketed = found.group(), f"({found.group()})"
    return rng.choice([(bracketed, number), (number, bracketed)])


@at(_PERCENT)
def change_percent(rng: random.Random, found: re.Match[str]) -> str:
    """Put something else in the place of percent, or drop it."""
    if "%" in found.group():
        return rng.choice([" percentage points", "‰", "", " basis points"])
    return rng.choice(["percentage points", "basis points", "per mille"])


def _near(low: int, high: int) -> Change:
    def change(rng: random.Random, found: re.Match[str]) -> str:
        return str(min(high, max(low, int(found.group()) + rng.choice([-10, -2, -1, 1, 2, 10]))))

    return change


_DATE_EDITS = (
    in_series(MONTHS),
    in_series(WEEKDAYS),
    at(_YEAR)(_near(1500, 2099)),
    at(_DAY)(_near(1, 28)),
)


def change_date(rng: random.Random, text: str) -> Edit | str | None:
    """Put another day, month, weekday or year in the place of one."""
    edits = [edit(rng, text) for edit in _DATE_EDITS]
    possible = [edit for edit in edits if edit is not None]
    return rng.choice(possible) if possible else None


@at(_TIME)
def _other_hour(rng: random.Random, found: re.Match[str]) -> str:
    hour = (int(found.group(1)) + rng.choice([1, 2, 12])) % 24
    return found.group().replace(found.group(1), f"{hour:02d}", 1)


@at(_HALF_DAY)
def _other_half(_rng: random.Random, found: re.Match[str]) -> str:
    return {"a": "p", "p": "a", "A": "P", "P": "A"}[found.group(1)] + found.group(2)


@at(_SUFFIXED)
def _other_ordinal(rng: random.Random, found: re.Match[str]) -> str:
    number = int(found.group(1)) + rng.choice([1, 2, 10])
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


_SWAPPED = read("words")["swapped"]
change_number_word = in_series(read("words")["series"]["numbers"])
change_time = first_of(_other_hour, _other_half)
change_unit = swapping(_SWAPPED["unit"])
change_scale = swapping(_SWAPPED["scale"])
change_currency = swapping(_SWAPPED["currency"])
change_modality = swapping(_SWAPPED["modality"])

NUMBER_KINDS: tuple[Kind, ...] = (
    tamper("digit", "one digit is another one", change_digit),
    tamper("decimal_point", "a decimal point moves, comes or goes",
           first_of(_moved_point, _new_point)),
    tamper("grouping", "the grouping of a number shifts (1,500 to 15,00)",
           first_of(_regrouped, _grouped)),
    tamper("sign", "a number gains, loses or turns its sign", _sign),
    tamper("accounting", "a bracketed, that is negative, amount loses its brackets", _accounting),
    tamper("unit", "a unit of measure is another one", change_unit),
    tamper("scale", "million is billion", change_scale),
    tamper("currency", "a currency is another one", change_currency),
    tamper("percent", "percent is percentage points, or is gone", change_percent),
    tamper("date", "another day, month, weekday or year", change_date),
    tamper("time", "another hour, or am is pm", change_time),
    tamper("ordinal", "first is second",
           first_of(_other_ordinal, in_series(read("words")["series"]["ordinals"]))),
    tamper("number_word", "five is six", change_number_word),
)  # fmt: skip


_GRAMMAR = read("words")["grammar"]
_AUXILIARY = re.compile(rf"\b(?:{'|'.join(_GRAMMAR['auxiliary'])})\b")
_NEGATION = re.compile(r" not\b| never\b| no(?= )|(?<=[a-z])n['’]t\b| neither\b|(?<=can)not\b")
_SPACE = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_PREFIX = re.compile(r"\b(re|co|un|pre|non)(?=[a-z]{4,})")
_ELLIPSES = ("...", "…", "[...]", "[…]", "(...)", ". . .", "....", "--", "/")


def _other_name(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    def edit(rng: random.Random, text: str) -> str | None:
        found = one_of(rng, NAME, text)
        if found is None:
            return None
        some = rng.sample(pools.names, min(8, len(pools.names)))
        others = [name for name in some if name != found.group()]
        return put(text, found, others[0]) if others else None

    return in_passage(edit)(rng, sentence, pools)


@at(_AUXILIARY, inside=True)
def put_negation_in(rng: random.Random, found: re.Match[str]) -> str:
    """Deny what an auxiliary verb says."""
    return f"{found.group()} {rng.choice(['not', 'never'])}"


take_negation_out = first_of(at(_NEGATION)(lambda _rng, _found: ""), swapping(_SWAPPED["negation"]))


def _word_order(rng: random.Random, text: str) -> str | None:
    dangling = _GRAMMAR["dangling"]
    words = [
        m for m in WORD.finditer(text) if len(m.group()) > 3 and m.group().lower() not in dangling
    ]
    if len(words) < 3:
        return None
    first, second = sorted(rng.sample(words, 2), key=lambda m: m.start())
    same = first.group().lower() == second.group().lower()
    return None if same else exchanged(text, first, second)


def _reversed_parts(rng: random.Random, text: str) -> str | None:
    words = text.split(" ")
    if len(words) < 8:
        return None
    middle = rng.randrange(3, len(words) - 3)
    return " ".join(words[middle:] + words[:middle])


def _dropped(rng: random.Random, text: str) -> str | None:
    words = text.split(" ")
    if len(words) < 6:
        return None
    place = rng.randrange(1, len(words) - 1)
    return " ".join(words[:place] + words[place + 1 :])


def _added(rng: random.Random, text: str) -> str | None:
    words = text.split(" ")
    if len(words) < 4:
        return None
    place = rng.randrange(1, len(words))
    return " ".join([*words[:place], rng.choice(read("words")["added"]["word"]), *words[place:]])


def _one_letter(rng: random.Random, text: str) -> str | None:
    found = long_word(rng, text, letters=4, plain=True)
    if found is None:
        return None
    word = found.group()
    place = rng.randrange(1, len(word) - 1)
    letter = rng.choice([c for c in "abcdefghiklmnoprstuvwy" if c != word[place].lower()])
    changed = rng.choice(
        [
            word[:place] + letter + word[place + 1 :],
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        ]
    )
    return put(text, found, changed) if changed != word else None


def _word_space(rng: random.Random, text: str) -> str | None:
    if rng.random() < 0.5:
        found = one_of(rng, _SPACE, text)
        return put(text, found, "") if found is not None else None
    # Only where words are set apart by spaces: in Chinese or Japanese a space says nothing.
    word = long_word(rng, text, letters=6, plain=True)
    return put(text, word, f"{word.group()[:3]} {word.group()[3:]}") if word is not None else None


@at(_HYPHEN)
def _without_hyphen(rng: random.Random, _found: re.Match[str]) -> str:
    return rng.choice(["", " "])


@at(_PREFIX)
def _prefix_hyphen(rng: random.Random, found: re.Match[str]) -> tuple[str, str]:
    plain, hyphened = found.group(), f"{found.group()}-"
    return rng.choice([(plain, hyphened), (hyphened, plain)])


def _left_out(marks: Sequence[str]) -> EditMaker:
    """Return an edit that puts a mark in the place of inner words."""

    def edit(rng: random.Random, text: str) -> str | None:
        words = text.split(" ")
        if len(words) < 8:
            return None
        first = rng.randrange(2, len(words) - 4)
        last = rng.randrange(first + 1, len(words) - 1)
        mark = rng.choice(marks) if marks else ""
        return " ".join([*words[:first], mark, *words[last:]]).replace("  ", " ")

    return edit


WORD_KINDS: tuple[Kind, ...] = (
    tampers("entity_swap", "a name is another name of the same corpus", _other_name),
    tamper("negation_in", "a negation is put in", put_negation_in),
    tamper("negation_out", "a negation is taken out", take_negation_out),
    tamper("comparator", "more is less, at least is at most", swapping(_SWAPPED["comparator"])),
    tamper("modality", "may is must", change_modality),
    tamper("quantifier", "all is some", swapping(_SWAPPED["quantifier"])),
    tamper("synonym", "a word is another one of like meaning", swapping(_SWAPPED["synonym"])),
    tamper("word_order", "two words have changed places", _word_order),
    tamper("reversed_parts", "the end of the sentence stands first", _reversed_parts),
    tamper("dropped_word", "a word is missing", _dropped),
    tamper("added_word", "a word is added", _added),
    tamper("one_letter", "one letter is another, missing, added or moved", _one_letter),
    tamper("word_space", "a space between words is gone, or one is in a word", _word_space),
    tamper("hyphen", "re-sign is resign, well-known is well known",
           first_of(_without_hyphen, _prefix_hyphen)),
    tamper("ellipsis_join", "an ellipsis stands for words that are left out", _left_out(_ELLIPSES)),
    tamper("silent_join", "words are left out without a mark", _left_out(())),
)  # fmt: skip
