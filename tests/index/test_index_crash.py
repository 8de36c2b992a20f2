"""Promise 9: kill the writer at any moment, and every document is whole."""

import collections
import contextlib
import queue
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from crash_writer import DOCUMENTS, version
from index_helpers import TextEmbedding, assert_whole

from grounded_rag.index.store import Index

KILLS = 50
SCRIPT = Path(__file__).with_name("crash_writer.py")


class Writer:
    """One process that is killed, and what it has said."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.lines = queue.Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.split())

    def kill(self, folder, turn, *, after_lines, delay):
        """Let it write, kill it, and return every line that it had said."""
        self.process.stdin.write(f"{folder} {turn}\n")
        self.process.stdin.flush()
        said = [self.lines.get(timeout=60) for _ in range(after_lines)]
        # A moment inside the step that was named last, not at its beginning.
        with contextlib.suppress(queue.Empty):
            said.append(self.lines.get(timeout=delay))
        self.close()
        while not self.lines.empty():
            said.append(self.lines.get())
        return said

    def close(self):
        self.process.kill()
        self.process.wait(timeout=60)
        self.thread.join(timeout=60)
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def writers():
    """Processes that are warm by the time they are needed."""
    waiting = collections.deque(Writer() for _ in range(2))

    def following():
        waiting.append(Writer())
        return waiting.popleft()

    yield following
    for writer in waiting:
        writer.close()


@pytest.mark.slow
def test_a_killed_writer_leaves_every_document_whole(folder, writers):
    chance = random.Random(20261129)
    embedding = TextEmbedding()
    acknowledged = dict.fromkeys(range(DOCUMENTS), 0)
    turn, hit = 0, set()
    for kill in range(KILLS):
        said = writers().kill(
            folder, turn, after_lines=chance.randint(1, 70), delay=chance.uniform(0.0001, 0.02)
        )
        hit.add(" ".join(said[-1][1:]) if said[-1][0] == "step" else "between")
        for line in said:
            if line[0] == "wrote":
                acknowledged[int(line[1])] = int(line[2])
        turn += 10
        if not (folder / "ledger.sqlite3").exists():
            continue
        # A reader sees whole documents even before a writer has tidied up.
        write = kill % 2 == 0
        with Index.open(folder, embedding=embedding, write=write, create=write) as index:
            states = index.states()
            for doc, least in acknowledged.items():
                if f"doc-{doc}" not in states:
                    assert least == 0
                    continue
                text = index.document(f"doc-{doc}").text
                found = int(text.split("of turn ")[1].split(".")[0])
                assert text == version(doc, found).text
                assert found >= least
                acknowledged[doc] = found
            assert_whole(index, embedding)
            if write:
                assert index.audit().clean
            turn = max(turn, *acknowledged.values())
    assert len(hit) >= 6, hit
