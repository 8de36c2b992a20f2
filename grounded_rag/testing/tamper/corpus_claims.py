"""Claims made from sentences of a corpus, which stay their literal quotes.

The quote stays as the source has it; the claim is the quote with one change. Each false class
makes the claim say something that the quote does not; each true class says the same otherwise.
Weaker claims ("some" for "all") are no false claims and are not made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from grounded_rag.testing.tamper.cases import Cited, Draw, Draws, Kind, Pools, read
from grounded_rag.testing.tamper.claims import false, honest, rounds
from grounded_rag.testing.tamper.quotes import EditMaker, at, edit_of, exchanged, put, swapping
from grounded_rag.testing.tamper.words import (
    GROUPED_NUMBER,
    MONTHS,
    WEEKDAYS,
    change_currency,
    change_date,
    change_digit,
    change_number_word,
    change_percent,
    change_scale,
    change_time,
    change_unit,
    put_negation_in,
    take_negation_out,
)

_WORDS = read("words")
_STARTERS = frozenset(_WORDS["grammar"]["starters"])
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|wird|Sie|nicht|mit|von|ein|eine)\b")
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: (?:[A-Z][a-zà-ÿ]{2,}|\d+))*\b")
_SMALL_NUMBER = re.compile(r"(?<=[a-z] )([2-9]|1[0-2])(?= [a-z]{3,})")
_SPELLED = "two three four five six seven eight nine ten eleven twelve".split()
_EURO = re.compile(r"€(\d[\d,]*(?:\.\d+)?)(?! (?:million|billion))\b")
_DATE = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b")


def _changed_by(edits_of: Callable[[Pools], Sequence[EditMaker]]) -> Draws:
    """Return whole sentences of a corpus as claims with one change each."""

    def draws(rng: random.Random, pools: Pools) -> Iterator[Draw]:
        edits = edits_of(pools)
        for sentence in rounds(rng, pools.sentences):
            claim = _changed(rng, sentence.text, edits) if _reads_alone(sentence.text) else None
            if claim is not None and claim not in sentence.passage.text:
                yield Draw((Cited(sentence.passage, sentence.text),), claim)

    return draws


def _changed(rng: random.Random, text: str, edits: Sequence[EditMaker]) -> str | None:
    """Return what the first edit makes of a text that changes the claim alone, in any order."""
    for edit in rng.sample(edits, len(edits)):
        made = edit_of(edit, rng, text)
        if made is not None and made.source == text and made.quote != text:
            return made.quote
    return None


def _by(*edits: EditMaker) -> Draws:
    return _changed_by(lambda _pools: edits)


def _copies(rng: random.Random, pools: Pools) -> Iterator[Draw]:
    for sentence in rounds(rng, pools.sentences):
        if _reads_alone(sentence.text):
            yield Draw((Cited(sentence.passage, sentence.text),), sentence.text)


def _reads_alone(text: str) -> bool:
    """Whether a text reads as an English sentence: no second half of a wrapped one."""
    return text.endswith((".", "!", "?")) and text[0].isupper() and not _GERMAN.search(text)


def _other_name(names: Sequence[str], rng: random.Random, text: str) -> str | None:
    """Put another name of the corpus in the place of one inside the sentence."""
    known = _words_of(names)
    inside = [
        m for m in _NAME.finditer(text)
        if m.start() > 0 and text[m.start() - 2] not in '.!?:"“' and m.group().split()[0] in known
        and not set(m.group().split()) & {*MONTHS, *WEEKDAYS}
    ]  # fmt: skip
    if not inside or not names:
        return None
    found = rng.choice(inside)
    others = [n for n in rng.sample(names, min(30, len(names))) if n not in text]
    others = [
        n for n in others
        if found.group() not in n and not set(n.split()) & _STARTERS and len(n.split()) < 4
    ]  # fmt: skip
    return put(text, found, others[0]) if others else None


def _words_of(names: Sequence[str]) -> set[str]:
    return {word for name in names for word in name.split()} - _STARTERS


def _other_role(names: Sequence[str], rng: random.Random, text: str) -> str | None:
    """Exchange who does it and to whom it is done."""
    parties = _WORDS["stronger"]["party"]
    for left, right in rng.sample(parties, len(parties)):
        pattern = re.compile(rf"\b(?:{left}|{right})\b", re.IGNORECASE)
        if len({m.group().lower() for m in pattern.finditer(text)}) == 2:
            return pattern.sub(partial(_other_party, left, right), text)
    known = _words_of(names)
    found = [m for m in _NAME.finditer(text) if set(m.group().split()) <= known]
    if len(found) < 2 or found[0].group() in found[-1].group():
        return None
    between = text[found[0].end() : found[-1].start()].lower()
    if not re.search(r"\b(?:than|from|to|for|by|with|at|in)\b", between) or " and " in between:
        return None
    return exchanged(text, found[0], found[-1])


def _other_party(left: str, right: str, match: re.Match[str]) -> str:
    word = right if match.group().lower() == left else left
    return word[0].upper() + word[1:] if match.start() == 0 else word


def _at_end(pool: Sequence[str]) -> EditMaker:
    def edit(rng: random.Random, text: str) -> str | None:
        added = rng.choice(pool)
        if not text.endswith(".") or added.split()[-1] in text:
            return None
        return f"{text[:-1]}{added}."

    return edit


@at(GROUPED_NUMBER)
def _ungrouped(_rng: random.Random, found: re.Match[str]) -> str:
    return found.group().replace(",", "")


@at(_SMALL_NUMBER)
def _spelled(_rng: random.Random, found: re.Match[str]) -> str:
    return _SPELLED[int(found.group()) - 2]


@at(re.compile(r"(?<=\d)%"))
def _percent(rng: random.Random, _found: re.Match[str]) -> str:
    return rng.choice([" percent", " %"])


@at(_EURO)
def _euro(rng: random.Random, found: re.Match[str]) -> str:
    amount = found.group(1)
    return rng.choice([f"EUR {amount}", f"{amount} euros", f"€ {amount}"])


@at(_DATE)
def _date(rng: random.Random, found: re.Match[str]) -> str:
    day, month, year = found.groups()
    iso = f"{year}-{MONTHS.index(month) + 1:02d}-{int(day):02d}"
    return rng.choice([iso, f"{month} {day}, {year}"])


FALSE_CORPUS: tuple[Kind, ...] = (
    false("number", "another number", _by(change_digit, change_number_word, change_scale)),
    false("date", "another day, month, year or hour", _by(change_date, change_time)),
    false("unit", "another unit, currency or kind of percent",
          _by(change_unit, change_currency, change_percent)),
    false("name", "another name of the corpus",
          _changed_by(lambda pools: [partial(_other_name, pools.names)])),
    false("negation", "a negation comes or goes", _by(put_negation_in, take_negation_out)),
    false("comparator", "more is less, at least is at most",
          _by(swapping(_WORDS["stronger"]["comparator"]))),
    false("quantifier", "some is all", _by(swapping(_WORDS["stronger"]["quantifier"]))),
    false("antonym", "open is closed", _by(swapping(_WORDS["stronger"]["antonym"]))),
    false("modality", "may is must", _by(swapping(_WORDS["stronger"]["modality"]))),
    false("role", "who does it to whom is turned round",
          _changed_by(lambda pools: [partial(_other_role, pools.names)])),
    false("added", "a place, reason or clause of its own",
          _by(*(_at_end(_WORDS["added"][name]) for name in ("adjunct", "reason", "clause")))),
)  # fmt: skip
"""Classes whose claims their literal quotes do not carry."""

HONEST_CORPUS: tuple[Kind, ...] = (
    honest("copy", "the quote itself", _copies),
    honest("notation", "numbers, dates and money written otherwise",
           _by(_ungrouped, _spelled, _percent, _euro, _date)),
    Kind(name="same_meaning", label="reworded", says="one word by one that means the same",
         draws=_by(swapping(_WORDS["same"]["meaning"]))),
)  # fmt: skip
"""Classes whose claims say what their quotes say."""
