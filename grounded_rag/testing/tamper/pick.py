"""Choosing a place in a text and changing what stands there."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache

from grounded_rag.testing.tamper.values import Edit

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def one_of(rng: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a random match of a pattern of ours in `text`, or None."""
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def inner(rng: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a random match that touches neither end of the text, or None."""
    found = [m for m in pattern.finditer(text) if m.start() > 0 and m.end() < len(text) - 1]
    return rng.choice(found) if found else None


def put(text: str, found: re.Match[str], other: str) -> str:
    """Return `text` with `other` in the place of a match."""
    return text[: found.start()] + other + text[found.end() :]


def swap_listed(rng: random.Random, text: str, pairs: Sequence[tuple[str, str]]) -> Edit | None:
    """Replace one listed expression of `text` by its counterpart, keeping a capital letter."""
    pairs = list(pairs)
    rng.shuffle(pairs)
    for old, new in pairs:
        found = one_of(rng, _whole(old), text)
        if found is not None:
            return Edit(text, put(text, found, _like(found.group(), new)))
    return None


def swap_sequence(rng: random.Random, text: str, words: Sequence[str]) -> Edit | None:
    """Replace a word of a series by another one of it."""
    found = one_of(rng, _any_of(tuple(words)), text)
    if found is None:
        return None
    others = [word for word in words if word.lower() != found.group().lower()]
    return Edit(text, put(text, found, _like(found.group(), rng.choice(others))))


def _like(model: str, word: str) -> str:
    """Return `word` with a first capital where `model` has one."""
    return word[0].upper() + word[1:] if model[0].isupper() else word


@cache
def _whole(expression: str) -> re.Pattern[str]:
    left = r"(?<!\w)" if expression[0].isalpha() else ""
    right = r"(?!\w)" if expression[-1].isalpha() else ""
    fold = re.IGNORECASE if expression.islower() else 0
    return re.compile(left + re.escape(expression) + right, fold)


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    fold = re.IGNORECASE if words[0].islower() else 0
    return re.compile(rf"\b(?:{'|'.join(words)})\b", fold)
