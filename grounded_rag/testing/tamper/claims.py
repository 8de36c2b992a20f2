"""False and true claims made from sentences of a corpus, which stay their literal quotes.

The quote stays as the source has it; the claim is the quote with one change. Each false class
makes the claim say something that the quote does not; each true class says the same otherwise.
Weaker claims ("some" for "all") are no false claims and are not made.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from grounded_rag.testing.tamper import claim_words as words
from grounded_rag.testing.tamper import numbers, wordlists
from grounded_rag.testing.tamper import words as edits
from grounded_rag.testing.tamper.claim_values import Cited, ClaimKind, Made, Stream, rounds
from grounded_rag.testing.tamper.pick import one_of, put, swap_listed
from grounded_rag.testing.tamper.values import Edit, EditMaker, Passage, Pools, Sentence

_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|wird|Sie|nicht|mit|von|ein|eine)\b")
_STARTERS = frozenset(
    "The This That These Those From For Each Every Your You Our We It In On At By With If When "
    "Before After Until Was Was Das Der Die Ein Eine Ihrer Diese Please Dear And But Or".split()
)
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: (?:[A-Z][a-zà-ÿ]{2,}|\d+))*\b")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3},\d{3}(?![\d,])")
_SMALL = re.compile(r"(?<=[a-z] )([2-9]|1[0-2])(?= [a-z]{3,})")
_SPELLED = ("two three four five six seven eight nine ten eleven twelve").split()
_PERCENT = re.compile(r"(?<=\d)%")
_EURO = re.compile(r"€(\d[\d,]*(?:\.\d+)?)(?! (?:million|billion))\b")
_DATE = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(wordlists.MONTHS)}) (\d{{4}})\b")

ClaimMaker: TypeAlias = Callable[[random.Random, Sentence, Pools], "str | None"]


def _edited(maker: ClaimMaker, *, true: bool = False) -> Stream:
    """Return the claims that an edit of whole sentences of the corpus gives."""

    def stream(rng: random.Random, pools: Pools) -> Iterator[Made]:
        for sentence in rounds(rng, pools.sentences):
            claim = maker(rng, sentence, pools) if _whole(sentence.text) else None
            if claim is not None and (true or claim not in sentence.passage.text):
                yield Made(claim, (Cited(sentence.passage, sentence.text),))

    return stream


def _whole(text: str) -> bool:
    """Whether a text reads as a sentence of its own: no second half of a wrapped one."""
    return text.endswith((".", "!", "?")) and text[0].isupper() and not _GERMAN.search(text)


def _by(*makers: EditMaker) -> Stream:
    """Return the claims of makers that are tried in a random order."""

    def make(rng: random.Random, sentence: Sentence, pools: Pools) -> str | None:
        for maker in rng.sample(makers, len(makers)):
            edit = maker(rng, sentence.text, pools)
            if edit is not None and edit.source == sentence.text and edit.quote != edit.source:
                return edit.quote
        return None

    return _edited(make)


def _listed(pairs: Sequence[tuple[str, str]]) -> EditMaker:
    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        return swap_listed(rng, text, pairs)

    return make


def _named(name: str) -> EditMaker:
    """The edit of a class of quotes, by its name."""
    kind = next(k for k in (*numbers.KINDS, *edits.KINDS) if k.name == name)

    def make(rng: random.Random, text: str, pools: Pools) -> Edit | None:
        bare = Sentence(text=text, passage=Passage(id="", source="", text=text), start=0)
        draw = kind.make(rng, bare, pools)
        return None if draw is None else Edit(draw.original, draw.quote)

    return make


def _name(rng: random.Random, text: str, pools: Pools) -> Edit | None:
    """Put another name of the corpus in the place of one inside the sentence."""
    known = {word for name in pools.names for word in name.split()} - _STARTERS
    inside = [
        m for m in _NAME.finditer(text)
        if m.start() > 0 and text[m.start() - 2] not in '.!?:"“' and m.group().split()[0] in known
        and not set(m.group().split()) & {*wordlists.MONTHS, *wordlists.WEEKDAYS}
    ]  # fmt: skip
    if not inside or not pools.names:
        return None
    found = rng.choice(inside)
    others = [n for n in rng.sample(pools.names, min(30, len(pools.names))) if n not in text]
    others = [
        n for n in others
        if found.group() not in n and not set(n.split()) & _STARTERS and len(n.split()) < 4
    ]  # fmt: skip
    return Edit(text, put(text, found, others[0])) if others else None


def _roles(rng: random.Random, text: str, pools: Pools) -> Edit | None:
    """Exchange who does it and to whom it is done."""
    for left, right in rng.sample(words.PARTIES, len(words.PARTIES)):
        pattern = re.compile(rf"\b(?:{left}|{right})\b", re.IGNORECASE)
        found = {m.group().lower() for m in pattern.finditer(text)}
        if len(found) < 2:
            continue

        def other(match: re.Match[str], left: str = left, right: str = right) -> str:
            word = right if match.group().lower() == left else left
            return word[0].upper() + word[1:] if match.start() == 0 else word

        return Edit(text, pattern.sub(other, text))
    known = {word for name in pools.names for word in name.split()} - _STARTERS
    names = [m for m in _NAME.finditer(text) if set(m.group().split()) <= known]
    if len(names) < 2 or names[0].group() in names[-1].group():
        return None
    first, last = names[0], names[-1]
    between = text[first.end() : last.start()].lower()
    if not re.search(r"\b(?:than|from|to|for|by|with|at|in)\b", between) or " and " in between:
        return None
    return Edit(
        text,
        text[: first.start()] + last.group() + text[first.end() : last.start()]
        + first.group() + text[last.end() :],
    )  # fmt: skip


def _at_end(pool: Sequence[str]) -> EditMaker:
    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        added = rng.choice(pool)
        if not text.endswith(".") or added.split()[-1] in text:
            return None
        return Edit(text, f"{text[:-1]}{added}.")

    return make


def _ungrouped(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _GROUPED, text)
    return None if found is None else Edit(text, put(text, found, found.group().replace(",", "")))


def _spelled(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _SMALL, text)
    if found is None:
        return None
    return Edit(text, put(text, found, _SPELLED[int(found.group()) - 2]))


def _percent(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _PERCENT, text)
    return None if found is None else Edit(text, put(text, found, rng.choice([" percent", " %"])))


def _euro(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _EURO, text)
    if found is None:
        return None
    forms = [f"EUR {found.group(1)}", f"{found.group(1)} euros", f"€ {found.group(1)}"]
    return Edit(text, put(text, found, rng.choice(forms)))


def _date(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _DATE, text)
    if found is None:
        return None
    day, month, year = found.groups()
    iso = f"{year}-{wordlists.MONTHS.index(month) + 1:02d}-{int(day):02d}"
    return Edit(text, put(text, found, rng.choice([iso, f"{month} {day}, {year}"])))


def _copy(_rng: random.Random, sentence: Sentence, _pools: Pools) -> str:
    return sentence.text


FALSE: tuple[ClaimKind, ...] = (
    ClaimKind("number", False, "another number",
              _by(_named("digit"), _named("number_word"), _named("scale"))),
    ClaimKind("date", False, "another day, month, year or hour",
              _by(_named("date"), _named("time"))),
    ClaimKind("unit", False, "another unit, currency or kind of percent",
              _by(_named("unit"), _named("currency"), _named("percent"))),
    ClaimKind("name", False, "another name of the corpus", _by(_name)),
    ClaimKind("negation", False, "a negation comes or goes",
              _by(_named("negation_in"), _named("negation_out"))),
    ClaimKind("comparator", False, "more is less, at least is at most", _by(_listed(words.LIMITS))),
    ClaimKind("quantifier", False, "some is all", _by(_listed(words.STRONGER_QUANTITY))),
    ClaimKind("antonym", False, "open is closed", _by(_listed(words.OPPOSITES))),
    ClaimKind("modality", False, "may is must", _by(_listed(words.STRONGER_MODALITY))),
    ClaimKind("role", False, "who does it to whom is turned round", _by(_roles)),
    ClaimKind("added", False, "a place, reason or clause of its own",
              _by(_at_end(words.ADJUNCTS), _at_end(words.REASONS), _at_end(words.CLAUSES))),
)  # fmt: skip
"""Classes whose claims their literal quotes do not carry."""

TRUE: tuple[ClaimKind, ...] = (
    ClaimKind("copy", True, "the quote itself", _edited(_copy, true=True)),
    ClaimKind("notation", True, "numbers, dates and money written otherwise",
              _by(_ungrouped, _spelled, _percent, _euro, _date)),
    ClaimKind("same_meaning", True, "one word by one that means the same",
              _by(_listed(words.SAME_MEANING)), near=False),
)  # fmt: skip
"""Classes whose claims say what their quotes say."""
