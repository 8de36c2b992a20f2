"""The state of one question while it is being answered, and what is told about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from grounded_rag.decision import Held, said
from grounded_rag.events import ClaimRejected, ClaimVerified, Event
from grounded_rag.types import Attempt, ClaimVerdict, Instant, RetrievedChunk, Usage

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
    shown: dict[str, Held] = field(default_factory=dict)
    retrieve_seconds: float = 0.0
    generate_seconds: float = 0.0
    verify_seconds: float = 0.0

    def tell(self, event: Event) -> None:
        """Hand an event to whoever listens."""
        if self.listener is not None:
            self.listener(event)

    def show(self, held: Held) -> None:
        """Tell a claim that will be in the answer, once: equal ones merge there too."""
        if said(held.verdict) not in self.shown:
            self.shown[said(held.verdict)] = held
            self.tell(ClaimVerified(verdict=held.verdict, flags=held.flags))

    def as_told(self, held: Held) -> Held:
        """Return a claim with the citations it was told with, where it was told with others."""
        told = self.shown.get(said(held.verdict), held)
        return held if told.verdict.claim == held.verdict.claim else told

    def reject(self, verdict: ClaimVerdict) -> None:
        """Tell that a claim did not pass; its text goes along only if it was asked for."""
        self.tell(
            ClaimRejected(
                attempt=len(self.attempts) or 1,
                reason=verdict.withheld or verdict.reason,
                verdict=verdict if self.rejected_text else None,
            )
        )
