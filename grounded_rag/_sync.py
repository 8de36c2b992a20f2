"""Runs coroutines for the blocking interface on one long-lived background event loop.

One loop for the life of the object, since provider clients keep connections that belong to the
loop they were first used in; a loop per call would break the second call.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")


class BackgroundLoop:
    """A lazily started event loop in a thread of its own."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._lock = threading.Lock()

    def run(self, function: Callable[[], Awaitable[T]]) -> T:
        """Run `function` on the loop and wait for its result; callable from any thread."""
        with self._lock:
            if self._portal is None:
                self._portal = self._stack.enter_context(start_blocking_portal())
        return self._portal.call(function)

    def close(self) -> None:
        """Stop the loop; running it again starts a new one."""
        with self._lock:
            self._portal = None
            self._stack.close()
