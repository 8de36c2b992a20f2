"""The adapter for token-level detectors, against a detector with LettuceDetect's interface."""

import anyio
import pytest

from grounded_rag import ClaimStatus, Reason, Tier, averify, verify
from grounded_rag.models.token_detector import TokenDetector
from grounded_rag.verification.support import default_checks

TEXT = "Visitors pay twelve euros for a ticket."
CHUNKS = [{"id": "c1", "text": TEXT}]


class Detector:
    """Marks every word of the answer that no context holds, as LettuceDetect reports spans."""

    def __init__(self, confidence=0.9):
        self.confidence = confidence
        self.asked = []

    def predict(self, *, context, question, answer, output_format):
        assert output_format == "spans"
        self.asked.append((context, question, answer))
        spans = []
        for word in answer.rstrip(".").split():
            if word.lower() not in " ".join(context).lower():
                start = answer.index(word)
                end = start + len(word)
                spans.append(
                    {"start": start, "end": end, "confidence": self.confidence, "text": "[red]"}
                )
        return spans


def claim(text):
    return {"text": text, "chunk_id": "c1", "quote": TEXT}


def judged(text, detector, **options):
    found = verify([claim(text)], CHUNKS, checks=[TokenDetector(detector, **options)])
    return found.claims[0]


def test_marked_words_reject_a_claim_and_are_named():
    verdict = judged("Visitors pay thirteen euros.", Detector())
    assert (verdict.status, verdict.reason) == (ClaimStatus.UNSUPPORTED, Reason.NOT_ENTAILED)
    assert "“thirteen”" in verdict.why
    assert "[red]" not in verdict.why
    assert verdict.signals[0].score == pytest.approx(0.1)


def test_silence_confirms():
    detector = Detector()
    verdict = judged("For a ticket visitors pay twelve euros.", detector, name="lettuce")
    assert verdict.tier is Tier.CONFIRMED
    assert verdict.signals[0].decided_by == "lettuce"
    assert detector.asked == [([TEXT], None, "For a ticket visitors pay twelve euros.")]


def test_the_threshold_counts():
    text = "Visitors pay thirteen euros."
    assert judged(text, Detector(0.4)).tier is Tier.CONFIRMED
    assert not judged(text, Detector(0.4), threshold=0.4).supported


@pytest.mark.parametrize("confidence", [float("nan"), "high", None, 7.0])
def test_a_confidence_that_is_none_could_not_check(confidence):
    verdict = judged("Visitors pay thirteen euros.", Detector(confidence))
    assert verdict.status is ClaimStatus.UNCHECKED


def test_it_looks_at_open_claims_only_in_the_stage_too():
    detector = Detector()

    async def run():
        draft = [claim(TEXT), claim("A ticket costs visitors twelve euros.")]
        checks = [*default_checks(), TokenDetector(detector)]
        return await averify(draft, CHUNKS, checks=checks, question="How much?")

    found = anyio.run(run)
    assert found.claims[0].tier is Tier.VERBATIM
    assert [(question, answer) for _, question, answer in detector.asked] == [
        ("How much?", "A ticket costs visitors twelve euros.")
    ]


@pytest.mark.parametrize("threshold", [-0.1, 1.1])
def test_a_threshold_is_a_share(threshold):
    with pytest.raises(ValueError, match="between 0 and 1"):
        TokenDetector(Detector(), threshold=threshold)
