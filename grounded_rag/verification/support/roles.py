"""Roles: in a copied sentence, who does it and to whom must not have changed places."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.verification.support.analysis import Statement
from grounded_rag.verification.support.lexicon import PASSIVE
from grounded_rag.verification.support.terms import Reading, Term

_NEAR = 0.6
_COPY = 0.5
_REACH = 3
_PLACES = "The claim exchanges the places of words that its evidence tells apart."
_FIRST = frozenset("i we us our ours me my wir uns unser unsere".split())
_SECOND = frozenset("you your yours ihr ihre ihnen".split())
_JOINED = frozenset("and or und oder with between both , &".split())


def exchanged_roles(statement: Statement) -> str | None:
    """Return what is wrong where parties of a copied sentence have changed places, or None."""
    best = statement.best
    if best.near < _COPY or _passive(best.claim) != _passive(best.evidence):
        return None
    if best.near < _NEAR:
        return _PLACES if _reordered(statement) else None
    turned = _persons(best.claim, best.evidence)
    if turned:
        return f"In the evidence it is not “{turned}” who does that."
    return _PLACES if _crossed(statement) or _reordered(statement) else None


def _passive(reading: Reading) -> bool:
    return "by" in {t.lower for t in reading.terms} and bool(
        PASSIVE & {t.lower for t in reading.terms}
    )


def _persons(claim: Reading, evidence: Reading) -> str | None:
    """A pronoun before a verb that has the other one before it in the evidence."""
    theirs = {(party, verb) for party, verb, _ in _acts(evidence)}
    for party, verb, written in _acts(claim):
        other = "second" if party == "first" else "first"
        if (other, verb) in theirs and (party, verb) not in theirs:
            return written
    return None


def _acts(reading: Reading) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for index, term in enumerate(reading.terms):
        party = "first" if term.lower in _FIRST else "second" if term.lower in _SECOND else ""
        if not party:
            continue
        for after in reading.terms[index + 1 : index + 1 + _REACH]:
            if after.lower in PASSIVE or after.lower in _FIRST | _SECOND:
                break
            if after.content or after.kind == "number":
                found.append((party, after.stem, term.text))
                break
    return found


def _crossed(statement: Statement) -> bool:
    """Two slots, each of which has what the evidence has in the other one."""
    slots = [(_stems(s.claim), _stems(s.evidence)) for s in statement.best.slots]
    return any(
        ours and theirs and ours == other_theirs and theirs == other_ours
        for index, (ours, theirs) in enumerate(slots)
        for other_ours, other_theirs in slots[index + 1 :]
    ) and not _enumerated(statement)


def _enumerated(statement: Statement) -> bool:
    """Whether what was exchanged are members of one list."""
    slots = [s for s in statement.best.slots if _stems(s.claim)]
    first, last = slots[0].claim[-1], slots[-1].claim[0]
    between = [t for t in statement.reading.terms if first.end <= t.start and t.end <= last.start]
    gap = statement.reading.text[first.end : last.start]
    return not any(t.content for t in between) and (
        any(t.lower in _JOINED for t in between) or "," in gap
    )


def _reordered(statement: Statement) -> bool:
    """The same words with two names in another order: "from Friday to Monday"."""
    ours, theirs = statement.reading, statement.best.evidence
    if sorted(_all(ours.terms)) != sorted(_all(theirs.terms)):
        return False
    mine = [t.stem for t in ours.terms if t.name]
    other = [t.stem for t in theirs.terms if t.name]
    if len(set(mine)) < 2 or mine == other or sorted(mine) != sorted(other):
        return False
    names = [t for t in ours.terms if t.name]
    between = ours.text[names[0].end : names[-1].start].lower().split()
    return not _JOINED & set(between) and not any("," in word for word in between)


def _stems(terms: Sequence[Term]) -> tuple[str, ...]:
    return tuple(t.stem for t in terms if t.content)


def _all(terms: Sequence[Term]) -> list[str]:
    return [t.lower for t in terms]
