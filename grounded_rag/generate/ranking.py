"""The linear models that choose a sentence and tell how sure that choice is.

Each is a weighted sum of `Features`. There is one pair a kind of evidence: words alone, a vector
a sentence, a vector a word piece. `benchmarks/fit_extractive.py` fits the last pair,
`benchmarks/extractive.py` measures all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from grounded_rag.generate.candidates import Candidate, CandidateKind
from grounded_rag.generate.late_interaction import Likeness
from grounded_rag.generate.matching import match_stems, opposites, strength
from grounded_rag.generate.question import (
    Question,
    asks_guess,
    asks_opinion,
    holds_kind,
    is_negated,
    is_specific,
)
from grounded_rag.text.spelling import Abbreviation, abbreviations, both_names
from grounded_rag.text.words import content_words


@dataclass(frozen=True, slots=True)
class Features:
    """What is measured of one candidate.

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
        late: Mean best cosine of the question's word pieces; 0 without their vectors.
        cover: The same over its content words.
        gap: Largest weight of a content word times what its best cosine lacks to 1.
        terms: Content words of the question, at most 10: the longer it is, the lower are shares.
        opinion: 1 where the question asks for advice or an opinion, which no document has.
        guess: 1 where it asks for a guess or an estimate.
        rank: Position of its chunk in the request, from 0.
        outdated: 1 where its document does not hold at the moment asked about.
        row: 1 for a table row.
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
    late: float = 0.0
    cover: float = 0.0
    gap: float = 0.0
    terms: float = 0.0
    opinion: float = 0.0
    guess: float = 0.0
    rank: float = 0.0
    outdated: float = 0.0
    row: float = 0.0


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum of features.

    Attributes:
        weights: Weight of each feature that counts, by its name.
        intercept: Added to the sum.
    """

    weights: Mapping[str, float]
    intercept: float = 0.0

    def __call__(self, features: Features) -> float:
        """Return the sum for one candidate."""
        measured: dict[str, float] = asdict(features)
        return self.intercept + sum(w * measured[name] for name, w in self.weights.items())


@dataclass(frozen=True, slots=True)
class Ranker:
    """What to choose by, and what to decline by.

    Attributes:
        choice: Orders the candidates of one question.
        confidence: Log-odds that the chosen one answers, compared across questions: it looks for
            what tells a near miss, a sentence on the right topic that does not answer.
        several: How far, in units of `choice`, further candidates may lie behind the best one to
            be said with it, since the choice between them is open; None says the best alone.
    """

    choice: Linear
    confidence: Linear
    several: float | None = None


# Fitted as a choice among the sentences of public answerable questions, then rounded.
_CHOICE = Linear(
    {
        "cosine": 0.5,
        "recall": 0.5,
        "chunk_recall": 0.25,
        "kind_missing": -0.18,
        "number_missing": -0.12,
        "negation_missing": -0.09,
        "opposite": -0.06,
        "degree_missing": -0.06,
        "subject": 0.04,
        "rank": -0.02,
    }
)
_ASKED_FOR = {"opinion": -3.9, "guess": -3.7}

# Logistic regression with fixed signs on question sets with unanswerable questions, each set
# weighing the same. Without embeddings the weights are others: the cosine carries much of what
# the overlap repeats.
WORDS = Ranker(
    choice=_CHOICE,
    confidence=Linear(
        {
            "chunk_recall": 2.65,
            "negation_missing": -2.5,
            "number_missing": -1.45,
            "name_missing": -0.75,
            "opposite": -0.5,
            "degree_missing": -0.7,
            "kind_missing": -0.8,
            **_ASKED_FOR,
        },
        intercept=-1.72,
    ),
)
SENTENCES = Ranker(
    choice=_CHOICE,
    confidence=Linear(
        {
            "cosine": 5.0,
            "chunk_recall": 0.8,
            "negation_missing": -2.8,
            "number_missing": -1.5,
            "name_missing": -0.75,
            "opposite": -0.95,
            "word_missing": -0.55,
            "degree_missing": -0.67,
            "kind_missing": -0.7,
            **_ASKED_FOR,
        },
        intercept=-3.16,
    ),
)
PIECES = Ranker(
    choice=Linear(
        {
            "late": 1.0,
            "cosine": 0.68,
            "recall": 0.47,
            "chunk_recall": 0.32,
            "opposite": -0.19,
            "kind_missing": -0.12,
            "degree_missing": -0.06,
            "number_missing": -0.05,
            "outdated": -0.06,
            "subject": 0.065,
            "row": 0.05,
            "rank": -0.022,
        }
    ),
    confidence=Linear(
        {
            "cosine": 2.8,
            "cover": 1.04,
            "gap": -0.82,
            "chunk_recall": 0.64,
            "negation_missing": -1.3,
            "number_missing": -0.56,
            "name_missing": -0.64,
            "opposite": -1.14,
            "degree_missing": -0.91,
            "terms": 0.17,
            **_ASKED_FOR,
        },
        intercept=-3.35,
    ),
    several=0.15,
)


_IN_HEADING = 0.75
_IN_PREVIOUS = 0.6
_BESIDE = 0.3
_FOUND = 0.5
_POINTING = re.compile(
    r"(?:It|This|That|These|Those|They|He|She|Its|Their|His|Her|Such|Er|Sie|Es|Dies\w*)\b"
)
_OPENING = 60
_MOST_TERMS = 10
_MOST_DEFINED = 20


class Overlap:
    """The words of one question against all candidates, computed once."""

    def __init__(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        *,
        outdated: frozenset[int] = frozenset(),
    ) -> None:
        self._question = question
        self._outdated = outdated
        self._opinion = float(asks_opinion(question.text))
        self._guess = float(asks_guess(question.text))
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
        self._matches = match_stems(question.terms, words)
        self._names = {term.word.stem for term in question.terms if term.name}

    def recall(self, index: int) -> float:
        """Return the weighted share of terms that a candidate with its surroundings carries."""
        return self._share(self._found(index))

    def features(self, index: int, likeness: Likeness) -> Features:
        """Return the features of a candidate.

        Args:
            index: Its position.
            likeness: What an embedding says of it; zeros without one.
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
            cosine=likeness.cosine,
            late=likeness.late,
            cover=likeness.cover,
            gap=likeness.gap,
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
            terms=min(_MOST_TERMS, sum(not term.borrowed for term in terms)),
            opinion=self._opinion,
            guess=self._guess,
            rank=candidate.chunk,
            outdated=float(candidate.chunk in self._outdated),
            row=float(candidate.kind is CandidateKind.ROW),
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


def _worst(lacking: Sequence[float], chosen: Sequence[bool]) -> float:
    return max((value for value, take in zip(lacking, chosen, strict=True) if take), default=0.0)


def _opening(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in content_words(text[:_OPENING])[:3])


def _defined(candidates: Sequence[Candidate]) -> tuple[Abbreviation, ...]:
    """Return the abbreviations that the candidates define."""
    texts = dict.fromkeys(text for one in candidates for text in (one.context, one.text))
    found = dict.fromkeys(one for text in texts for one in abbreviations(text))
    return tuple(found)[:_MOST_DEFINED]


def _above(candidate: Candidate) -> str:
    return f"{candidate.headings}\n{candidate.context}"


def _stems(text: str, words: dict[str, str]) -> frozenset[str]:
    """Return the stems of a text, and note in `words` one word for each."""
    found = content_words(text)
    for word in found:
        words.setdefault(word.stem, word.lower)
    return frozenset(word.stem for word in found)
