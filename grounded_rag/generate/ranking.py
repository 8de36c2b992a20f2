"""The linear models that choose a sentence and say how sure that choice is.

Each is a weighted sum of `Features`. There is one pair for each kind of evidence: words alone, a
vector per sentence, a vector per word piece. `benchmarks/fit_extractive.py` fits the last pair,
`benchmarks/extractive.py` measures all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass


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
