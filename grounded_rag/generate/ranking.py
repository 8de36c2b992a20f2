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
    """What is measured of one candidate."""

    cosine: float  # 0 without embeddings
    recall: float  # Weighted share of the question's terms, surroundings included
    chunk_recall: float  # The same in its whole chunk
    negation_missing: float  # The question asks for what is not, and the candidate negates nothing
    number_missing: float  # A number of the question is not there
    name_missing: float  # A name of the question is not there, nor in the headings above
    opposite: float  # The opposite of an asked word stands there instead of it
    word_missing: float  # Weight of the heaviest term that the whole chunk lacks
    degree_missing: float  # A superlative or ordinal of the question is not there
    kind_missing: float  # The asked-for kind of answer (date, amount, name …) is not there
    subject: float = 0.0  # A name of the question stands among the first words
    late: float = 0.0  # Mean best cosine of the question's word pieces
    cover: float = 0.0  # The same over its content words
    gap: float = 0.0  # Largest weight of a content word times what its best cosine lacks to 1
    # Content words of the question, at most 10: the longer it is, the lower are shares.
    terms: float = 0.0
    opinion: float = 0.0  # The question asks for advice or an opinion, which no document has
    guess: float = 0.0  # It asks for a guess or an estimate
    rank: float = 0.0  # Position of its chunk in the request, from 0
    outdated: float = 0.0  # Its document does not hold at the moment asked about
    row: float = 0.0  # It is a table row


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum of features."""

    weights: Mapping[str, float]  # Of each feature that counts, by its name
    intercept: float = 0.0

    def __call__(self, features: Features) -> float:
        """Return the sum for one candidate."""
        measured: dict[str, float] = asdict(features)
        return self.intercept + sum(w * measured[name] for name, w in self.weights.items())


@dataclass(frozen=True, slots=True)
class Ranker:
    """What to choose by, and what to decline by."""

    choice: Linear  # Orders the candidates of one question
    # Log-odds that the chosen one answers, compared across questions: it looks for what marks a
    # near miss, a sentence on the right topic that does not answer.
    confidence: Linear
    # How far, in units of `choice`, further candidates may lie behind the best one to be said
    # with it, since the choice between them is open; None says the best alone.
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
