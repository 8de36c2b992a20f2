"""Numbers by value: every number, date and time of the claim must come from the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.numbers import Agreement, Quantity, compare
from grounded_rag.text.quantities import Bound, DateValue
from grounded_rag.text.units import factor
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.analysis import Analysis, analyse
from grounded_rag.verification.support.arithmetic import declared
from grounded_rag.verification.support.signals import fine, listed, veto

_SMALL = 3
_TIMES = frozenset({"once", "twice", "thrice", "quarter", "half", "last"})
_COPY = 0.9


def agreements(claim: Quantity, evidence: Sequence[Quantity]) -> set[Agreement]:
    """Return how a quantity of the claim relates to those of the evidence, sums taken apart."""
    found = {compare(claim, other) for other in evidence}
    found |= {compare(claim, part) for other in evidence for part in other.parts}
    if claim.parts and Agreement.SAME not in found:
        each = [agreements(part, evidence) for part in claim.parts]
        if all(Agreement.SAME in one for one in each):
            found.add(Agreement.SAME)
    return found


def claim_quantities(analysis: Analysis) -> tuple[Quantity, ...]:
    """Return the quantities of all statements of the claim."""
    return tuple(q for statement in analysis.statements for q in statement.reading.quantities)


def numbers(case: ClaimCase) -> Signal | None:
    """Say whether the claim has a number that its evidence does not give."""
    analysis = analyse(case)
    stated = claim_quantities(analysis)
    computed = declared(case.claim.arithmetic, analysis)
    if computed.problem:
        return veto("numbers", Reason.NUMBER_MISMATCH, computed.problem)
    if not stated:
        return None
    evidence = analysis.whole.quantities
    exchanged = _exchanged(analysis)
    if exchanged:
        return veto("numbers", Reason.NUMBER_MISMATCH, exchanged)
    for quantity in stated:
        found = agreements(quantity, evidence)
        if found & {Agreement.SAME, Agreement.WEAKER} or quantity.text in computed.explained:
            continue
        if found & {Agreement.OTHER_UNIT, Agreement.UNIT_ADDED}:
            continue
        if _from_context(quantity, analysis) or _composed(quantity, analysis):
            continue
        if _counted(quantity, evidence):
            continue
        if not _decides(quantity, analysis):
            continue
        return veto("numbers", Reason.NUMBER_MISMATCH, _explain(quantity, evidence, analysis))
    if computed.explained:
        return fine(
            "numbers",
            f"{listed(sorted(computed.explained))} was computed again from the quoted numbers.",
        )
    return fine("numbers", "Every number of the claim is in its evidence.")


def _exchanged(analysis: Analysis) -> str | None:
    """Another number of the evidence in the very place of the right one."""
    for statement in analysis.statements:
        for slot in statement.best.slots:
            ours = [t.quantity for t in slot.claim if t.quantity is not None]
            theirs = [t.quantity for t in slot.evidence if t.quantity is not None]
            if len(ours) != 1 or len(theirs) != 1 or len(slot.claim) > 2 or len(slot.evidence) > 2:
                continue
            if statement.best.around(slot) < _COPY or ours[0].unit != theirs[0].unit:
                continue
            if _unlike(ours[0], theirs[0]):
                return (
                    f"The claim says “{ours[0].text}” where its evidence says “{theirs[0].text}”."
                )
    return None


def _unlike(ours: Quantity, theirs: Quantity) -> bool:
    """Whether a number is another one in a place where nothing else has changed.

    "Up to 65" may follow from "up to 60", but nobody who copies the sentence writes it.
    """
    relation = compare(ours, theirs)
    if relation is Agreement.WEAKER:
        return ours.bound is theirs.bound and ours.bound not in (Bound.EXACT, Bound.ABOUT)
    return relation is Agreement.DIFFERENT


def _decides(quantity: Quantity, analysis: Analysis) -> bool:
    """Whether a number that is not in the evidence proves the claim wrong."""
    if not analysis.comparable:
        # Number words of another language may not have been read: only digits disagree for sure.
        same_kind = [q for q in analysis.whole.quantities if (q.kind == "time") == (
            quantity.kind == "time")]  # fmt: skip
        return len(same_kind) >= sum(
            (q.kind == "time") == (quantity.kind == "time") for q in claim_quantities(analysis)
        )
    small = quantity.spelled and quantity.values and quantity.values[0] <= _SMALL
    month = any(date.year is None and date.day is None for date in quantity.dates)
    if quantity.soft or small or month:
        return _replaced(quantity, analysis)
    return True


def _replaced(quantity: Quantity, analysis: Analysis) -> bool:
    """Whether the claim puts the number where the evidence has another one."""
    return any(
        any(term.quantity is quantity for term in slot.claim)
        and any(term.quantity is not None or term.lower in _TIMES for term in slot.evidence)
        for statement in analysis.statements
        for slot in statement.best.slots
    )


def _from_context(quantity: Quantity, analysis: Analysis) -> bool:
    """Whether a year or label comes from the title, the heading or the question."""
    if quantity.kind in ("time", "fraction") or quantity.unit:
        return False
    known = (*analysis.context.quantities, *analysis.question.quantities)
    if quantity.kind == "number" and not any(1000 <= value < 3000 for value in quantity.values):
        return False
    return Agreement.SAME in agreements(quantity, known)


def _counted(quantity: Quantity, evidence: Sequence[Quantity]) -> bool:
    """Whether the evidence counts it in order: "the 14th birthday" makes a child of 14."""
    if quantity.kind not in ("number", "ordinal") or quantity.unit not in ("", "month"):
        return False
    values = {value / factor(quantity.written_unit) for value in quantity.values}
    return any(
        (other.kind == "ordinal") != (quantity.kind == "ordinal")
        and not values.isdisjoint(other.values)
        for other in evidence
        if other.kind in ("number", "ordinal")
    )


def _composed(quantity: Quantity, analysis: Analysis) -> bool:
    """Whether the evidence gives day and month, and the passage or its title the year."""
    for date in quantity.dates:
        if date.year is None or date.month is None:
            continue
        bare = replace(quantity, dates=(DateValue(None, date.month, date.day),))
        year = replace(quantity, kind="number", dates=(), values=(Fraction(date.year),))
        texts = (*analysis.chunk.quantities, *analysis.context.quantities)
        yearless = [q for q in analysis.whole.quantities if any(d.year is None for d in q.dates)]
        if Agreement.SAME in agreements(bare, yearless) and (
            Agreement.SAME in agreements(year, (*analysis.whole.quantities, *texts))
        ):
            return True
    return False


def _explain(quantity: Quantity, evidence: Sequence[Quantity], analysis: Analysis) -> str:
    given = ", ".join(dict.fromkeys(f"“{q.text}”" for q in evidence[:6])) or "no number"
    text = f"The claim says “{quantity.text}”; its evidence gives {given}."
    if Agreement.SAME in agreements(quantity, analysis.chunk.quantities):
        text += " The number stands elsewhere in the passage: cite that sentence."
    return text
