"""How far the words of a question are found in a piece of text: for ranking, never for checking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grounded_rag.generate.question import Term
from grounded_rag.generate.synonyms import synonyms
from grounded_rag.text.stems import related
from grounded_rag.text.words import Word

_DERIVED = 0.8
_SYNONYM = 0.6
_TYPO = 0.7
_TYPO_LENGTH = 5

Matches = Mapping[str, float]
"""Stems that match one term, each with a strength from 0 to 1."""


def match_stems(terms: Sequence[Term], vocabulary: Mapping[str, str]) -> list[Matches]:
    """Return for each term the stems of the vocabulary that match it.

    Equal stems match fully; derivations ("transfer", "transferable"), single typing errors in
    longer words and everyday synonyms less. One pass for all sentences keeps this off the hot path.

    Args:
        terms: Terms of the question.
        vocabulary: All stems of the passages, each with a word that has it: a typing error near
            the end of a word can change its stem altogether.
    """
    return [_matches(term.word, vocabulary) for term in terms]


def strength(matches: Matches, stems: frozenset[str]) -> float:
    """Return how strongly the best of `stems` matches."""
    if len(matches) < len(stems):
        return max((value for stem, value in matches.items() if stem in stems), default=0.0)
    return max((matches.get(stem, 0.0) for stem in stems), default=0.0)


def _matches(word: Word, vocabulary: Mapping[str, str]) -> Matches:
    found: dict[str, float] = {}
    alike = synonyms(word.stem)
    for stem, lower in vocabulary.items():
        if stem == word.stem:
            found[stem] = 1.0
        elif word.kind == "word":
            if len(stem) >= 4 and related(word.stem, stem):
                found[stem] = _DERIVED
            elif is_typo(word.stem, stem) or is_typo(word.lower, lower):
                found[stem] = _TYPO
            elif stem in alike:
                found[stem] = _SYNONYM
    return found


def is_typo(left: str, right: str) -> bool:
    """Whether two longer words differ by one letter added, left out, changed or swapped.

    The first letter must agree: typing errors seldom hit it, and different words often differ
    there.
    """
    if min(len(left), len(right)) < _TYPO_LENGTH or left[0] != right[0]:
        return False
    if abs(len(left) - len(right)) > 1 or not (left.isalpha() and right.isalpha()):
        return False
    at = 0
    while at < min(len(left), len(right)) and left[at] == right[at]:
        at += 1
    if len(left) == len(right):
        changed = left[at + 1 :] == right[at + 1 :]
        swapped = left[at : at + 2] == right[at : at + 2][::-1]
        return changed or (swapped and left[at + 2 :] == right[at + 2 :])
    shorter, longer = sorted((left, right), key=len)
    return shorter[at:] == longer[at + 1 :]
