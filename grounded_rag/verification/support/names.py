"""Names, codes and identifiers: the claim must speak of whom and what its evidence speaks of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import Slot, small
from grounded_rag.verification.support.analysis import Analysis, Statement, analyse
from grounded_rag.verification.support.lexicon import PASSIVE
from grounded_rag.verification.support.matching import covered
from grounded_rag.verification.support.places import other_place, same_place
from grounded_rag.verification.support.roles import exchanged_roles
from grounded_rag.verification.support.signals import fine, listed, veto
from grounded_rag.verification.support.terms import Reading, Term

_SLOT_NEAR = 0.6
_ORDER_NEAR = 0.75
_COPY = 0.9


def names(case: ClaimCase) -> Signal | None:
    """Say whether the names and codes of the claim are those of its evidence, in their roles."""
    analysis = analyse(case)
    found = False
    for statement in analysis.statements:
        named = [term for term in statement.reading.terms if term.name]
        found = found or bool(named)
        problem = (
            _replaced(statement, analysis)
            or _absent(named, analysis)
            or _paired(statement)
            or _swapped(statement)
            or exchanged_roles(statement)
        )
        if problem:
            return veto("names", Reason.WRONG_ENTITY, problem)
    return fine("names", "The names of the claim are those of its evidence.") if found else None


def _replaced(statement: Statement, analysis: Analysis) -> str | None:
    """A name in the place of another one."""
    if not analysis.comparable:
        return None
    for slot in statement.best.slots:
        if statement.best.around(slot) < _SLOT_NEAR or not small(slot):
            continue
        for first in slot.claim:
            for second in slot.evidence:
                if other_place(first.lower, second.lower):
                    return f"The claim names {listed([first])}, its evidence {listed([second])}."
        # In a copy a name stands where it was put, wherever else it is.
        copied = statement.best.around(slot) >= _COPY
        text = _of(slot.evidence) if copied else analysis.whole
        other = _of(slot.claim) if copied else statement.reading
        ours = [t for t in slot.claim if _proper(t) and not covered(t, text)]
        theirs = [t for t in slot.evidence if _proper(t) and not covered(t, other)]
        if not any(term.name for term in ours) or not any(term.name for term in theirs):
            single = (
                len(slot.claim) == len(slot.evidence) == 1 and statement.best.around(slot) >= 0.7
            )
            if not (single and any(term.name for term in (*ours, *theirs))):
                continue
        if ours and theirs and not _alias(ours, theirs) and not _filled(ours, slot, analysis):
            return f"The claim names {listed(ours)} where its evidence names {listed(theirs)}."
    return None


def _of(terms: tuple[Term, ...]) -> Reading:
    return Reading("", None, terms)


def _proper(term: Term) -> bool:
    return term.name or (term.initial and term.text[:1].isupper() and term.content)


def _alias(ours: Sequence[Term], theirs: Sequence[Term]) -> bool:
    initials = "".join(term.text[0] for term in theirs).lower()
    return any(
        same_place(a.lower, b.lower) or a.lower.replace(".", "") == initials
        for a in ours
        for b in theirs
    )


def _filled(ours: Sequence[Term], slot: Slot, analysis: Analysis) -> bool:
    """Whether a pronoun or common noun was filled in with the name that the title gives."""
    if any(term.name for term in slot.evidence):
        return False
    return all(covered(term, analysis.context) or covered(term, analysis.chunk) for term in ours)


def _absent(named: Sequence[Term], analysis: Analysis) -> str | None:
    """A code that no evidence, title or passage has."""
    for term in named:
        if term.kind != "code" or not _identifier(term.text):
            continue
        known = (analysis.whole, analysis.context, analysis.chunk, analysis.question)
        if not any(term.lower in text.text.lower() for text in known):
            return f"“{term.text}” is not in the cited passage."
        if term.lower not in analysis.whole.text.lower() and (
            rival := _rival(term, analysis.whole)
        ):
            return f"The claim is about “{term.text}”, its evidence about “{rival.text}”."
    return None


def _rival(term: Term, evidence: Reading) -> Term | None:
    """Another code of the same series: same letters, other digits."""
    return next(
        (t for t in evidence.terms if t.kind == "code" and _series(t) == _series(term)), None
    )


def _identifier(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isupper() for c in text)


def _series(term: Term) -> str:
    return re.sub(r"\d+", "9", term.lower)


def _shape(term: Term) -> str:
    shape = ""
    for character in term.text:
        sign = "9" if character.isdigit() else "A" if character.isalpha() else character
        shape += sign if not shape.endswith(sign) else ""
    return shape


def _paired(statement: Statement) -> str | None:
    """A number of the right sentence that belongs to another name in it."""
    evidence = statement.best.evidence
    if any(term.lower in ("respectively", "jeweils") for term in evidence.terms):
        return None
    ours = statement.reading.terms
    for index, term in enumerate(ours):
        subject = _last_name(ours, index)
        if term.quantity is None or subject is None:
            continue
        for position, other in enumerate(evidence.terms):
            if other.quantity is None or other.lower != term.lower:
                continue
            holder = _last_name(evidence.terms, position)
            if holder is None or holder.stem == subject.stem:
                return None
            known = {t.stem for t in ours}
            order = [t.stem for t in evidence.terms[:position]]
            if holder.stem not in known and subject.stem in order and _alike(holder, subject):
                return (
                    f"In the evidence “{term.text}” belongs to “{holder.text}”, "
                    f"not to “{subject.text}”."
                )
            break
    return None


def _alike(left: Term, right: Term) -> bool:
    if left.kind == "code" or right.kind == "code":
        return _shape(left) == _shape(right)
    return True


def _last_name(terms: Sequence[Term], end: int) -> Term | None:
    return next((t for t in reversed(terms[:end]) if _proper(t) and t.name), None)


def _swapped(statement: Statement) -> str | None:
    """Two names that changed places around the same verb, with no passive to explain it."""
    if statement.coverage < _ORDER_NEAR:
        return None
    ours = _sequence(statement.reading)
    theirs = _sequence(statement.best.evidence)
    shared = [stem for stem in ours if stem in theirs and ours.count(stem) == 1]
    shared = [stem for stem in shared if theirs.count(stem) == 1]
    if len(shared) != 2 or len(ours) > 4:
        return None
    first, second = shared
    if theirs.index(first) < theirs.index(second):
        return None
    claim_words = [term.lower for term in statement.reading.terms]
    evidence_words = [term.lower for term in statement.best.evidence.terms]
    if _turned(claim_words) != _turned(evidence_words):
        return None
    between = _between(statement.reading, first, second)
    if {"and", "or", "und", "oder", "with", "than"} & {t.lower for t in between} or not between:
        return None
    verbs = [t for t in between if t.content]
    if not verbs or not all(covered(t, statement.best.evidence) for t in verbs):
        return None
    if not set(_verbs(verbs)) & set(_verbs(_between(statement.best.evidence, second, first))):
        return None
    return "The claim exchanges the roles of the names in its evidence."


def _verbs(terms: Sequence[Term]) -> list[str]:
    return [term.stem for term in terms if term.content]


def _sequence(reading: Reading) -> list[str]:
    return [term.stem for term in reading.terms if _proper(term)]


def _between(reading: Reading, first: str, second: str) -> Sequence[Term]:
    stems = [term.stem for term in reading.terms]
    start, end = sorted((stems.index(first), stems.index(second)))
    return reading.terms[start + 1 : end]


def _turned(words: Sequence[str]) -> bool:
    return "by" in words and bool(PASSIVE & set(words))
