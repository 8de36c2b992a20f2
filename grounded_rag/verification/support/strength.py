"""Strength: a claim may say less than its evidence, never more."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.numbers import Agreement, Bound, Quantity, compare
from grounded_rag.text.quantities import LOWER_BOUNDS, UPPER_BOUNDS
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import Slot
from grounded_rag.verification.support.analysis import Analysis, Statement, analyse
from grounded_rag.verification.support.lexicon import (
    CERTAINTY,
    CLAUSE,
    CONDITIONS,
    HEDGES,
    LIGHT,
    QUANTIFIERS,
)
from grounded_rag.verification.support.matching import covered
from grounded_rag.verification.support.negation import negations
from grounded_rag.verification.support.signals import fine, veto
from grounded_rag.verification.support.terms import Reading, Term

_NEAR = 0.55
_COPIED = 0.85
_FREE = 0.35
_LIMITING = frozenset(
    "most maximum max limit limited limits exceed exceeds exceeding until till than least minimum "
    "min under above below over beyond within much long many up first last far stops ceiling cap "
    "by before after more less never höchstens mindestens bis maximal unter über".split()
)
_PERMISSION = frozenset("permitted allowed can may able entitled could authorised authorized free "
                        "eligible kann können dürfen darf possible up might".split())  # fmt: skip
_ALL = 5


def strength(case: ClaimCase) -> Signal | None:
    """Say whether the claim is stronger than its evidence: hedge, bound, quantifier, condition."""
    analysis = analyse(case)
    if not analysis.comparable:
        return None
    for statement in analysis.statements:
        problem = (
            _bound(statement, analysis)
            or _hedge(statement)
            or _quantifier(statement)
            or _certainty(statement, analysis)
            or _condition(statement, analysis)
        )
        if problem:
            return veto("strength", Reason.STRONGER_THAN_QUOTE, problem)
    return fine("strength", "The claim is no stronger than its evidence.")


def _bound(statement: Statement, analysis: Analysis) -> str | None:
    for quantity in statement.reading.quantities:
        same = [q for q in analysis.whole.quantities if compare(quantity, q) is Agreement.SAME]
        if not same or any(not _exceeds(quantity, other) for other in same):
            continue
        if same[0].kind == "label" or _limited(quantity, same[0], statement):
            continue
        other = same[0]
        limit = "" if other.bound is Bound.EXACT else f"{other.bound.value} "
        mine = "" if quantity.bound is Bound.EXACT else f"{quantity.bound.value} "
        return f"The evidence says “{limit}{other.text}”, the claim “{mine}{quantity.text}”."
    return None


def _limited(quantity: Quantity, other: Quantity, statement: Statement) -> bool:
    """Whether free wording may set the limit in words that no list of bounds has."""
    near = statement.best.near
    words = {term.lower for term in statement.reading.terms}
    if quantity.bound is Bound.EXACT and other.bound in UPPER_BOUNDS and "until" in words:
        return True
    if quantity.unit in ("s", "month") and "over" in words and quantity.bound is Bound.MORE_THAN:
        return other.bound is Bound.EXACT  # "over 60 months" is as often "during"
    if quantity.bound is Bound.EXACT and near < _COPIED:
        return other.bound is Bound.ABOUT or any(
            term.lower in _LIMITING for term in statement.reading.terms
        )
    return near < _FREE


def _exceeds(claim: Quantity, evidence: Quantity) -> bool:
    """Whether the bound of the claim says more than that of the evidence."""
    ours, theirs = claim.bound, evidence.bound
    if ours is theirs or (theirs is Bound.EXACT and ours is Bound.ABOUT):
        return False
    if claim.range_end != evidence.range_end and claim.range_end == "" and theirs is Bound.EXACT:
        return evidence.range_end != "" and ours not in (
            UPPER_BOUNDS if evidence.range_end == "to" else LOWER_BOUNDS
        )
    if theirs is Bound.EXACT:
        return ours in (Bound.MORE_THAN, Bound.LESS_THAN)
    if {ours, theirs} <= UPPER_BOUNDS:
        return ours is Bound.LESS_THAN
    if {ours, theirs} <= LOWER_BOUNDS:
        return ours is Bound.MORE_THAN
    return True


def _hedge(statement: Statement) -> str | None:
    """A hedge of the evidence that the claim drops, next to words that it keeps."""
    evidence = statement.best.evidence
    if statement.best.near < _NEAR or any(_hedged(term) for term in statement.reading.terms):
        return None
    kept = {theirs for _, theirs in statement.best.pairs if evidence.terms[theirs].content}
    for index, term in enumerate(evidence.terms):
        if term.lower not in HEDGES or _is_month(term) or not _governs_kept(evidence, index, kept):
            continue
        if term.lower in ("can", "kann", "können") and statement.best.near < _COPIED:
            continue  # it gives leave here, and free wording says so in many ways
        return f"The evidence says “{term.text}”, the claim leaves it out."
    return None


def _hedged(term: Term) -> bool:
    return term.lower in HEDGES or term.lower in _PERMISSION or (
        term.quantity is not None and term.quantity.bound is not Bound.EXACT
    )  # fmt: skip


def _is_month(term: Term) -> bool:
    return term.lower == "may" and term.text[0].isupper() and not term.initial


def _governs_kept(evidence: Reading, index: int, kept: set[int]) -> bool:
    """Whether the first content word after a hedge is part of what the claim keeps."""
    for position in range(index + 1, min(index + 4, len(evidence.terms))):
        gap = evidence.text[evidence.terms[position - 1].end : evidence.terms[position].start]
        if any(mark in gap for mark in ",;()—"):
            return False
        if evidence.terms[position].content and evidence.terms[position].lower not in HEDGES:
            if position in kept:
                return True
            if evidence.terms[position].stem not in LIGHT:
                return False
    return False


def _quantifier(statement: Statement) -> str | None:
    """A quantifier raised in its place, or dropped from a noun that the claim keeps."""
    if statement.best.near < _NEAR:
        return None
    denied = bool(negations(statement.reading))
    for slot in statement.best.slots:
        ours = max((_rank(t, statement.reading) for t in slot.claim), default=0)
        theirs = max((_rank(t, statement.best.evidence) for t in slot.evidence), default=0)
        counted = any(t.quantity is not None for t in slot.evidence)
        if ours and theirs and ours > theirs and not denied:
            return f"The claim says “{_quantifier_of(slot.claim)}”, its evidence less."
        evidence = statement.best.evidence
        moved = any(_rank(term, evidence) == _ALL for term in evidence.terms)
        if ours == _ALL and not theirs and not counted and not moved and (
            statement.best.near >= 0.7
            and not denied and _quantifier_of(slot.claim) not in ("both", "whole", "entire")
        ):  # fmt: skip
            return f"The claim adds “{_quantifier_of(slot.claim)}”."
        if theirs and theirs < _ALL and not ours and not slot.claim and _subject(slot, statement):
            return f"The evidence says “{_quantifier_of(slot.evidence)}”, the claim leaves it out."
    return None


def _rank(term: Term, text: Reading) -> int:
    """Strength of a quantifier, 0 for other words and for the superlative "most"."""
    rank = QUANTIFIERS.get(term.lower, 0)
    if term.lower == "most" and not term.initial:
        index = text.terms.index(term)
        if text.terms[index - 1].lower in ("the", "its", "their", "his", "her", "s", "one"):
            return 0
    return rank


def _subject(slot: Slot, statement: Statement) -> bool:
    """Whether the dropped quantifier counts the subject; "ate some apples" is "ate apples"."""
    first = max(slot.evidence, key=lambda t: QUANTIFIERS.get(t.lower, 0))
    if QUANTIFIERS.get(first.lower) == QUANTIFIERS["half"]:
        return False
    terms = statement.best.evidence.terms
    index = terms.index(first)
    before = terms[index - 1].lower if index else ""
    return first.initial or before in CLAUSE


def _quantifier_of(terms: tuple[Term, ...]) -> str:
    return max(terms, key=lambda t: QUANTIFIERS.get(t.lower, 0)).text


def _certainty(statement: Statement, analysis: Analysis) -> str | None:
    """A word of certainty, or "only", that the evidence lacks."""
    if statement.best.near < _NEAR:
        return None
    theirs = {term.lower for term in analysis.whole.terms}
    for slot in statement.best.slots:
        for term in slot.claim:
            if term.lower in CERTAINTY | {"only"} and not covered(term, analysis.whole):
                if term.lower == "must" and theirs & {"must", "required", "shall", "need", "needs",
                                                      "requires", "mandatory", "have", "has",
                                                      "obliged"}:  # fmt: skip
                    continue
                if term.lower == "only" and theirs & {"unless", "except", "not", "no", "solely"}:
                    continue
                if term.lower == "automatically" and theirs & {"itself", "themselves", "own"}:
                    continue
                return f"The claim adds “{term.text}”."
    return None


def _condition(statement: Statement, analysis: Analysis) -> str | None:
    """A condition or exception of the evidence that the claim drops and the question lacks."""
    evidence = statement.best.evidence
    if statement.coverage < 0.7 or any(t.lower in CONDITIONS for t in statement.reading.terms):
        return None
    kept = {theirs for _, theirs in statement.best.pairs}
    for index, term in enumerate(evidence.terms):
        if term.lower not in CONDITIONS or not _opens_condition(evidence, index):
            continue
        inside = _condition_terms(evidence, index)
        known = [t for t in inside if _known(t, statement, analysis)]
        before = any(position in kept for position in range(index))
        after = any(
            position in kept for position in range(index + len(inside), len(evidence.terms))
        )
        if inside and not known and (before or after):
            words = " ".join(t.text for t in inside[:5])
            return f"The evidence says so only “{term.text} … {words}”; the claim drops it."
    return None


def _known(term: Term, statement: Statement, analysis: Analysis) -> bool:
    return covered(term, statement.reading) or covered(term, analysis.question)


def _opens_condition(evidence: Reading, index: int) -> bool:
    term = evidence.terms[index]
    following = evidence.terms[index + 1].lower if index + 1 < len(evidence.terms) else ""
    if term.lower == "only":
        return following in ("if", "when", "after", "where", "with", "for", "on")
    if term.lower == "subject":
        return following == "to"
    if term.lower == "provided":
        return following in ("that", "the", "you") and (
            index > 0 and evidence.terms[index - 1].lower not in ("be", "is", "are", "was", "were")
        )
    if term.lower == "depending":
        return following in ("on", "upon")
    if term.lower == "if":
        return (
            evidence.terms[index - 1].lower not in ("as", "even", "ask", "see") if index else True
        )
    return True


def _condition_terms(evidence: Reading, index: int) -> list[Term]:
    found: list[Term] = []
    for position in range(index + 1, min(index + 16, len(evidence.terms))):
        gap = evidence.text[evidence.terms[position - 1].end : evidence.terms[position].start]
        if position > index + 1 and any(mark in gap for mark in ",;:.()—"):
            break
        if evidence.terms[position].content:
            found.append(evidence.terms[position])
    return found
