"""How many of our files, functions and calls one question, one claim and one document take.

    python benchmarks/way.py [--corpus DIR] [--index DIR] [--files] [--json]
                             [--max-files-question N] [--max-files-verify N]
                             [--max-files-ingest N] [--max-depth N]

The question is the first answerable `dev` question of the corpus, asked of the built-in generator;
the claim is a literal copy of its quote; the document is a Markdown file of two lines, ingested
into an index of its own. Each runs once before, with another question, claim or document, so that
imports and what is loaded once do not count, but what is worked out for a text does.

Counted are the files inside the package alone, in all threads: the asking one, the background loop
and its workers. A function is a code object that was entered; comprehensions and lambdas are part
of the function that holds them, bodies of modules and classes are none, and methods that
dataclasses and pydantic write have no file. A call is an entry of a function; that a coroutine or
generator goes on counts as one more. Depth is the most of our functions on one thread's stack at
once; what waits in another thread is not on it. Lines are all lines of the files entered. Counts
of calls differ a little between versions of Python. Exits with 1 where a limit is exceeded.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, TypeVar, cast

import grounded_rag
from grounded_rag import (
    Answer,
    ClaimStatus,
    GroundedRAG,
    IngestReport,
    Verification,
    update_index,
    verify,
)
from grounded_rag.resources import demo_corpus_dir

PACKAGE = Path(grounded_rag.__file__).parent
COLUMNS = ("files", "functions", "calls", "depth", "lines")
ROWS = ("question", "verify", "ingest")
T = TypeVar("T")
Result = Answer | Verification | IngestReport
INSIDE = {"<lambda>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


@dataclass
class Way:
    """What was entered, in the order of the first entry."""

    entered: dict[CodeType, None] = field(default_factory=dict)
    calls: int = 0
    depth: int = 0

    @property
    def files(self) -> list[str]:
        """The files, relative to the package."""
        found = (Path(code.co_filename).relative_to(PACKAGE).as_posix() for code in self.entered)
        return list(dict.fromkeys(found))

    def figures(self) -> dict[str, int]:
        """Return the figures by column."""
        lines = sum(len((PACKAGE / name).read_bytes().splitlines()) for name in self.files)
        counts = (len(self.files), len(self.entered), self.calls, self.depth, lines)
        return dict(zip(COLUMNS, counts, strict=True))


class Tracer:
    """Profiles all threads that start after it; notes what they enter while it records."""

    def __init__(self) -> None:
        self._ours: dict[CodeType, bool] = {}
        self._way: Way | None = None
        self._lock = threading.Lock()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Watch this thread and those that start from here on."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def record(self, work: Callable[[], T]) -> tuple[Way, T]:
        """Return what a piece of work enters, and what it returns."""
        way = self._way = Way()
        try:
            result = work()
        finally:
            self._way = None
        return way, result

    def _note(self, frame: FrameType, event: str, _arg: Any) -> None:
        way = self._way
        if way is None or event != "call" or not self._is_ours(frame.f_code):
            return
        depth, above = 0, cast("FrameType | None", frame)
        while above is not None:
            depth += self._is_ours(above.f_code)
            above = above.f_back
        with self._lock:
            way.entered.setdefault(frame.f_code)
            way.calls += 1
            way.depth = max(way.depth, depth)

    def _is_ours(self, code: CodeType) -> bool:
        known = self._ours.get(code)
        if known is None:
            known = self._ours[code] = is_function(code, PACKAGE)
        return known


def is_function(code: CodeType, folder: Path) -> bool:
    """Whether code is a function of a file in a folder; see the top for what is none."""
    optimized = bool(code.co_flags & inspect.CO_OPTIMIZED)
    inside = Path(code.co_filename).is_relative_to(folder)
    return inside and optimized and code.co_name not in INSIDE


def questions(corpus: Path) -> list[dict[str, Any]]:
    """Return the answerable golden questions of the `dev` split."""
    lines = (corpus / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines if line.strip()]
    return [item for item in items if item["split"] == "dev" and item["answerable"] == "yes"]


def ask(rag: GroundedRAG, item: dict[str, Any]) -> Answer:
    """Ask one golden question."""
    return rag.query(item["question"], as_of=item["as_of"])


def check(sentence: str) -> Verification:
    """Verify one claim that is its quote."""
    claim = {"text": sentence, "chunk_id": "c1", "quote": sentence}
    chunk = {"id": "c1", "text": f"{sentence} Ask at the counter.", "metadata": {"title": "Fees"}}
    return verify([claim], [chunk])


def succeeded(result: Result) -> bool:
    """Whether a piece of work came to what it is measured for; a refusal has another way."""
    if isinstance(result, Answer):
        return result.answered
    if isinstance(result, Verification):
        return [claim.status for claim in result.claims] == [ClaimStatus.SUPPORTED]
    return len(result.added) == 1


def ingest(folder: Path, sentence: str) -> IngestReport:
    """Ingest a folder with one file of two lines into an index of its own."""
    pages = folder / "pages"
    pages.mkdir(parents=True)
    (pages / "page.md").write_text(f"# Fees\n{sentence}\n", encoding="utf-8")
    return update_index([pages], index=folder / "index")


def measure(corpus: Path, index: Path, scratch: Path) -> dict[str, Way]:
    """Return the three ways, each after a run with something else."""
    tracer = Tracer()
    item, other = questions(corpus)[:2]
    sentence, another = "A card costs €4.", "Parking takes two coins."
    with (
        GroundedRAG.from_corpus(corpus, index=index) as rag,
        tracer.installed(),
    ):
        works: dict[str, tuple[Callable[[], Result], Callable[[], Result]]] = {
            "question": (lambda: ask(rag, other), lambda: ask(rag, item)),
            "verify": (lambda: check(another), lambda: check(sentence)),
            "ingest": (
                lambda: ingest(scratch / "warm", another),
                lambda: ingest(scratch / "measured", sentence),
            ),
        }
        ways = {}
        for name in ROWS:
            warm, work = works[name]
            warm()
            ways[name], result = tracer.record(work)
            if not succeeded(result):
                raise SystemExit(f"{name}: not done, so there is nothing to count: {result!r}")
    return ways


def table(figures: dict[str, dict[str, int]]) -> str:
    """Return the table, one line a way."""
    head = f"{'':<10}" + "".join(f"{column:>11}" for column in COLUMNS)
    lines = [
        f"{name:<10}" + "".join(f"{row[column]:>11,}" for column in COLUMNS)
        for name, row in figures.items()
    ]
    return "\n".join([head, *lines])


def exceeded(figures: dict[str, dict[str, int]], limits: dict[str, int | None]) -> list[str]:
    """Return a line for each limit that is exceeded; `depth` holds for every way."""
    found = []
    for name, row in figures.items():
        for column, most in (("files", limits[name]), ("depth", limits["depth"])):
            if most is not None and row[column] > most:
                found.append(f"{name}: {column} {row[column]}, at most {most}")
    return found


def main() -> int:
    """Print the figures; 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--index", type=Path, help="keep the index of the corpus here")
    parser.add_argument("--files", action="store_true", help="list the files, as entered")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    for name in ROWS:
        parser.add_argument(f"--max-files-{name}", type=int, metavar="N", dest=name)
    parser.add_argument("--max-depth", type=int, metavar="N", dest="depth", help="for each way")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        ways = measure(options.corpus, options.index or scratch / "index", scratch)
    figures = {name: way.figures() for name, way in ways.items()}
    if options.json:
        lists = {
            name: {"entered": way.files} if options.files else {} for name, way in ways.items()
        }
        print(json.dumps({name: figures[name] | lists[name] for name in ways}, indent=2))
    else:
        print(table(figures))
        for name, way in ways.items() if options.files else ():
            print(f"\n{name}\n" + "\n".join(f"  {file}" for file in way.files))
    over = exceeded(figures, vars(options))
    for line in over:
        print(line, file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
