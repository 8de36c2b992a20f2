"""Negations of a text with what each one governs: clause by clause, not by counting words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grounded_rag.text.stems import stem
from grounded_rag.verification.support.lexicon import CLAUSE, FAILURE, LIGHT, NEGATIONS
from grounded_rag.verification.support.terms import Reading, Term

_REACH = 4
_SKIP = frozenset(
    "the a an any be been yet to ever even all every of in at on for by more less than fewer later "
    "earlier longer der die das den dem".split()
)
# After "not" and "no": these deny nothing about the statement itself.
_HARMLESS_NEXT = frozenset("only just merely solely later earlier more less fewer longer matter "
                           "doubt limited nur lediglich mehr weniger exceed exceeding over greater "
                           "necessarily unlike least sooner".split())  # fmt: skip
_HARMLESS_BEFORE = frozenset("whether if why or".split())
_DOUBLE = frozenset(
    "uncommon unusual unlike unlikely unreasonable impossible without unknown".split()
)


@dataclass(frozen=True, slots=True)
class Negation:
    """One negation.

    Attributes:
        cue: The word that denies.
        index: Its position among the terms.
        target: Stem of the first content word it governs, or "".
        clause: Stems of the content words of its clause.
    """

    cue: Term
    index: int
    target: str
    clause: frozenset[str]


def negations(reading: Reading) -> tuple[Negation, ...]:
    """Return the negations of a text, harmless ones such as "not only" left out."""
    terms = reading.terms
    found: list[Negation] = []
    for index, term in enumerate(terms):
        if not _denies(terms, index):
            continue
        start, end = _clause(reading, index)
        clause = frozenset(t.stem for t in terms[start:end] if t.content and t is not term)
        found.append(Negation(term, index, _target(terms, index, end), clause))
    return tuple(found)


def is_negation(term: Term) -> bool:
    """Whether a term denies by itself."""
    return term.lower in NEGATIONS or term.lower.endswith(("n't", "n’t")) or term.lower in FAILURE


def _denies(terms: Sequence[Term], index: int) -> bool:
    term = terms[index]
    if not is_negation(term):
        return False
    following = terms[index + 1].lower if index + 1 < len(terms) else ""
    before = terms[index - 1].lower if index else ""
    if term.lower in ("not", "no", "nicht", "n't", "never") or term.lower.endswith("n't"):
        if following in _HARMLESS_NEXT or following in _DOUBLE:
            return False
        if before in _HARMLESS_BEFORE and term.lower == "not":
            return before == "if" and bool(following)
        if term.lower == "no" and (
            index + 1 < len(terms) and terms[index + 1].quantity is not None
        ):
            return False  # "No. 5"
        compared = terms[index + 2].lower if index + 2 < len(terms) else ""
        if following.endswith("er") and compared == "than":
            return False  # "not older than six months" is a bound
        if term.lower == "not" and "least" in (following, before):
            return False
    return True


def _clause(reading: Reading, index: int) -> tuple[int, int]:
    terms = reading.terms
    start = index
    while start and not _breaks(reading, start - 1, start):
        start -= 1
    end = index + 1
    while end < len(terms) and not _breaks(reading, end - 1, end):
        end += 1
    return start, end


def _breaks(reading: Reading, left: int, right: int) -> bool:
    """Whether a clause ends between two neighbouring terms."""
    gap = reading.text[reading.terms[left].end : reading.terms[right].start]
    return any(mark in gap for mark in ",;:()—|\n") or reading.terms[right].lower in CLAUSE - {
        "that", "or", "nor", "and",
    }  # fmt: skip


def _target(terms: Sequence[Term], index: int, end: int) -> str:
    if terms[index].lower in ("nobody", "nothing", "none", "nowhere"):
        following = terms[index + 1 : min(end, index + 1 + _REACH)]
    else:
        following = terms[index + 1 : min(end, index + 2 + _REACH)]
    for term in following:
        if term.content and term.lower not in _SKIP and term.stem not in LIGHT - {stem("include")}:
            return term.stem
    return ""
