"""Units, each with its base unit and exact factor; what is not convertible has a base of its own.

Conversions that round in practice (pounds to kilograms, miles to kilometres, Fahrenheit) are left
out on purpose: a text that converts them has changed its number.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.resources import data_file

_Unit = tuple[str, Fraction]


class _Table(NamedTuple):
    """What the data file says.

    Attributes:
        exact: Symbols in their own case, and words in lower case.
        words: Names that fold case.
        folded: Symbols in lower case, where all of these letters mean one unit.
        pairs: Units of two words.
        currencies: Base units that are money.
    """

    exact: Mapping[str, _Unit]
    words: Mapping[str, _Unit]
    folded: Mapping[str, _Unit]
    pairs: Mapping[tuple[str, str], str]
    currencies: frozenset[str]


@lru_cache(maxsize=1)
def _table() -> _Table:
    data = tomllib.loads(data_file("units.toml").read_text(encoding="utf-8"))
    symbols, words = (dict(_named(data[part])) for part in ("symbols", "words"))
    readings: dict[str, set[_Unit]] = {}
    for name, unit in symbols.items():
        readings.setdefault(name.lower(), set()).add(unit)
    folded = {
        name: next(iter(found))
        for name, found in readings.items()
        if len(found) == 1 and (len(name) > 1 or not name.isascii())
    }
    pairs = {tuple(name.split()): unit for name, unit in data["pairs"].items()}
    return _Table(
        {**words, **symbols}, words, folded, pairs, frozenset(data["currencies"]["codes"].split())
    )


def _named(rows: Mapping[str, list[str]]) -> list[tuple[str, _Unit]]:
    found: list[tuple[str, _Unit]] = []
    for base, groups in rows.items():
        for group in groups:
            factor_text, *names = group.split()
            found += [(name, (base, Fraction(factor_text))) for name in names]
    return found


@lru_cache(maxsize=4096)
def lookup(name: str) -> tuple[str, Fraction] | None:
    """Return base unit and factor of a unit name or sign, or None.

    The case of a symbol counts: "MB" and "Mb" are two units. In a case that is nobody's symbol it
    is read only where its letters mean one unit in every case: "KWH" is kWh, "mb" is neither MB
    nor Mb. Words such as "Days" fold.

    Args:
        name: As written; a pair such as "working days" with a hyphen between.
    """
    table = _table()
    found = table.exact.get(name)
    if found is not None:
        return found
    lower = name.lower()
    if len(lower) == 1 and lower.isalpha() and lower.isascii():
        return None  # "A" and "a" are words, "K" and "k" are different
    return table.words.get(lower) or table.folded.get(lower)


def pair(first: str, second: str) -> str | None:
    """Return the name of a unit of two words, or None."""
    return _table().pairs.get((first, second))


def in_pair(word: str) -> bool:
    """Whether a lower-case word is part of a unit of two words."""
    return any(word in names for names in _table().pairs)


def factor(name: str) -> Fraction:
    """Return the factor of a unit name to its base unit, 1 for unknown names."""
    found = lookup(name)
    return found[1] if found else Fraction(1)


def is_currency(base: str) -> bool:
    """Whether a base unit is money."""
    return base in _table().currencies
