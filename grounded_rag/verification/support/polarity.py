"""Polarity: a claim must not affirm what its evidence denies, nor the other way round."""

from __future__ import annotations

from grounded_rag.protocols import ClaimCase
from grounded_rag.text.stems import related, stem
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import Slot, small
from grounded_rag.verification.support.analysis import Analysis, Statement, analyse
from grounded_rag.verification.support.lexicon import NEGATIVE, antonyms, siblings
from grounded_rag.verification.support.matching import alike, covered
from grounded_rag.verification.support.negation import Negation, is_negation, negations
from grounded_rag.verification.support.signals import fine, veto
from grounded_rag.verification.support.terms import Reading, Term
from grounded_rag.verification.support.thesaurus import opposite_senses, same_kind

_SLOT_NEAR = 0.4
_CLAUSE_SHARE = 0.6
_KIND_NEAR = 0.6
_COPY = 0.9
_TURNED_NEAR = 0.75
_UNLESS = frozenset("unless except without außer ohne".split())
# Opposites of one another in a copy; in free wording they stand for many things.
_TURNING = frozenset(
    "no none nobody never any ever every each everyone all in out on off up down with without "
    "over under above below more less fewer first last can may".split()
)
_IDIOMS = frozenset(map(stem, "circumstances case time means way account event".split()))
_DETERMINERS = frozenset("no kein keine keinen keinem keiner without ohne neither".split())


def polarity(case: ClaimCase) -> Signal | None:
    """Say whether claim and evidence agree in what they affirm and deny."""
    analysis = analyse(case)
    if not analysis.comparable:
        return None
    for statement in analysis.statements:
        dropped = _dropped(statement, analysis)
        if dropped is not None:
            return _denied(dropped, analysis)
        added = _added(statement, analysis)
        if added is not None:
            return veto(
                "polarity",
                Reason.CONTRADICTED,
                f"The claim denies with “{added.cue.text}” what its evidence does not deny.",
            )
        opposite = _opposite(statement, analysis)
        if opposite is not None:
            return veto(
                "polarity",
                Reason.CONTRADICTED,
                f"The claim says “{opposite[0].text}”, its evidence “{opposite[1].text}”.",
            )
    return fine("polarity", "The claim affirms and denies what its evidence does.")


def _denied(negation: Negation, analysis: Analysis) -> Signal:
    cut = not any(is_negation(term) for term in analysis.quotes.terms)
    if cut:
        return veto(
            "polarity",
            Reason.CUT_CONTEXT,
            f"The quote leaves out “{negation.cue.text}” of its own sentence, "
            "which says the opposite.",
        )
    return veto(
        "polarity",
        Reason.CONTRADICTED,
        f"The evidence denies with “{negation.cue.text}” what the claim affirms.",
    )


def _dropped(statement: Statement, analysis: Analysis) -> Negation | None:
    """A negation of the evidence that governs what the claim affirms."""
    ours = negations(statement.reading)
    evidence = statement.best.evidence
    theirs = {term.lower for term in evidence.terms}
    # Another negative word in the claim may stand for the negation of the evidence.
    if ours or any(t.lower in NEGATIVE and t.lower not in theirs for t in statement.reading.terms):
        return None
    claim = {term.stem for term in statement.reading.content}
    for negation in negations(evidence):
        if _answered(negation, statement, analysis):
            continue
        if negation.target and any(_says(word, negation.target) for word in claim):
            shared = sum(any(_says(word, other) for other in negation.clause) for word in claim)
            if shared >= min(2, len(claim)) and shared >= len(claim) * 0.5:
                return negation
        elif negation.cue.lower in _DETERMINERS and negation.target not in _IDIOMS:
            continue
        elif (
            negation.clause and _within(claim, negation.clause) >= _CLAUSE_SHARE and len(claim) > 1
        ):
            return negation
    return None


def _answered(negation: Negation, statement: Statement, analysis: Analysis) -> bool:
    """Whether an opposite in the claim stands for the negation ("is not open": "closed")."""
    words = statement.uncovered
    return any(antonyms(term.stem, stem) for term in words for stem in negation.clause) or any(
        term.lower.startswith(("un", "in", "im", "non", "dis")) and term.stem[2:] in negation.clause
        for term in words
    ) or _affirmed_elsewhere(statement, negation, analysis)  # fmt: skip


def _affirmed_elsewhere(statement: Statement, negation: Negation, analysis: Analysis) -> bool:
    """Whether another clause of the evidence affirms it ("Dogs are allowed, cats are not")."""
    claim = {term.stem for term in statement.reading.content}
    inside = claim & negation.clause
    outside = {
        term.stem
        for index, term in enumerate(statement.best.evidence.terms)
        if term.content and term.stem not in negation.clause and index != negation.index
    } | {
        term.stem for text in analysis.evidence if text is not statement.best.evidence
        for term in text.content
    }  # fmt: skip
    return len(claim & outside) > len(inside)


def _within(claim: set[str], clause: frozenset[str]) -> float:
    return sum(any(_says(word, other) for other in clause) for word in claim) / len(claim)


def _says(left: str, right: str) -> bool:
    return left == right or alike(left, right)


def _added(statement: Statement, analysis: Analysis) -> Negation | None:
    """A negation of the claim where the evidence has nothing that could deny."""
    if _negative(analysis.whole):
        return _moved(statement)
    for negation in negations(statement.reading):
        opposite = any(
            antonyms(stem, term.stem) or related(negation.cue.stem, term.stem)
            for stem in negation.clause or ("",)
            for term in analysis.whole.content
        )
        if not opposite and statement.coverage >= 0.5:
            return negation
    return None


def _moved(statement: Statement) -> Negation | None:
    """A negation of the claim that governs a word which the evidence affirms."""
    theirs = negations(statement.best.evidence)
    if statement.best.near < 0.7:
        return None
    for negation in negations(statement.reading):
        if not negation.target or any(negation.cue.stem == other.cue.stem for other in theirs):
            continue
        governed = {stem for other in theirs for stem in (other.target, *other.clause)}
        evidence = {term.stem for term in statement.best.evidence.content}
        if negation.target in evidence and negation.target not in governed and not any(
            term.lower in NEGATIVE for term in statement.best.evidence.terms
        ):  # fmt: skip
            return negation
    return None


def _negative(reading: Reading) -> bool:
    return any(
        term.lower in NEGATIVE
        or is_negation(term)
        or term.lower.endswith("less")
        or term.lower.startswith(("un", "non", "dis", "im", "ir", "il"))
        or (term.quantity is not None and 0 in term.quantity.values)
        for term in reading.terms
    )


def _opposite(statement: Statement, analysis: Analysis) -> tuple[Term, Term] | None:
    """An antonym, or another member of a closed class, in the place of a word."""
    if _turned(statement.reading) != _turned(statement.best.evidence):
        return None
    theirs_stems = {term.stem for term in statement.reading.terms}
    for slot in statement.best.slots:
        if statement.best.around(slot) < _SLOT_NEAR or not small(slot):
            continue
        for ours in slot.claim:
            if ours.content and covered(ours, analysis.whole) and not _alone(slot, statement):
                continue
            for theirs in slot.evidence:
                repeated = theirs.stem in theirs_stems and not _alone(slot, statement)
                if repeated or ours.stem == theirs.stem:
                    continue
                if {ours.lower, theirs.lower} & _TURNING and statement.best.near < _TURNED_NEAR:
                    continue
                if antonyms(ours.stem, theirs.stem) or siblings(ours.stem, theirs.stem):
                    return ours, theirs
                if ours.content and theirs.content and _exchanged(ours, theirs, slot, statement):
                    return ours, theirs
    return None


def _turned(reading: Reading) -> bool:
    """Whether something in a text turns what it says round."""
    return bool(negations(reading)) != any(term.lower in _UNLESS for term in reading.terms)


def _alone(slot: Slot, statement: Statement) -> bool:
    """Whether one word stands for one word in a copy, so that it was put there."""
    single = len(slot.claim) == len(slot.evidence) == 1
    return single and statement.best.around(slot) >= _COPY


def _exchanged(ours: Term, theirs: Term, slot: Slot, statement: Statement) -> bool:
    """Whether one word stands in the place of its opposite or of another thing of its kind."""
    if ours.kind != "word" or theirs.kind != "word":
        return False
    if opposite_senses(ours.stem, theirs.stem):
        return True
    single = sum(t.content for t in slot.claim) == sum(t.content for t in slot.evidence) == 1
    return (
        single and statement.best.around(slot) >= _KIND_NEAR and same_kind(ours.stem, theirs.stem)
    )
