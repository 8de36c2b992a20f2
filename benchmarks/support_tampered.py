"""How claims about literal quotes ship: false ones, honest ones, and hand-written paraphrases.

    python benchmarks/support_tampered.py [--corpus corpora/demo] [--per-class N] [--seed N]
                                          [--split test|dev] [--show CLASS]

The claims are those of the tamper generator, whose word lists share no module with the verifier.
False ones are sentences of the demo corpus with one change, and statements torn out of frames,
cut before their endings, spliced, freed of a negation or standing under a heading that denies
them; honest ones are whole statements in twelve languages with one harmless edit. Beside them
stand the paraphrases beside the corpus (`paraphrases.jsonl`; tune on its "dev" rows only). Every
claim goes through the public `verify` at its defaults, without a decider.

A claim ships in its own words (verbatim or confirmed), as the source's words in its place
(restated), or not at all (refused). Intervals are Clopper-Pearson at 95 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grounded_rag import verify
from grounded_rag.ingest import chunk, read_document, scan
from grounded_rag.statistics import clopper_pearson
from grounded_rag.testing.tamper import (
    CLAIM_KINDS,
    Corpus,
    Finding,
    FuzzCase,
    Kind,
    KindResult,
    Passage,
    draw_cases,
    judge,
    pools_of,
    result_of,
)
from grounded_rag.types import RetrievedChunk

COPIES = ("copy", "notation", "notation_own", "whole")
"""Classes of copies and of other notation."""


def chunks_of(folder: Path) -> dict[str, RetrievedChunk]:
    """Return the chunks of a folder by id, cut as at ingestion (four characters are a token)."""
    found: dict[str, RetrievedChunk] = {}
    for file in scan(folder).files:
        document = read_document(file).document
        for part in chunk(document, count=lambda text: len(text) // 4):
            found[part.id] = RetrievedChunk(chunk=part, title=document.title)
    return found


def passage_of(item: RetrievedChunk) -> Passage:
    """Return a chunk as material of the generator."""
    part = item.chunk
    return Passage(
        id=part.id, source=part.doc_id, text=part.text, title=item.title, headings=part.headings
    )


def generated(
    chunks: Mapping[str, RetrievedChunk], *, per_class: int, seed: int
) -> Iterator[tuple[Kind, list[Finding]]]:
    """Yield the classes of the generator with their judged claims."""
    passages = tuple(
        passage_of(item) for item in chunks.values() if "hostile" not in item.chunk.doc_id
    )
    pools = pools_of(Corpus(name="demo", passages=passages))
    for kind in CLAIM_KINDS:
        drawn = draw_cases(kind, pools, count=per_class, seed=seed)
        yield kind, [found for item in drawn for found in judge([item], verify, known=chunks)]


def paraphrased(path: Path, chunks: Mapping[str, RetrievedChunk], split: str) -> Iterator[Finding]:
    """Yield the judged paraphrases of one split whose quote stands in one chunk."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            cited = next((c for c in chunks.values() if row["quote"] in c.chunk.text), None)
            if row["split"] == split and cited is not None:
                item = FuzzCase(
                    id=row["paraphrase"],
                    kind=f"paraphrase {row.get('near', '')}".strip(),
                    label="reworded",
                    chunks=(passage_of(cited),),
                    cited=cited.chunk.id,
                    quote=row["quote"],
                    claim=row["paraphrase"],
                )
                yield from judge([item], verify, known=chunks)


def share(hits: int, total: int) -> str:
    """Return a share with its counts and interval."""
    ends = clopper_pearson(hits, total)
    percent = 100 * hits / total if total else float("nan")
    return f"{hits:5}/{total:<5} {percent:6.2f}% [{100 * ends.low:.2f}, {100 * ends.high:.2f}]"


def table(name: str, rows: Sequence[KindResult]) -> None:
    """Print the counts of some classes."""
    heads = ("claims", "verbatim", "confirmed", "restated", "refused")
    print(f"\n{name:22}" + "".join(f"{head:>10}" for head in heads) + "   in its own words")
    for row in rows:
        counts = (row.made, row.verbatim, row.confirmed, row.restated, row.refused)
        own = share(row.passed, row.made)
        print(f"{row.kind:22}" + "".join(f"{count:10}" for count in counts) + f"   {own}")


def targets(rows: Sequence[KindResult], paraphrases: Sequence[Finding]) -> None:
    """Print the figures that are asked for, beside what is asked."""
    false = [row for row in rows if row.label == "false"]
    honest = [row for row in rows if row.label == "honest"]
    copies = [row for row in honest if row.kind in COPIES]
    print()
    for name, hits, part, asked in (
        ("false in own words", sum(r.passed for r in false), false, "at most 0.1%"),
        ("copies, notation verbatim", sum(r.verbatim for r in copies), copies, "at least 99%"),
        ("honest in own words", sum(r.passed for r in honest), honest, "at least 97%"),
    ):
        print(f"{name:28}{share(hits, sum(r.made for r in part))}   ({asked})")
    refused = sum(item.found == "refused" for item in paraphrases)
    restated = sum(item.found == "restated" for item in paraphrases)
    print(f"{'paraphrases refused':28}{share(refused, len(paraphrases))}   (at most 3%)")
    print(f"{'paraphrases restated':28}{share(restated, len(paraphrases))}")


def by_language(judged: Sequence[Finding]) -> None:
    """Print the share of honest claims that ship in their own words, by language."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for item in judged:
        groups[item.language].append(item)
    print("\nhonest in own words by language")
    for language, part in groups.items():
        print(f"{language:28}{share(sum(item.passed for item in part), len(part))}")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=Path("corpora/demo"), help="the demo corpus")
    parser.add_argument("--per-class", type=int, default=400, help="claims a class, at most")
    parser.add_argument("--seed", type=int, default=0, help="seed of the generator")
    parser.add_argument("--split", default="test", help="split of the paraphrases")
    parser.add_argument("--show", default="", help="print the wrong claims of this class")
    options = parser.parse_args()
    chunks = chunks_of(options.corpus)
    started = time.process_time()
    classes = list(generated(chunks, per_class=options.per_class, seed=options.seed))
    judged = [item for _, part in classes for item in part]
    seconds = time.process_time() - started
    print(f"{len(judged)} generated claims, {1000 * seconds / len(judged):.2f} ms each")
    path = options.corpus / "paraphrases.jsonl"
    if not path.is_file():
        print(f"{path}: not there, paraphrases skipped", file=sys.stderr)
    paraphrases = list(paraphrased(path, chunks, options.split)) if path.is_file() else []
    rows = [result_of(kind.name, kind.label, part) for kind, part in classes]
    table("false", [row for row in rows if row.label == "false"])
    table("honest, the same words", [row for row in rows if row.label == "honest"])
    groups: dict[str, list[Finding]] = defaultdict(list)
    for item in paraphrases:
        groups[item.kind].append(item)
    others = [result_of(name, "reworded", part) for name, part in groups.items()]
    table("honest, other words", [*(r for r in rows if r.label == "reworded"), *others])
    near = {kind.name for kind, _ in classes if kind.label == "honest"}
    by_language([item for item in judged if item.kind in near])
    targets(rows, paraphrases)
    for item in (*judged, *paraphrases):
        if item.kind.startswith(options.show or "\0") and item.wrong:
            print(f"- {item.found}: {item.claim}\n    {item.quote}\n    {item.detail}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
