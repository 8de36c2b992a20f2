"""The background loop of the blocking interface."""

import asyncio
import concurrent.futures
import contextlib
import subprocess
import sys
import threading

import anyio.to_thread
import pytest

from grounded_rag._sync import BackgroundLoop
from grounded_rag.errors import ConfigError

FORGETFUL = """
from grounded_rag import GroundedRAG
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
text = "The notice period is six weeks."
rag = GroundedRAG(
    StaticRetriever({"c1": text}), generator=ScriptedGenerator(make_draft((text, "c1", text)))
)
print(rag.query("How long?").status)
"""


def test_a_program_that_forgets_to_close_still_ends():
    result = subprocess.run(
        [sys.executable, "-c", FORGETFUL],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        encoding="utf-8",
    )
    assert result.stdout.strip() == "answered"


def test_calls_from_several_threads_share_one_loop():
    loop = BackgroundLoop()
    seen = set()

    async def where():
        await asyncio.sleep(0)
        return id(asyncio.get_running_loop())

    threads = [threading.Thread(target=lambda: seen.add(loop.run(where))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    loop.close()
    assert len(seen) == 1


def test_errors_reach_the_caller_and_close_may_be_repeated():
    loop = BackgroundLoop()

    async def fails():
        raise ValueError("no")

    async def works():
        return 7

    with pytest.raises(ValueError, match="no"):
        loop.run(fails)
    loop.close()
    loop.close()
    assert loop.run(works) == 7
    loop.close()


def test_close_cancels_what_still_runs():
    loop = BackgroundLoop()
    begun, cancelled = threading.Event(), threading.Event()

    async def endless():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    def call():
        with pytest.raises(BaseException):  # noqa: B017 - cancellation has several faces
            loop.run(endless)

    thread = threading.Thread(target=call)
    thread.start()
    begun.wait()
    loop.close()
    thread.join()
    assert cancelled.is_set()


def test_a_blocking_call_from_inside_its_own_loop_is_an_error_and_no_deadlock():
    loop = BackgroundLoop()

    async def works():
        return 7

    async def asks_again():
        return loop.run(works)

    with pytest.raises(ConfigError, match="inside the loop"):
        loop.run(asks_again)
    loop.close()


class Counting:
    """An asynchronous generator whose end takes the loop several turns."""

    def __init__(self):
        self.waits = threading.Event()
        self.closed = threading.Event()

    async def items(self):
        try:
            yield 1
            self.waits.set()
            await asyncio.Event().wait()
            yield 2
        finally:
            for _ in range(20):
                await asyncio.sleep(0)
            self.closed.set()


def test_an_interrupted_step_is_waited_for_before_the_generator_is_closed(monkeypatch):
    loop, counting = BackgroundLoop(), Counting()
    items = loop.iterate(counting.items)
    assert next(items) == 1
    result = concurrent.futures.Future.result
    interrupts = [KeyboardInterrupt]

    def interrupted(future, timeout=None):
        if interrupts:
            # The step is at its wait when the interrupt comes.
            assert counting.waits.wait(10)
            raise interrupts.pop()
        return result(future, timeout)

    monkeypatch.setattr(concurrent.futures.Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(items)
    assert counting.closed.is_set()
    loop.close()


def test_an_iteration_over_a_closed_loop_says_so_and_starts_no_other_loop():
    # Other tests' loops may still be running in this process.
    before = set(threading.enumerate())
    loop, counting = BackgroundLoop(), Counting()
    items = loop.iterate(counting.items)
    assert next(items) == 1
    loop.close()
    assert counting.closed.is_set()
    with pytest.raises(ConfigError, match="closed before"):
        next(items)
    left = loop.iterate(Counting().items)
    assert next(left) == 1
    loop.close()
    left.close()
    started = set(threading.enumerate()) - before
    assert "grounded-rag" not in {thread.name for thread in started}


def test_closing_waits_for_a_thread_that_an_interrupt_left_at_work():
    """A thread inside a model's native code when the interpreter ends would abort the process."""
    loop = BackgroundLoop()
    begun, never, ended = threading.Event(), threading.Event(), []

    def native():
        begun.set()
        never.wait(0.2)
        ended.append(True)

    async def ask():
        await anyio.to_thread.run_sync(native)

    def call():
        with contextlib.suppress(concurrent.futures.CancelledError):
            loop.run(ask)

    caller = threading.Thread(target=call)
    caller.start()
    assert begun.wait(5)
    loop.close()
    assert ended
    caller.join(5)
