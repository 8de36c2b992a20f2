"""How often, and how much at once."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio

_MOST_KEYS = 10_000


class TooManyError(Exception):
    """A limit is reached.

    Attributes:
        message: What a person is told.
        retry_after: Whole seconds after which it is worth trying again.
    """

    def __init__(self, message: str, *, retry_after: float) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after = max(1, math.ceil(retry_after))


class RateLimiter:
    """A token bucket for each key: bursts of a minute's worth, refilled evenly.

    Keys are forgotten oldest first, so that strangers cannot fill the memory.
    """

    def __init__(
        self, per_minute: int, *, clock: Callable[[], float] = time.monotonic, on: bool = True
    ) -> None:
        self._most = float(per_minute)
        self._rate = per_minute / 60.0
        self._clock = clock
        self._on = on
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Take one token of `key`.

        Raises:
            TooManyError: There is none.
        """
        if not self._on:
            return
        now = self._clock()
        left, since = self._buckets.pop(key, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        allowed = left >= 1
        self._buckets[key] = (left - 1 if allowed else left, now)
        while len(self._buckets) > _MOST_KEYS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise TooManyError(
                "That is a lot of requests in one minute.", retry_after=(1 - left) / self._rate
            )


class Ticket:
    """A place in the queue of a `Gate`; give it back exactly once by `release`."""

    def __init__(self, gate: Gate) -> None:
        self._gate: Gate | None = gate

    def release(self) -> None:
        """Give the place back; calling it again does nothing."""
        if self._gate is not None:
            self._gate.inside -= 1
            self._gate = None


class Gate:
    """Lets some requests work at once, lets some wait, and turns the others away.

    Attributes:
        inside: Requests that work or wait.
    """

    def __init__(self, *, running: int, waiting: int, on: bool = True) -> None:
        self._turns = anyio.Semaphore(running)
        self._most = running + waiting if on else math.inf
        self.inside = 0

    def enter(self) -> Ticket:
        """Take a place, before anything of the response is sent.

        Raises:
            TooManyError: All places are taken.
        """
        if self.inside >= self._most:
            raise TooManyError("Many people are asking at the moment.", retry_after=5)
        self.inside += 1
        return Ticket(self)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it."""
        async with self._turns:
            yield
