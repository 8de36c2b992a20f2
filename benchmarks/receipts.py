"""Receipts against documents that changed: real quotes from old revisions, four labels.

python benchmarks/receipts.py --data DIR [--against index|folder] [--json] [--misses]

DIR holds `doc_revisions/documents.jsonl` and `doc_revisions/quotes.jsonl`. Each quote becomes the
claim of a receipt on the old revision; the receipts are then verified against the new revisions.
The rules were developed while looking at all of these quotes; the two halves of the documents are
shown apart to see how far the figures spread, not as figures on unseen text.
"""

from __future__ import annotations

import argparse
import collections
import datetime as dt
import hashlib
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from grounded_rag import update_index
from grounded_rag.answer import Answer
from grounded_rag.ingest import read_document, scan
from grounded_rag.receipts.check import ReceiptChecker
from grounded_rag.receipts.findings import ClaimCheck, TextStatus
from grounded_rag.receipts.library import Held, Library, open_library
from grounded_rag.receipts.make import make_receipt, seal
from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import (
    AnswerStatus,
    Chunk,
    Citation,
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Document,
    Located,
    Receipt,
    RetrievedChunk,
    Span,
    Tier,
)

COLUMNS = ("all", "first half", "second half")
ROWS = (
    "told apart (current, changed, link only, removed)",
    "new passage shown for a changed line",
    "current lines called otherwise",
    "lines with a changed number that is not reported",
)
LABELS = ("current", "changed", "link_only", "removed")
SAYS = {
    TextStatus.STILL_TRUE: "current",
    TextStatus.TEXT_MOVED: "current",
    TextStatus.REFORMATTED: "changed",
    TextStatus.TEXT_CHANGED: "changed",
    TextStatus.LINK_CHANGED: "link_only",
    TextStatus.REMOVED: "removed",
    TextStatus.DOCUMENT_GONE: "removed",
}
DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
TODAY = dt.date(2026, 1, 1)


class Row(NamedTuple):
    """One quote, what the data say of it and what the check said."""

    quote: dict[str, object]
    check: ClaimCheck
    says: str
    shown: str
    first: bool


def main() -> int:
    """Verify the receipts and print the tables; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with doc_revisions/")
    parser.add_argument("--against", choices=["index", "folder"], default="index")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--misses", action="store_true", help="also print every miss")
    options = parser.parse_args()
    source = options.data / "doc_revisions"
    if not source.is_dir():
        print(f"skipped: there is no {source}", file=sys.stderr)
        return 0
    documents = _lines(source / "documents.jsonl")
    quotes = _lines(source / "quotes.jsonl")
    with tempfile.TemporaryDirectory() as root:
        rows = run(documents, quotes, Path(root), options.against)
    halves = ([row for row in rows if row.first], [row for row in rows if not row.first])
    parts = dict(zip(COLUMNS, (rows, *halves), strict=True))
    figures = {name: score(part) for name, part in parts.items()}
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, part in parts.items():
            report(name, part, figures[name])
        print(f"\n{summary(figures)}")
        if options.misses:
            misses(rows)
    reached = figures["all"]
    good = reached["accuracy"] >= 0.95 and reached["right_passage"] >= 0.9
    return 0 if good and reached["numbers_missed"] == 0 else 1


def run(documents: list[dict], quotes: list[dict], root: Path, against: str) -> list[Row]:
    """Make receipts on the old revisions and check them against the new ones."""
    folder, index = root / "pages", root / "index"
    folder.mkdir(parents=True)

    def write(at: int) -> None:
        for document in documents:
            text = document["revisions"][at]["text"]
            (folder / f"{document['doc']}.md").write_text(text, encoding="utf-8")
        if against == "index":
            update_index([folder], index=index, embedding=None)

    write(0)
    before = {file.doc_id: read_document(file).document for file in scan(folder).files}
    receipts = [receipt_of(quote, before[f"{quote['doc']}.md"]) for quote in quotes]
    write(-1)
    place = {"index": index, "folder": None} if against == "index" else {
        "index": None, "folder": folder,
    }  # fmt: skip
    started = time.perf_counter()
    rows = []
    with open_library(**place, as_of=TODAY) as library, ReceiptChecker(library) as checker:
        for quote, receipt in zip(quotes, receipts, strict=True):
            check = checker.check(receipt)
            if check.altered:
                print(f"altered? {quote['id']}: {check.altered[0].detail}", file=sys.stderr)
            rows.append(_row(quote, check.claims[0], library))
    seconds = time.perf_counter() - started
    print(f"{len(rows)} receipts in {seconds:.1f} s against the {against}", file=sys.stderr)
    return rows


def _row(quote: dict, check: ClaimCheck, library: Library) -> Row:
    (standing,) = check.citations or (None,)
    shown = ""
    if standing is not None and standing.nearest is not None:
        shown = standing.nearest.text
    elif standing is not None and standing.span is not None:
        held = library.get(standing.found_in)
        shown = held.passages.around(standing.span) if isinstance(held, Held) else ""
    digest = hashlib.sha256(str(quote["doc"]).encode()).hexdigest()
    first = int(digest[:8], 16) % 2 == 0
    return Row(quote, check, SAYS.get(check.status, str(check.status)), shown, first)


def receipt_of(quote: dict, document: Document) -> Receipt:
    """Return the receipt of an answer that is just this quote, on the paragraph it stands in."""
    start = document.text.index(quote["old_quote"])
    place = Span(start=start, end=start + len(quote["old_quote"]))
    first = document.text.rfind("\n\n", 0, start) + 2 if "\n\n" in document.text[:start] else 0
    last = document.text.find("\n\n", place.end)
    span = Span(start=first, end=len(document.text) if last < 0 else last)
    text = span.of(document.text)
    chunk = Chunk(
        id=f"{document.id}:{first}",
        doc_id=document.id,
        span=span,
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
    )
    words = place.of(document.text)
    citation = Citation(chunk_id=chunk.id, quote=words)
    located = Located(
        chunk_id=chunk.id,
        doc_id=document.id,
        chunk_span=place.shift(-first),
        document_span=place,
        quote=words,
    )
    verdict = ClaimVerdict(
        claim=Claim(text=words, citations=(citation,)),
        citations=(CitationCheck(citation=citation, located=located),),
        status=ClaimStatus.SUPPORTED,
        tier=Tier.NONE,
    )
    answer = Answer(
        question="What does the handbook say?",
        status=AnswerStatus.ANSWERED,
        text=f"{words.strip()} [1]",
        claims=(verdict,),
        evidence=(RetrievedChunk(chunk=chunk, document_hash=document.content_hash),),
        policy={"support": "spans-only"},
    )
    receipt = make_receipt(answer)
    # Whole lines are no claims that a model would make; only where they stand is asked here.
    return seal(receipt.model_copy(update={"package_version": "none"}))


def score(rows: list[Row]) -> dict[str, float]:
    """Return the figures of the issue."""
    right = sum(row.says == row.quote["label"] for row in rows)
    changed = [row for row in rows if row.quote["label"] == "changed"]
    passage = sum(_right_passage(row) for row in changed)
    current = [row for row in rows if row.quote["label"] == "current"]
    numbers = [row for row in rows if row.quote["numbers_changed"]]
    standing = [row for row in numbers if row.check.status is TextStatus.REFORMATTED]
    missed = [row for row in numbers if row not in standing and not _numbers_reported(row)]
    stale = {"changed", "removed"}
    flagged = [row for row in rows if row.says in stale and row.quote["label"] != "link_only"]
    wanted = [row for row in rows if row.quote["label"] in stale]
    hits = sum(row.quote["label"] in stale for row in flagged)
    return {
        "quotes": len(rows),
        "right": right,
        "accuracy": right / max(1, len(rows)),
        "changed": len(changed),
        "passage_right": passage,
        "right_passage": passage / max(1, len(changed)),
        "current": len(current),
        "current_missed": sum(row.says != "current" for row in current),
        "numbers_changed": len(numbers),
        "numbers_rewrapped_only": len(standing),
        "numbers_missed": len(missed),
        "stale_precision": hits / max(1, len(flagged)),
        "stale_recall": hits / max(1, len(wanted)),
        "reformatted": sum(row.check.status is TextStatus.REFORMATTED for row in rows),
    }


def summary(figures: dict[str, dict[str, float]]) -> str:
    """Return the figures of all parts as one table."""
    cells = [
        (
            _interval(each["right"], each["quotes"]),
            _interval(each["passage_right"], each["changed"]),
            f"{each['current_missed']:.0f} of {each['current']:.0f}",
            f"{each['numbers_missed']:.0f} of {each['numbers_changed']:.0f}",
        )
        for each in figures.values()
    ]
    lines = [f"{'':50}" + "".join(f"{name:>24}" for name in figures)]
    for name, *row in zip(ROWS, *cells, strict=True):
        lines.append(f"{name:50}" + "".join(f"{cell:>24}" for cell in row))
    return "\n".join(lines)


def _interval(hits: float, trials: float) -> str:
    interval = clopper_pearson(int(hits), int(trials))
    return f"{hits / max(1, trials):.3f} ({interval.low:.3f}–{interval.high:.3f})"


def _right_passage(row: Row) -> bool:
    shown, wanted = " ".join(row.shown.split()), " ".join(str(row.quote["new_quote"]).split())
    return bool(shown) and (wanted in shown or shown in wanted)


def _numbers_reported(row: Row) -> bool:
    """Whether every run of digits that only one of the two lines has is in a reported change."""
    standing = row.check.citations[0]
    if standing.nearest is None:
        return False
    diff = standing.nearest.diff
    old = _digits("".join(part.text for part in diff if part.kind != "added"))
    new = _digits("".join(part.text for part in diff if part.kind != "removed"))
    said = " ".join(f"{n.old or ''} {n.new or ''}" for n in standing.nearest.numbers)
    reported = _digits(said)
    return all(reported[number] for number in {*(old - new), *(new - old)})


def _digits(text: str) -> collections.Counter[str]:
    return collections.Counter(DIGITS.findall(text))


def report(name: str, rows: list[Row], figures: dict[str, float]) -> None:
    """Print one part's confusion matrix and figures."""
    print(f"\n== {name}: {len(rows)} quotes, rows what the data say, columns what the check says")
    matrix = collections.Counter((str(row.quote["label"]), row.says) for row in rows)
    others = sorted({row.says for row in rows} - set(LABELS))
    columns = (*LABELS, *others)
    print(f"{'':12}" + "".join(f"{column:>12}" for column in columns))
    for label in LABELS:
        print(f"{label:12}" + "".join(f"{matrix[label, column]:12}" for column in columns))
    _share("four-way accuracy", figures["right"], figures["quotes"])
    _share("right new passage for changed", figures["passage_right"], figures["changed"])
    print(
        f"numbers changed: {figures['numbers_changed']:.0f} quotes, "
        f"{figures['numbers_missed']:.0f} with a change not reported, "
        f"{figures['numbers_rewrapped_only']:.0f} whose words and numbers all stand, wrapped anew"
    )
    print(
        f"stale flag: precision {figures['stale_precision']:.3f}, "
        f"recall {figures['stale_recall']:.3f}; {figures['reformatted']:.0f} quotes counted as "
        "changed have the same words in other wraps or markup (`reformatted`)"
    )


def _share(name: str, hits: float, trials: float) -> None:
    interval = clopper_pearson(int(hits), int(trials))
    share = hits / max(1, trials)
    print(
        f"{name}: {hits:.0f} of {trials:.0f} = {share:.3f} "
        f"(95% exact: {interval.low:.3f} to {interval.high:.3f})"
    )


def misses(rows: list[Row]) -> None:
    """Print every quote that was judged otherwise than the data say."""
    for row in rows:
        label = row.quote["label"]
        wrong_passage = label == "changed" and not _right_passage(row)
        if row.says == label and not wrong_passage:
            continue
        print(f"\n{label} -> {row.check.status}: {row.quote['old_quote']}")
        print(f"  data:  {row.quote['new_quote']}")
        print(f"  shown: {' '.join(row.shown.split())}")


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
