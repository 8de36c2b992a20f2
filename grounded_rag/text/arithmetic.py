"""Tiny arithmetic expressions over numbers and dates: parsed by hand, never evaluated as code.

    sum       = product { ("+" | "-") product }
    product   = signed { ("*" | "/") signed }
    signed    = ["+" | "-"] atom
    atom      = operand | "(" sum ")" | name "(" sum { separator sum } ")"

The names are `sum`, `average`, `percent_change` (old, new) and `days` (from, until); a separator is
";" or a comma with a space behind it, so that "1,250" stays one number. An operand is a number with
its signs and unit words, or a date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

MAX_LENGTH = 400
"""Characters of an expression; more is refused."""
_MAX_DEPTH = 20

Operator: TypeAlias = Literal["+", "-", "*", "/"]

_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "[": "(", "]": ")", "\u00a0": " "}
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}(?![\d-])")
_END = re.compile(r"[-+*/();]|,(?=\s)|$")
_BRACKETED_MONEY = re.compile(r"[$€£¥]\s?(?=\()")
_DATED = re.compile(r",(?= ?\d{4}\b)")
_CALL = re.compile(r"(sum|average|mean|percent_change|days)\s*\(", re.IGNORECASE)
_ARGUMENTS = {"percent_change": 2, "days": 2}


class ExpressionError(ValueError):
    """The text is no such expression; the message says why, without quoting it."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A number or date as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions joined by an operator."""

    operator: Operator
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

    def _take(self, signs: str) -> Operator | None:
        self._skip()
        for sign in _OPERATORS:
            if sign in signs and self._text.startswith(sign, self._at):
                self._at += 1
                return sign
        return None

    def _skip(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1


_OPERATORS: Sequence[Operator] = ("+", "-", "*", "/")
