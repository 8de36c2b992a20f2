"""The scorers: raw numbers by hand, and None where there is nothing to go by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from grounded_rag.evaluation.factuality import (
    Blend,
    ClaimInput,
    EntailmentFaithfulness,
    LexicalSupport,
    MaxEntailment,
    ParametricKnowledge,
    Scorer,
    Scorers,
    builtin_scorers,
)
from grounded_rag.evaluation.factuality.claims import case_of
from grounded_rag.evaluation.factuality.scorers import shared_words
from grounded_rag.protocols import EntailmentScores, TextPair
from grounded_rag.testing import HashEmbedding
from grounded_rag.verification.support import coverage

EVIDENCE = "The savings rate is 4.1 %. The card costs 12 euros a year."
TRUE = ClaimInput(claim="The savings rate is 4.1 %.", evidence=(EVIDENCE,))
WRONG = ClaimInput(claim="The savings rate is 5.2 %.", evidence=(EVIDENCE,))


class EqualTexts:
    """Entails what it contains, and nothing else."""

    name = "equal"

    def __init__(self) -> None:
        self.pairs: list[TextPair] = []

    def score(self, pairs: Sequence[TextPair]) -> list[EntailmentScores]:
        self.pairs.extend(pairs)
        return [
            EntailmentScores(
                entailment=0.9 if pair.hypothesis == pair.premise else 0.2,
                neutral=0.1,
                contradiction=0.0,
            )
            for pair in pairs
        ]


def one(scorer: Scorer, claim: ClaimInput) -> float | None:
    assert isinstance(scorer, Scorer)
    assert scorer.name
    (score,) = scorer.score([claim])
    return score


def test_lexical_support_orders_true_above_wrong():
    assert one(LexicalSupport(), TRUE) > one(LexicalSupport(), WRONG)


def test_entailment_is_taken_raw_of_the_whole_evidence():
    model = EqualTexts()
    claim = ClaimInput(claim="b", evidence=("a", "b"))
    assert one(EntailmentFaithfulness(model), claim) == 0.2
    assert model.pairs == [TextPair(premise="a\nb", hypothesis="b")]


def test_max_nli_takes_the_best_sentence():
    model = EqualTexts()
    assert one(MaxEntailment(model), TRUE) == 0.9
    assert one(MaxEntailment(model), WRONG) == 0.2


def test_parametric_knowledge_is_the_mean_token_probability():
    claim = TRUE.model_copy(update={"token_logprobs": (math.log(0.5), math.log(0.125))})
    assert one(ParametricKnowledge(), claim) == pytest.approx(0.25)
    assert one(ParametricKnowledge(), TRUE) is None


def test_shared_words_by_hand():
    assert shared_words("The savings rate fell.", ("Savings rates are high.",)) == pytest.approx(
        2 / 3
    )
    assert shared_words("", ("x",)) == 0.0


def test_the_blend_is_the_mean_of_its_readings():
    words = one(Blend(None), WRONG)
    covered = coverage(case_of(WRONG))
    assert words == pytest.approx(
        (one(LexicalSupport(), WRONG) + covered + shared_words(WRONG.claim, WRONG.evidence)) / 3
    )
    # The same sentence is its own nearest: a cosine of 1 as the fourth reading.
    embedded = Blend(HashEmbedding(), name="hash")
    assert one(embedded, TRUE) == pytest.approx((3 * one(Blend(None), TRUE) + 1) / 4)
    assert embedded.name == "blend:hash"


def test_a_scorer_used_twice_runs_once():
    class Counting:
        name = "counting"
        calls = 0

        def score(self, claims):
            self.calls += 1
            return [0.5 for _ in claims]

    twice = Counting()
    scorers = Scorers(faithful=LexicalSupport(), if_faithful=twice, if_unfaithful=twice)
    (scores,) = scorers.score([TRUE])
    assert (scores.if_faithful, scores.if_unfaithful) == (0.5, 0.5)
    assert twice.calls == 1


def test_an_entailment_model_takes_the_place_of_words():
    names = builtin_scorers(entailment=EqualTexts()).names
    assert names[:2] == ("entailment:equal", "max-nli:equal")
    assert builtin_scorers().names == ("lexical", names[2], names[2])
    assert names[2].startswith("blend:")
