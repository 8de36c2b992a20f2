"""The background loop of the blocking interface."""

import asyncio
import subprocess
import sys
import threading

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
