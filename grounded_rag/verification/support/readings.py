"""A statement and a question, read for the comparison of sources: words, values, days, modals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.quantities import Quantity
from grounded_rag.text.words import fold_marks, guess_language, related, synonyms
from grounded_rag.verification.support.score import denies_by
from grounded_rag.verification.support.terms import ReadText, TextTerm, read

# Letters by which derivations of one word are looked up.
_PREFIX = 4
# Words behind a number that say what it counts.
_COUNTED = 3
# What units measure, where several measure the same, and the size of one in its first unit.
MEASURES: Mapping[str, tuple[str, float]] = {
    "s": ("duration", 1.0), "month": ("duration", 2_629_800.0), "g": ("mass", 1.0),
    "lb": ("mass", 453.592), "m": ("length", 1.0), "inch": ("length", 0.0254), "l": ("volume", 1.0),
    "gallon": ("volume", 3.78541), "Pa": ("pressure", 1.0), "bar": ("pressure", 100_000.0),
    "psi": ("pressure", 6894.76), "°C": ("temperature", 1.0), "°F": ("temperature", 1.0),
}  # fmt: skip


class Bag:
    """Words that can be looked up by stem, derivation and everyday synonym."""

    __slots__ = ("_by_prefix", "stems")

    def __init__(self, stems: Iterable[str]) -> None:
        self.stems = frozenset(stems)
        self._by_prefix: dict[str, list[str]] = {}
        for each in self.stems:
            self._by_prefix.setdefault(each[:_PREFIX], []).append(each)

    def holds(self, word: str) -> bool:
        """Whether a word or a derivation of it is among them."""
        return word in self.stems or any(
            related(word, other) for other in self._by_prefix.get(word[:_PREFIX], ())
        )

    def __contains__(self, word: str) -> bool:
        return self.holds(word) or not synonyms().get(word, frozenset()).isdisjoint(self.stems)

    def __bool__(self) -> bool:
        return bool(self.stems)


class Value(NamedTuple):
    """What may be an answer: a quantity or a day of the week.

    Attributes:
        term: The term in the statement.
        kind: What it measures or is; two values of other kinds cannot disagree.
        counted: The words behind a number, which say what it counts.
        said: As written, a mere number with the word behind it ("8 characters").
        day: Name of the day of the week, or "".
    """

    term: TextTerm
    kind: str
    counted: frozenset[str]
    said: str
    day: str = ""

    @property
    def soft(self) -> bool:
        """Whether its words often count nothing ("one", "a")."""
        return self.term.quantity is not None and self.term.quantity.soft


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One statement, read for the comparison.

    Attributes:
        text: The statement.
        terms: All its terms.
        words: Those that say what it is about.
        values: Its quantities and days of the week.
        own: Its words and days, for looking up.
        around: The words of its title and headings.
        headings: The title and the headings, outermost first.
        limits: Whether it speaks of what is allowed, or of a most or least.
        loose: Whether it says what is usual or wise, and sets no rule.
        language: Its language; English where that is not clear.
    """

    text: str
    terms: tuple[TextTerm, ...]
    words: tuple[TextTerm, ...]
    values: tuple[Value, ...]
    own: Bag
    around: Bag
    headings: tuple[str, ...]
    limits: bool
    loose: bool
    language: str

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return self.own.stems

    def has(self, word: str) -> bool:
        """Whether the statement, its title or its headings have a word."""
        return word in self.own or word in self.around


@lru_cache(maxsize=2048)
def read_side(text: str, headings: tuple[str, ...]) -> Side:
    """Read a statement with its title and headings, outermost first."""
    reading = read(text)
    terms = reading.terms
    values = tuple(_values(reading))
    taken = {id(value.term) for value in values}
    words = tuple(t for t in telling(reading) if id(t) not in taken)
    days = [value.term.stem for value in values if value.day]
    around = [t.stem for heading in headings for t in read(heading).terms if t.content]
    return Side(
        text=reading.text,
        terms=terms,
        words=words,
        values=values,
        own=Bag([*(t.stem for t in words), *days]),
        around=Bag(around),
        headings=headings,
        limits=_limits(terms),
        loose=any(fold_marks(t.lower) in _loose() for t in terms),
        language=guess_language(reading.text) or "en",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a question asks about.

    Attributes:
        words: The words that say what it is about.
        bag: The same, for looking up.
        limits: Whether it asks for what is allowed, or for a most or least.
        names: Whether it asks for a person, a place or a thing.
        value: Whether it may ask for a value: "how do I" does not.
    """

    words: tuple[TextTerm, ...]
    bag: Bag
    limits: bool
    names: bool
    value: bool

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return self.bag.stems


@lru_cache(maxsize=64)
def asked(question: str) -> Asked:
    """Read a question."""
    reading = read(question)
    terms = reading.terms
    asking = frozenset(map(fold_marks, read_table("questions")["asking"]))
    words = tuple(t for t in telling(reading) if fold_marks(t.lower) not in asking)
    return Asked(
        words=words,
        bag=Bag(t.stem for t in words),
        limits=_limits(terms),
        names=any(fold_marks(t.lower) in _naming() for t in terms),
        value=not any(
            t.lower == "how" and following.lower in _doing() for t, following in pairwise(terms)
        ),
    )


def telling(reading: ReadText) -> tuple[TextTerm, ...]:
    """Return the words that say what a text is about: no modals, negations or small words."""
    small = small_words(guess_language(reading.text) or "en")
    return tuple(
        t for t in reading.terms
        if t.content and t.quantity is None and not denies_by(t.lower)
        and (word := fold_marks(t.lower)) not in small and word not in modals()
    )  # fmt: skip


@cache
def small_words(language: str) -> frozenset[str]:
    """Return the frequent words of a language, and those that make a condition in any."""
    return frequent_words(language) | frozenset(read_table("conflicts")["conditions"].split())


@cache
def frequent_words(language: str) -> frozenset[str]:
    """Return the frequent words of a language, folded."""
    return frozenset(map(fold_marks, read_table("words")["markers"].get(language, "").split()))


def _values(reading: ReadText) -> Iterator[Value]:
    terms = reading.terms
    for at, term in enumerate(terms):
        day = weekdays().get(fold_marks(term.lower), "")
        if term.quantity is not None:
            kind, end = kind_of(term.quantity), term.end
            behind = terms[at + 1 : at + 2 + _COUNTED]
            if kind == "count" and behind and behind[0].content and behind[0].start == end + 1:
                end = behind[0].end
            counted = [t.stem for t in behind if t.content][:_COUNTED]
            yield Value(term, kind, frozenset(counted), reading.text[term.start : end])
        elif day:
            yield Value(term, "day", frozenset(), term.text, day)


def kind_of(quantity: Quantity) -> str:
    """Return what a quantity measures or is: "duration", "EUR", "date", "count" …."""
    if quantity.kind in ("label", "ordinal", "time", "era", "date"):
        return quantity.kind
    if quantity.unit in MEASURES:
        return MEASURES[quantity.unit][0]
    if quantity.unit:
        return quantity.unit
    if quantity.kind == "fraction":
        return "%"
    return "date" if _is_year(quantity.text) else "count"


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and 1100 <= int(text) < 2100


def _limits(terms: Iterable[TextTerm]) -> bool:
    return any(modals().get(fold_marks(t.lower)) in ("permitted", "limited") for t in terms)


@cache
def _naming() -> frozenset[str]:
    return frozenset(read_table("conflicts")["naming"].split())


@cache
def _doing() -> frozenset[str]:
    return frozenset(read_table("conflicts")["doing"].split())


@cache
def _loose() -> frozenset[str]:
    return frozenset(read_table("conflicts")["loose"].split())


@cache
def modals() -> Mapping[str, str]:
    """Return words that permit, forbid, require, leave open or limit, folded, with which of it."""
    found: dict[str, str] = {}
    for stance, words in read_table("conflicts")["modals"].items():
        for word in words.split():
            found.setdefault(fold_marks(word), stance)
    return found


@cache
def weekdays() -> Mapping[str, str]:
    """Return the names of the days of the week, folded, with the day."""
    rows = read_table("conflicts")["weekdays"]
    return {fold_marks(name): day for day, names in rows.items() for name in names.split()}
