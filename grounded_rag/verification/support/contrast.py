"""Two statements side by side: whether they say different things of the same thing.

A difference is a conflict only where it stands in what is answered, a value, a name or a yes and
no, while what the statements are about, when and under which conditions, agrees: also in titles and
headings.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from grounded_rag.text.quantities import (
    LOWER_BOUNDS,
    UPPER_BOUNDS,
    Agreement,
    Bound,
    Quantity,
    compare,
)
from grounded_rag.text.words import fold_marks
from grounded_rag.verification.support.readings import (
    MEASURES,
    Asked,
    Side,
    Value,
    frequent_words,
    modals,
    weekdays,
)
from grounded_rag.verification.support.stances import denies_other
from grounded_rag.verification.support.subjects import one_subject
from grounded_rag.verification.support.terms import TextTerm

# Shares of the words of the shorter and of the longer statement that stand in the same places in a
# near-copy, and the fewest.
_NEAR = 0.75
_HALF = 0.5
_FEWEST = 2
# Share of a question's words that each of two answers in other words must cover, titles included;
# less where the answers share most of their words, and so many.
_COVERED = 0.5
_COVERED_LESS = 0.4
_MOST_SHARED = 0.6
_MANY_SHARED = 3
# Conversions are rounded: a month has 28 to 31 days.
_ROUNDED = 0.05
_LONGEST_NAME = 4
# What may differ together: "the first Monday", "Mondays from 9:00 to 12:00".
_TOGETHER = ({"day", "ordinal"}, {"day", "time"})


class Contrast(NamedTuple):
    """What two statements say differently.

    Attributes:
        ours: What the first says, or "" where one denies the other.
        theirs: What the second says instead.
        quantity: The number of the first, where the difference is one.
    """

    ours: str = ""
    theirs: str = ""
    quantity: Quantity | None = None


def contrast(mine: Side, other: Side, question: Asked | None) -> Contrast | None:
    """Return what two statements say differently of the same thing, or None.

    They must be near-copies, or both answer the question in words of their own.
    """
    shared = _shared(mine, other)
    if not shared or (shared < _FEWEST and not _both_answer(mine, other, question, shared + 1)):
        return None
    subject = one_subject(mine, other)
    if subject is None:
        return None
    laid = _lay(mine, other)
    # A title that both documents have speaks of one thing like a word that both statements have.
    answers = _both_answer(mine, other, question, shared + subject)
    if not laid.near and not answers:
        copied = shared >= _MANY_SHARED and denies_other(mine, other, None)
        return Contrast() if copied and not _values_differ(mine, other, question) else None
    left, right = _left_over(mine, other, question)
    kinds = {value.kind for value in left} & {value.kind for value in right}
    dated = any(value.kind == "date" for value in (*left, *right)) and kinds != {"date"}
    if dated or any(value.kind == "label" for value in (*left, *right)):
        return None
    if any(_complementary(a, b) for a in mine.values for b in other.values):
        return None
    names = _strange_names(mine, other), _strange_names(other, mine)
    if kinds:
        if any(names) or mine.loose != other.loose or (laid.near and laid.replaced):
            return None
        if not laid.near and not (question and question.value):
            return None
        return _other_value(left, right, kinds, question, near=laid.near)
    if _values_differ(mine, other, question):
        return None
    if denies_other(mine, other, question, near=laid.near):
        return Contrast()
    return _other_name(names, mine, other) if question and question.names else None


def _shared(mine: Side, other: Side) -> int:
    """Return how many words and days of the week both statements have."""
    days = [value.term.stem for value in mine.values if value.day]
    return sum(1 for word in (*(t.stem for t in mine.words), *days) if other.own.holds(word))


def _both_answer(mine: Side, other: Side, question: Asked | None, shared: int) -> bool:
    """Whether both statements answer a question, in words of their own."""
    if question is None or not question.words or shared < _FEWEST:
        return False
    words = question.words
    for side in (mine, other):
        # What the question names, each answer must be about.
        if any(
            (t.name or fold_marks(t.lower) in weekdays()) and not side.has(t.stem) for t in words
        ):
            return False
        if not any(side.own.holds(t.stem) for t in words):
            return False
    alike = shared >= max(
        _MANY_SHARED, _MOST_SHARED * min(len(mine.words), len(other.words))
    )  # fmt: skip
    least = (_COVERED_LESS if alike else _COVERED) * len(words)
    return all(sum(1 for t in words if side.has(t.stem)) >= least for side in (mine, other))


class _Laid(NamedTuple):
    """Two statements laid side by side, word on word and number on number of its kind.

    Attributes:
        near: Whether they are near-copies.
        replaced: Whether other words stand in one place in each.
    """

    near: bool
    replaced: bool


def _lay(mine: Side, other: Side) -> _Laid:
    numbers = {id(v.term): f"#{v.kind}" for v in (*mine.values, *other.values) if not v.day}
    terms = [[t for t in side.terms if t.content] for side in (mine, other)]
    keys = [[numbers.get(id(t), t.stem) for t in side] for side in terms]
    in_place, replaced = 0, False
    for kind, a, b, c, d in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if kind == "equal":
            in_place += sum(1 for key in keys[0][a:b] if not key.startswith("#"))
        elif kind == "replace":
            runs = ((terms[0][a:b], other), (terms[1][c:d], mine))
            replaced |= all(any(_is_strange(t, there) for t in run) for run, there in runs)
    least, most = sorted((len(mine.words), len(other.words)))
    return _Laid(in_place >= max(_FEWEST, _NEAR * least, _HALF * most), replaced)


def _is_strange(term: TextTerm, there: Side) -> bool:
    """Whether the other statement lacks a word that is no value, modal or small word."""
    word = fold_marks(term.lower)
    free = word in weekdays() or word in modals() or word in frequent_words(there.language)
    return term.quantity is None and not free and term.stem not in there.own


def _left_over(mine: Side, other: Side, question: Asked | None) -> tuple[list[Value], list[Value]]:
    """Return the values of each statement that the other does not give."""
    limits = mine.limits or other.limits or (question is not None and question.limits)
    ours, theirs = mine.values, other.values
    left = [a for a in ours if not any(_agree(a, b, limits=limits) for b in theirs)]
    right = [b for b in theirs if not any(_agree(a, b, limits=limits) for a in ours)]
    return [v for v in left if not v.soft], [v for v in right if not v.soft]


def _values_differ(mine: Side, other: Side, question: Asked | None) -> bool:
    """Whether each statement has a value that the other lacks; a mere count may be in both."""
    sides = _left_over(mine, other, question)
    return all(any(value.kind != "count" for value in side) for side in sides)


def _other_value(
    left: Sequence[Value],
    right: Sequence[Value],
    kinds: set[str],
    question: Asked | None,
    *,
    near: bool,
) -> Contrast | None:
    """Return the one value in which two statements differ, or None where there are more."""
    if len(kinds) > 1 and kinds not in _TOGETHER:
        return None
    kind = "day" if "day" in kinds else next(iter(kinds))
    ours, theirs = ([v for v in side if v.kind == kind] for side in (left, right))
    if max(len(ours), len(theirs)) > (2 if kind in ("time", "day") else 1):
        return None
    if kind == "count" and not near and not _count_alike(ours[0], theirs[0], question):
        return None
    return Contrast(ours[0].said, theirs[0].said, ours[0].term.quantity)


def _count_alike(ours: Value, theirs: Value, question: Asked | None) -> bool:
    """Whether two numbers count the same thing, or one of them what the question asks for."""
    counted = ours.counted | theirs.counted
    return not ours.counted.isdisjoint(theirs.counted) or (
        question is not None and any(word in question.bag for word in counted)
    )


def _agree(ours: Value, theirs: Value, *, limits: bool) -> bool:
    """Whether two values say the same, or one keeps within the other.

    Of `limits` none keeps within another: "220 persons may enter" is not "up to 260".
    """
    left, right = ours.term.quantity, theirs.term.quantity
    if left is None or right is None:
        return ours.day == theirs.day
    if Agreement.SAME in (compare(left, right), compare(right, left)):
        return True
    if ours.kind != theirs.kind:
        return False
    sizes = [(a, b) for a in _sizes(left) for b in _sizes(right)]
    if left.unit != right.unit and any(_near(a, b) for a, b in sizes):
        return True
    return not limits and any(
        _within(left, a, right, b) or _within(right, b, left, a) for a, b in sizes
    )


def _sizes(quantity: Quantity) -> list[float]:
    """Return the readings of a quantity in the first unit of what it measures."""
    if quantity.unit == "°F":
        return [(float(value) - 32) / 1.8 for value in quantity.values]
    size = MEASURES.get(quantity.unit, ("", 1.0))[1]
    return [float(value) * size for value in quantity.values]


def _near(left: float, right: float) -> bool:
    return abs(left - right) <= _ROUNDED * max(abs(left), abs(right))


def _within(one: Quantity, size: float, bounding: Quantity, limit: float) -> bool:
    """Whether a plain value keeps within a bound, or a rounded one is the other."""
    if one.bound is Bound.ABOUT:
        return _near(size, limit)
    if one.bound is not Bound.EXACT:
        return False
    low, high = bounding.bound in LOWER_BOUNDS, bounding.bound in UPPER_BOUNDS
    return (low and size >= limit) or (high and size <= limit)


def _complementary(ours: Value, theirs: Value) -> bool:
    """Whether one speaks of all up to a value and the other of all above it."""
    left, right = ours.term.quantity, theirs.term.quantity
    if left is None or right is None or not _agree(ours, theirs, limits=True):
        return False
    above = [each.bound in LOWER_BOUNDS for each in (left, right)]
    return above[0] != above[1]


def _strange_names(one: Side, two: Side) -> list[TextTerm]:
    """Return the names of one statement that the other lacks, title and headings included."""
    ends = {value.term.end for value in one.values}
    return [
        t for t in one.words
        if t.name and not two.has(t.stem) and t.start - 1 not in ends  # "midnight UTC"
    ]  # fmt: skip


def _other_name(
    names: tuple[list[TextTerm], list[TextTerm]], mine: Side, other: Side
) -> Contrast | None:
    """Return the one name in which two statements differ; codes and numbers name other things."""
    found: list[str] = []
    for terms, side in zip(names, (mine, other), strict=True):
        if not terms or len(terms) > _LONGEST_NAME:
            return None
        start, end = terms[0].start, terms[-1].end
        within = [t for t in side.terms if t.content and start <= t.start < end]
        text = side.text[start:end]
        if len(within) > len(terms) or any(map(str.isdigit, text)):
            return None
        found.append(text)
    return Contrast(found[0], found[1])
