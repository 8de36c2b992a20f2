"""Numbers with their units, by value: each number of the claim must stand in the cited passage.

The passage is the statement, the rest of its chunk, its title and headings. The question is no
source: a number that only the question has is as wrong as any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.identifiers import find_identifiers
from grounded_rag.text.quantities import Agreement, DateValue, Quantity, compare, factor
from grounded_rag.text.words import stem
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.arithmetic import declared, says
from grounded_rag.verification.support.quoted import fine, of_wording, veto
from grounded_rag.verification.support.terms import Figures, figures, names_unit, scaled_down

_STANDS = {Agreement.SAME, Agreement.WEAKER}
_OTHERWISE = {Agreement.OTHER_UNIT, Agreement.UNIT_ADDED}
_FINE = "Every number of the claim stands in its cited passage."
# Each number of a claim is compared with each of the passage.
_MOST = 200
# "One" to "three" in words often count what the passage lists.
_SMALL = 3
_SHOWN = 6
_RATIO = re.compile(r"\s*(?:in|of|out of|von|sur|de|su)\s*(?:the\s*)?", re.IGNORECASE)


@of_wording
def numbers(case: ClaimCase) -> Signal | None:
    """Say whether the claim has a number that its cited passage does not give, or not so."""
    found = figures(case)
    if found is None:
        return None
    if len(found.stated) > _MOST:
        return Signal(check="numbers", passed=None, detail="The claim has too many numbers.")
    computed = declared(case.claim.arithmetic, found).explained
    names = find_identifiers(found.claim)  # they are compared as strings, by a check of their own
    for quantity in found.stated:
        named = any(n.start <= quantity.start and quantity.end <= n.end for n in names)
        if named or quantity.text in computed:
            continue
        wrong = _mismatch(quantity, found)
        if wrong is not None:
            return veto("numbers", *wrong)
    return fine("numbers", _FINE)


def agreements(claim: Quantity, evidence: Sequence[Quantity]) -> set[Agreement]:
    """Return how a quantity of the claim relates to those of the evidence, sums taken apart."""
    found = {compare(claim, part) for other in evidence for part in (other, *other.parts)}
    if claim.parts and Agreement.SAME not in found:
        each = [agreements(part, evidence) for part in claim.parts]
        if all(Agreement.SAME in one for one in each):
            found.add(Agreement.SAME)
    return found


def _mismatch(ours: Quantity, found: Figures) -> tuple[Reason, str] | None:
    """Return what is wrong with one number of the claim, or None."""
    if agreements(ours, found.known) & _STANDS or _stands_otherwise(ours, found):
        return None
    if not _certain(ours, found):
        return None
    rivals = [q for q in found.known if compare(ours, q) in _OTHERWISE]
    if any(_same_unit(ours, rival, found) for rival in rivals):
        return None
    if rivals:
        rival = next((q for q in rivals if q.unit), rivals[0])
        return Reason.UNIT_MISMATCH, (
            f"The claim says “{ours.text}”, the cited passage “{rival.text}”: not the same unit."
        )
    given = [f"“{text}”" for text in dict.fromkeys(q.text for q in found.statement)]
    return Reason.NUMBER_MISMATCH, (
        f"The claim says “{ours.text}”, which stands nowhere in the cited passage; "
        f"the cited statement gives {', '.join(given[:_SHOWN]) or 'no number'}."
    )


def _stands_otherwise(ours: Quantity, found: Figures) -> bool:
    """Whether the passage has the number in another form than as a quantity of the same kind."""
    return (
        re.search(rf"(?<![\w.,−–-]){re.escape(ours.text)}(?![\w-]|[.,]\d)", found.text) is not None
        or any(_equal(ours, form) for form in _ratios(found))
        or any(agreements(small, found.known) & _STANDS for small in scaled_down(ours, found.text))
        or _fallen(ours, found)
        or _ordered(ours, found)
        or _named(ours, found)
        or _composed(ours, found)
    )


def _equal(ours: Quantity, other: Quantity) -> bool:
    return ours.unit in ("", "%") and not set(ours.values).isdisjoint(other.values)


def _ratios(found: Figures) -> Iterator[Quantity]:
    """Yield "one in four" as a share."""
    for first, second in zip(found.known, found.known[1:], strict=False):
        if first.values and second.values and second.values[0] and (
            _RATIO.fullmatch(found.text[first.end : second.start])
        ):  # fmt: skip
            yield replace(first, values=(first.values[0] / second.values[0],))


def _fallen(ours: Quantity, found: Figures) -> bool:
    """Whether the claim says in a word what the passage says by a sign ("fell by 2 %")."""
    below = replace(ours, values=tuple(-value for value in ours.values))
    return says(found.claim, "less") and Agreement.SAME in agreements(below, found.known)


def _ordered(ours: Quantity, found: Figures) -> bool:
    """Whether one side counts it in order: "the 14th birthday" makes a child of 14."""
    if ours.kind not in ("number", "ordinal") or ours.unit not in ("", "month"):
        return False
    values = {value / factor(ours.written_unit) for value in ours.values}
    return any(
        {other.kind, ours.kind} == {"ordinal", "number"} and not values.isdisjoint(other.values)
        for other in found.known
    )


def _named(ours: Quantity, found: Figures) -> bool:
    """Whether the passage writes a name and its number as one word ("BRCA 1", "BRCA1")."""
    name = re.search(r"([^\W\d_]+)[ -]?$", found.claim[max(0, ours.start - 60) : ours.start])
    return name is not None and (
        re.search(rf"\b{name.group(1)}-?{re.escape(ours.text)}\b", found.text) is not None
    )


def _composed(ours: Quantity, found: Figures) -> bool:
    """Whether the passage gives day and month in one place and the year in another."""
    for date in ours.dates:
        if date.year is None or date.month is None:
            continue
        bare = replace(ours, dates=(DateValue(None, date.month, date.day),))
        year = replace(ours, kind="number", dates=(), values=(Fraction(date.year),))
        yearless = [q for q in found.known if any(d.year is None for d in q.dates)]
        if Agreement.SAME in agreements(bare, yearless) & agreements(year, found.known):
            return True
    return False


def _same_unit(ours: Quantity, theirs: Quantity, found: Figures) -> bool:
    """Whether a unit that only one side has beside the number is no other unit.

    It may stand in the head of a column ("Price in EUR") or behind the last number of a list. A
    claim may leave out a unit that is plain ("at 31" for "the 31-year-old"), but no percent.
    """
    if "time" in (ours.kind, theirs.kind) or not found.comparable:
        return True
    if not ours.unit and theirs.unit != "%":
        return True
    if ours.unit and theirs.unit:
        return False
    return names_unit(found.text, ours) if ours.unit else names_unit(found.claim, theirs)


def _certain(ours: Quantity, found: Figures) -> bool:
    """Whether a number that stands nowhere in the passage is certainly a wrong one."""
    if not found.comparable:
        # Number words of another language may not have been read: digits of the same kind must be.
        timed = ours.kind == "time"
        theirs = sum((q.kind == "time") == timed for q in found.statement)
        return not ours.spelled and theirs >= sum((q.kind == "time") == timed for q in found.stated)
    if ours.dates and all(date.year is None and date.day is None for date in ours.dates):
        return any(date.month is not None for q in found.known for date in q.dates)
    counted = ours.spelled and not ours.unit and ours.values and ours.values[0] <= _SMALL
    return _replaces(ours, found) if ours.soft or counted else True


def _replaces(ours: Quantity, found: Figures) -> bool:
    """Whether the passage counts the same thing otherwise: "three windows" for "two windows".

    A small number in words may also count what the passage merely lists.
    """
    noun = _behind(found.claim, ours)
    return bool(noun) and any(
        noun == _behind(text, theirs)
        for text, theirs in ((found.text, q) for q in found.known)
        if theirs.kind == ours.kind and not theirs.unit
    )


def _behind(text: str, quantity: Quantity) -> str:
    """Return the stem of the word that follows a quantity directly, or ""."""
    following = re.match(r"[\s-]*([^\W\d_]+)", text[quantity.end : quantity.end + 60])
    return stem(following.group(1).lower()) if following else ""
