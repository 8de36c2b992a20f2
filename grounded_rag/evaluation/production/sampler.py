"""Scoring a share of the live answers in the background, within limits of queue and budget."""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Self

from pydantic import Field

from grounded_rag.answer import Answer
from grounded_rag.evaluation.factuality import FactualityModel, Scorers, lowest_probability
from grounded_rag.types import Frozen, Usage

_LOG = logging.getLogger(__name__)


class LiveScores(Frozen):
    """The scores of one answer by name (None: could not be scored), and the tokens they cost."""

    scores: Mapping[str, float | None]
    usage: Usage = Usage()


class Budget(Frozen):
    """What scoring may cost in one window of time.

    Tokens are checked before each answer, so the last one may exceed them.
    """

    answers: Annotated[int, Field(ge=0)] = 1_000
    tokens: Annotated[int, Field(ge=0)] = 1_000_000
    seconds: float = Field(default=3_600.0, gt=0, description="Length of the window.")


class SamplerStats(Frozen):
    """What became of the answers that a sampler was shown."""

    seen: int = 0
    scored: int = 0
    failed: int = Field(default=0, description="The scorer raised.")
    dropped_full: int = Field(default=0, description="Chosen while the queue was full.")
    dropped_budget: int = Field(default=0, description="Chosen when the budget was spent.")
    dropped_closed: int = Field(default=0, description="Waiting or shown after `close`.")
    usage: Usage = Field(default=Usage(), description="Tokens that scoring cost.")

    @property
    def dropped(self) -> int:
        """All that was chosen and dropped."""
        return self.dropped_full + self.dropped_budget + self.dropped_closed


LiveScorer = Callable[[Answer], LiveScores]
"""Scores one answer; it runs in the sampler's thread."""
OnScored = Callable[[Answer, LiveScores], object]
"""Called with each scored answer, in the sampler's thread."""


class LiveSampler:
    """A hook that scores a share of the answers in a separate thread.

    Calling it never waits and never raises: an answer that is chosen goes into a bounded queue,
    or is dropped and counted. Use it as a context manager, or call `close()`.

    Example:
        >>> sampler = LiveSampler(score, share=0.05)                  # doctest: +SKIP
        >>> rag = GroundedRAG.open("index", on_answer=sampler)        # doctest: +SKIP
    """

    def __init__(
        self,
        score: LiveScorer,
        *,
        share: float = 0.05,
        waiting: int = 100,
        budget: Budget | None = None,
        on_scored: OnScored | None = None,
        seed: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the thread.

        Args:
            score: Scores one answer, in the background.
            share: Share of the answers that is chosen, 0 to 1.
            waiting: Most answers waiting to be scored.
            budget: What scoring may cost; by default 1,000 answers and a million tokens an hour.
            on_scored: Called with each scored answer.
            seed: Seed of the choice; None chooses differently each time.
            clock: Monotonic seconds, for tests.

        Raises:
            ValueError: The share is not between 0 and 1, or no answer may wait.
        """
        if not 0 <= share <= 1 or waiting < 1:
            raise ValueError(f"no sampling with a share of {share} and {waiting} waiting")
        self._score = score
        self._share = share
        self._budget = budget or Budget()
        self._on_scored = on_scored
        self._draw = random.Random(seed)  # noqa: S311 - a sample, no secret
        self._clock = clock
        self._waiting: queue.Queue[Answer | None] = queue.Queue(maxsize=waiting)
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()  # by the fields of `SamplerStats`
        self._usage = Usage()
        self._window: tuple[float, int, int] = (clock(), 0, 0)
        self._closed = False
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._work, name="grounded-rag-sampler", daemon=True)
        self._thread.start()

    def __call__(self, answer: Answer) -> None:
        """Choose the answer to be scored later, or not."""
        with self._lock:
            self._counts["seen"] += 1
            if self._draw.random() >= self._share:
                return
            if self._closed:
                self._counts["dropped_closed"] += 1
            elif not self._affordable():
                self._counts["dropped_budget"] += 1
            else:
                self._enqueue(answer)

    def _enqueue(self, answer: Answer) -> None:
        try:
            self._waiting.put_nowait(answer)
        except queue.Full:
            self._counts["dropped_full"] += 1
            return
        start, answers, tokens = self._window
        self._window = (start, answers + 1, tokens)

    @property
    def stats(self) -> SamplerStats:
        """Counts so far."""
        with self._lock:
            return SamplerStats(**self._counts, usage=self._usage)

    def drain(self) -> None:
        """Wait until all waiting answers are scored."""
        self._waiting.join()

    def close(self, *, timeout: float = 10.0) -> None:
        """Score what is waiting for at most `timeout` seconds; drop the rest and stop."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        # None ends the thread. It may have to wait for a place in a full queue.
        deadline = time.monotonic() + timeout
        ended = False
        while not ended and self._thread.is_alive() and time.monotonic() < deadline:
            try:
                self._waiting.put(None, timeout=0.05)
                ended = True
            except queue.Full:
                continue
        self._thread.join(max(0.0, deadline - time.monotonic()))
        self._abandoned.set()
        self._drop_waiting()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _affordable(self) -> bool:
        start, answers, tokens = self._window
        now = self._clock()
        if now - start >= self._budget.seconds:
            self._window = start, answers, tokens = now, 0, 0
        return answers < self._budget.answers and tokens < self._budget.tokens

    def _work(self) -> None:
        while not self._abandoned.is_set():
            answer = self._waiting.get()
            try:
                if answer is None:
                    return
                self._score_one(answer)
            finally:
                self._waiting.task_done()

    def _score_one(self, answer: Answer) -> None:
        with self._lock:
            # Answers chosen earlier may have spent the tokens since this one was chosen.
            if self._window[2] >= self._budget.tokens:
                self._counts["dropped_budget"] += 1
                return
        try:
            found = self._score(answer)
            self._spend(found.usage)
            if self._on_scored is not None:
                self._on_scored(answer, found)
        except Exception:  # noqa: BLE001 - no scorer's error may end the thread
            _LOG.exception("A live answer could not be scored.")
            self._count("failed")
        else:
            self._count("scored")

    def _spend(self, usage: Usage) -> None:
        with self._lock:
            self._usage += usage
            start, answers, tokens = self._window
            self._window = (start, answers, tokens + usage.total_tokens)

    def _count(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1

    def _drop_waiting(self) -> None:
        while True:
            try:
                answer = self._waiting.get_nowait()
            except queue.Empty:
                return
            self._waiting.task_done()
            if answer is not None:
                self._count("dropped_closed")


Hook = Callable[[Answer], object]


def each(*hooks: Hook) -> Hook:
    """Return one hook for `on_answer` that calls several, in order."""

    def call(answer: Answer) -> None:
        for hook in hooks:
            hook(answer)

    return call


def factuality_score(model: FactualityModel, *, scorers: Scorers | None = None) -> LiveScorer:
    """Return a scorer for `LiveSampler`: the lowest P(true) of an answer's claims.

    An answer given under another policy than the model's cannot be scored.
    """

    def score(answer: Answer) -> LiveScores:
        claims = model.score_answer(answer, scorers=scorers)
        return LiveScores(scores={"p_true": lowest_probability(claims)})

    return score
