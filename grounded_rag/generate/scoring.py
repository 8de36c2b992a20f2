"""How well a candidate answers a question, and how sure one can be that it does.

Two numbers, for two purposes. `choice` orders the candidates of one question. `confidence` is
compared with a threshold, across questions: it looks for what tells a near miss, a sentence on
the right topic that does not answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from grounded_rag.generate.answer_kinds import holds_kind, is_specific
from grounded_rag.generate.candidates import Candidate
from grounded_rag.generate.matching import match_stems, strength
from grounded_rag.generate.opposites import opposites
from grounded_rag.generate.question import Question, is_negated
from grounded_rag.text.words import content_words

_IN_HEADING = 0.75
_IN_PREVIOUS = 0.6
_BESIDE = 0.3
_FOUND = 0.5
_POINTING = re.compile(
    r"(?:It|This|That|These|Those|They|He|She|Its|Their|His|Her|Such|Er|Sie|Es|Dies\w*)\b"
)
_OPENING = 60


@dataclass(frozen=True, slots=True)
class Features:
    """What is measured of one candidate; all but `cosine` are between 0 and 1.

    Attributes:
        cosine: Similarity of the sentence's and the question's embedding; 0 without embeddings.
        recall: Weighted share of the question's terms in the candidate with its surroundings.
        chunk_recall: The same in its whole chunk.
        negation_missing: The question asks for what is not, and the candidate negates nothing.
        number_missing: A number of the question is not there.
        name_missing: A name of the question is not there, nor in the headings above.
        opposite: The opposite of an asked word stands there instead of it.
        word_missing: Weight of the heaviest term that the whole chunk lacks.
        degree_missing: A superlative or ordinal of the question is not there.
        kind_missing: The asked-for kind of answer (date, amount, name …) is not there.
        subject: A name of the question stands among the first words.
    """

    cosine: float
    recall: float
    chunk_recall: float
    negation_missing: float
    number_missing: float
    name_missing: float
    opposite: float
    word_missing: float
    degree_missing: float
    kind_missing: float
    subject: float = 0.0


@dataclass(frozen=True, slots=True)
class Weights:
    """Intercept and one weight a feature of the confidence, a log-odds."""

    intercept: float
    cosine: float
    chunk_recall: float
    negation_missing: float
    number_missing: float
    name_missing: float
    opposite: float
    word_missing: float
    degree_missing: float
    kind_missing: float

    def confidence(self, features: Features) -> float:
        """Return the log-odds that the candidate answers the question."""
        weighted: dict[str, float] = asdict(self)
        measured: dict[str, float] = asdict(features)
        total = weighted.pop("intercept")
        return total + sum(weight * measured[name] for name, weight in weighted.items())


# Logistic regression with fixed signs on public question sets with unanswerable questions, each
# set weighing the same; `benchmarks/extractive.py` measures them. Without embeddings the weights
# are others: the cosine carries much of what the overlap repeats.
WITH_EMBEDDING = Weights(
    intercept=-3.16,
    cosine=5.0,
    chunk_recall=0.8,
    negation_missing=-2.8,
    number_missing=-1.5,
    name_missing=-0.75,
    opposite=-0.95,
    word_missing=-0.55,
    degree_missing=-0.67,
    kind_missing=-0.7,
)
WITHOUT_EMBEDDING = Weights(
    intercept=-1.72,
    cosine=0.0,
    chunk_recall=2.65,
    negation_missing=-2.5,
    number_missing=-1.45,
    name_missing=-0.75,
    opposite=-0.5,
    word_missing=0.0,
    degree_missing=-0.7,
    kind_missing=-0.8,
)


class Overlap:
    """The words of one question against all candidates, computed once."""

    def __init__(self, question: Question, candidates: Sequence[Candidate]) -> None:
        self._question = question
        self._candidates = candidates
        words: dict[str, str] = {}
        self._own = [_stems(candidate.text, words) for candidate in candidates]
        # Candidates of one section share their headings: analyse each text once.
        above = {_above(candidate): frozenset[str]() for candidate in candidates}
        for text in above:
            above[text] = _stems(text, words)
        self._above = [above[_above(candidate)] for candidate in candidates]
        chunks: dict[int, set[str]] = {}
        for candidate, own in zip(candidates, self._own, strict=True):
            chunks.setdefault(candidate.chunk, set()).update(own)
        self._chunks = {number: frozenset(stems) for number, stems in chunks.items()}
        self._matches = match_stems(question.terms, words)
        self._names = {term.word.stem for term in question.terms if term.name}

    def recall(self, index: int) -> float:
        """Return the weighted share of terms that a candidate with its surroundings carries."""
        return self._share(self._found(index))

    def features(self, index: int, cosine: float) -> Features:
        """Return the features of a candidate.

        Args:
            index: Its position.
            cosine: Similarity to the question, or 0 without embeddings.
        """
        question = self._question
        candidate = self._candidates[index]
        own = self._own[index]
        found = self._found(index)
        chunk = self._chunks[candidate.chunk]
        whole = [
            max(value, strength(matches, chunk))
            for value, matches in zip(found, self._matches, strict=True)
        ]
        terms = question.terms
        lacking = [1.0 - value for value in found]
        return Features(
            cosine=cosine,
            recall=self._share(found),
            chunk_recall=self._share(whole),
            negation_missing=float(question.negated and not is_negated(candidate.text)),
            number_missing=_worst(lacking, [term.number for term in terms]),
            name_missing=_worst(lacking, [term.name for term in terms]),
            opposite=float(
                any(
                    strength(matches, own) < 1.0 and not opposites(term.word.stem).isdisjoint(own)
                    for term, matches in zip(terms, self._matches, strict=True)
                )
            ),
            word_missing=max(
                ((1.0 - value) * term.weight for value, term in zip(whole, terms, strict=True)),
                default=0.0,
            ),
            degree_missing=_worst(lacking, [term.degree for term in terms]),
            kind_missing=(
                1.0 - holds_kind(question, f"{candidate.context}\n{candidate.text}")
                if is_specific(question.wanted)
                else 0.0
            ),
            subject=float(not self._names.isdisjoint(_opening(candidate.text))),
        )

    def lacks_own_words(self, index: int) -> bool:
        """Whether a candidate carries only what a part of a question borrowed from another."""
        values = [
            value
            for term, value in zip(self._question.terms, self._found(index), strict=True)
            if not term.borrowed
        ]
        return bool(values) and len(values) < len(self._matches) and max(values) < _FOUND

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
        # A name in the sentence before is what this one is about only if it points back to it.
        name = _IN_PREVIOUS if _POINTING.match(self._candidates[index].text) else _BESIDE
        return [
            max(
                strength(matches, self._own[index]),
                _IN_HEADING * strength(matches, self._above[index]),
                (name if term.name else _IN_PREVIOUS) * strength(matches, before),
            )
            for term, matches in zip(self._question.terms, self._matches, strict=True)
        ]

    def _share(self, found: Sequence[float]) -> float:
        total = self._question.total
        if not total:
            return 0.0
        terms = self._question.terms
        return sum(value * term.weight for value, term in zip(found, terms, strict=True)) / total


def choice(features: Features) -> float:
    """Return the score that orders the candidates of one question.

    Fitted as a choice among the sentences of public answerable questions, then rounded.
    """
    return (
        0.5 * features.cosine
        + 0.5 * features.recall
        + 0.25 * features.chunk_recall
        - 0.18 * features.kind_missing
        - 0.12 * features.number_missing
        - 0.09 * features.negation_missing
        - 0.06 * features.opposite
        - 0.06 * features.degree_missing
        + 0.04 * features.subject
    )


def _worst(lacking: Sequence[float], chosen: Sequence[bool]) -> float:
    return max((value for value, take in zip(lacking, chosen, strict=True) if take), default=0.0)


def _opening(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in content_words(text[:_OPENING])[:3])


def _above(candidate: Candidate) -> str:
    return f"{candidate.headings}\n{candidate.context}"


def _stems(text: str, words: dict[str, str]) -> frozenset[str]:
    """Return the stems of a text, and note in `words` one word for each."""
    found = content_words(text)
    for word in found:
        words.setdefault(word.stem, word.lower)
    return frozenset(word.stem for word in found)
