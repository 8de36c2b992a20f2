"""The state of one question while it is being answered, and what is told about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grounded_rag.events import ClaimRejected, ClaimVerified, Event
from grounded_rag.types import Attempt, Claim, ClaimVerdict, Flag, Instant, RetrievedChunk, Usage

Listener = Callable[[Event], object]
"""Told what happens; it must not block."""


@dataclass(kw_only=True)
class Run:
    """Mutable state of one question; it never leaves the pipeline."""

    started: float
    question: str
    as_of: Instant
    chunks: tuple[RetrievedChunk, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    listener: Listener | None = None
    rejected_text: bool = False
    shown: set[Claim] = field(default_factory=set)
    retrieve_seconds: float = 0.0
    generate_seconds: float = 0.0
    verify_seconds: float = 0.0

    def tell(self, event: Event) -> None:
        """Hand an event to whoever listens."""
        if self.listener is not None:
            self.listener(event)

    def show(self, verdict: ClaimVerdict, flags: Sequence[Flag]) -> None:
        """Tell a claim that will be in the answer, once."""
        if verdict.claim not in self.shown:
            self.shown.add(verdict.claim)
            self.tell(ClaimVerified(verdict=verdict, flags=tuple(flags)))

    def reject(self, verdict: ClaimVerdict) -> None:
        """Tell that a claim did not pass; its text goes along only if it was asked for."""
        self.tell(
            ClaimRejected(
                attempt=len(self.attempts) or 1,
                reason=verdict.reason,
                verdict=verdict if self.rejected_text else None,
            )
        )
