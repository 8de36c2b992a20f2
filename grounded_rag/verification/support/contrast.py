"""Two statements side by side: whether they say different things of the same thing.

A difference is a conflict only where it stands in what is answered, a value, a name or a yes and no,
while all that says of what, when and under which conditions agrees, titles and headings included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.quantities import (
    LOWER_BOUNDS,
    UPPER_BOUNDS,
    Agreement,
    Bound,
    Quantity,
    compare,
)
from grounded_rag.text.words import fold_marks, guess_language, related, stem
from grounded_rag.verification.support.score import is_negation
from grounded_rag.verification.support.terms import ReadText, TextTerm, read

_MARK = re.compile(r"[,;:.!?()–—]")
# Letters by which derivations of one word are looked up.
_PREFIX = 4


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
        return (
            self.holds(word)
            or not _synonyms().get(word, frozenset()).isdisjoint(self.stems)
        )

    def __bool__(self) -> bool:
        return bool(self.stems)


class Value(NamedTuple):
    """What may be an answer: a quantity or a day of the week, with the words that it counts."""

    term: TextTerm
    kind: str
    counted: frozenset[str]
    day: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One statement, read for the comparison."""

    text: str
    terms: tuple[TextTerm, ...]
    words: tuple[TextTerm, ...]
    values: tuple[Value, ...]
    own: Bag
    around: Bag
    headings: tuple[str, ...]

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
    values = tuple(_values(terms))
    taken = {id(value.term) for value in values}
    words = tuple(t for t in _telling(reading) if id(t) not in taken)
    days = [value.term.stem for value in values if value.day]
    around = [t.stem for heading in headings for t in read(heading).terms if t.content]
    return Side(reading.text, terms, words, values, Bag([*(t.stem for t in words), *days]), Bag(around), headings)


def _telling(reading: ReadText) -> tuple[TextTerm, ...]:
    """Return the words that say what a text is about: no modals, negations or small words."""
    small = _small(guess_language(reading.text) or "en")
    return tuple(
        t for t in reading.terms
        if t.content and t.quantity is None and not is_negation(t)
        and (word := fold_marks(t.lower)) not in small and word not in _modals()
    )  # fmt: skip


@cache
def _small(language: str) -> frozenset[str]:
    """Return the frequent words of a language, and those that make a condition in any."""
    listed = read_table("words")["markers"].get(language, "").split()
    return frozenset([*map(fold_marks, listed), *read_table("conflicts")["conditions"].split()])


def _values(terms: Sequence[TextTerm]) -> Iterator[Value]:
    days = _days()
    for at, term in enumerate(terms):
        day = days.get(fold_marks(term.lower), "")
        if term.quantity is None and not day:
            continue
        behind = [t.stem for t in terms[at + 1 : at + 5] if t.content and t.quantity is None][:3]
        kind = "day" if day else _kind(term.quantity)
        yield Value(term, kind, frozenset(behind), day)


# Units that measure the same: name of what is measured, and the size of one in its first unit.
_MEASURES: Mapping[str, tuple[str, float]] = {
    "s": ("duration", 1.0), "month": ("duration", 2_629_800.0), "g": ("mass", 1.0),
    "lb": ("mass", 453.592), "m": ("length", 1.0), "inch": ("length", 0.0254), "l": ("volume", 1.0),
    "gallon": ("volume", 3.78541), "Pa": ("pressure", 1.0), "bar": ("pressure", 100_000.0),
    "psi": ("pressure", 6894.76),
}  # fmt: skip
# Conversions are rounded: a month has 28 to 31 days.
_ROUNDED = 0.05


def _kind(quantity: Quantity) -> str:
    if quantity.kind in ("label", "ordinal", "time", "era"):
        return quantity.kind
    if quantity.kind == "date":
        return "date"
    if quantity.unit in ("°C", "°F"):
        return "temperature"
    if quantity.unit in ("s", "month") and quantity.per == "" or quantity.unit in _MEASURES:
        return _MEASURES[quantity.unit][0]
    if quantity.kind == "fraction" and not quantity.unit:
        return "%"
    if not quantity.unit and quantity.values and _is_year(quantity):
        return "date"
    return quantity.unit or "count"


def _is_year(quantity: Quantity) -> bool:
    return len(quantity.text) == 4 and quantity.text.isdecimal() and 1100 <= int(quantity.text) < 2100


def _same(ours: Value, theirs: Value, *, limits: bool) -> bool:
    """Whether two values say the same, or one keeps within the other.

    Of `limits` none keeps within another: "220 persons may enter" is not "up to 260".
    """
    if ours.day or theirs.day:
        return ours.day == theirs.day
    left, right = ours.term.quantity, theirs.term.quantity
    assert left is not None and right is not None
    if Agreement.SAME in (compare(left, right), compare(right, left)):
        return True
    if ours.kind != theirs.kind:
        return False
    sizes = [(a, b) for a in _sizes(left) for b in _sizes(right)]
    if left.unit != right.unit and any(abs(a - b) <= _ROUNDED * max(abs(a), abs(b)) for a, b in sizes):
        return True
    return not limits and any(_within(left, a, right, b) or _within(right, b, left, a) for a, b in sizes)


def _within(one: Quantity, size: float, bounding: Quantity, limit: float) -> bool:
    """Whether a plain value keeps within a bound."""
    if one.bound is Bound.ABOUT:
        return abs(size - limit) <= _ROUNDED * abs(limit)
    if one.bound is not Bound.EXACT:
        return False
    low, high = bounding.bound in LOWER_BOUNDS, bounding.bound in UPPER_BOUNDS
    return (low and size >= limit) or (high and size <= limit)


def _sizes(quantity: Quantity) -> list[float]:
    if quantity.unit == "°F":
        return [(float(value) - 32) / 1.8 for value in quantity.values]
    factor = _MEASURES.get(quantity.unit, ("", 1.0))[1]
    return [float(value) * factor for value in quantity.values]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a question asks about."""

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its words."""
        return self.bag.stems

    words: tuple[TextTerm, ...]
    bag: Bag
    values: tuple[Value, ...]
    limits: bool
    names: bool
    value: bool


@lru_cache(maxsize=64)
def asked(question: str) -> Asked:
    """Read a question."""
    reading = read(question)
    terms = reading.terms
    asking = frozenset(map(fold_marks, read_table("questions")["asking"]))
    words = tuple(t for t in _telling(reading) if fold_marks(t.lower) not in asking)
    return Asked(
        words,
        Bag(t.stem for t in words),
        tuple(_values(terms)),
        limits=_limits(terms),
        names=any(fold_marks(t.lower) in _naming() for t in terms),
        value=not any(
            t.lower == "how" and following.lower in _doing()
            for t, following in zip(terms, terms[1:], strict=False)
        ),
    )


def _limits(terms: Iterable[TextTerm]) -> bool:
    """Whether a text speaks of what is allowed, or of a most or least."""
    return any(_modals().get(fold_marks(t.lower)) in ("permitted", "limited") for t in terms)


class Contrast(NamedTuple):
    """What two statements say differently, or why nothing counts."""

    ours: str = ""
    theirs: str = ""
    denial: bool = False
    quantity: Quantity | None = None
    why: str = ""


def contrast(mine: Side, other: Side, question: Asked | None) -> Contrast:
    limits = bool(question and question.limits) or _limits(mine.terms) or _limits(other.terms)
    pairs = [(a, b) for a in mine.values for b in other.values]
    if any(_complementary(a, b) for a, b in pairs):
        return Contrast(why="complementary bounds")
    left = [a for a in mine.values if not any(_same(a, b, limits=limits) for b in other.values)]
    right = [b for b in other.values if not any(_same(a, b, limits=limits) for a in mine.values)]
    left, right = (
        [v for v in side if not (v.term.quantity and v.term.quantity.soft)] for side in (left, right)
    )
    subject = _one_subject(mine, other)
    if subject is None:
        return Contrast(why="other subject")
    laid = _lay(mine, other)
    frame = laid.frame
    answers = question is not None and _answer(mine, other, question, anchored=subject)
    if not frame and not answers:
        if not (left and right) and _deny(mine, other, None):
            return Contrast(denial=True)
        return Contrast(why="neither near-copy nor both answers")
    if any(v.kind == "label" for v in (*left, *right)):
        return Contrast(why="label")
    kinds = {v.kind for v in left} & {v.kind for v in right}
    if any(v.kind == "date" for v in (*left, *right)) and kinds != {"date"}:
        return Contrast(why="one-sided date")
    ours, theirs = _strangers(mine, other, question), _strangers(other, mine, question)
    if kinds:
        if ours or theirs:
            return Contrast(why=f"names {ours} {theirs}")
        if not frame and not question.value:
            return Contrast(why="no value asked")
        if _is_loose(mine) != _is_loose(other):
            return Contrast(why="loose")
        if not (len(kinds) == 1 or kinds in ({"day", "ordinal"}, {"day", "time"})):
            return Contrast(why=f"several {kinds}")
        kind = "day" if "day" in kinds else next(iter(kinds))
        a, b = ([v for v in side if v.kind == kind] for side in (left, right))
        if max(len(a), len(b)) > (2 if kind in ("time", "day") else 1):
            return Contrast(why="many values")
        if kind == "count" and not frame and not _count_alike(a[0], b[0], question):
            return Contrast(why="counts other things")
        if frame and (laid.replaced or laid.conditions):
            return Contrast(why=f"replaced {laid}")
        return Contrast(a[0].term.text, b[0].term.text, quantity=a[0].term.quantity)
    if {v.kind for v in left if v.kind != "count"} and {v.kind for v in right if v.kind != "count"}:
        return Contrast(why=f"other kinds of value {left} {right}")
    if _deny(mine, other, question):
        return Contrast(denial=True)
    if question is not None and question.names and (names := _other_names(ours, theirs, mine, other)):
        return Contrast(*names)
    return Contrast(why=f"no difference {laid} {ours} {theirs}")


def _is_loose(side: Side) -> bool:
    return any(fold_marks(t.lower) in _loose() for t in side.terms)


def _count_alike(a: Value, b: Value, question: Asked | None) -> bool:
    return not a.counted.isdisjoint(b.counted) or (
        question is not None and any(w in question.bag for w in (*a.counted, *b.counted))
    )


def _complementary(ours: Value, theirs: Value) -> bool:
    """Whether one side speaks of all up to a value and the other of all above it."""
    left, right = ours.term.quantity, theirs.term.quantity
    if left is None or right is None or not _same(ours, theirs, limits=True):
        return False
    bounds = {left.bound, right.bound}
    return bool(bounds & LOWER_BOUNDS) and not bounds <= LOWER_BOUNDS


class Laid(NamedTuple):
    frame: bool
    replaced: str
    conditions: str


_NEAR = 0.75
_HALF = 0.5


def _lay(mine: Side, other: Side) -> Laid:
    ours, theirs = ([t for t in s.terms if t.content] for s in (mine, other))
    kinds = {id(v.term): v.kind for v in (*mine.values, *other.values)}
    keys = [[kinds.get(id(t)) and f"#{kinds[id(t)]}" or t.stem for t in side] for side in (ours, theirs)]
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    in_place = 0
    replaced: list[str] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            in_place += sum(1 for key in keys[0][a:b] if not key.startswith("#"))
        elif kind == "replace":
            said, instead = ours[a:b], theirs[c:d]
            strange = [t.text for t in said if t.stem not in other.own and id(t) not in kinds and not _modals().get(fold_marks(t.lower))]
            odd = [t.text for t in instead if t.stem not in mine.own and id(t) not in kinds and not _modals().get(fold_marks(t.lower))]
            if strange and odd:
                replaced.append(f"{strange}/{odd}")
    least, most = sorted((len(mine.words), len(other.words)))
    frame = in_place >= max(2, _NEAR * least, _HALF * most)
    return Laid(frame, ",".join(replaced), "")


def _answer(mine: Side, other: Side, question: Asked, *, anchored: bool) -> bool:
    """Whether both statements answer a question, in words of their own."""
    words = question.words
    if not words:
        return False
    for side in (mine, other):
        if any((t.name or fold_marks(t.lower) in _days()) and not side.has(t.stem) for t in words):
            return False
    covered = [sum(1 for t in words if side.has(t.stem)) / len(words) for side in (mine, other)]
    own = [sum(1 for t in words if side.own.holds(t.stem)) for side in (mine, other)]
    shared = sum(1 for t in mine.words if other.own.holds(t.stem))
    shared += sum(1 for v in mine.values if v.day and other.own.holds(v.term.stem))
    overlap = shared / max(1, min(len(mine.words), len(other.words)))
    least = 0.4 if shared >= 3 and overlap >= 0.6 else 0.5
    return min(covered) >= least and min(own) >= 1 and shared + anchored >= 2


def _other_names(
    ours: Sequence[TextTerm], theirs: Sequence[TextTerm], mine: Side, other: Side
) -> tuple[str, str] | None:
    """Return one name on each side that the other lacks, or None where there are more or codes."""
    found: list[str] = []
    for names, side in ((ours, mine), (theirs, other)):
        if not names or any(map(str.isdigit, "".join(t.text for t in names))):
            return None
        within = [t for t in side.terms if names[0].start <= t.start <= names[-1].start and t.content]
        if len(within) > len(names) or len(names) > _LONGEST_NAME:
            return None
        found.append(side.text[names[0].start : names[-1].end])
    return found[0], found[1]


_LONGEST_NAME = 4


def _strangers(one: Side, two: Side, question: Asked | None) -> list[TextTerm]:
    """Return the names of one statement that the other lacks, title and headings included."""
    ends = {value.term.end for value in one.values}
    return [
        t for t in one.words
        if t.name and not two.has(t.stem) and t.start - 1 not in ends  # "midnight UTC"
    ]  # fmt: skip


class Clause(NamedTuple):
    """A part of a statement between two marks, with its stance.

    Attributes:
        stance: What is "required", "permitted", "forbidden", "optional", "denied" or "affirmed".
        words: The words that tell.
        behind: Those of them behind the negation; none without one.
        bag: The words, for looking up.
    """

    stance: str
    words: tuple[TextTerm, ...]
    behind: tuple[TextTerm, ...]
    bag: Bag


_AGAINST = {
    "affirmed": {"denied", "forbidden"},
    "permitted": {"denied", "forbidden"},
    "required": {"denied", "forbidden", "optional"},
}
_NEGATED = {
    "": "denied", "permitted": "forbidden", "forbidden": "permitted", "required": "optional",
    "optional": "required", "limited": "denied",
}  # fmt: skip
_THAN = frozenset("than als que de only".split())
_MUST = frozenset(["must", "shall", "should"])
_WITHOUT = frozenset("without ohne sans sin senza sem zonder".split())


@lru_cache(maxsize=1024)
def _clauses(side: Side) -> tuple[Clause, ...]:
    found: list[Clause] = []
    run: list[TextTerm] = []
    telling = {id(t) for t in side.words}
    for at, term in enumerate(side.terms):
        parted = at and _MARK.search(side.text, side.terms[at - 1].end, term.start)
        if run and (parted or term.lower in _WITHOUT):
            found.append(_clause(run, telling))
            run = []
        run.append(term)
    return (*found, _clause(run, telling)) if run else tuple(found)


def _clause(run: Sequence[TextTerm], telling: set[int]) -> Clause:
    words = tuple(t for t in run if id(t) in telling)
    denials = [t.start for t in run if is_negation(t)]
    behind = tuple(t for t in words if denials and t.start > denials[0])
    return Clause(_stance(run), words, behind, Bag(t.stem for t in words))


def _stance(terms: Sequence[TextTerm]) -> str:
    if terms[0].lower in _WITHOUT:
        return "optional"
    said = [stance for t in terms if (stance := _modals().get(fold_marks(t.lower)))]
    # "may require" requires, "must be allowed" allows; a most or least says neither.
    stance = next((each for each in reversed(said) if each != "limited"), "")
    denied = False
    for at, term in enumerate(terms):
        # "No more than", "not only" deny nothing.
        if is_negation(term) and _THAN.isdisjoint(t.lower for t in terms[at + 1 : at + 4]):
            if at and terms[at - 1].lower in _MUST:
                return "forbidden"
            stance = stance or ("permitted" if term.lower == "cannot" else "")
            denied = not denied
    return _NEGATED[stance] if denied else stance or "affirmed"


def _deny(mine: Side, other: Side, question: Asked | None) -> bool:
    """Whether one statement denies, forbids or leaves open what the other says."""
    for one, two in ((mine, other), (other, mine)):
        for clause in _clauses(one):
            if clause.stance in _AGAINST or not clause.words:
                continue
            against = [c for c in _clauses(two) if any(t.stem in clause.bag for t in c.words)]
            if not against or not all(clause.stance in _AGAINST.get(c.stance, ()) for c in against):
                continue
            if _copied(clause, against) or (question and _denied(clause, two, question)):
                return True
    return False


def _denied(clause: Clause, two: Side, question: Asked) -> bool:
    """Whether all that a clause denies is said by the other statement, but for its predicate.

    The predicate is the word behind the negation. Without a negation, as in "is optional", one word
    in four may be another.
    """
    own = [t for t in clause.words if t.stem in two.own]
    strange = [t for t in clause.words if not (two.has(t.stem) or t.stem in question.bag)]
    if not clause.behind:
        return len(own) >= 2 and len(own) * 2 >= len(clause.words) >= len(strange) * 4
    predicate, *objects = clause.behind
    if not all(t.stem in two.own for t in objects) or any(t is not predicate for t in strange):
        return False
    if predicate.stem in two.own:
        return len(own) >= 2 or predicate.stem in question.bag
    return len(objects) >= 2 or any(t.name for t in objects)


def _copied(clause: Clause, against: Sequence[Clause]) -> bool:
    """Whether a clause says nearly what one of the others says, but for its stance."""
    for other in against:
        shared = len({t.stem for t in clause.words if other.bag.holds(t.stem)})
        least, most = sorted((len(clause.words), len(other.words)))
        denied = sum(1 for t in clause.behind if other.bag.holds(t.stem))
        if shared >= max(3, _NEAR * least, _HALF * most) and denied >= _NEAR * len(clause.behind):
            return True
    return False


def _one_subject(mine: Side, other: Side) -> bool | None:
    """Whether titles show that both are about one thing; None if they or headings deny it."""
    if not (mine.headings and other.headings):
        return False
    titles = _laid_titles(mine.headings[0], other.headings[0])
    shared = any(run.same for run in titles)
    if not shared and any(t.name and other.own.holds(t.stem) for t in mine.words):
        return False
    if _apart(titles, mine, other, documents=True):
        return None
    if len(mine.headings) > 1 and len(other.headings) > 1:
        sections = _laid_titles(mine.headings[-1], other.headings[-1])
        if any(run.same for run in sections) and _apart(sections, mine, other):
            return None
    return shared


def _is_date(term: TextTerm) -> bool:
    return term.quantity is not None and _kind(term.quantity) == "date"


class _Run(NamedTuple):
    """Words of two titles in one place: the same, or those that stand there in each."""

    same: bool
    left: list[TextTerm]
    right: list[TextTerm]


def _laid_titles(one: str, two: str) -> list[_Run]:
    left, right = _title_words(one), _title_words(two)
    keys = [[fold_marks(t.stem) for t in terms] for terms in (left, right)]
    codes = SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    return [_Run(kind == "equal", left[a:b], right[c:d]) for kind, a, b, c, d in codes]


def _title_words(text: str) -> list[TextTerm]:
    """Return the words of a title without its own number."""
    reading = read(text)
    small = _small(guess_language(reading.text) or "en")
    terms = [t for t in reading.terms if t.content and fold_marks(t.lower) not in small]
    if len(terms) > 1 and terms[0].start == 0 and terms[0].text[0].isdigit():
        return terms[1:]
    return terms


def _apart(
    runs: Sequence[_Run], mine: Side, other: Side, *, documents: bool = False
) -> bool:
    """Whether two titles or headings name two things.

    They do where both have a word of their own in one place ("Oven 30 Manual", "Oven 40 Manual"),
    or one has a word more inside or beside what they share ("Plus Account", "Account"). What the
    other side says anywhere is no word of one's own, and neither are, in titles, those for kinds
    of `documents`. Two dates or years stand for two times.
    """
    shared = any(run.same for run in runs)
    apart = [run for run in runs if not run.same]
    more = [[t for run in apart for t in run.left], [t for run in apart for t in run.right]]
    if all(any(_is_date(t) for t in words) for words in more):
        return True
    for at, run in enumerate(runs):
        if run.same:
            continue
        strange = [
            not (
                all(there.has(t.stem) for t in words)
                or (documents and any(map(_names_document, words)))
            )
            for words, there in ((run.left, other), (run.right, mine))
        ]
        inside = 0 < at < len(runs) - 1
        if all(strange) or (any(strange) and (inside or not shared or not all(more))):
            return True
    return False


@cache
def _genres() -> frozenset[str]:
    return frozenset(map(fold_marks, read_table("conflicts")["documents"].split()))


def _names_document(term: TextTerm) -> bool:
    word = fold_marks(term.lower)
    genres = _genres()
    return word in genres or any(word.endswith(word[at:]) and word[at:] in genres for at in range(1, max(1, len(word) - 5)))


@cache
def _modals() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for stance, words in read_table("conflicts")["modals"].items():
        for word in words.split():
            found.setdefault(fold_marks(word), stance)
    return found


@cache
def _days() -> Mapping[str, str]:
    rows = read_table("conflicts")["weekdays"]
    return {fold_marks(name): day for day, names in rows.items() for name in names.split()}


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
def _synonyms() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for row in read_table("thesaurus")["synonyms"]:
        stems = {stem(word) for word in row.split()}
        for each in stems:
            found.setdefault(each, set()).update(stems)
    return {word: frozenset(others) for word, others in found.items()}
