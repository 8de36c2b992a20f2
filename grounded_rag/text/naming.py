"""Words that name an identifier: the data behind `identifiers`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache

from grounded_rag.resources import data_file


@dataclass(frozen=True, slots=True)
class Naming:
    """Naming words of all languages, in lower case, and the patterns made of them.

    Attributes:
        ordered: Words numbered in Arabic or Roman figures ("chapter").
        named: Words behind which letters are letters ("model").
        grouped: Words behind which digits are written in groups ("account").
        verbs: Those of them that are verbs too ("book").
        spelled: Number words that can be a name ("World War Two").
        gate: What a text with an identifier holds.
        candidate: Where a name can begin.
        endings: Phrases before the last digits of a number.
        joint: What stands between two names of a list.
        suffix: What belongs to the model whose number stands before it.
    """

    ordered: frozenset[str]
    named: frozenset[str]
    grouped: frozenset[str]
    verbs: frozenset[str]
    spelled: dict[str, int]
    gate: re.Pattern[str]
    candidate: re.Pattern[str]
    endings: tuple[str, ...]
    joint: re.Pattern[str]
    suffix: re.Pattern[str]

    def names(self, word: str) -> bool:
        """Whether a number behind the word is a name."""
        return word in self.ordered or word in self.named or word in self.grouped

    def several(self, word: str) -> bool:
        """Whether the word is the plural of a naming word."""
        return word == "§§" or any(self.names(word[:-cut]) for cut in (1, 2) if len(word) > cut)


@lru_cache(maxsize=1)
def naming() -> Naming:
    """Return the naming words of the data file."""
    text = data_file("identifiers.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)

    def listed(name: str) -> list[str]:
        return sorted({word for row in data[name].values() for word in row.split()})

    joints = "|".join(map(re.escape, listed("joints")))
    spelled = "|".join(data["spelled"])
    alone = r"(?![\w’']|[.-]\w)"
    roman = rf"(?<![\w.,-])(?:[IVXLC]{{1,9}}{alone}|[ivx]{{2,6}}{alone}|[A-Z]{alone}"
    return Naming(
        ordered=frozenset(listed("ordered")),
        named=frozenset(listed("named")),
        grouped=frozenset(listed("grouped")),
        verbs=frozenset(listed("verbs")),
        spelled=dict(data["spelled"]),
        gate=re.compile(rf"\d|@|://|www\.|[a-z]\.[a-z]{{2,12}}/|{roman}|(?i:{spelled})(?![\w-]))"),
        candidate=re.compile(rf"{roman}|(?i:{spelled})(?![\w-])|[A-Za-z]{{0,5}}[-‐‑.]?\d)"),
        endings=tuple(f" {one} " for row in data["endings"].values() for one in row.split("|")),
        joint=re.compile(rf"\s?(?:[,;]|,?\s(?:{joints})|[–-])\s?", re.IGNORECASE),
        suffix=re.compile(rf"(?:[ \u00a0](?:{'|'.join(listed('suffixes'))})(?!\w)){{1,3}}"),
    )
