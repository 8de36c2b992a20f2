"""Token-level detectors of unsupported words, by the interface that LettuceDetect has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import Reason, Signal

_SHOWN = 3


class SpanDetector(Protocol):
    """What LettuceDetect's `HallucinationDetector` offers."""

    def predict(
        self, *, context: list[str], question: str | None, answer: str, output_format: str
    ) -> Sequence[Mapping[str, Any]]:
        """Return spans of `answer` without support: `start`, `end`, `confidence`, `text`."""
        ...


class TokenDetector:
    """A support check by a detector that marks the words of a claim without support.

    It looks at open claims only. Marked words reject a claim. That none are marked confirms it:
    such a detector is trained to find what is unsupported, so its silence is its word.

        from lettucedetect.models.inference import HallucinationDetector

        detector = HallucinationDetector(method="transformer", model_path="…")
        rag = GroundedRAG.open("index", checks=[*default_checks(), TokenDetector(detector)])
    """

    only_open = True
    role = "decider"

    def __init__(
        self, detector: SpanDetector, *, threshold: float = 0.5, name: str = "token_detector"
    ) -> None:
        """Wrap a detector.

        Args:
            detector: The detector; you load it.
            threshold: Least confidence of a span that counts.
            name: What verdicts and fingerprints call it.

        Raises:
            ValueError: The threshold is not between 0 and 1.
        """
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"a threshold is between 0 and 1, not {threshold}")
        self._detector = detector
        self._threshold = threshold
        self.__name__ = name

    def __call__(self, case: ClaimCase) -> Signal:
        """Mark the words of the claim that the statements it cites do not carry.

        Raises:
            TypeError: The detector did not return spans; the claim could then not be checked.
        """
        spans = self._detector.predict(
            context=list(dict.fromkeys(piece.sentence for piece in case.evidence)),
            question=case.question,
            answer=case.claim.text,
            output_format="spans",
        )
        marked = [(_confidence(span), _words(case.claim.text, span)) for span in spans]
        found = [(sure, words) for sure, words in marked if sure >= self._threshold]
        highest = max((sure for sure, _ in marked), default=0.0)
        signal = Signal(
            check=self.__name__,
            passed=not found,
            score=1.0 - highest,
            detail="The token detector marks no word of the claim as unsupported.",
            role="decider",
            decided_by=self.__name__,
        )
        if not found:
            return signal
        shown = ", ".join(f"“{words}”" for _, words in found[:_SHOWN])
        return signal.model_copy(
            update={
                "reason": Reason.NOT_ENTAILED,
                "detail": f"The token detector finds no support for {shown}.",
            }
        )


def _confidence(span: Mapping[str, Any]) -> float:
    value = span["confidence"]
    # NaN compares as neither, and must not pass for a low confidence.
    if not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise TypeError("a span has no confidence between 0 and 1")
    return float(value)


def _words(claim: str, span: Mapping[str, Any]) -> str:
    """Return the claim's own characters at a span; what the detector quotes is not taken over."""
    return " ".join(claim[int(span["start"]) : int(span["end"])].split())
