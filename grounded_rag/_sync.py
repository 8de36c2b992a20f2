"""Runs coroutines for the blocking interface on one long-lived background event loop.

One loop for the life of the object, since provider clients keep connections that belong to the
loop they were first used in; a loop per call would break the second call. Its thread is a daemon:
a program that forgets `close()` still ends.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, Generic, TypeVar

from grounded_rag.errors import ConfigError

T = TypeVar("T")

_LONGEST_WAIT = 5.0
"""Seconds that closing waits for threads: a model needs less, a provider's answer may need more."""


class BackgroundLoop:
    """A lazily started event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `function` on the loop and wait for its result; callable from any thread."""
        if threading.current_thread() is self._thread:
            raise ConfigError(
                "A blocking call was made from inside the loop that has to serve it.",
                hint="In a hook, use the asynchronous twin, or another thread.",
            )
        future = asyncio.run_coroutine_threadsafe(function(), self._started())
        try:
            return future.result()
        except BaseException:
            # An interrupt of the waiting thread must not leave the work running unseen.
            future.cancel()
            raise

    def iterate(self, function: Callable[[], AsyncGenerator[T, None]]) -> Iterator[T]:
        """Yield what an asynchronous generator yields, each step run on the loop.

        Leaving the iteration early closes the generator.

        Raises:
            ConfigError: The loop was closed in the middle, so that nothing more can come.
        """
        loop, steps = self._started(), _Steps(function())
        try:
            while True:
                if self._loop is not loop:
                    raise ConfigError(
                        "What served this iteration was closed before it was through.",
                        hint="Iterate to the end first, then call `close()`.",
                    )
                try:
                    item = self.run(steps.next)
                except StopAsyncIteration:
                    return
                yield item
        finally:
            # A closed loop has closed the generator, too; where this is collected on the loop's
            # own thread, the loop finalises it.
            if self._loop is loop and threading.current_thread() is not self._thread:
                self.run(steps.close)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve, args=(self._loop,), name="grounded-rag", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Stop the loop; running something again starts a new one."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is not None and thread is not None and thread is not threading.current_thread():
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


class _Steps(Generic[T]):
    """An asynchronous generator, step by step; closing waits for a step that was interrupted."""

    def __init__(self, generator: AsyncGenerator[T, None]) -> None:
        self._generator = generator
        self._step: asyncio.Task[Any] | None = None

    async def next(self) -> T:
        self._step = asyncio.current_task()
        return await anext(self._generator)

    async def close(self) -> None:
        if self._step is not None:
            # An interrupt cancelled it, and it may still be cleaning up: a generator that runs
            # cannot be closed.
            await asyncio.wait({self._step})
        await self._generator.aclose()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        if pending:
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        _join_workers(loop)
    finally:
        loop.close()


def _join_workers(loop: asyncio.AbstractEventLoop) -> None:
    """Wait for anyio's threads of a loop.

    They are daemons, as the thread that started them is. A daemon that an interrupt left inside a
    model's native code when the interpreter ends takes the whole process down (SIGABRT).
    """
    until = time.monotonic() + _LONGEST_WAIT
    for worker in threading.enumerate():
        if getattr(worker, "loop", None) is loop:
            worker.join(max(0.0, until - time.monotonic()))
