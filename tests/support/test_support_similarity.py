"""Similarity by word pieces, and the rule that orders claims by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from grounded_rag import verify
from grounded_rag.models.similarity import TokenSimilarity, similarity_check
from grounded_rag.verification.support import default_checks, support_score

WORDS = ["refund", "day", "ten", "ticket", "tram", "paid", "within", "lunch"]
TEXT = "The refund is paid within ten days. Lunch is served."


@dataclass
class Pieces:
    rows: object
    mean: object
    ranks: tuple


class ByWord:
    """One dimension a known word, so that equal words are alike and others are not."""

    def __init__(self):
        self.asked = []

    def token_vectors(self, texts):
        self.asked += texts
        return [self.one(text) for text in texts]

    def one(self, text):
        found = [i for w in text.lower().split() for i, k in enumerate(WORDS) if w.startswith(k)]
        rows = np.eye(len(WORDS))[found]
        mean = rows.sum(axis=0) if found else np.zeros(len(WORDS))
        length = np.linalg.norm(mean) or 1.0
        return Pieces(rows, mean / length, tuple(2000 + i for i in found))


def test_the_nearer_claim_is_more_similar(case):
    measure = TokenSimilarity(ByWord())
    near = measure.of(case("The refund is paid within ten days.", TEXT))
    part = measure.of(case("The refund is paid by tram.", TEXT))
    far = measure.of(case("The tram has a ticket.", TEXT))
    assert near == pytest.approx(0.5 * 0.75 + 0.5)  # recall is capped, the cosine is not
    assert near > part > far
    assert measure.of(case("Nothing known.", TEXT)) == 0.0


def test_sentences_of_the_evidence_are_encoded_once(case):
    embedding = ByWord()
    measure = TokenSimilarity(embedding)
    measure.of(case("The refund is paid.", TEXT))
    measure.of(case("The refund takes ten days.", TEXT))
    assert embedding.asked.count("The refund is paid within ten days.") == 1


def test_the_check_informs_and_the_rule_orders_by_it(case):
    check = similarity_check(ByWord())
    item = case("The refund is paid within ten days.", TEXT)
    signal = check(item)
    assert (signal.check, signal.role, signal.passed) == ("similarity", "info", None)
    assert support_score(item, similarity=0.8) > support_score(item, similarity=0.3)


def test_an_embedding_that_fails_leaves_no_claim_unchecked():
    class Broken:
        def token_vectors(self, texts):
            raise OSError

    claim = {"text": TEXT, "chunk_id": "c1", "quote": TEXT}
    checks = [*default_checks(), similarity_check(Broken())]
    (verdict,) = verify([claim], [{"id": "c1", "text": TEXT}], checks=checks).claims
    assert verdict.supported
    assert verdict.signals[-1].detail == "The check failed: OSError."


def test_signals_that_ran_already_give_the_same_score(case):
    item = case("The refund is paid within 12 days.", TEXT)
    signals = [found for check in default_checks() if (found := check(item))]
    assert support_score(item, signals) == support_score(item)
    assert support_score(item) < support_score(case("The refund is paid within ten days.", TEXT))
