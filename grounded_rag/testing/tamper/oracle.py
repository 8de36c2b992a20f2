r"""Independent judgement of what a generated quote is. None of it is the verifier's own code.

A change to a sentence can happen to give another true quote of the same chunk. Such a quote is
no tamper and is dropped. The test is plain `in` over the unfolded text. One step further, a quote
is dropped that differs from the chunk by nothing but white space, Unicode composition, the pipes
within one table row, the case of its first letter or a final full stop (a word dropped from "on
the\nthe list", a cell swapped for an equal one, "is." where the source goes on "is not."): those
differences are benign by the fuzzer's own classes, and a quote that is cut short is a matter of
support, not of location.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from grounded_rag.testing.tamper.values import FuzzCase


def is_literal(case: FuzzCase) -> bool:
    """Whether the quote stands in the cited chunk, character by character."""
    return bool(case.quote) and case.quote in case.cited_text


def reads_the_same(case: FuzzCase) -> bool:
    """Whether the quote stands in the cited chunk up to what the module's text names."""
    quote = _plain(case.quote).removesuffix(".")
    if not quote:
        return False
    rows = [line.replace("|", " ") for line in case.cited_text.splitlines() if "|" in line]
    return _stands_in(quote, [case.cited_text]) or _stands_in(_plain(quote.replace("|", " ")), rows)


def _stands_in(quote: str, texts: Sequence[str]) -> bool:
    readings = (quote, quote[:1].swapcase() + quote[1:])
    return any(reading in _plain(text) for text in texts for reading in readings)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def is_cut(case: FuzzCase) -> bool:
    """Whether every place where the quote stands cuts a word or a number at one of its ends.

    A final full stop of the quote is left aside, so that places that go on otherwise count too.
    """
    text, quote = case.cited_text, case.quote.removesuffix(".")
    places = []
    place = text.find(quote)
    while place >= 0:
        places.append(place)
        place = text.find(quote, place + 1)
    return bool(places) and all(
        _inside(text, place) or _inside(text, place + len(quote)) for place in places
    )


def _inside(text: str, edge: int) -> bool:
    """Whether `edge` lies between two letters, two digits, or inside a number."""
    if not 0 < edge < len(text):
        return False
    left, right = text[edge - 1], text[edge]
    if left.isalnum() and right.isalnum():
        return True
    after = text[edge + 1] if edge + 1 < len(text) else ""
    before = text[edge - 2] if edge >= 2 else ""
    if left.isdigit() and right in ".," and after.isdigit():
        return True
    if left in ".," and right.isdigit() and before.isdigit():
        return True
    return left in "-\N{MINUS SIGN}" and right.isdigit() and not before.strip()


def is_sound(case: FuzzCase, *, literal: bool) -> bool:
    """Whether the case is what its label says.

    Args:
        case: The case.
        literal: Whether its class makes quotes that are literally in the chunk.
    """
    if not case.quote.strip():
        return False
    if case.label == "benign":
        place = case.expected
        if place is None:
            return False
        # The same words on other lines would be a second place that is just as right.
        text = _plain(case.cited_text).casefold()
        return text.count(_plain(place.of(case.cited_text)).casefold()) == 1
    if literal:
        return is_cut(case)
    return not is_literal(case) and not reads_the_same(case)
