"""Whether a claim with a computed number says nothing else than what it was computed from.

The bag of words alone would confirm "the joining fee is 155 euros" from two fees. So the statements
must be whole in the claim, in their own order, and the claim must add nothing but the words that
name the calculation. What is refused here is not wrong: it is only not confirmed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.resources import data_file
from grounded_rag.text.numbers import Agreement, Quantity, compare, find_quantities
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.stems import stem
from grounded_rag.verification.support.figures import Figures
from grounded_rag.verification.support.terms import read

_OPERAND = r"[^-−–+*×/÷();=]*\d[^-−–+*×/÷();=]*"
_SUM = rf"{_OPERAND}(?:\+{_OPERAND})+"
_LIST = rf"\({_OPERAND}(?:(?:;|, ){_OPERAND})+\)"
_PLAIN = {
    "sum": re.compile(rf"\(?{_SUM}\)?|sum ?{_LIST}", re.IGNORECASE),
    "average": re.compile(rf"\({_SUM}\) ?[/÷] ?\d+|(?:average|mean) ?{_LIST}", re.IGNORECASE),
    "difference": re.compile(rf"\(?{_OPERAND}[-−–]{_OPERAND}\)?"),
}


def restates(case: ClaimCase, given: Figures, explained: Collection[str], *, change: bool) -> bool:
    """Whether all of the claim is its statements and a calculation with all of their numbers.

    Args:
        case: The claim, which declares arithmetic, with its evidence.
        given: Its numbers beside those of the evidence.
        explained: Texts of the claim's numbers that are computed.
        change: Whether the result is a change relative to where it started.
    """
    expression = (case.claim.arithmetic or "").partition("=")[0].strip()
    plain = (name for name, shape in _PLAIN.items() if shape.fullmatch(expression))
    operation = "change" if change else next(plain, None)
    if operation is None:
        return False
    sentences = [words for piece in case.evidence for words in _sentences(piece.sentence)]
    statements = list(dict.fromkeys(sentences))
    context = [t for p in case.evidence for t in (p.chunk.title, *p.chunk.chunk.headings)]
    known = {word for words in (*statements, *map(_stems, context)) for word in words}
    claim, glue, naming = _stems(case.claim.text), _words("glue"), _words(operation)
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


def _stems(text: str) -> tuple[str, ...]:
    """Return the words of a text with its dates, other numbers left out."""
    return tuple(t.stem for t in read(text).terms if t.quantity is None or t.quantity.dates)


def _sentences(text: str) -> Iterator[tuple[str, ...]]:
    for span in split_sentences(text):
        yield _stems(span.of(text))


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
    data = data_file("operations.toml").read_text("utf-8")
    return frozenset(stem(word) for word in tomllib.loads(data)[kind])
