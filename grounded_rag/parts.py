"""What a pipeline is made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from grounded_rag.config import Policy
from grounded_rag.protocols import Generator, Retriever
from grounded_rag.relevance import RelevanceCheck
from grounded_rag.verification.rules import Rules

Clock = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        retriever: Finds chunks.
        generator: Writes drafts.
        policy: What an application chose: what ships, what is retried, when to refuse.
        rules: What counts as support and what decides it, made of the policy and the options.
        refusal: The one refusal string.
        relevance: How answers are looked at for relevance to the question, or None.
        generator_name: Name shown in answers until the generator names its model.
        fingerprint: SHA-256 over policy and prompts.
        clock: Monotonic seconds.
    """

    retriever: Retriever
    generator: Generator
    policy: Policy
    rules: Rules
    refusal: str
    relevance: RelevanceCheck | None = None
    generator_name: str = ""
    fingerprint: str = ""
    clock: Clock = time.perf_counter
