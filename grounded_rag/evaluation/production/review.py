"""The review queue: answers that a person should look at, and why."""

from __future__ import annotations

import datetime as dt
import logging
import re
import threading
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import AwareDatetime, Field

from grounded_rag.answer import Answer
from grounded_rag.resources import read_table
from grounded_rag.types import AnswerStatus, FlagKind, Frozen, RefusalReason, Tier

_LOG = logging.getLogger(__name__)


class ReviewReason(StrEnum):
    """Why a person should look at an answer.

    `unproven`: only the existence of a claim's quote is known, as the policy "spans-only" allows.
    A restated claim is no reason, because it is a sentence of its source.
    """

    REFUSED = "refused"
    PARTIAL = "partial"
    FLAGGED = "flagged"
    HEDGED = "hedged"
    UNPROVEN = "unproven"
    LOW_PROBABILITY = "low_probability"


class ReviewItem(Frozen):
    """One answer for a person. It holds the question as it was asked: treat it as personal data."""

    at: AwareDatetime = Field(description="When it was queued.")
    reasons: tuple[ReviewReason, ...] = Field(description="Never empty.")
    question: str
    text: str = Field(description="What the user saw.")
    status: AnswerStatus
    refusal: RefusalReason | None = None
    flags: tuple[FlagKind, ...] = ()
    sources: tuple[str, ...] = Field(default=(), description="Ids of the cited documents.")
    generator: str = ""
    fingerprint: str = Field(default="", description="SHA-256 over policy and prompts.")
    probability: float | None = Field(default=None, description="Lowest P(true) of a claim.")


def review_reasons(
    answer: Answer, *, probability: float | None = None, least: float = 0.7
) -> tuple[ReviewReason, ...]:
    """Return why a person should look at an answer, if its lowest P(true) is `probability`.

    A P(true) below `least` is a reason; None stands for an answer that was not scored.
    """
    reasons: list[ReviewReason] = []
    if answer.status is AnswerStatus.REFUSED:
        reasons.append(ReviewReason.REFUSED)
    if answer.status is AnswerStatus.PARTIAL:
        reasons.append(ReviewReason.PARTIAL)
    if answer.flags:
        reasons.append(ReviewReason.FLAGGED)
    if any(_hedge_pattern().search(claim.text) for claim in answer.claims):
        reasons.append(ReviewReason.HEDGED)
    if any(claim.tier is Tier.NONE for claim in answer.claims):
        reasons.append(ReviewReason.UNPROVEN)
    if probability is not None and probability < least:
        reasons.append(ReviewReason.LOW_PROBABILITY)
    return tuple(reasons)


@cache
def _hedge_pattern() -> re.Pattern[str]:
    words = read_table("hedges")["en"]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)


class ReviewQueue:
    """A hook that queues answers for people: to a JSON Lines file, or to a callback.

    Calling it never raises; what could not be queued is counted and logged.
    """

    def __init__(
        self,
        target: Path | str | Callable[[ReviewItem], object],
        *,
        least: float = 0.7,
        most_bytes: int = 100_000_000,
        now: Callable[[], dt.datetime] | None = None,
    ) -> None:
        """Queue to a file, which is appended to, or to a function.

        Args:
            target: The file or the function.
            least: P(true) below which an answer is queued.
            most_bytes: Size of the file beyond which items are dropped and counted.
            now: Clock, for tests.
        """
        self._target = target if callable(target) else Path(target)
        self._least = least
        self._most_bytes = most_bytes
        self._now = now or (lambda: dt.datetime.now(dt.UTC))
        self._lock = threading.Lock()
        self.queued = 0  # written, or given to the callback
        self.dropped = 0  # lost: the file is full, or it or the callback failed

    def __call__(self, answer: Answer, *, probability: float | None = None) -> None:
        """Queue an answer if `review_reasons` names a reason."""
        reasons = review_reasons(answer, probability=probability, least=self._least)
        if not reasons:
            return
        item = ReviewItem(
            at=self._now(),
            reasons=reasons,
            question=answer.question,
            text=answer.text,
            status=answer.status,
            refusal=answer.refusal.reason if answer.refusal is not None else None,
            flags=tuple(dict.fromkeys(flag.kind for flag in answer.flags)),
            sources=tuple(dict.fromkeys(chunk.chunk.doc_id for chunk in answer.evidence)),
            generator=answer.generator,
            fingerprint=answer.fingerprint,
            probability=probability,
        )
        with self._lock:
            if self._deliver(item):
                self.queued += 1
            else:
                self.dropped += 1

    def _deliver(self, item: ReviewItem) -> bool:
        try:
            if callable(self._target):
                self._target(item)
                return True
            line = item.model_dump_json().encode() + b"\n"
            with self._target.open("ab") as file:
                if file.tell() + len(line) > self._most_bytes:
                    return False
                file.write(line)
            return True
        except Exception:  # noqa: BLE001 - a failing queue must not cost the user the answer
            _LOG.exception("An answer could not be queued for review.")
            return False
