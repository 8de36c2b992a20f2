"""Substitution: in a near-copy, one word exchanged for another that nothing licenses."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import Slot
from grounded_rag.verification.support.analysis import Analysis, Statement, analyse
from grounded_rag.verification.support.lexicon import (
    CONDITIONS,
    HEDGES,
    LIGHT,
    NEGATIONS,
    QUANTIFIERS,
)
from grounded_rag.verification.support.matching import covered, matches
from grounded_rag.verification.support.signals import listed, veto
from grounded_rag.verification.support.terms import Term
from grounded_rag.verification.support.thesaurus import is_noun, known

_COPY = 0.85
_EXACT = 0.9
_SAME = 0.95
_PREFIX = 4
_BOUNDS = frozenset("least up more less over under than maximum minimum below above within".split())
_DECIDED = _BOUNDS | HEDGES | CONDITIONS | frozenset(QUANTIFIERS)
_LEAST = 2


def substitution(case: ClaimCase) -> Signal | None:
    """Say whether a copied sentence has one content word exchanged for an unrelated one.

    Both words must be in the thesaurus, which then knows no sense that they share: a word that it
    lacks proves nothing. English only.
    """
    analysis = analyse(case)
    if not analysis.comparable or analysis.whole.language not in ("en", None):
        return None
    for statement in analysis.statements:
        for slot in statement.best.slots:
            pair = _exchanged(slot, statement, analysis)
            if pair:
                return veto(
                    "substitution",
                    Reason.NOT_ENTAILED,
                    f"The claim says {listed(pair[0])} where its evidence says {listed(pair[1])}.",
                )
    return None


def _exchanged(
    slot: Slot, statement: Statement, analysis: Analysis
) -> tuple[list[Term], list[Term]] | None:
    if any(t.lower in NEGATIONS | _DECIDED for t in (*slot.claim, *slot.evidence)):
        return None
    ours = [t for t in slot.claim if t.content]
    theirs = [t for t in slot.evidence if t.content]
    if not 1 <= len(ours) <= _LEAST or not 1 <= len(theirs) <= _LEAST:
        return None
    if statement.best.around(slot) < _COPY or _content_outside(statement, slot) < _LEAST:
        return None
    alone = len(ours) == len(theirs) == 1 and statement.best.around(slot) >= _EXACT
    if alone:
        # Where nothing else moved, that the word stands elsewhere too explains nothing.
        new = [t for t in ours if _plain(t) and not matches(t, theirs[0])]
        lost = [t for t in theirs if _plain(t) and not matches(t, ours[0])]
        sure = known(ours[0].stem) and known(theirs[0].stem)
        if not sure and (statement.best.around(slot) < _SAME or _akin(ours[0], theirs[0])):
            return None
    else:
        new = [t for t in ours if _word(t) and not covered(t, analysis.whole)]
        lost = [t for t in theirs if _word(t) and not covered(t, statement.reading)]
    given = any(covered(t, analysis.question) or covered(t, analysis.context) for t in new)
    if len(new) != len(ours) or not lost:
        return None
    # Of two sides of unequal length, only things are surely meant to be the same thing.
    even = len(ours) == len(theirs) == len(lost)
    even = even or (is_noun(new[-1].stem) and is_noun(lost[-1].stem))
    return (new, lost) if even and not given else None


def _word(term: Term) -> bool:
    return _plain(term) and known(term.stem)


def _plain(term: Term) -> bool:
    return term.kind == "word" and not term.name and term.stem not in LIGHT


def _akin(left: Term, right: Term) -> bool:
    """Whether two words that no thesaurus has look like forms of one word."""
    return left.stem[:_PREFIX] == right.stem[:_PREFIX]


def _content_outside(statement: Statement, slot: Slot) -> int:
    return sum(t.content for t in statement.reading.terms) - sum(t.content for t in slot.claim)
