"""Working out an expression whose operands are all numbers of the evidence."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Agreement, DateValue, Quantity, compare

MAX_LENGTH = 400
"""Characters of an expression; more is refused."""
_MAX_DEPTH = 20

_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "[": "(", "]": ")", "\u00a0": " "}
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?![\d-])")
_END = re.compile(r"[-+*/();]|,(?=\s)|$")
_BRACKETED_MONEY = re.compile(r"[$€£¥]\s?(?=\()")
_DATED = re.compile(r",(?= ?\d{4}\b)")
_CALL = re.compile(r"(sum|average|mean|percent_change|days)\s*\(", re.IGNORECASE)
_ARGUMENTS = {"percent_change": 2, "days": 2}
_LEADING = re.compile(r"\d+(?:[.,']\d+)*")
_LARGEST = 10**60


class ExpressionError(ValueError):
    """The text is no such expression; the message says why, without quoting it."""


class CalculationError(ValueError):
    """The expression cannot be worked out from the evidence; the message says why."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A number or date as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions joined by an operator."""

    operator: str  # one of + - * /
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """An expression with a minus sign before it."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A named function of expressions."""

    name: str
    arguments: tuple[Expression, ...]


Expression: TypeAlias = Operand | Operation | Negative | Call


@dataclass(frozen=True, slots=True)
class Result:
    """What an expression comes to."""

    number: Fraction  # in base units; days for a span between dates
    unit: str = ""
    ratio: bool = False  # a share, so that it may be said in percent
    change: bool = False  # a change relative to its own starting point
    summands: int = 1  # how many numbers were added up at its top level
    days: int | None = None  # between two dates
    months: int = 0  # whole months between them
    date: dt.date | None = None
    less: Fraction | None = None  # what was taken off at its top level
    written: int | None = None  # the integer without a unit that it was written as
    constant: int | None = None  # the same where it is no number of the evidence

    @property
    def shown(self) -> str:
        """The value for a person, at most four decimals."""
        if self.days is not None:
            return f"{self.days} days"
        number = self.number * 100 if self.unit == "%" else self.number
        text = f"{float(number):,.4f}".rstrip("0").rstrip(".")
        return f"{text} {self.unit}".strip()


def parse_expression(text: str) -> Expression:
    """Return the expression that `text` writes down.

    Raises:
        ExpressionError: It is none, is too long or nests too deep.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError("it is too long")
    # "$(290.2 + 239.6)": the sign stands for both, and each number has its own in the evidence.
    plain = _BRACKETED_MONEY.sub("", text.translate(_SIGNS).partition("=")[0])
    parser = _Parser(plain)
    found = parser.sum(0)
    if parser.rest():
        raise ExpressionError("something stands behind its end")
    return found


def calculate(expression: Expression, evidence: Sequence[Quantity]) -> Result:
    """Return what `expression` comes to.

    Integers that no evidence gives are allowed where they say nothing of their own: the number
    of summands under an average, 100 to say a ratio in percent, 1 beside a share, and 0.

    Raises:
        CalculationError: An operand is not in the evidence, units do not fit, or a divisor is 0.
    """
    found = _Calculator(evidence).value(expression)
    if found.constant is not None or found.date is not None:
        raise CalculationError("it computes nothing from the evidence")
    if abs(found.number) > _LARGEST:
        raise CalculationError("it comes to a number that counts nothing")
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def rest(self) -> str:
        return self._text[self._at :].strip()

    def sum(self, depth: int) -> Expression:
        return self._chain("+-", self._product, depth)

    def _product(self, depth: int) -> Expression:
        return self._chain("*/", self._signed, depth)

    def _chain(self, signs: str, part: Callable[[int], Expression], depth: int) -> Expression:
        if depth > _MAX_DEPTH:
            raise ExpressionError("it nests too deep")
        found = part(depth + 1)
        while (sign := self._take(signs)) is not None:
            found = Operation(sign, found, part(depth + 1))
        return found

    def _signed(self, depth: int) -> Expression:
        sign = self._take("+-")
        if sign is None:
            return self._atom(depth)
        inner = self._atom(depth)
        return Negative(inner) if sign == "-" else inner

    def _atom(self, depth: int) -> Expression:
        self._skip()
        call = _CALL.match(self._text, self._at)
        if call:
            self._at = call.end()
            return self._call(call[1].lower(), depth)
        if self._text.startswith("(", self._at):
            self._at += 1
            inner = self.sum(depth)
            self._close()
            # "(1,036.9)" is an amount below zero in accounts, and a bracket here: the same number.
            return inner
        return self._operand()

    def _call(self, name: str, depth: int) -> Expression:
        arguments = [self.sum(depth)]
        while self._text.startswith((",", ";"), self._at):
            self._at += 1
            arguments.append(self.sum(depth))
        self._close()
        if len(arguments) != _ARGUMENTS.get(name, len(arguments)):
            raise ExpressionError(f"{name} takes two arguments")
        return Call("average" if name == "mean" else name, tuple(arguments))

    def _operand(self) -> Expression:
        date = _DATE.match(self._text, self._at)
        end = date.end() if date else self._end()
        text = self._text[self._at : end].strip()
        if not any(character.isdigit() for character in text):
            raise ExpressionError("an operand is missing")
        self._at = end
        self._skip()
        return Operand(text)

    def _end(self) -> int:
        found = _END.search(self._text, self._at)
        while found and _DATED.match(self._text, found.start()):  # "March 1, 2024"
            found = _END.search(self._text, found.end())
        return found.start() if found else len(self._text)

    def _close(self) -> None:
        self._skip()
        if not self._text.startswith(")", self._at):
            raise ExpressionError("a bracket is not closed")
        self._at += 1
        self._skip()

    def _take(self, signs: str) -> str | None:
        self._skip()
        sign = self._text[self._at : self._at + 1]
        if not sign or sign not in signs:
            return None
        self._at += 1
        return sign

    def _skip(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1


class _Calculator:
    def __init__(self, evidence: Sequence[Quantity]) -> None:
        self._evidence = evidence

    def value(self, node: Expression) -> Result:
        if isinstance(node, Operand):
            return self._operand(node.text)
        if isinstance(node, Negative):
            inner = self.value(node.inner)
            number = -_known(inner).number
            return replace(inner, number=number, days=None, less=None, written=None)
        if isinstance(node, Call):
            return self._call(node)
        left, right = self.value(node.left), self.value(node.right)
        return _OPERATIONS[node.operator](left, right)

    def _call(self, node: Call) -> Result:
        values = [self.value(argument) for argument in node.arguments]
        if node.name == "days":
            return _span(values[1], values[0])
        if node.name == "percent_change":
            old, new = values
            return _divide(_subtract(new, old), old)
        total = values[0]
        for other in values[1:]:
            total = _add(total, other)
        if node.name == "average":
            return replace(total, number=total.number / len(values), summands=1, written=None)
        return total

    def _operand(self, text: str) -> Result:
        found = find_quantities(text)
        if len(found) != 1:
            raise CalculationError("an operand is no single number")
        operand = found[0]
        whole = not operand.unit and operand.values and operand.values[0].denominator == 1
        written = int(operand.values[0]) if whole else None
        for other in self._evidence:
            located = _located(operand, other)
            if located is not None:
                return replace(located, written=written)
        if written is not None:
            return Result(Fraction(written), written=written, constant=written)
        raise CalculationError(f"“{operand.text}” is not in its quotes")


def _located(operand: Quantity, evidence: Quantity) -> Result | None:
    """Return the operand as the evidence has it, or None where they are not the same number."""
    if operand.dates and evidence.dates:
        day = next((d for o in operand.dates for d in evidence.dates if _dated(o, d)), None)
        return None if day is None else Result(Fraction(0), date=_date(day))
    if compare(operand, evidence) is Agreement.SAME:
        common = [value for value in operand.values if value in evidence.values]
        value = (common or operand.values or evidence.values or (None,))[0]
        if value is None:
            return None
        return Result(value, unit=operand.unit or evidence.unit, ratio=_share(evidence))
    # "12.5" for "12.5 million" or "3.3" for "3.3 %": the evidence says what the digits mean.
    if operand.unit or operand.written_unit or not evidence.values:
        return None
    digits = _LEADING.search(evidence.text)
    bare = find_quantities(digits.group()) if digits else ()
    if len(bare) == 1 and not set(bare[0].values).isdisjoint(operand.values):
        return Result(evidence.values[0], unit=evidence.unit, ratio=_share(evidence))
    return None


def _share(quantity: Quantity) -> bool:
    return quantity.unit == "%" or quantity.kind == "fraction"


def _dated(operand: DateValue, evidence: DateValue) -> bool:
    return operand == evidence and None not in (operand.year, operand.month, operand.day)


def _date(value: DateValue) -> dt.date:
    try:
        return dt.date(value.year or 0, value.month or 0, value.day or 0)
    except ValueError as error:
        raise CalculationError("a date does not exist") from error


def _known(value: Result) -> Result:
    """Refuse an integer that is neither in the evidence nor one of the harmless ones."""
    if value.constant:
        raise CalculationError(f"“{value.constant}” is not in its quotes")
    if value.date is not None:
        raise CalculationError("a date can only be taken from a date")
    return value


def _combine(left: Result, right: Result, sign: int) -> Result:
    one = next((v for v in (left, right) if v.written == 1), None)
    other = right if one is left else left
    if one is not None and other.ratio and other.unit in ("", "%"):
        return Result(left.number + sign * right.number, ratio=True, change=one is right)
    left, right = _known(left), _known(right)
    if left.unit and right.unit and left.unit != right.unit:
        raise CalculationError(f"{left.unit} and {right.unit} cannot be added")
    return Result(
        left.number + sign * right.number,
        unit=left.unit or right.unit,
        ratio=left.ratio and right.ratio,
        summands=left.summands + right.summands,
    )


def _add(left: Result, right: Result) -> Result:
    return _combine(left, right, 1)


def _subtract(left: Result, right: Result) -> Result:
    if left.date is not None and right.date is not None:
        return _span(left, right)
    return replace(_combine(left, right, -1), less=right.number)


def _span(until: Result, since: Result) -> Result:
    if until.date is None or since.date is None:
        raise CalculationError("a span needs two dates of the quotes")
    first, last = sorted((until.date, since.date))
    days = (until.date - since.date).days
    months = 12 * (last.year - first.year) + last.month - first.month - (last.day < first.day)
    return Result(Fraction(days), days=days, months=months)


def _multiply(left: Result, right: Result) -> Result:
    for constant, other in ((left, right), (right, left)):
        if constant.constant == 100 and other.ratio and other.unit in ("", "%"):
            return replace(other, unit="%")
    left, right = _known(left), _known(right)
    units = {unit for unit in (left.unit, right.unit) if unit not in ("", "%")}
    if len(units) > 1 or left.unit == right.unit not in ("", "%"):
        raise CalculationError(f"{left.unit} times {right.unit} has no unit")
    shares = left.ratio and right.ratio
    return Result(left.number * right.number, unit=next(iter(units), ""), ratio=shares)


def _divide(left: Result, right: Result) -> Result:
    if right.number == 0:
        raise CalculationError("it divides by 0")
    if right.written is not None and right.written == left.summands > 1:
        return replace(left, number=left.number / right.number, summands=1)
    left, right = _known(left), _known(right)
    if left.unit == right.unit or "" in (left.unit, right.unit):
        # A table gives the sign of a currency with some of its numbers only.
        unit = "" if right.unit or left.unit == "%" else left.unit
        change = left.less == right.number
        return Result(left.number / right.number, unit=unit, ratio=True, change=change)
    if "%" in (left.unit, right.unit):
        unit = left.unit if right.unit == "%" else right.unit
        return Result(left.number / right.number, unit=unit)
    raise CalculationError(f"{left.unit} per {right.unit} is no unit of the claim")


_OPERATIONS: dict[str, Callable[[Result, Result], Result]] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
}
