"""Runs coroutines for the blocking interface on one long-lived background event loop.

One loop for the life of the object, since provider clients keep connections that belong to the
loop they were first used in; a loop per call would break the second call. Its thread is a daemon:
a program that forgets `close()` still ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from grounded_rag.errors import ConfigError

T = TypeVar("T")


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
        """
        generator = function()
        try:
            while True:
                try:
                    item = self.run(lambda: _next(generator))
                except StopAsyncIteration:
                    return
                yield item
        finally:
            # A loop that was closed meanwhile has closed the generator, too.
            if self._loop is not None:
                self.run(generator.aclose)

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


async def _next(generator: AsyncGenerator[T, None]) -> T:
    return await anext(generator)


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
    finally:
        loop.close()
