"""A claim laid beside one sentence of its evidence: what is shared, and the slots that differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from grounded_rag.text.numbers import Agreement, compare
from grounded_rag.verification.support.lexicon import LIGHT
from grounded_rag.verification.support.matching import covered, matches
from grounded_rag.verification.support.terms import Reading, Term

_SMALL = 4


@dataclass(frozen=True, slots=True)
class Slot:
    """One edit between the evidence and the claim; either side may be empty.

    Attributes:
        claim: Terms of the claim.
        evidence: Terms of the evidence in their place.
        at_end: Whether the claim ends with this slot.
    """

    claim: tuple[Term, ...]
    evidence: tuple[Term, ...]
    at_end: bool


def small(slot: Slot) -> bool:
    """Whether a slot is short enough for its two sides to stand for one another."""
    return len(slot.claim) <= _SMALL and len(slot.evidence) <= _SMALL + 1


@dataclass(frozen=True, slots=True)
class Alignment:
    """The alignment of a claim with one text.

    Attributes:
        claim: The claim.
        evidence: The text.
        near: Share of the claim's weight that stands in the same order in the evidence, 0 to 1.
        slots: The edits, in order.
        pairs: Indices of aligned terms, claim first.
    """

    claim: Reading
    evidence: Reading
    near: float
    slots: tuple[Slot, ...]
    pairs: tuple[tuple[int, int], ...]

    def around(self, slot: Slot) -> float:
        """Return how near the claim is outside of one slot, 0 to 1."""
        total = sum(map(weight, self.claim.terms))
        rest = total - sum(map(weight, slot.claim))
        return self.near * total / rest if rest > 0 else 0.0


def weight(term: Term) -> float:
    """Return how much a term counts: names and numbers most, function words little."""
    if term.kind in ("number", "code") or term.name:
        return 1.5
    if not term.content:
        return 0.1
    if term.stem in LIGHT:
        return 0.4
    return 1.0


@lru_cache(maxsize=1024)
def align(claim: Reading, evidence: Reading) -> Alignment:
    """Lay `claim` beside `evidence` by stems and numbers by value."""
    ours, theirs = claim.terms, evidence.terms
    keys = [_key(term) for term in ours]
    others = _other_keys(ours, keys, evidence)
    matcher = SequenceMatcher(None, others, keys, autojunk=False)
    pairs: list[tuple[int, int]] = []
    slots: list[Slot] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs.extend(zip(range(j1, j2), range(i1, i2), strict=True))
        else:
            slots.append(Slot(ours[j1:j2], theirs[i1:i2], at_end=j2 == len(ours)))
    total = sum(map(weight, ours))
    shared = sum(weight(ours[mine]) for mine, _ in pairs)
    return Alignment(claim, evidence, shared / total if total else 0.0, tuple(slots), tuple(pairs))


def _same(claim: Term, evidence: Term) -> bool:
    """Whether two terms may lie beside one another: "up to 65" beside "up to 60" may not."""
    if claim.quantity is not None and evidence.quantity is not None:
        return compare(claim.quantity, evidence.quantity) is Agreement.SAME
    return matches(claim, evidence)


def _key(term: Term) -> str:
    if term.quantity is None:
        return term.stem
    return f"#{term.quantity.kind}{term.quantity.values or term.lower}{term.quantity.unit}"


def _other_keys(ours: Sequence[Term], keys: Sequence[str], evidence: Reading) -> list[str]:
    """Keys of the evidence, each renamed to the claim's where it says the same in other words."""
    mine = set(keys)
    literal = {_key(term) for term in evidence.terms}
    open_terms = [
        (term, key)
        for term, key in zip(ours, keys, strict=True)
        if term.content and key not in literal and covered(term, evidence)
    ]
    result: list[str] = []
    for term in evidence.terms:
        key = _key(term)
        if key not in mine and term.content:
            key = next((name for other, name in open_terms if _same(other, term)), key)
        result.append(key)
    return result
