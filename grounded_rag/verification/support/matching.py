"""When a word of the evidence says what a word of the claim says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from grounded_rag.text.numbers import Agreement, compare
from grounded_rag.text.stems import related
from grounded_rag.verification.support.lexicon import (
    antonyms,
    groups,
    siblings,
    synonyms,
)
from grounded_rag.verification.support.places import same_place
from grounded_rag.verification.support.terms import Reading, Term
from grounded_rag.verification.support.thesaurus import (
    above,
    is_broader,
    opposite_senses,
    same_sense,
    senses,
)

_PREFIX = 4


def matches(claim: Term, evidence: Term) -> bool:
    """Whether a term of the evidence says what a term of the claim says."""
    if claim.quantity is not None and evidence.quantity is not None:
        return compare(claim.quantity, evidence.quantity) in (Agreement.SAME, Agreement.WEAKER)
    if claim.quantity is not None or evidence.quantity is not None:
        return claim.lower == evidence.lower
    if claim.stem == evidence.stem:
        return True
    if claim.kind != "word" or evidence.kind != "word" or not claim.content:
        return False
    if same_place(claim.lower, evidence.lower) or alike(claim.stem, evidence.stem):
        return True
    return not claim.name and not evidence.name and is_broader(claim.stem, evidence.stem)


@lru_cache(maxsize=65536)
def alike(left: str, right: str) -> bool:
    """Whether two stems are synonyms or derivations of one word, and not opposites."""
    if antonyms(left, right) or siblings(left, right):
        return False
    if synonyms(left, right) or related(left, right):
        return True
    return same_sense(left, right) and not opposite_senses(left, right)


@lru_cache(maxsize=65536)
def covered(term: Term, text: Reading) -> bool:
    """Whether `text` has a term that says what `term` says."""
    profile = _profile(text)
    if term.stem in profile.stems:
        return True
    if term.quantity is None and not _possible(term, profile):
        return False
    return any(matches(term, other) for other in profile.terms)


@dataclass(frozen=True, slots=True)
class _Profile:
    """What the terms of a text could match, as sets: most questions end here."""

    stems: frozenset[str]
    terms: tuple[Term, ...]
    prefixes: frozenset[str]
    groups: frozenset[int]
    senses: frozenset[int]
    above: frozenset[int]
    places: bool


@lru_cache(maxsize=2048)
def _profile(text: Reading) -> _Profile:
    # One term of each stem: the others would say the same. A quantity has its own text as stem.
    terms = tuple({term.stem: term for term in text.content}.values())
    stems = {term.stem for term in terms if term.quantity is None}
    return _Profile(
        stems=frozenset(term.stem for term in text.terms),
        terms=terms,
        prefixes=frozenset(stem[:_PREFIX] for stem in stems),
        groups=frozenset(number for stem in stems for number in groups(stem)),
        senses=frozenset(sense for stem in stems for sense in senses(stem)),
        above=frozenset(sense for stem in stems for sense in above(stem)),
        places=any(term.name for term in terms),
    )


def _possible(term: Term, profile: _Profile) -> bool:
    if term.stem[:_PREFIX] in profile.prefixes or (profile.places and term.name):
        return True
    if not profile.groups.isdisjoint(groups(term.stem)):
        return True
    own = senses(term.stem)
    return not (profile.senses.isdisjoint(own) and profile.above.isdisjoint(own))
