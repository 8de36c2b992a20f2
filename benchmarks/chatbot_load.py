"""Many people at the chatbot at once: errors, mixed-up answers, waiting time, memory.

Fifty closed-loop users (each asks again as soon as it has its answer) for a minute on the demo
corpus and the built-in generator, with the limits off; then for a short while with the limits on,
where every refusal must be a clean 429. Some users have a document of their own with a word that
nobody else has, and ask for it now and then.

    PYTHONPATH=examples python benchmarks/chatbot_load.py [--users 50] [--seconds 60] [--uploads 10]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

EXAMPLES = Path(__file__).parents[1] / "examples"
QUESTIONS = (
    "Within how many days must a dispute of a card payment reach you?",
    "What is the savings rate on the Everyday Saver?",
    "What is the promotion code for Spring Boost?",
    "How much deposit do I need to buy my first home?",
    "Is the Tarnwick branch open on Saturdays?",
    "Does the bank offer pet insurance?",
    "口座を開くには何が必要ですか？",
    "What is the cash machine limit each day of the Quill Plus Account?",
)
OWN = "What is the secret word of my notes?"
OWN_EVERY = 6


@dataclass
class Tally:
    """What the users saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    retry_missing: int = 0


@contextlib.contextmanager
def service(**settings: str) -> Iterator[tuple[str, int]]:
    """Run the service in a process of its own; yields its address and process id."""
    environment = os.environ | {"PYTHONPATH": str(EXAMPLES), "CHATBOT_PORT": "0", **settings}
    with subprocess.Popen(
        [sys.executable, "-m", "chatbot"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            yield line.split()[-1], process.pid
        finally:
            process.terminate()


def resident(pid: int) -> int:
    """Return the resident memory of a process in MB, or 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    lines = dict(line.split(":", 1) for line in status.read_text(encoding="utf-8").splitlines())
    return int(lines["VmRSS"].split()[0]) // 1024


async def ask(
    client: httpx.AsyncClient, question: str, corpus: str
) -> tuple[httpx.Response, str, dict[str, object]]:
    """Return the response, and the name and data of its last event."""
    response = await client.post("/api/ask", json={"question": question, "corpus": corpus})
    if response.status_code != 200:
        return response, "", {}
    name, data = response.text.strip().split("\n\n")[-1].split("\n", 1)
    return response, name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def said(answer: dict[str, object]) -> str:
    """Return what an answer says."""
    claims = answer.get("claims")
    texts = [claim["text"] for claim in claims] if isinstance(claims, list) else []
    return " ".join(texts) or str(answer.get("status"))


async def visitor(
    number: int, address: str, tally: Tally, *, until: float, expected: dict[str, str], own: bool
) -> None:
    """Be one user until the time is up."""
    choose = random.Random(number)
    word = f"wombat{number:03}"
    headers = {"x-chatbot": "1"}
    async with httpx.AsyncClient(base_url=address, headers=headers, timeout=300) as client:
        started = await client.post("/api/session")
        tally.statuses[started.status_code] += 1
        if started.status_code != 200:
            return
        if own:
            text = f"# Notes\n\nThe secret word of my notes is {word}.\n"
            await client.post("/api/uploads", params={"name": "notes.md"}, content=text.encode())
        while time.monotonic() < until:
            mine = own and choose.randrange(OWN_EVERY) == 0
            question = OWN if mine else choose.choice(QUESTIONS)
            begun = time.perf_counter()
            response, name, data = await ask(client, question, "demo")
            tally.statuses[response.status_code] += 1
            if response.status_code == 429:
                wait = response.headers.get("retry-after")
                tally.retry_missing += wait is None
                await asyncio.sleep(min(float(wait or 1), 2))
                continue
            if name != "answer":
                tally.failures.append(f"{response.status_code} {name} {data}")
                continue
            tally.seconds.append(time.perf_counter() - begun)
            right = word in said(data) if mine else said(data) == expected[question]
            if data["question"] != question or not right:
                tally.mixed.append(f"{question!r}: {said(data)!r}")


async def crowd(
    address: str, *, users: int, seconds: float, expected: dict[str, str], uploads: int
) -> Tally:
    """Let users ask for some seconds."""
    tally = Tally()
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as tasks:
        for number in range(users):
            tasks.create_task(
                visitor(
                    number, address, tally, until=until, expected=expected, own=number < uploads
                )
            )
    return tally


async def alone(address: str) -> dict[str, str]:
    """Return what one user alone is told, by question."""
    async with httpx.AsyncClient(
        base_url=address, headers={"x-chatbot": "1"}, timeout=300
    ) as client:
        await client.post("/api/session")
        return {question: said((await ask(client, question, "demo"))[2]) for question in QUESTIONS}


def part(seconds: list[float], share: float) -> str:
    """Return a quantile in seconds."""
    return f"{sorted(seconds)[int(share * (len(seconds) - 1))]:.2f} s" if seconds else "-"


def main() -> int:
    """Run both parts and print what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--uploads", type=int, default=10, help="users with a document")
    parser.add_argument("--data", default=None, help="folder that keeps the index between runs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = arguments.data or scratch
        with service(CHATBOT_LIMITS="false", CHATBOT_DATA=data) as (address, pid):
            expected = asyncio.run(alone(address))
            before = resident(pid)
            free = asyncio.run(
                crowd(
                    address,
                    users=arguments.users,
                    seconds=arguments.seconds,
                    expected=expected,
                    uploads=arguments.uploads,
                )
            )
            after = resident(pid)
        with service(CHATBOT_DATA=data) as (address, _):
            limited = asyncio.run(
                crowd(
                    address,
                    users=arguments.users,
                    seconds=min(15, arguments.seconds),
                    expected=expected,
                    uploads=0,
                )
            )
    answered = len(free.seconds)
    print(f"limits off: {arguments.users} users, {arguments.seconds:.0f} s")
    print(f"  answers      {answered} ({answered / arguments.seconds:.1f} a second)")
    print(f"  errors       {len(free.failures)}, statuses {dict(free.statuses)}")
    print(f"  mixed up     {len(free.mixed)}")
    print(f"  waiting      p50 {part(free.seconds, 0.5)}, p95 {part(free.seconds, 0.95)}")
    print(f"  memory       {before} MB before, {after} MB after")
    print(f"limits on: {arguments.users} users")
    print(f"  answers      {len(limited.seconds)}, statuses {dict(limited.statuses)}")
    print(f"  429 without Retry-After {limited.retry_missing}, mixed up {len(limited.mixed)}")
    for line in [*free.failures, *free.mixed, *limited.failures, *limited.mixed][:10]:
        print(f"  ! {line}")
    wrong = free.failures or free.mixed or limited.failures or limited.mixed
    clean = set(free.statuses) == {200} and set(limited.statuses) <= {200, 429}
    return 1 if wrong or not clean or limited.retry_missing else 0


if __name__ == "__main__":
    sys.exit(main())
