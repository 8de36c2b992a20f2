"""Added content: reasons, adjuncts and clauses of the claim that its evidence lacks."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import Slot, small
from grounded_rag.verification.support.analysis import Analysis, Statement, analyse
from grounded_rag.verification.support.lexicon import DOWNWARD, LIGHT, REASONS
from grounded_rag.verification.support.matching import covered
from grounded_rag.verification.support.negation import is_negation
from grounded_rag.verification.support.signals import fine, listed, veto
from grounded_rag.verification.support.terms import Term

_TAIL = 2
_KEPT = 0.7
_REST = 0.85
_NEAR = 0.5
_AROUND = 0.85
_COPY = 0.95
_CAUSAL = REASONS | {"so", "reason", "reasons", "why", "damit", "deshalb"}
_LINKS = frozenset(
    "in on at by for with from to of as via during through and or within until since after before "
    "under over into near inside outside against without per und oder für mit bei aus von".split()
)


def added_content(case: ClaimCase) -> Signal | None:
    """Say whether the claim has a reason, clause or adjunct of its own."""
    analysis = analyse(case)
    if not analysis.comparable:
        return None
    for statement in analysis.statements:
        problem = (
            _reason(statement, analysis)
            or _insertion(statement, analysis)
            or _adjunct(statement, analysis)
        )
        if problem:
            return veto("added_content", Reason.ADDED_CONTENT, problem)
    return fine("added_content", "The claim adds nothing to its evidence.")


def _reason(statement: Statement, analysis: Analysis) -> str | None:
    terms = statement.reading.terms
    theirs = {term.lower for term in analysis.whole.terms}
    for index, term in enumerate(terms):
        if term.lower not in REASONS or not _is_reason(terms, index) or theirs & _CAUSAL:
            continue
        clause = [t for t in terms[index + 1 :] if t.content]
        missing = [t for t in clause if not covered(t, analysis.whole)]
        kept = [t for t in terms[:index] if t.content]
        copied = sum(covered(t, analysis.whole) for t in kept) >= len(kept) * _KEPT
        if copied and clause and len(missing) >= max(1, len(clause) * 0.5):
            return f"The claim gives a reason, {listed(missing)}, that its evidence does not give."
    return None


def _is_reason(terms: tuple[Term, ...], index: int) -> bool:
    term = terms[index]
    following = terms[index + 1] if index + 1 < len(terms) else None
    if term.lower == "since":
        return following is not None and following.quantity is None
    if term.lower in ("due", "owing", "thanks"):
        return following is not None and following.lower == "to"
    return True


def _insertion(statement: Statement, analysis: Analysis) -> str | None:
    """Two or more words in a row, put into a claim that is otherwise in its evidence."""
    if statement.best.near < _NEAR:
        return None
    for slot in statement.best.slots:
        inserted = _inserted(slot, analysis)
        if len(inserted) < _TAIL or statement.best.around(slot) < _AROUND:
            continue
        rest = [t for t in statement.reading.content if t not in slot.claim]
        found = sum(covered(t, analysis.whole) for t in rest)
        if len(rest) >= 2 and found >= len(rest) * _REST and _longer(slot):
            return f"The claim adds {listed(inserted)}, which its evidence does not say."
    return None


def _adjunct(statement: Statement, analysis: Analysis) -> str | None:
    """One new word behind a preposition or "and", put into a sentence that is copied otherwise.

    Under "no" or "every" a longer sentence says less: "No guest may smoke in the garden".
    """
    if any(is_negation(t) or t.lower in DOWNWARD for t in statement.reading.terms):
        return None
    for slot in statement.best.slots:
        new = _inserted(slot, analysis)
        if not 1 <= len(new) <= _TAIL or not small(slot) or any(t.content for t in slot.evidence):
            continue
        rest = sum(t.content for t in statement.reading.terms) - sum(t.content for t in slot.claim)
        if rest < _TAIL or statement.best.around(slot) < _COPY:
            continue
        if any(t.lower in _LINKS for t in slot.claim):
            return f"The claim adds {listed(new)}, which its evidence does not say."
    return None


def _inserted(slot: Slot, analysis: Analysis) -> list[Term]:
    return [
        t
        for t in slot.claim
        if t.content
        and t.stem not in LIGHT
        and not covered(t, analysis.whole)
        and not covered(t, analysis.context)
        and not covered(t, analysis.question)
    ]


def _longer(slot: Slot) -> bool:
    """Whether the claim says more here than the evidence does, so that it is no rewording."""
    ours = sum(t.content for t in slot.claim)
    theirs = sum(t.content for t in slot.evidence)
    return theirs == 0 or (ours - theirs >= _TAIL and ours >= 2 * theirs)
