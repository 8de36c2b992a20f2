"""Whether one statement denies, forbids or leaves open what another one says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.text.words import fold_marks
from grounded_rag.verification.support.readings import Asked, Bag, Side, modals
from grounded_rag.verification.support.score import denies_by
from grounded_rag.verification.support.terms import TextTerm

_MARK = re.compile(r"[,;:.!?()–—]")
# Shares of words that a clause has with one that says nearly the same.
_NEAR = 0.75
_HALF = 0.5
_AGAINST = {
    "affirmed": {"denied", "forbidden"},
    "permitted": {"denied", "forbidden"},
    "required": {"denied", "forbidden", "optional"},
}
_NEGATED = {
    "": "denied", "permitted": "forbidden", "forbidden": "permitted", "required": "optional",
    "optional": "required", "limited": "denied",
}  # fmt: skip
_THAN = frozenset("than als que de only".split())
_MUST = frozenset(["must", "shall", "should"])
_WITHOUT = frozenset("without ohne sans sin senza sem zonder".split())


def negative(lower: str) -> bool:
    """Whether a word in lower case denies, forbids or leaves open."""
    return denies_by(lower) or modals().get(fold_marks(lower)) in ("forbidden", "optional")


def opposes(side: Side) -> bool:
    """Whether a statement denies, forbids or leaves open anything."""
    return any(negative(term.lower) for term in side.terms)


class _Clause(NamedTuple):
    """A part of a statement between two marks, with its stance.

    Attributes:
        stance: What is "required", "permitted", "forbidden", "optional", "denied" or "affirmed".
        words: The words that tell.
        behind: Those of them behind the negation; none without one.
        bag: The words, for looking up.
    """

    stance: str
    words: tuple[TextTerm, ...]
    behind: tuple[TextTerm, ...]
    bag: Bag


def denies_other(mine: Side, other: Side, question: Asked | None, *, near: bool = False) -> bool:
    """Whether one statement denies, forbids or leaves open what the other says.

    Of near-copies, two words in common are enough.
    """
    for one, two in ((mine, other), (other, mine)):
        for clause in _clauses(one):
            if clause.stance in _AGAINST or not clause.words:
                continue
            against = [c for c in _clauses(two) if any(t.stem in clause.bag for t in c.words)]
            if not against or not all(clause.stance in _AGAINST.get(c.stance, ()) for c in against):
                continue
            if _copied(clause, against, 2 if near else 3) or (
                question and _denied(clause, two, question)
            ):
                return True
    return False


def _denied(clause: _Clause, two: Side, question: Asked) -> bool:
    """Whether all that a clause denies is said by the other statement, but for its predicate.

    The predicate is the word behind the negation. Without a negation, as in "is optional", one word
    in four may be another.
    """
    own = [t for t in clause.words if t.stem in two.own]
    strange = [t for t in clause.words if not (two.has(t.stem) or t.stem in question.bag)]
    if not clause.behind:
        return len(own) >= 2 and len(own) * 2 >= len(clause.words) >= len(strange) * 4
    predicate, *objects = clause.behind
    if not all(t.stem in two.own for t in objects) or any(t is not predicate for t in strange):
        return False
    if predicate.stem in two.own:
        return len(own) >= 2 or predicate.stem in question.bag
    return len(objects) >= 2 or any(t.name for t in objects)


def _copied(clause: _Clause, against: Sequence[_Clause], fewest: int) -> bool:
    """Whether a clause says nearly what one of the others says, but for its stance."""
    for other in against:
        shared = len({t.stem for t in clause.words if other.bag.holds(t.stem)})
        least, most = sorted((len(clause.words), len(other.words)))
        denied = sum(1 for t in clause.behind if other.bag.holds(t.stem))
        if shared >= max(fewest, _NEAR * least, _HALF * most) and denied >= _NEAR * len(
            clause.behind
        ):
            return True
    return False


@lru_cache(maxsize=1024)
def _clauses(side: Side) -> tuple[_Clause, ...]:
    found: list[_Clause] = []
    run: list[TextTerm] = []
    telling = {id(t) for t in side.words}
    for at, term in enumerate(side.terms):
        parted = at and _MARK.search(side.text, side.terms[at - 1].end, term.start)
        if run and (parted or term.lower in _WITHOUT):
            found.append(_clause(run, telling))
            run = []
        run.append(term)
    return (*found, _clause(run, telling)) if run else tuple(found)


def _clause(run: Sequence[TextTerm], telling: set[int]) -> _Clause:
    words = tuple(t for t in run if id(t) in telling)
    denials = [t.start for t in run if denies_by(t.lower)]
    behind = tuple(t for t in words if denials and t.start > denials[0])
    return _Clause(_stance(run), words, behind, Bag(t.stem for t in words))


def _stance(terms: Sequence[TextTerm]) -> str:
    if terms[0].lower in _WITHOUT:
        return "optional"
    said = [stance for t in terms if (stance := modals().get(fold_marks(t.lower)))]
    # "may require" requires, "must be allowed" allows; a most or least says neither.
    stance = next((each for each in reversed(said) if each != "limited"), "")
    denied = False
    for at, term in enumerate(terms):
        # "No more than", "not only" deny nothing.
        if denies_by(term.lower) and _THAN.isdisjoint(t.lower for t in terms[at + 1 : at + 4]):
            if at and terms[at - 1].lower in _MUST:
                return "forbidden"
            stance = stance or ("permitted" if term.lower == "cannot" else "")
            denied = not denied
    return _NEGATED[stance] if denied else stance or "affirmed"
