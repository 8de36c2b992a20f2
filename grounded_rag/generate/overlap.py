"""How far the words of a question are found in the passages: for ranking, never for checking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from grounded_rag.generate.candidates import Candidate
from grounded_rag.generate.late_interaction import Likeness
from grounded_rag.generate.question import (
    Question,
    asks_opinion,
    is_common,
    is_negated,
)
from grounded_rag.generate.ranking import Features
from grounded_rag.text.spelling import (
    Abbreviation,
    abbreviations,
    both_names,
    nearest_term,
    replaced,
    suspects,
)
from grounded_rag.text.words import Word, content_words, guess_language, related, synonyms, tokenize
from grounded_rag.verification.subject import covered_range

_DERIVED = 0.8
_SYNONYM = 0.6
_TYPO = 0.7
_TYPO_LENGTH = 5

_IN_HEADING = 0.75
_IN_PREVIOUS = 0.6
# A name in the sentence before need not be what this one is about.
_NAME_IN_PREVIOUS = 0.3
_FOUND = 0.5
_MOST_TERMS = 10
_MOST_DEFINED = 20


class Overlap:
    """The words of one question against all candidates, computed once."""

    def __init__(self, question: Question, candidates: Sequence[Candidate]) -> None:
        self._question = question
        self._opinion = float(asks_opinion(question.text))
        self._candidates = candidates
        words: dict[str, str] = {}
        # Where the passages say that two names are one thing, a sentence with either has both.
        defined = _defined(candidates)
        self._own = [_stems(both_names(one.text, defined), words) for one in candidates]
        # Candidates of one section share their headings: analyse each text once.
        above = {_above(candidate): frozenset[str]() for candidate in candidates}
        for text in above:
            above[text] = _stems(both_names(text, defined), words)
        self._above = [above[_above(candidate)] for candidate in candidates]
        chunks: dict[int, set[str]] = {}
        for candidate, own in zip(candidates, self._own, strict=True):
            chunks.setdefault(candidate.chunk, set()).update(own)
        self._chunks = {number: frozenset(stems) for number, stems in chunks.items()}
        # One pass for all sentences keeps this off the hot path.
        self._matches = [_matches(term.word, words) for term in question.terms]

    def recall(self, index: int) -> float:
        """Return the weighted share of terms that a candidate with its surroundings carries."""
        return self._share(self._found(index))

    def features(self, index: int, likeness: Likeness) -> Features:
        """Measure a candidate; without an embedding `likeness` is all zeros."""
        question = self._question
        candidate = self._candidates[index]
        found = self._found(index)
        chunk = self._chunks[candidate.chunk]
        whole = [
            max(value, strength(matches, chunk))
            for value, matches in zip(found, self._matches, strict=True)
        ]
        terms = question.terms
        lacking = [1.0 - value for value in found]
        return Features(
            cosine=likeness.cosine,
            late=likeness.late,
            cover=likeness.cover,
            gap=likeness.gap,
            recall=self._share(found),
            chunk_recall=self._share(whole),
            negation_missing=float(question.negated and not is_negated(candidate.text)),
            number_missing=_worst(lacking, [term.number for term in terms]),
            name_missing=_worst(lacking, [term.name for term in terms]),
            degree_missing=_worst(lacking, [term.degree for term in terms]),
            terms=min(_MOST_TERMS, sum(not term.borrowed for term in terms)),
            opinion=self._opinion,
            rank=candidate.chunk,
        )

    def missing(self, index: int) -> frozenset[str]:
        """Return the stems of names and numbers that a candidate does not carry."""
        return frozenset(
            term.word.stem
            for term, value in zip(self._question.terms, self._found(index), strict=True)
            if (term.name or term.number) and value < _FOUND
        )

    def _found(self, index: int) -> list[float]:
        previous = self._candidates[index].previous
        before = self._own[previous] if previous is not None else frozenset[str]()
        found: list[float] = []
        covered = covered_range(self._candidates[index].statement)
        for term, matches in zip(self._question.terms, self._matches, strict=True):
            best = float(covered is not None and term.number and term.word.text.isdigit())
            if matches and not best:
                best = max(
                    strength(matches, self._own[index]),
                    _IN_HEADING * strength(matches, self._above[index]),
                )
            if before and matches:
                nearby = _NAME_IN_PREVIOUS if term.name else _IN_PREVIOUS
                best = max(best, nearby * strength(matches, before))
            found.append(best)
        return found

    def _share(self, found: Sequence[float]) -> float:
        total = self._question.total
        if not total:
            return 0.0
        terms = self._question.terms
        return sum(value * term.weight for value, term in zip(found, terms, strict=True)) / total


def _worst(lacking: Sequence[float], chosen: Sequence[bool]) -> float:
    return max((value for value, take in zip(lacking, chosen, strict=True) if take), default=0.0)


def _defined(candidates: Sequence[Candidate]) -> tuple[Abbreviation, ...]:
    texts = dict.fromkeys(text for one in candidates for text in (one.context, one.text))
    found = dict.fromkeys(one for text in texts for one in abbreviations(text))
    return tuple(found)[:_MOST_DEFINED]


def _above(candidate: Candidate) -> str:
    return f"{candidate.headings}\n{candidate.context}"


def _stems(text: str, words: dict[str, str]) -> frozenset[str]:
    """Return the stems of a text, and note in `words` one word for each.

    Words that are joined to an identifier count as words too: MAX_FIELDS is about fields.
    """
    apart = text.replace("_", " ")
    found = content_words(text if apart == text else f"{text} {apart}")
    for word in found:
        words.setdefault(word.stem, word.lower)
    return frozenset(word.stem for word in found)


Matches = Mapping[str, float]
"""Stems that match one term, each with a strength from 0 to 1."""


def strength(matches: Matches, stems: frozenset[str]) -> float:
    """Return how strongly the best of `stems` matches."""
    if len(matches) < len(stems):
        return max((value for stem, value in matches.items() if stem in stems), default=0.0)
    return max((matches.get(stem, 0.0) for stem in stems), default=0.0)


def _matches(word: Word, vocabulary: Mapping[str, str]) -> Matches:
    """Return the stems of the vocabulary that match a word.

    Equal stems match fully; derivations ("transfer", "transferable"), single typing errors in
    longer words and everyday synonyms less. The vocabulary has a word for each stem of the
    passages: a typing error near the end of a word can change its stem altogether.
    """
    found: dict[str, float] = {}
    alike = synonyms().get(word.stem, frozenset())
    for term, lower in vocabulary.items():
        if term == word.stem:
            found[term] = 1.0
        elif word.kind == "word":
            # Derivations share four letters and typing errors the first: few pairs need a call.
            if len(term) >= 4 and term[:4] == word.stem[:4] and related(word.stem, term):
                found[term] = _DERIVED
            elif (term[:1] == word.stem[:1] and is_typo(word.stem, term)) or (
                lower[:1] == word.lower[:1] and is_typo(word.lower, lower)
            ):
                found[term] = _TYPO
            elif term in alike:
                found[term] = _SYNONYM
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


def as_meant(question: str, candidates: Sequence[Candidate]) -> str:
    """Return a question with its mistyped words replaced by words of the passages.

    Only what is compared changes; what is asked is quoted as it stands.
    """
    if guess_language(question) not in ("en", None):
        return question
    words = tokenize(question)
    doubtful = [word for word in suspects(words, known=()) if not is_common(word.lower)]
    if not doubtful:
        return question
    texts = dict.fromkeys(
        text for one in candidates for text in (one.text, one.context, one.headings)
    )
    there = Counter(word.lower for text in texts for word in tokenize(text))
    changes: dict[str, str] = {}
    for word in doubtful:
        if word.lower in there:
            continue
        near = nearest_term(word, {t: n for t, n in there.items() if t[0] == word.lower[0]})
        if near is not None:
            changes[word.lower] = near
    return replaced(question, words, changes)
