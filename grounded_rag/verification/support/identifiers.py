"""Identifiers as strings: each version, section, code or address stands in the passage."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.identifiers import Identifier, find_identifiers
from grounded_rag.text.numbers import find_quantities
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.signals import fine, of_wording, veto

_SHOWN = 3
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_WORD = re.compile(r"[A-Za-z]{3}")
_GROUPS = re.compile(r"(?<=\d)[\s().\-‐‑–/]{1,3}(?=\d)")


@of_wording
def identifiers(case: ClaimCase) -> Signal | None:
    """Say whether the claim names something by an identifier that its passage does not hold.

    The passage counts with its title and headings. None where the claim holds no identifier.
    """
    stated = find_identifiers(_plain(case.claim.text))
    if not stated:
        return None
    texts = dict.fromkeys(
        text
        for piece in case.evidence
        for text in (piece.chunk.chunk.text, piece.chunk.title, *piece.chunk.chunk.headings)
        if text
    )
    passage = _plain("\n".join(texts))
    given = _given(passage)
    for one in stated:
        if not _stands(one, passage, given):
            return veto("identifiers", Reason.IDENTIFIER_MISMATCH, _explain(one, given))
    return fine("identifiers", "Every identifier of the claim stands in its passage.")


def _plain(text: str) -> str:
    return _INVISIBLE.sub("", html.unescape(text) if "&" in text else text)


@lru_cache(maxsize=256)
def _given(passage: str) -> tuple[Identifier, ...]:
    return find_identifiers(passage)


def _stands(one: Identifier, passage: str, given: Sequence[Identifier]) -> bool:
    if any(one.key == other.key for other in given) or _literal(one.text, one, passage):
        return True
    if one.kind == "number":
        digits = re.escape(re.sub(r"\D", "", one.key))
        return re.search(rf"(?<!\d){digits}(?!\d)", _GROUPS.sub("", passage)) is not None
    if one.kind == "code" and _WORD.search(one.text):
        # "Covid-19" for "COVID-19" is a doubt, and no contradiction.
        return any(one.key.casefold() == other.key.casefold() for other in given)
    if one.key.isdecimal():
        return _counted(one, passage, given)
    return False


def _literal(written: str, one: Identifier, passage: str) -> bool:
    """Whether the very characters stand in the passage, as no part of something longer."""
    behind = r"(?![\w/@-]|[.?#&=]\w)" if one.kind == "address" else r"(?!\w|[.,]\d)"
    before = r"(?<![\w@+-])(?<![\w@+-]\.)" if "@" in written else r"(?<!\w)(?<!\d[.,])"
    return re.search(before + re.escape(written) + behind, passage) is not None


def _counted(one: Identifier, passage: str, given: Sequence[Identifier]) -> bool:
    """Whether a plain number stands there otherwise: "IV. Appeals", "the Second World War"."""
    number = int(one.key)
    if number < 40 and _literal(_roman(number), one, passage):
        return True
    if number < 100 and not any(other.kind == "name" for other in given):
        return True  # number words of a language that nobody reads here
    return any(number in other.values for other in find_quantities(passage))


def _roman(number: int) -> str:
    figures = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
    written = ""
    for value, letters in figures:
        written += letters * (number // value)
        number %= value
    return written


def _explain(one: Identifier, given: Sequence[Identifier]) -> str:
    alike = [other for other in given if other.kind == one.kind]
    ranked = sorted(alike, key=lambda other: -_shared(one.text, other.text))
    shown = ", ".join(f"“{text}”" for text in [*dict.fromkeys(o.text for o in ranked)][:_SHOWN])
    return f"The claim says “{one.text}”; its passage gives {shown or 'no such name'}."


def _shared(left: str, right: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(left.casefold(), right.casefold(), strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
