"""Scores labelled claims beside literal quotes, and whole drafts of a model, at the defaults.

    python benchmarks/support_cases.py [CASES] [--drafts FILE] [--show]

CASES are JSON lines {id, kind, question, chunks: [{id, text, title?, headings?}], draft, expect,
near, soft}: every draft goes through the public `verify` without a decider. A case ships if every
claim of it ships in its own words. Wrong are a "reject" that ships and an "accept" with `near`
that does not; an "accept" in other words is counted apart, and so are soft cases.

--drafts takes JSON lines {id, set, question, as_of, chunks, draft, true_of_source,
answers_question}: each draft goes through the whole pipeline at its defaults, with a scripted
generator that returns it at every attempt and a retriever that finds its chunks.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grounded_rag import Answer, GroundedRAG, verify
from grounded_rag.statistics import clopper_pearson
from grounded_rag.testing import ScriptedGenerator, StaticRetriever
from grounded_rag.testing.tamper import fate_of
from grounded_rag.types import Chunk, Draft, RetrievedChunk, Span

ATTEMPTS = 10
"""How often a scripted generator gives the same draft; more than any policy asks."""


class Scored(NamedTuple):
    """One case and how it ships: "own", "restated" or "refused", the worst of its claims."""

    case: Mapping[str, Any]
    ships: str
    why: str


def chunks_of(rows: Iterable[Mapping[str, Any]]) -> list[RetrievedChunk]:
    """Return the chunks of a case, with the titles and headings that it names."""
    return [
        RetrievedChunk(
            chunk=Chunk(
                id=row["id"],
                doc_id=row.get("doc_id", row["id"]),
                span=Span(start=0, end=len(row["text"])),
                text=row["text"],
                content_hash=hashlib.sha256(row["text"].encode("utf-8", "replace")).hexdigest(),
                headings=tuple(row.get("headings", ())),
            ),
            title=row.get("title", ""),
            rank=rank,
        )
        for rank, row in enumerate(rows, start=1)
    ]


def score(case: Mapping[str, Any]) -> Scored:
    """Verify one case."""
    found = verify(
        case["draft"], chunks_of(case["chunks"]), question=case.get("question") or None
    ).claims
    fates = [fate_of(verdict) for verdict in found] or ["refused"]
    why = "; ".join(f"{verdict.reason or ''} {verdict.why}".strip() for verdict in found)
    if all(fate in ("verbatim", "confirmed") for fate in fates):
        return Scored(case, "own", why)
    return Scored(case, "refused" if "refused" in fates else "restated", why)


def share(hits: int, total: int) -> str:
    """Return a share with its counts and interval."""
    ends = clopper_pearson(hits, total)
    percent = 100 * hits / total if total else float("nan")
    return f"{hits:4}/{total:<4} {percent:5.1f}% [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def wrong(item: Scored) -> bool:
    """Whether a case went as it must not."""
    if item.case["expect"] == "reject":
        return item.ships == "own"
    return bool(item.case["near"]) and item.ships != "own"


def report(scored: Sequence[Scored]) -> None:
    """Print the counts by kind and the figures that are asked for."""
    hard = [item for item in scored if not item.case["soft"]]
    kinds: dict[str, list[Scored]] = defaultdict(list)
    for item in hard:
        kinds[item.case["kind"]].append(item)
    print(f"{'kind':24}{'cases':>6}{'false shipped':>15}{'near refused':>14}")
    for kind, part in sorted(kinds.items()):
        false = [item for item in part if item.case["expect"] == "reject"]
        near = [item for item in part if item.case["expect"] == "accept" and item.case["near"]]
        shipped, lost = sum(map(wrong, false)), sum(map(wrong, near))
        print(f"{kind:24}{len(part):6}{shipped:9} of {len(false):3}{lost:8} of {len(near):3}")
    false = [item for item in hard if item.case["expect"] == "reject"]
    honest = [item for item in hard if item.case["expect"] == "accept"]
    near = [item for item in honest if item.case["near"]]
    free = [item for item in honest if not item.case["near"]]
    print()
    print(f"false in own words          {share(sum(map(wrong, false)), len(false))}   (at most 2%)")
    print(f"near refused or restated    {share(sum(map(wrong, near)), len(near))}   (at most 5%)")
    for ships in ("own", "restated", "refused"):
        count = sum(item.ships == ships for item in free)
        print(f"other words, {ships:15}{share(count, len(free))}")
    soft = [item for item in scored if item.case["soft"]]
    print(f"soft cases, not scored      {sum(map(wrong, soft))} of {len(soft)} otherwise")


def ask(row: Mapping[str, Any]) -> Answer:
    """Send one draft through the whole pipeline at its defaults."""
    draft = Draft.model_validate(row["draft"])
    generator = ScriptedGenerator(*[draft] * ATTEMPTS)
    with GroundedRAG(StaticRetriever(chunks_of(row["chunks"])), generator=generator) as rag:
        return rag.query(row["question"], as_of=row["as_of"])


def report_drafts(rows: Sequence[Mapping[str, Any]], *, show: bool) -> None:
    """Print how the drafts of each set are answered."""
    answers = [(row, ask(row)) for row in rows]
    own = {
        row["id"]: answer.answered
        and all(fate_of(v) in ("verbatim", "confirmed") for v in answer.claims)
        for row, answer in answers
    }
    print()
    for name, least in (("near", "   (at least 65%)"), ("natural", "")):
        part = [(row, answer) for row, answer in answers if row["set"] == name]
        answered = sum(answer.answered for _, answer in part)
        mine = sum(own[row["id"]] for row, _ in part)
        print(f"{name:8} answered           {share(answered, len(part))}   (at least 97%)")
        print(f"{name:8} in own words       {share(mine, len(part))}{least}")
    for name, label in (("true_of_source", "false"), ("answers_question", "beside the question")):
        part = [(row, answer) for row, answer in answers if not row[name]]
        mine = sum(own[row["id"]] for row, _ in part)
        answered = sum(answer.answered for _, answer in part)
        print(f"{label}: in own words {share(mine, len(part))}, answered {answered}")
    for row, answer in answers if show else ():
        print(f"- {row['id']} {answer.status} {'own' if own[row['id']] else ''}: {row['question']}")
        print(f"    draft  {' '.join(c['text'] for c in row['draft']['claims'])}")
        print(f"    answer {answer.text}")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path, nargs="?", help="labelled cases")
    parser.add_argument("--drafts", type=Path, help="drafts of a model")
    parser.add_argument("--show", action="store_true", help="print the wrong cases, all answers")
    options = parser.parse_args()
    if options.cases is None and options.drafts is None:
        parser.error("name a file of cases, or --drafts")
    if options.cases is not None:
        scored = [score(case) for case in read(options.cases)]
        report(scored)
        for item in filter(wrong, scored if options.show else ()):
            claims = " ".join(claim["text"] for claim in item.case["draft"]["claims"])
            print(f"- {item.case['id']} {item.case['expect']}, {item.ships}: {claims}")
            print(f"    {item.case['chunks'][0]['text']}\n    {item.why}")
    if options.drafts is not None:
        report_drafts(read(options.drafts), show=options.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
