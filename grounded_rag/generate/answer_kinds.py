"""Whether a sentence holds the kind of answer that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from grounded_rag.generate.question import Question, Wanted, word_weight
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Quantity
from grounded_rag.text.words import tokenize

_YEAR = re.compile(r"(?:1\d|20)\d\d(?:s)?|\d{3}")
_RARE = 0.75
_WORDS = {
    Wanted.NUMBER: r"several|few|many|both|couple|dozen|majority|half|most|no limit|unlimited|all",
    Wanted.MONEY: r"free|no (?:charge|fee|cost)|without charge|nothing|kostenlos|gratis",
    Wanted.DATE: r"centur(?:y|ies)|decade|era|period|spring|summer|autumn|winter|early|late|today"
    r"|now|immediately|once|when|after|before|during|until|days?|weeks?|months?|years?",
    Wanted.DURATION: r"centur(?:y|ies)|decades?|years?|months?|weeks?|days?|hours?|minutes?"
    r"|immediately|at once|tage?n?|monate?n?|jahre?n?",
    Wanted.TIME: r"noon|midday|midnight|morning|evening|hours",
    Wanted.PERSON: r"people|persons?|who|customers?|holders?|members?|owners?|adults?|parents?"
    r"|child(?:ren)?|staff|team|we|you|anyone|everyone|\w{2,}(?:ers?|ors?|ists?|ians?)",
    Wanted.PLACE: r"(?:in|at|on|near|between|from|to) (?:the|a|any|our|your)",
    Wanted.REASON: r"because|due|since|as|so that|reason|caus\w+|in order|to|led|lead|result\w*"
    r"|therefore|for|weil|da|damit",
}
_PATTERNS = {kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in _WORDS.items()}
_BY_WORDS_ONLY = 0.6


def is_specific(wanted: Wanted) -> bool:
    """Whether the question asks for a kind of answer that can be looked for."""
    return wanted not in (Wanted.ANYTHING, Wanted.YES_NO)


def holds_kind(question: Question, text: str) -> float:
    """Return how clearly `text` holds the asked-for kind, beyond what the question says itself.

    Args:
        question: The question.
        text: A sentence, or a table row with its header.

    Returns:
        1.0 for a number with the right unit, a date, a name; less where only words hint at it;
        1.0 where no particular kind is asked for.
    """
    wanted = question.wanted
    if not is_specific(wanted):
        return 1.0
    fits = _QUANTITIES.get(wanted)
    if fits is not None:
        own = [
            quantity
            for quantity in find_quantities(text)
            if not {word.stem for word in tokenize(quantity.text)} <= question.stems
        ]
        best = max((fits(quantity) for quantity in own), default=0.0)
        if best:
            return best
    elif wanted in (Wanted.PERSON, Wanted.PLACE) and _has_new_name(question, text):
        return 1.0
    pattern = _PATTERNS.get(wanted)
    found = pattern is not None and pattern.search(text) is not None
    if wanted is Wanted.REASON:
        return float(found)
    return _BY_WORDS_ONLY if found else 0.0


def _has_new_name(question: Question, text: str) -> bool:
    for number, word in enumerate(tokenize(text)):
        if not word.text[:1].isupper() or word.stem in question.stems or not word.content:
            continue
        if number > 0 or word_weight(word.lower) > _RARE:
            return True
    return False


def _is_currency(quantity: Quantity) -> bool:
    return quantity.unit in ("cent", "penny", "pound") or (
        len(quantity.unit) == 3 and quantity.unit.isupper()
    )


def _is_number(quantity: Quantity) -> float:
    return float(quantity.kind in ("number", "fraction"))


def _is_money(quantity: Quantity) -> float:
    if _is_currency(quantity) or quantity.unit == "%":
        return 1.0
    return 0.4 if quantity.kind == "number" else 0.0


def _is_percent(quantity: Quantity) -> float:
    if quantity.unit == "%":
        return 1.0
    return 0.3 if quantity.kind in ("number", "fraction") else 0.0


def _is_date(quantity: Quantity) -> float:
    if quantity.kind == "date" or quantity.unit in ("s", "month"):
        return 1.0
    bare = quantity.kind == "number" and not quantity.unit
    return float(bare and _YEAR.fullmatch(quantity.text.strip()) is not None)


def _is_time(quantity: Quantity) -> float:
    return float(quantity.kind == "time")


def _is_duration(quantity: Quantity) -> float:
    if quantity.unit in ("s", "month"):
        return 1.0
    return 0.6 if quantity.kind == "date" else 0.0


_QUANTITIES: dict[Wanted, Callable[[Quantity], float]] = {
    Wanted.NUMBER: _is_number,
    Wanted.MONEY: _is_money,
    Wanted.PERCENT: _is_percent,
    Wanted.DATE: _is_date,
    Wanted.TIME: _is_time,
    Wanted.DURATION: _is_duration,
}
