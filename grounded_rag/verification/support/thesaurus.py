"""Common senses of common English words: what means the same, what is broader, what is opposite.

The table is derived from WordNet 3.1 (see NOTICE) by `benchmarks/build_thesaurus.py` and read once,
when a claim first differs from its evidence in a word.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

_DEPTH = 5
_FIRST = 2
_GENERAL = 4


@dataclass(frozen=True, slots=True, eq=False)
class Thesaurus:
    """Senses by stem, broader senses by sense, opposites by stem."""

    senses: dict[str, tuple[int, ...]]
    broader: list[tuple[int, ...]]
    opposites: dict[str, frozenset[str]]
    nouns: range


@cache
def _table() -> Thesaurus:
    data = (files(__package__) / "thesaurus.txt.gz").read_bytes()
    head, words, ups, pairs = gzip.decompress(data).decode("ascii").split("\n=\n")
    first, last = map(int, head.split())
    senses = {}
    for line in words.split("\n"):
        stem, _, numbers = line.partition("\t")
        senses[stem] = tuple(map(int, numbers.split()))
    broader = [tuple(map(int, line.split())) for line in ups.split("\n")]
    opposites: dict[str, set[str]] = {}
    for line in pairs.split("\n"):
        left, right = line.split()
        opposites.setdefault(left, set()).add(right)
        opposites.setdefault(right, set()).add(left)
    frozen = {word: frozenset(others) for word, others in opposites.items()}
    return Thesaurus(senses, broader, frozen, range(first, last + 1))


def known(stem: str) -> bool:
    """Whether the table has the word at all."""
    return stem in _table().senses


def is_noun(stem: str) -> bool:
    """Whether the commonest sense of a stem is that of a noun."""
    table = _table()
    return any(sense in table.nouns for sense in table.senses.get(stem, ())[:1])


@lru_cache(maxsize=65536)
def senses(stem: str) -> frozenset[int]:
    """Return the common senses of a stem, and the heads of its adjectives."""
    return frozenset((*_table().senses.get(stem, ()), *_heads(stem)))


@lru_cache(maxsize=65536)
def above(stem: str) -> frozenset[int]:
    """Return the broader senses of a stem's first senses, without "thing" and the like."""
    table = _table()
    level = set(table.senses.get(stem, ())[:_FIRST])
    found: set[int] = set()
    for _ in range(_DEPTH):
        level = {up for sense in level for up in table.broader[sense]}
        found |= level
    found = {sense for sense in found if sense not in table.nouns or not _general(sense)}
    return frozenset(found)


@lru_cache(maxsize=65536)
def _general(sense: int) -> bool:
    """Whether a sense stands so near the top that everything is of its kind."""
    level = {sense}
    for _ in range(_GENERAL):
        level = {up for one in level for up in _table().broader[one]}
        if not level:
            return True
    return False


def same_sense(left: str, right: str) -> bool:
    """Whether two stems share one of their common senses, or are shades of one adjective."""
    return not senses(left).isdisjoint(senses(right))


def is_broader(claim: str, evidence: str) -> bool:
    """Whether the claim's word is a broader one ("dog" of the evidence is an "animal")."""
    return not above(evidence).isdisjoint(_table().senses.get(claim, ())[: _FIRST + 1])


@lru_cache(maxsize=65536)
def _heads(stem: str) -> frozenset[int]:
    """The adjectives among the first senses, each as the head of its group."""
    table = _table()
    heads: set[int] = set()
    for sense in table.senses.get(stem, ())[: _FIRST + 1]:
        if sense < table.nouns.start:  # adjectives come first
            heads.update(table.broader[sense] or (sense,))
    return frozenset(heads)


@lru_cache(maxsize=65536)
def opposite_senses(left: str, right: str) -> bool:
    """Whether two stems are opposites, or one is a shade of the other's opposite."""
    if right in _opposites_of(left):
        return True
    return _shade_of_opposite(left, right) or _shade_of_opposite(right, left)


def _shade_of_opposite(left: str, right: str) -> bool:
    table = _table()
    heads = _heads(left)
    return bool(heads) and any(
        not heads.isdisjoint(table.senses.get(other, ())[:1]) for other in _opposites_of(right)
    )


def _opposites_of(word: str) -> frozenset[str]:
    return _table().opposites.get(word, frozenset())


@lru_cache(maxsize=65536)
def same_kind(left: str, right: str) -> bool:
    """Whether two nouns are different things of one kind ("coffee" and "tea")."""
    if left == right or same_sense(left, right):
        return False
    if is_broader(left, right) or is_broader(right, left):
        return False
    return not _kinds(left).isdisjoint(_kinds(right))


def _kinds(stem: str) -> set[int]:
    table = _table()
    return {
        up
        for sense in table.senses.get(stem, ())[:_FIRST]
        if sense in table.nouns
        for up in table.broader[sense]
    }
