"""What a pipeline is made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grounded_rag.config import Policy
from grounded_rag.protocols import EntailmentModel, Generator, Judge, Retriever, SupportCheck
from grounded_rag.relevance import RelevanceCheck

Clock = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        retriever: Finds chunks.
        generator: Writes drafts.
        policy: Rules in force.
        refusal: The one refusal string.
        checks: Support checks, or None for the built-in ones.
        entailment, judge: What confirms claims that the checks leave open, or None.
        relevance: How answers are looked at for relevance to the question, or None.
        generator_name: Name shown in answers until the generator names its model.
        fingerprint: SHA-256 over policy and prompts.
        clock: Monotonic seconds.
    """

    retriever: Retriever
    generator: Generator
    policy: Policy
    refusal: str
    checks: Sequence[SupportCheck] | None = None
    entailment: EntailmentModel | None = None
    judge: Judge | None = None
    relevance: RelevanceCheck | None = None
    generator_name: str = ""
    fingerprint: str = ""
    clock: Clock = time.perf_counter
