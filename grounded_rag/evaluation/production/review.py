"""A queue of answers for people: refused, partial, flagged, hedged or of low confidence."""

from __future__ import annotations

import datetime as dt
import logging
import re
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from pydantic import AwareDatetime

from grounded_rag.answer import Answer
from grounded_rag.types import AnswerStatus, FlagKind, Frozen, RefusalReason, Tier

_LOG = logging.getLogger(__name__)
_HEDGES = re.compile(
    r"\b(?:may|might|could|possibly|probably|perhaps|likely|presumably|apparently|"
    r"approximately|roughly|usually|generally|typically|appears? to|seems? to)\b",
    re.IGNORECASE,
)


class ReviewReason(StrEnum):
    """Why a person should look at an answer.

    `unproven`: it holds a claim of which only the quote is known to exist, as the policy
    "spans-only" allows. A restated claim is the source's own sentence, and is no reason.
    """

    REFUSED = "refused"
    PARTIAL = "partial"
    FLAGGED = "flagged"
    HEDGED = "hedged"
    UNPROVEN = "unproven"
    LOW_PROBABILITY = "low_probability"


class ReviewItem(Frozen):
    """One answer for a person. It holds the question as it was asked: treat it as personal data.

    Attributes:
        at: When it was queued.
        reasons: Why; never empty.
        question: The question.
        text: The text shown.
        status: Answered, partial or refused.
        refusal: Reason of a refusal.
        flags: Kinds of remarks.
        sources: Ids of the cited documents.
        generator: Name of the generator.
        fingerprint: SHA-256 over policy and prompts.
        probability: Lowest P(true) of a claim, where it was scored.
    """

    at: AwareDatetime
    reasons: tuple[ReviewReason, ...]
    question: str
    text: str
    status: AnswerStatus
    refusal: RefusalReason | None = None
    flags: tuple[FlagKind, ...] = ()
    sources: tuple[str, ...] = ()
    generator: str = ""
    fingerprint: str = ""
    probability: float | None = None


def review_reasons(
    answer: Answer, *, probability: float | None = None, least: float = 0.7
) -> tuple[ReviewReason, ...]:
    """Return why a person should look at an answer; none where there is no need.

    Args:
        answer: The answer.
        probability: Lowest P(true) of its claims, where it was scored.
        least: P(true) below which an answer is of low confidence.
    """
    reasons: list[ReviewReason] = []
    if answer.status is AnswerStatus.REFUSED:
        reasons.append(ReviewReason.REFUSED)
    if answer.status is AnswerStatus.PARTIAL:
        reasons.append(ReviewReason.PARTIAL)
    if answer.flags:
        reasons.append(ReviewReason.FLAGGED)
    if any(_HEDGES.search(claim.text) for claim in answer.claims):
        reasons.append(ReviewReason.HEDGED)
    if any(claim.tier is Tier.NONE for claim in answer.claims):
        reasons.append(ReviewReason.UNPROVEN)
    if probability is not None and probability < least:
        reasons.append(ReviewReason.LOW_PROBABILITY)
    return tuple(reasons)


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
        """Choose where items go.

        Args:
            target: A file to append to, or a function.
            least: P(true) below which an answer is of low confidence.
            most_bytes: Size of the file beyond which items are dropped and counted.
            now: Clock, for tests.
        """
        self._target = target if callable(target) else Path(target)
        self._least = least
        self._most_bytes = most_bytes
        self._now = now or (lambda: dt.datetime.now(dt.UTC))
        self._lock = threading.Lock()
        self._queued = 0
        self._dropped = 0

    @property
    def queued(self) -> int:
        """Number of items handed on."""
        return self._queued

    @property
    def dropped(self) -> int:
        """Number of items that could not be: the file is full, or it or the callback failed."""
        return self._dropped

    def __call__(self, answer: Answer, *, probability: float | None = None) -> None:
        """Queue an answer if there is a reason to.

        Args:
            answer: The answer.
            probability: Lowest P(true) of its claims, where it was scored.
        """
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
            if self._hand_on(item):
                self._queued += 1
            else:
                self._dropped += 1

    def _hand_on(self, item: ReviewItem) -> bool:
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
        except Exception:  # noqa: BLE001 - the answer is given; its reader must not pay for this
            _LOG.exception("An answer could not be queued for review.")
            return False
