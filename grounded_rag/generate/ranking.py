"""The linear models that choose a statement and say how sure that choice is.

Each is a weighted sum of `Features`. There is one pair for each kind of evidence: words alone, a
vector per statement, a vector per word piece. `benchmarks/fit_extractive.py` fits them, on several
question sets at once, each weighing the same; `benchmarks/extractive.py` measures them.
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
    degree_missing: float  # A superlative or ordinal of the question is not there
    late: float = 0.0  # Mean best cosine of the question's word pieces
    cover: float = 0.0  # The same over its content words
    gap: float = 0.0  # Largest weight of a content word times what its best cosine lacks to 1
    # Content words of the question, at most 10: the longer it is, the lower are shares.
    terms: float = 0.0
    opinion: float = 0.0  # The question asks for advice or an opinion, which no document has
    rank: float = 0.0  # Position of its chunk in the request, from 0


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
    # near miss, a statement on the right topic that does not answer.
    confidence: Linear


WORDS = Ranker(
    choice=Linear({"recall": 1.0, "chunk_recall": 0.56, "rank": -0.02}),
    confidence=Linear(
        {
            "recall": 0.82,
            "chunk_recall": 1.16,
            "negation_missing": -1.44,
            "number_missing": -0.74,
            "name_missing": -0.73,
            "degree_missing": -0.74,
            "terms": 0.12,
            "opinion": -2.32,
        },
        intercept=-1.77,
    ),
)
SENTENCES = Ranker(
    choice=Linear({"cosine": 1.0, "recall": 0.48, "chunk_recall": 0.48, "rank": -0.02}),
    confidence=Linear(
        {
            "cosine": 3.6,
            "chunk_recall": 1.01,
            "negation_missing": -1.39,
            "number_missing": -0.74,
            "name_missing": -0.74,
            "degree_missing": -0.71,
            "terms": 0.09,
            "opinion": -2.04,
        },
        intercept=-3.16,
    ),
)
PIECES = Ranker(
    choice=Linear(
        {
            "late": 1.0,
            "cosine": 0.85,
            "cover": 0.77,
            "chunk_recall": 0.73,
            "gap": -0.05,
            "degree_missing": -0.14,
            "negation_missing": -0.11,
            "number_missing": -0.06,
            "name_missing": -0.05,
            "rank": -0.03,
        }
    ),
    confidence=Linear(
        {
            "cosine": 2.88,
            "cover": 1.58,
            "gap": -0.61,
            "chunk_recall": 0.35,
            "negation_missing": -1.36,
            "number_missing": -0.71,
            "name_missing": -0.67,
            "degree_missing": -0.82,
            "terms": 0.11,
            "opinion": -2.01,
        },
        intercept=-3.32,
    ),
)
