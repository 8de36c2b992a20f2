"""Small words that turn a sentence round: "after" for "within", "no" for "each", "you" for "we".

They weigh next to nothing in an alignment, so a copy in which only one of them was exchanged looks
like its evidence. That is also why the check can be strict: in a near-copy nothing else moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal
from grounded_rag.verification.support.alignment import Slot
from grounded_rag.verification.support.analysis import Statement, analyse
from grounded_rag.verification.support.lexicon import NEGATIVE, PASSIVE
from grounded_rag.verification.support.negation import Negation, is_negation, negations
from grounded_rag.verification.support.signals import fine, listed, veto
from grounded_rag.verification.support.terms import Term

_NEAR = 0.85
_WIDEST = 4
_ROWS = """
before prior/after following afterwards since|until till/from after since
within inside during/after outside beyond|from since/until till up|up/least minimum
above over beyond more exceeding exceeds/below under less fewer within|maximum most/minimum least
higher longer larger greater later older bigger/lower shorter smaller earlier younger less
each every all any both either everyone everything always/no none neither nobody nothing never
either/both|half/all whole|few/many most all
never/ever sometimes often usually always|with including/without excluding except
we us our ours ourselves/you your yours yourself|in into/out|on/off|only/also too
vor/nach|bis/ab seit|mehr über/weniger unter|mit/ohne|alle jeder jede jedes immer/kein keine nie
wir uns unser unsere/sie ihr ihre ihnen|mindestens/höchstens
"""


def _read(rows: str) -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for entry in rows.replace("\n", "|").strip("|").split("|"):
        left, right = (side.split() for side in entry.split("/"))
        for first in left:
            table.setdefault(first, set()).update(right)
        for second in right:
            table.setdefault(second, set()).update(left)
    return {word: frozenset(others) for word, others in table.items()}


_CONFLICTS = _read(_ROWS)
_PERSONS = frozenset("we us our ours you your yours wir uns unser sie ihr ihre".split())


def operators(case: ClaimCase) -> Signal | None:
    """Say whether a near-copy exchanges, adds or drops a small word that turns the sense round."""
    analysis = analyse(case)
    if not analysis.comparable:
        return None
    for statement in analysis.statements:
        for slot in _copied_around(statement):
            pair = _conflict(slot, statement)
            if pair:
                return veto(
                    "operators",
                    Reason.CONTRADICTED,
                    f"The claim says {listed([pair[0]])} where its evidence says "
                    f"{listed([pair[1]])}.",
                )
        added = _unmatched(statement, mine=True)
        if added:
            return veto(
                "operators",
                Reason.CONTRADICTED,
                f"The claim denies with {listed([added.cue])} what its evidence affirms.",
            )
        dropped = _unmatched(statement, mine=False)
        if dropped:
            return veto(
                "operators",
                Reason.CONTRADICTED,
                f"The evidence denies with {listed([dropped.cue])} what the claim affirms.",
            )
    return fine("operators", "No small word of the claim turns its evidence round.")


def _copied_around(statement: Statement) -> Iterator[Slot]:
    for slot in statement.best.slots:
        short = len(slot.claim) <= _WIDEST and len(slot.evidence) <= _WIDEST
        if short and statement.best.around(slot) >= _NEAR:
            yield slot


def _conflict(slot: Slot, statement: Statement) -> tuple[Term, Term] | None:
    if any(map(is_negation, slot.claim)) != any(map(is_negation, slot.evidence)):
        both = [*slot.claim, *slot.evidence]
        # "not after" for "before": but a lone "no" for "each" is an exchange like any other.
        if len(slot.claim) != 1 or len(slot.evidence) != 1 or len(both) != 2:
            return None
    ours = {term.lower for term in slot.claim}
    theirs = {term.lower for term in slot.evidence}
    for first in slot.claim:
        if first.lower in theirs:
            continue
        for second in slot.evidence:
            if second.lower not in _CONFLICTS.get(first.lower, ()) or second.lower in ours:
                continue
            if not _moved(first, second, slot, statement):
                return first, second
    return None


def _moved(ours: Term, theirs: Term, slot: Slot, statement: Statement) -> bool:
    """Whether another word of the sentence makes up for the exchange."""
    best = statement.best
    if is_negation(ours) or is_negation(theirs):
        return len(negations(best.claim)) == len(negations(best.evidence))
    # "We tell you": "you are told".
    passive = [bool(PASSIVE & {t.lower for t in side}) for side in (slot.claim, slot.evidence)]
    return ours.lower in _PERSONS and passive[0] != passive[1]


def _unmatched(statement: Statement, *, mine: bool) -> Negation | None:
    """A negation that one side has more of, in a slot that holds nothing else to explain it."""
    best = statement.best
    ours, theirs = negations(best.claim), negations(best.evidence)
    here, there = (ours, theirs) if mine else (theirs, ours)
    known = {t.lower for t in (best.claim if mine else best.evidence).terms}
    other = best.evidence if mine else best.claim
    if len(here) <= len(there) or any(
        t.lower in NEGATIVE and t.lower not in known for t in other.terms
    ):
        return None
    for slot in _copied_around(statement):
        inside, opposite = (slot.claim, slot.evidence) if mine else (slot.evidence, slot.claim)
        for negation in here:
            if negation.cue in inside and not _explained(inside, opposite, negation):
                return negation
    return None


def _explained(inside: Sequence[Term], opposite: Sequence[Term], negation: Negation) -> bool:
    """Whether the slot says it otherwise ("not open": "closed"), or drops a phrase as a whole."""
    if any(is_negation(term) or term.lower in NEGATIVE for term in opposite):
        return True
    return any(term.content and term is not negation.cue for term in (*inside, *opposite))
