"""Units: the same digits with another unit, scale or reference are another value."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.numbers import Agreement, Quantity, compare
from grounded_rag.text.units import is_currency, lookup
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.analysis import Analysis, analyse
from grounded_rag.verification.support.arithmetic import declared
from grounded_rag.verification.support.numbers import agreements, claim_quantities
from grounded_rag.verification.support.signals import fine, veto

_COPIED = 0.6
_KEEP = "The claim says “{}” where its evidence says “{}”: keep the unit."


def units(case: ClaimCase) -> Signal | None:
    """Say whether a number of the claim has kept its unit."""
    analysis = analyse(case)
    lost = _lost(analysis)
    if lost:
        return veto("units", Reason.UNIT_MISMATCH, lost)
    computed = declared(case.claim.arithmetic, analysis).explained
    stated = [
        q for q in claim_quantities(analysis) if (q.unit or q.times) and q.text not in computed
    ]
    if not stated:
        return None
    for quantity in stated:
        found = agreements(quantity, analysis.whole.quantities)
        if found & {Agreement.SAME, Agreement.WEAKER}:
            continue
        if Agreement.OTHER_UNIT in found:
            other = _other(quantity, analysis)
            return veto(
                "units",
                Reason.UNIT_MISMATCH,
                f"The claim says “{quantity.text}”, its evidence “{other}”: not the same unit.",
            )
        if Agreement.UNIT_ADDED in found and not _unit_nearby(quantity, analysis):
            return veto(
                "units",
                Reason.UNIT_MISMATCH,
                f"The claim says “{quantity.text}”; its evidence gives the number without a unit.",
            )
    return fine("units", "Every number of the claim has the unit of its evidence.")


def _lost(analysis: Analysis) -> str | None:
    """A number that lies beside its own, without the unit or with another word behind it."""
    for statement in analysis.statements:
        best = statement.best
        if best.near < _COPIED:
            continue
        for slot in best.slots:
            mine = [t.quantity for t in slot.claim if t.quantity is not None]
            other = [t.quantity for t in slot.evidence if t.quantity is not None]
            if len(mine) == len(other) == 1 and not mine[0].unit and (
                compare(mine[0], other[0]) is Agreement.OTHER_UNIT
            ):  # fmt: skip
                return _KEEP.format(mine[0].text, other[0].text)
        for at, beside in best.pairs:
            ours, theirs = best.claim.terms[at].quantity, best.evidence.terms[beside].quantity
            if ours is None or theirs is None or ours.unit or not theirs.unit or (
                ours.kind == "fraction"
            ):  # fmt: skip
                continue
            behind = [t.lower for t in best.claim.terms[at + 1 : at + 3]]
            units_behind = [found[0] for word in behind if (found := lookup(word)) is not None]
            if theirs.unit == "%" or is_currency(theirs.unit) or units_behind:
                return _KEEP.format(ours.text, theirs.text)
    return None


def _other(quantity: Quantity, analysis: Analysis) -> str:
    return next(
        q.text
        for q in analysis.whole.quantities
        if Agreement.OTHER_UNIT in agreements(quantity, [q])
    )


def _unit_nearby(quantity: Quantity, analysis: Analysis) -> bool:
    """Whether the unit stands elsewhere, as in a table header or a heading ("Price in EUR")."""
    if not analysis.comparable:
        return True
    wanted = quantity.written_unit.lower()
    if is_currency(quantity.unit) or quantity.unit == "%":
        known = (*analysis.chunk.quantities, *analysis.context.quantities)
        if any(other.unit == quantity.unit for other in known):
            return True
    texts = (analysis.whole, analysis.context, analysis.chunk)
    return not wanted or any(
        wanted in (term.lower, term.stem) or wanted.rstrip("s") == term.stem
        for text in texts
        for term in text.terms
    ) or any(wanted in text.text.lower() for text in texts)  # fmt: skip
