"""Answers on the golden questions of a corpus: right, wrong, refused, flagged, and how fast.

    python benchmarks/golden.py [--corpus DIR] [--split dev|test|all] [--json] [--misses]
                                [--data DIR]

Every rate is a count with its exact 95 % interval. "Right" means answered with a citation that
overlaps a gold sentence; a refusal of an answerable question is counted apart from a wrong
answer. Tune on `dev` alone; look at `test` once, at the end. With `--data DIR` (laid out as the
public sets are) the embedded default is measured on SQuAD 2.0, CLAP NQ and NoMIRACL as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import extractive
from rich.console import Console
from rich.table import Table

from grounded_rag import Answer, FlagKind, GroundedRAG, Policy
from grounded_rag.generate.extractive import DEFAULT_THRESHOLD, ExtractiveGenerator
from grounded_rag.index.embedding import default_embedding
from grounded_rag.ingest import read_document, scan
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import Document, Located
from grounded_rag.validity import parse_instant, resolve, staleness

COLUMNS = SPLITS = ("dev", "test")
OUTDATED = {FlagKind.SUPERSEDED, FlagKind.EXPIRED, FlagKind.NOT_YET_EFFECTIVE}


@dataclass
class Result:
    """What became of one question."""

    item: dict[str, Any]
    answer: Answer
    pieces_hit: int
    stale_unflagged: int
    stale_shipped: int
    not_literal: int
    claims_on_gold: int
    cpu: float = 0.0

    @property
    def right(self) -> bool:
        """Answered, with at least one citation on a gold sentence."""
        return self.answer.answered and self.pieces_hit > 0

    @property
    def whole(self) -> bool:
        """Answered, with a citation on every needed piece."""
        return self.answer.answered and self.pieces_hit == len(self.item["gold"])


@dataclass
class Corpus:
    """Documents as they are ingested, read again here so that nothing rests on the index."""

    documents: dict[str, Document] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Corpus:
        """Read every document of a folder."""
        found = scan(folder)
        return cls({f.doc_id: read_document(f).document for f in found.files})

    def spans(self, file: str, quote: str) -> list[tuple[int, int]]:
        """Return every place of a gold quote."""
        text, places, start = self.documents[file].text, [], 0
        while (start := text.find(quote, start)) >= 0:
            places.append((start, start + len(quote)))
            start += 1
        return places

    def stale(self, doc_id: str, as_of: Any) -> bool:
        """Whether a document does not hold at `as_of`, from its own metadata."""
        validity = self.documents[doc_id].validity
        successor = self.documents.get(validity.superseded_by or "")
        validity = resolve(validity, successor=successor.validity if successor else None)
        return any(f.kind in OUTDATED for f in staleness(validity, as_of=as_of))


def judge(item: dict[str, Any], answer: Answer, corpus: Corpus) -> Result:
    """Compare an answer with its golden item."""
    places = [place for claim in answer.claims for place in claim.located]
    pieces = [
        [
            (option["file"], span)
            for option in piece["any_of"]
            for span in corpus.spans(option["file"], option["quote"])
        ]
        for piece in item["gold"]
    ]
    hit = sum(any(overlaps(place, gold) for place in places) for gold in pieces)
    on_gold = sum(
        any(overlaps(place, gold) for place in claim.located for gold in pieces)
        for claim in answer.claims
    )
    as_of = parse_instant(item["as_of"])
    flagged = {flag.doc_id for flag in answer.flags if flag.kind in OUTDATED}
    stale = {place.doc_id for place in places if corpus.stale(place.doc_id, as_of)}
    not_literal = sum(
        place.document_span.of(corpus.documents[place.doc_id].text) != place.quote
        for place in places
    )
    return Result(item, answer, hit, len(stale - flagged), len(stale), not_literal, on_gold)


def measure(rag: GroundedRAG, item: dict[str, Any], corpus: Corpus) -> Result:
    """Ask one question, with the processor time that the answer takes."""
    started = time.process_time()
    answer = rag.query(item["question"], as_of=item["as_of"])
    seconds = time.process_time() - started
    return replace(judge(item, answer, corpus), cpu=seconds)


def overlaps(place: Located, gold: list[tuple[str, tuple[int, int]]]) -> bool:
    """Whether a citation shares a character with one of the gold places."""
    span = place.document_span
    return any(
        place.doc_id == file and span.start < end and start < span.end
        for file, (start, end) in gold
    )


def share(hits: int, trials: int) -> str:
    """Return a rate with its count and exact interval."""
    if not trials:
        return "-"
    interval = clopper_pearson(hits, trials)
    return f"{hits}/{trials} = {hits / trials:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def report(results: list[Result], *, title: str) -> Table:
    """Return the table of one split."""
    table = Table(title=title, title_justify="left")
    for column in ("kind", "right", "refused", "wrong"):
        table.add_column(column, no_wrap=True)
    kinds: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        kinds[result.item["answerable"], result.item["kind"]].append(result)
    for (answerable, kind), group in sorted(kinds.items(), reverse=True):
        refused = sum(not r.answer.answered for r in group)
        right = refused if answerable == "no" else sum(r.right for r in group)
        wrong = len(group) - (right if answerable == "no" else right + refused)
        total = len(group)
        table.add_row(
            f"{kind} ({answerable})", f"{right}/{total}", f"{refused}/{total}", f"{wrong}/{total}"
        )
    return table


def summary(results: list[Result]) -> dict[str, str]:
    """Return the headline rates of one split."""
    yes = [r for r in results if r.item["answerable"] == "yes"]
    part = [r for r in results if r.item["answerable"] == "part"]
    no = [r for r in results if r.item["answerable"] == "no"]
    stale = sum(r.stale_shipped for r in results)
    quotes = sum(len(c.located) for r in results for c in r.answer.claims)
    claims = [len(r.answer.claims) for r in yes if r.answer.answered]
    shipped = [claim for r in results for claim in r.answer.claims]
    return {
        "answered, citation on a gold sentence": share(sum(r.right for r in yes), len(yes)),
        "answered, every needed piece cited": share(sum(r.whole for r in yes), len(yes)),
        "false refusals (answerable)": share(sum(not r.answer.answered for r in yes), len(yes)),
        "wrong answers (answerable)": share(
            sum(r.answer.answered and not r.right for r in yes), len(yes)
        ),
        "claims an answer, mean (answerable)": f"{statistics.fmean(claims or [0]):.2f}",
        "claims restated (all answers)": share(sum(c.restated for c in shipped), len(shipped)),
        "claims on a gold sentence (answerable)": share(
            sum(r.claims_on_gold for r in yes), sum(claims)
        ),
        "refused (unanswerable)": share(sum(not r.answer.answered for r in no), len(no)),
        "two-part: answered part right": share(sum(r.right for r in part), len(part)),
        "two-part: open part named": share(sum(bool(r.answer.unanswered) for r in part), len(part)),
        "stale evidence flagged": share(stale - sum(r.stale_unflagged for r in results), stale),
        "shipped quotes literal": share(quotes - sum(r.not_literal for r in results), quotes),
        "milliseconds a question, median": (
            f"{statistics.median([r.answer.timings.total for r in results] or [0]) * 1000:.0f}"
        ),
        "of processor time, all threads, median": (
            f"{statistics.median([r.cpu for r in results] or [0]) * 1000:.0f}"
        ),
    }


ROWS = tuple(summary([]))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--split", choices=[*SPLITS, "all"], default="dev")
    parser.add_argument("--index", type=Path, help="keep the index here")
    parser.add_argument("--misses", action="store_true", help="print what went wrong")
    parser.add_argument("--support", default="strict", help="strict or spans-only")
    parser.add_argument("--unproven", choices=["restate", "reask", "refuse"], default="restate")
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines = (options.corpus / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    items = [json.loads(line) for line in lines if line.strip()]
    corpus = Corpus.read(options.corpus)
    screen = Console(width=120)
    with tempfile.TemporaryDirectory() as scratch:
        index = options.index or Path(scratch) / "index"
        policy = Policy(support=options.support, unproven=options.unproven)
        started = time.perf_counter()
        with GroundedRAG.from_corpus(options.corpus, index=index, policy=policy) as rag:
            for split in SPLITS if options.split == "all" else (options.split,):
                results = [measure(rag, item, corpus) for item in items if item["split"] == split]
                if options.json:
                    print(json.dumps({"split": split, **summary(results)}, indent=2))
                    continue
                screen.print(report(results, title=f"{split}: {len(results)} questions"))
                screen.print(f"{'':40} {split}", highlight=False)
                for name, value in summary(results).items():
                    screen.print(f"{name:40} {value}", highlight=False)
                if options.misses:
                    print_misses(results)
        if not options.json:
            print(f"ingest and questions together: {time.perf_counter() - started:.0f} s")
    if options.data is not None:
        public_sets(options.data)


def public_sets(data: Path) -> None:
    """Print the figures of the embedded default on public question sets."""
    generator = ExtractiveGenerator(embedding=default_embedding().embedding)
    for name in ("squad2", "clapnq", "nomiracl_en"):
        if not (data / name).is_dir():
            print(f"\n{name}: skipped, not in {data}")
            continue
        results = [extractive.measure(generator, case) for case in extractive.SETS[name](data)]
        extractive.report(name, results, DEFAULT_THRESHOLD)


def print_misses(results: list[Result]) -> None:
    """Print every question that went wrong, with what was answered and what was wanted."""
    for result in results:
        item, answer = result.item, result.answer
        wrong = answer.answered if item["answerable"] == "no" else not result.right
        if wrong:
            print(f"\n{item['id']} {item['kind']}: {item['question']}")
            print(f"   wanted: {item['expected'] or 'refusal'}")
            print(f"   got:    {answer.text[:300]}")
            if not answer.answered and answer.refusal:
                print(f"           {answer.refusal.reason}: {answer.refusal.detail}")
            for piece in item["gold"]:
                option = piece["any_of"][0]
                print(f"   gold:   {option['file']}: {option['quote'][:160]!r}")


if __name__ == "__main__":
    main()
