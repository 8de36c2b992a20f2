"""Declared arithmetic: a number of the claim that code computes from quoted numbers.

A claim may say how it came by a number that no source states. The expression is worked out again
here; each operand must be a number of the quotes, found by value, and the result must be a number
of the claim at the precision in which the claim prints it.

A right result confirms a claim that says nothing else. The bag of words alone would confirm "the
joining fee is 155 euros" from two fees. So the statements must be whole in the claim, in their own
order, and the claim must add nothing but the words that name the calculation. What is refused
there is not wrong: it is only not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.resources import read_table
from grounded_rag.text.calculation import (
    CalculationError,
    ExpressionError,
    Result,
    calculate,
    parse_expression,
)
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Agreement, Bound, Quantity, compare, factor
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import stem
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.quoted import fine, veto
from grounded_rag.verification.support.terms import (
    SCALES,
    Figures,
    figures,
    names_unit,
    read,
    scaled,
)

_OPERAND = r"[^-−–+*×/÷();=]*\d[^-−–+*×/÷();=]*"
_SUM = rf"{_OPERAND}(?:\+{_OPERAND})+"
_LIST = rf"\({_OPERAND}(?:(?:;|, ){_OPERAND})+\)"
_SHAPES = {
    "sum": re.compile(rf"\(?{_SUM}\)?|sum ?{_LIST}", re.IGNORECASE),
    "average": re.compile(rf"\({_SUM}\) ?[/÷] ?\d+|(?:average|mean) ?{_LIST}", re.IGNORECASE),
    "difference": re.compile(rf"\(?{_OPERAND}[-−–]{_OPERAND}\)?"),
}
_PRINTED = re.compile(r"\d+(?:[.,']\d+)*")


def arithmetic(case: ClaimCase) -> Signal | None:
    """Compute what the claim declares: a wrong result rejects it, a right one may confirm it.

    The program confirms a claim only where all that it says is the calculation: its other words
    and numbers are those of the statements that it computes from.
    """
    if not (case.claim.arithmetic or "").strip():
        return None
    given = figures(case)
    if given is None:
        return veto(
            "arithmetic",
            Reason.NUMBER_MISMATCH,
            "The claim declares arithmetic and says no number.",
        )
    found = declared(case.claim.arithmetic, given)
    if found.problem:
        return veto("arithmetic", Reason.NUMBER_MISMATCH, found.problem)
    computed = ", ".join(f"“{text}”" for text in sorted(found.explained))
    detail = f"{computed} was computed again from the quoted numbers."
    if not _says_nothing_else(case, given, found.explained, change=found.change):
        return fine("arithmetic", detail)
    return Signal(
        check="arithmetic", passed=True, detail=detail, role="decider", decided_by="arithmetic"
    )


@dataclass(frozen=True, slots=True)
class Declared:
    """What became of the arithmetic that a claim declares.

    Attributes:
        explained: Texts of the claim's quantities that it accounts for.
        problem: Why it accounts for none, in one sentence; "" where it does.
        change: Whether it comes to a change relative to where it started.
    """

    explained: frozenset[str] = frozenset()
    problem: str = ""
    change: bool = False


def declared(expression: str | None, given: Figures) -> Declared:
    """Work out the expression of a claim and find its result in the claim."""
    if not expression or not expression.strip():
        return Declared()
    return _declared(expression, given)


@lru_cache(maxsize=256)
def _declared(expression: str, given: Figures) -> Declared:
    try:
        result = calculate(parse_expression(expression), given.quotes)
    except ExpressionError as error:
        return Declared(problem=f"The claim's arithmetic cannot be read: {error}.")
    except CalculationError as error:
        return Declared(problem=f"The claim's arithmetic does not hold: {error}.")
    explained = frozenset(q.text for q in given.stated if _yields(result, q, given))
    if explained:
        return Declared(explained, change=result.change)
    return Declared(
        problem=f"The claim's arithmetic comes to {result.shown}, which the claim does not say."
    )


def _yields(result: Result, claim: Quantity, given: Figures) -> bool:
    if claim.kind not in ("number", "fraction") or not claim.values:
        return False
    if result.days is not None:
        return _lasts(result, claim)
    if not _same_direction(result, claim, given):
        return False
    sign = -1 if result.number < 0 <= claim.values[0] else 1
    value = sign * result.number
    if claim.bound is not Bound.EXACT and _follows(value, result.unit, claim):
        return True
    readings = _readings(claim, result, given)
    return any(_rounds(value, reading, unit) for reading, unit in readings)


def _follows(value: Fraction, unit: str, claim: Quantity) -> bool:
    """Whether "about 5,000" or "more than 300" follows from the exact result."""
    exact = Quantity(str(value), 0, 0, "number", values=(value,), unit=unit or claim.unit)
    return compare(claim, exact) in (Agreement.SAME, Agreement.WEAKER)


def _same_direction(result: Result, claim: Quantity, given: Figures) -> bool:
    """Whether the sign of the result is what the claim's words say."""
    down, up = says(given.claim, "less"), says(given.claim, "more")
    negative = claim.values[0] < 0
    if negative:
        return result.number < 0
    if result.number < 0:
        return down or (says(given.claim, "apart") and not up)
    return not (result.change and down and not up)


def says(text: str, direction: str) -> bool:
    """Whether words say of a positive number that something is less, more, or that much apart."""
    return _directions(direction).search(text) is not None


@cache
def _directions(direction: str) -> re.Pattern[str]:
    stems = read_table("operations")["directions"][direction]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))})\w*", re.IGNORECASE)


def _lasts(result: Result, claim: Quantity) -> bool:
    """Whether a span between two dates is the claim's number of days, weeks, months or years."""
    days = abs(result.days or 0)
    if claim.unit == "s":
        return Fraction(days * 86400) in claim.values
    if claim.unit == "month":
        whole = result.months - result.months % 12 if "y" in claim.written_unit else result.months
        return Fraction(whole) in claim.values
    return not claim.unit and Fraction(days) in claim.values


@dataclass(frozen=True, slots=True)
class _Step:
    """One reading of a printed number: its value, and the size of its last digit."""

    value: Fraction
    step: Fraction


def _readings(claim: Quantity, result: Result, given: Figures) -> list[tuple[_Step, Fraction]]:
    """Return how the claim's number may be read in the unit of the result, each with a factor."""
    found: list[tuple[_Step, Fraction]] = []
    for full, bare in _printed(claim):
        unit = factor(claim.written_unit)
        scale = abs(full.value / bare.value) if bare.value else unit
        plain = claim.unit == result.unit or (not claim.unit and result.unit != "%")
        if plain or (claim.unit == "%" and result.ratio):
            found.append((full, Fraction(1)))
        elif claim.unit == "pp" and result.unit == "%":
            found.append((full, Fraction(100)))
        elif not result.unit and names_unit(given.text, claim):
            found.append((full, unit))
        else:
            continue
        # The evidence's numbers may be "in millions", as the head of their table says.
        size = scale / unit
        if size > 1 and scaled(size, given.text) and claim.unit != "%":
            found.append((bare, Fraction(1)))
    return found


def _printed(claim: Quantity) -> list[tuple[_Step, _Step]]:
    """Return each reading of a number, in base units and as printed, with its last digit's size."""
    token = _PRINTED.search(claim.text)
    if token is None:
        exact = [_Step(value, Fraction(0)) for value in claim.values]
        return [(step, step) for step in exact]
    digits = int("".join(character for character in token.group() if character.isdigit()))
    found: list[tuple[_Step, _Step]] = []
    bare = find_quantities(token.group())
    readings = bare[0].values if len(bare) == 1 else ()
    for value in claim.values:
        for reading in readings:
            decimals = next((d for d in range(16) if digits == reading * 10**d), None)
            size = abs(value / reading) if reading else factor(claim.written_unit)
            if decimals is None or (len(readings) > 1 and not _is_plain_scale(size, claim)):
                continue
            step = Fraction(1, 10**decimals)
            sign = -1 if value < 0 else 1
            found.append((_Step(value, size * step), _Step(sign * reading, step)))
    return found


def _is_plain_scale(size: Fraction, claim: Quantity) -> bool:
    """Whether a size is what the unit and a scale word account for, not another reading."""
    scales = [Fraction(1), *map(Fraction, SCALES)] if claim.text[-1:].isalpha() else [Fraction(1)]
    return size / factor(claim.written_unit) in scales if claim.written_unit else size in scales


def _rounds(value: Fraction, printed: _Step, unit: Fraction) -> bool:
    return abs(value * unit - printed.value) <= printed.step / 2


def _says_nothing_else(
    case: ClaimCase, given: Figures, explained: Collection[str], *, change: bool
) -> bool:
    """Whether all of the claim is its statements and a calculation with all of their numbers."""
    expression = (case.claim.arithmetic or "").partition("=")[0].strip()
    plain = (name for name, shape in _SHAPES.items() if shape.fullmatch(expression))
    operation = "change" if change else next(plain, None)
    if operation is None:
        return False
    sentences = [words for piece in case.evidence for words in _stems_by_sentence(piece.sentence)]
    statements = list(dict.fromkeys(sentences))
    context = [t for p in case.evidence for t in (p.chunk.title, *p.chunk.chunk.headings)]
    known = {word for words in (*statements, *map(_stated_stems, context)) for word in words}
    claim, glue, naming = _stated_stems(case.claim.text), _words("glue"), _words(operation)
    added, lost = set(claim) - known - naming - glue, glue
    # "The fees are 155 euros" may mean each of them, and "rose to 24 euros" is no difference.
    named = bool(naming.intersection(claim))
    if operation in ("difference", "change"):
        computed = [q for q in given.stated if q.text in explained]
        named = named or all(_before(q, given.claim) in _words("by") for q in computed)
        added, lost = added - _words("by"), glue | _words("ends")
    return (
        named
        and not added
        and all(_in_order([w for w in words if w not in lost], claim) for words in statements)
        and _tell_apart(statements)
        and _all_counted(expression, given, explained, operation, single=len(statements) == 1)
    )


def _stated_stems(text: str) -> tuple[str, ...]:
    """Return the words of a text with its dates, other numbers left out."""
    return tuple(t.stem for t in read(text).terms if t.quantity is None or t.quantity.dates)


def _stems_by_sentence(text: str) -> Iterator[tuple[str, ...]]:
    for span in split_sentences(text):
        yield _stated_stems(span.of(text))


def _before(quantity: Quantity, text: str) -> str:
    words = text[: quantity.start].split()
    return stem(words[-1].lower()) if words else ""


def _in_order(words: Iterable[str], claim: Iterable[str]) -> bool:
    rest = iter(claim)
    return all(word in rest for word in words)


def _tell_apart(statements: Sequence[Sequence[str]]) -> bool:
    """Whether each statement is about something of its own, so that nothing is counted twice."""
    return all(
        set(words).difference(*(other for other in statements if other is not words))
        for words in statements
    )


def _all_counted(
    expression: str, given: Figures, explained: Collection[str], operation: str, *, single: bool
) -> bool:
    """Whether each number of the statements is one operand.

    Other numbers of the claim must be those of its one statement, in order: what each of several
    belongs to is not looked at.
    """
    if operation == "average":
        expression = re.sub(r"\) ?[/÷].*", ")", expression)  # its divisor counts the others
    operands = [q for text in re.findall(_OPERAND, expression) for q in find_quantities(text)]
    others = [q for q in given.stated if q.text not in explained and not q.dates]
    counts = [q for q in given.statement if not q.dates]
    rest = iter(counts)
    return (
        (single or not others)
        and all(any(_same(other, count) for count in rest) for other in others)
        and all(any(_same(count, operand) for operand in operands) for count in counts)
        and (operation == "change" or len(operands) == len(counts))
    )


def _same(left: Quantity, right: Quantity) -> bool:
    return Agreement.SAME in (compare(left, right), compare(right, left))


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(stem(word) for word in read_table("operations")[kind])
