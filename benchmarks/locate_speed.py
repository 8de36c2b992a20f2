"""Time to locate the quotes of one answer, side by side with other quote checkers.

    python benchmarks/locate_speed.py [--corpus demo|FOLDER | --data DIR] [--answers N] [--repeat N]

One answer has 8 claims with quotes of 21 words over 10 chunks of about 1,900 characters. Three
states: all quotes literal, all differing in presentation, all tampered. Every answer starts from
strings: what a checker prepares a chunk for is counted, once a chunk. The figures are medians over
the answers, each the best of a few repeats, all checkers one after the other on the same answer.
Time is CPU time of this process, which has one thread, so that a busy machine does not blur it.

`ours, locate` is the function that finds the place. `ours, verify` is the public call without
support checks: reading the draft, chunk ids, places, sentences, and for a quote that is not found
the diagnosis with the nearest real words, which no other checker gives. `gtrex, cited only` leaves
out the chunks that no quote cites. The two `prepared` rows keep what was made of the chunks between
repeats, so that preparing them is free, which no answer over freshly retrieved chunks has. Peers as
users get them by default; see `peers.py`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grounded_rag import verify
from grounded_rag.testing.tamper import BENIGN, TAMPERS, Kind, load_corpus, load_data, pools_of
from grounded_rag.testing.tamper.values import Pools, Sentence
from grounded_rag.verification.locate import Quote, Source, locate

CLAIMS, CHUNKS, WORDS, CHARS = 8, 10, 21, 1900
COLUMNS = STATES = ("literal", "benign", "tampered")
ROWS = (
    "ours, locate",
    "ours, prepared",
    "ours, verify",
    "gtrex",
    "gtrex, cited only",
    "gtrex, prepared",
    "rapidfuzz>=90",
    "in",
)


@dataclass(frozen=True)
class Cited:
    """A quote and the position of the chunk that it cites."""

    chunk: int
    quote: str


@dataclass(frozen=True)
class Request:
    """The retrieved chunks and the quotes of one answer."""

    chunks: tuple[str, ...]
    quotes: tuple[Cited, ...]


Run = Callable[[Request], int]
"""Checks all quotes of a request and returns how many were accepted."""


def ours_locate(request: Request) -> int:
    """Locate with the function itself."""
    sources = [Source(text) for text in request.chunks]
    found = [locate(sources[q.chunk], Quote(q.quote)) for q in request.quotes]
    return sum(hasattr(item, "places") for item in found)


def ours_prepared() -> Run:
    """Return a locator that keeps its sources, and so their folded views, between repeats."""
    ready: dict[Request, list[Source]] = {}

    def run(request: Request) -> int:
        if request not in ready:
            ready[request] = [Source(text) for text in request.chunks]
        found = [locate(ready[request][q.chunk], Quote(q.quote)) for q in request.quotes]
        return sum(hasattr(item, "places") for item in found)

    return run


def ours_verify(request: Request) -> int:
    """Verify through the public call, without support checks."""
    draft = {
        "claims": [
            {"text": q.quote, "chunk_id": f"c{q.chunk}", "quote": q.quote} for q in request.quotes
        ]
    }
    chunks = [{"id": f"c{n}", "text": text} for n, text in enumerate(request.chunks)]
    checks = [claim.citations[0] for claim in verify(draft, chunks, checks=()).claims]
    # A label that is mended leads to another chunk, in which the quote stands as it is.
    return sum(
        check.located is not None and not check.problem and not check.id_repaired
        for check in checks
    )


def plain(request: Request) -> int:
    """Look up with `in`."""
    return sum(q.quote in request.chunks[q.chunk] for q in request.quotes)


def peers() -> dict[str, Run]:
    """Return the peers that are installed."""
    runs: dict[str, Run] = {}
    try:
        from gtrex import Policy, Verifier

        def gtrex(request: Request) -> int:
            verifiers = [Verifier(text, Policy()) for text in request.chunks]
            return sum(verifiers[q.chunk].verify(q.quote).grounded for q in request.quotes)

        def gtrex_cited(request: Request) -> int:
            verifiers = {
                n: Verifier(request.chunks[n], Policy()) for n in {q.chunk for q in request.quotes}
            }
            return sum(verifiers[q.chunk].verify(q.quote).grounded for q in request.quotes)

        ready: dict[Request, list[Verifier]] = {}

        def gtrex_ready(request: Request) -> int:
            if request not in ready:
                ready[request] = [Verifier(text, Policy()) for text in request.chunks]
            return sum(ready[request][q.chunk].verify(q.quote).grounded for q in request.quotes)

        runs["gtrex"], runs["gtrex, cited only"] = gtrex, gtrex_cited
        runs["gtrex, prepared"] = gtrex_ready
    except ImportError:
        print("gtrex: not installed (pip install gtrex)")
    try:
        from rapidfuzz import fuzz

        def rapidfuzz(request: Request) -> int:
            return sum(
                fuzz.partial_ratio(q.quote, request.chunks[q.chunk]) >= 90 for q in request.quotes
            )

        runs["rapidfuzz>=90"] = rapidfuzz
    except ImportError:
        print("rapidfuzz: not installed (pip install rapidfuzz)")
    return runs


def requests(pools: Pools, state: str, *, count: int) -> list[Request]:
    """Return requests in one state; the same seed gives the same places in each state."""
    long = [s for s in pools.sentences if len(s.text.split()) >= WORDS]
    texts = sorted({s.passage.text for s in pools.sentences})
    rng = random.Random(7)
    made = []
    while len(made) < count:
        chunks = [_filled(text, texts, rng) for text in rng.sample(texts, CHUNKS - CLAIMS)]
        quotes = []
        for sentence in rng.sample(long, CLAIMS):
            words = sentence.text.split(" ")
            start = rng.randrange(len(words) - WORDS + 1)
            part = " ".join(words[start : start + WORDS])
            at = sentence.passage.text.index(part)
            chunk, quote = _changed(rng, pools, state, Sentence(
                text=part, passage=sentence.passage, start=at, whole=False
            ))  # fmt: skip
            quotes.append(Cited(len(chunks), quote))
            chunks.append(_filled(chunk, texts, rng))
        made.append(Request(tuple(chunks), tuple(quotes)))
    return made


def _filled(text: str, texts: Sequence[str], rng: random.Random) -> str:
    while len(text) < CHARS:
        text = f"{text}\n\n{rng.choice(texts)}"
    return text[: CHARS + 60]


def _changed(rng: random.Random, pools: Pools, state: str, sentence: Sentence) -> tuple[str, str]:
    """Return chunk and quote; kinds that need other places or edges are left out."""
    if state == "literal":
        return sentence.passage.text, sentence.text
    kinds: Sequence[Kind] = BENIGN if state == "benign" else TAMPERS
    for kind in rng.sample(list(kinds), len(kinds)):
        draw = kind.make(rng, sentence, pools)
        if draw is None or draw.cited is None or draw.quote in draw.chunks[0]:
            continue
        if abs(len(draw.quote.split()) - WORDS) <= 3:
            return draw.chunks[0], draw.quote
    return sentence.passage.text, f"{sentence.text[:-1]}~"


def timed(run: Run, request: Request, *, repeat: int) -> float:
    """Return the best time of a few, in milliseconds."""
    best = float("inf")
    for _ in range(repeat):
        started = time.process_time_ns()
        run(request)
        best = min(best, time.process_time_ns() - started)
    return best / 1e6


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--data", type=Path, help="folder of data sets")
    source.add_argument("--corpus", default="demo", help="demo, or a folder of text files")
    parser.add_argument("--answers", type=int, default=40)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    pools = pools_of(load_data(options.data) if options.data else load_corpus(options.corpus))
    checkers = {
        "ours, locate": ours_locate,
        "ours, prepared": ours_prepared(),
        "ours, verify": ours_verify,
        **peers(),
        "in": plain,
    }
    runs = {name: checkers[name] for name in ROWS if name in checkers}
    made = {state: requests(pools, state, count=options.answers) for state in STATES}
    print(f"{'median ms an answer':<20}" + "".join(f"{state:>22}" for state in STATES))
    print(f"{'':<20}" + f"{'(quotes accepted)':>22}" * len(STATES))
    times: dict[tuple[str, str], list[float]] = {}
    for state in STATES:
        for request in made[state]:
            for name, run in runs.items():
                milliseconds = timed(run, request, repeat=options.repeat)
                times.setdefault((name, state), []).append(milliseconds)
    for name, run in runs.items():
        cells = []
        for state in STATES:
            share = sum(map(run, made[state])) / (CLAIMS * options.answers)
            cells.append(f"{statistics.median(times[name, state]):12.4f} ({share:7.1%})")
        print(f"{name:<20}" + "".join(f"{cell:>22}" for cell in cells))


if __name__ == "__main__":
    main()
