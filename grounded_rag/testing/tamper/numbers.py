"""Classes that change a number, its unit, or a date. Each maker returns None without material."""

from __future__ import annotations

import random
import re

from grounded_rag.testing.tamper import wordlists
from grounded_rag.testing.tamper.pick import one_of, put, swap_listed, swap_sequence
from grounded_rag.testing.tamper.values import Edit, Kind, Pools, tamper

_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_DIGIT = re.compile(r"\d")
_DECIMAL = re.compile(r"(?<![\d.,])\d+\.\d+(?![\d.,]\d)")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3},\d{3}(?![\d,])")
_LONG = re.compile(r"(?<![\d.,])\d{4,}(?![\d.,]\d)")
_TIME = re.compile(r"(?<![\d€$£.,:])([01]?\d|2[0-3]):([0-5]\d)\b")
_HALF_DAY = re.compile(r"\b([ap])(\.?m\.?)(?=\W|$)", re.IGNORECASE)
_PERCENT = re.compile(r"(?<=\d)\s?%|\bper ?cent\b|\bpercent\b")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_DAY = re.compile(rf"\b(\d{{1,2}})(?= (?:{'|'.join(wordlists.MONTHS)})\b)")
_SUFFIXED = re.compile(r"\b(\d{1,3})(st|nd|rd|th)\b")
_BARE = re.compile(r"(?<= )\d+(?:[.,]\d+)*(?=[ ,;])")


def _digit(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _DIGIT, text)
    if found is None:
        return None
    other = rng.choice([d for d in "0123456789" if d != found.group()])
    return Edit(text, put(text, found, other))


def _decimal_point(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _DECIMAL, text)
    if found is None:
        found = one_of(rng, _NUMBER, text)
        if found is None or len(found.group()) < 2 or not found.group().isdigit():
            return None
        number = found.group()
        return Edit(text, put(text, found, f"{number[:-1]}.{number[-1]}"))
    whole, _, part = found.group().partition(".")
    moved = f"{whole}{part[0]}.{part[1:]}" if len(part) > 1 else whole + part
    return Edit(text, put(text, found, rng.choice([whole + part, moved, f"{whole},{part}"])))


def _grouping(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _GROUPED, text)
    if found is not None:
        digits = found.group().replace(",", "")
        shifted = f"{digits[:-2]},{digits[-2:]}"
        pointed = found.group().replace(",", ".")
        return Edit(text, put(text, found, rng.choice([shifted, pointed, f"{digits}0"])))
    found = one_of(rng, _LONG, text)
    if found is None:
        return None
    digits = found.group()
    return Edit(text, put(text, found, f"{digits[:-2]},{digits[-2:]}"))


def _sign(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE, text)
    if found is None:
        return None
    minus = rng.choice(["-", "\N{MINUS SIGN}"])
    negative, plus = put(text, found, minus + found.group()), put(text, found, "+" + found.group())
    return rng.choice(
        [Edit(text, negative), Edit(negative, text), Edit(negative, plus), Edit(plus, negative)]
    )


def _accounting(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE, text)
    if found is None:
        return None
    bracketed = put(text, found, f"({found.group()})")
    return rng.choice([Edit(bracketed, text), Edit(text, bracketed)])


def _unit(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_listed(rng, text, wordlists.UNITS)


def _scale(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_listed(rng, text, wordlists.SCALES)


def _currency(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_listed(rng, text, wordlists.CURRENCIES)


def _percent(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _PERCENT, text)
    if found is None:
        return None
    if "%" in found.group():
        others = [" percentage points", "‰", "", " basis points"]
    else:
        others = ["percentage points", "basis points", "per mille"]
    return Edit(text, put(text, found, rng.choice(others)))


def _date(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    edits = [
        swap_sequence(rng, text, wordlists.MONTHS),
        swap_sequence(rng, text, wordlists.WEEKDAYS),
        _near_number(rng, text, _YEAR, low=1500, high=2099),
        _near_number(rng, text, _DAY, low=1, high=28),
    ]
    possible = [edit for edit in edits if edit is not None]
    return rng.choice(possible) if possible else None


def _near_number(
    rng: random.Random, text: str, pattern: re.Pattern[str], *, low: int, high: int
) -> Edit | None:
    found = one_of(rng, pattern, text)
    if found is None:
        return None
    value = int(found.group())
    other = min(high, max(low, value + rng.choice([-10, -2, -1, 1, 2, 10])))
    return Edit(text, put(text, found, str(other)))


def _time(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _TIME, text)
    if found is not None:
        hour = (int(found.group(1)) + rng.choice([1, 2, 12])) % 24
        shifted = found.group().replace(found.group(1), f"{hour:02d}", 1)
        return Edit(text, put(text, found, shifted))
    found = one_of(rng, _HALF_DAY, text)
    if found is None:
        return None
    other = {"a": "p", "p": "a", "A": "P", "P": "A"}[found.group(1)]
    return Edit(text, put(text, found, other + found.group(2)))


def _ordinal(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _SUFFIXED, text)
    if found is None:
        return swap_sequence(rng, text, wordlists.ORDINALS)
    number = int(found.group(1)) + rng.choice([1, 2, 10])
    teens = 10 <= number % 100 <= 20
    suffix = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return Edit(text, put(text, found, f"{number}{suffix}"))


def _number_word(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_sequence(rng, text, wordlists.NUMBER_WORDS)


KINDS: tuple[Kind, ...] = (
    tamper("digit", "one digit is another one", _digit),
    tamper("decimal_point", "a decimal point moves, comes or goes", _decimal_point),
    tamper("grouping", "the grouping of a number shifts (1,500 to 15,00)", _grouping),
    tamper("sign", "a number gains, loses or turns its sign", _sign),
    tamper("accounting", "a bracketed, that is negative, amount loses its brackets", _accounting),
    tamper("unit", "a unit of measure is another one", _unit),
    tamper("scale", "million is billion", _scale),
    tamper("currency", "a currency is another one", _currency),
    tamper("percent", "percent is percentage points, or is gone", _percent),
    tamper("date", "another day, month, weekday or year", _date),
    tamper("time", "another hour, or am is pm", _time),
    tamper("ordinal", "first is second", _ordinal),
    tamper("number_word", "five is six", _number_word),
)
