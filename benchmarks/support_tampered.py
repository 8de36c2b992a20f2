"""How many false claims with a literal quote pass, and how many true ones are refused.

    python benchmarks/support_tampered.py [--corpus corpora/demo] [--per-class N] [--seed N]
                                          [--split test|dev] [--show CLASS]

The false claims are sentences of the demo corpus with one change, made by the tamper generator,
whose word lists share no module with the verifier; the quote stays literal. The true ones are the
sentences themselves, the same with a harmless change, and the hand-written paraphrases beside the
corpus (`paraphrases.jsonl`; tune on its "dev" rows only). Every claim goes through the public
`verify` with its real chunk, title and headings. `balanced` ships what is supported, `strict` the
top tier alone. Intervals are Clopper-Pearson at 95 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grounded_rag import verify
from grounded_rag.ingest import chunk, read_document, scan
from grounded_rag.statistics import clopper_pearson
from grounded_rag.testing.tamper import Corpus, Passage, pools_of
from grounded_rag.testing.tamper.claims import FALSE_CLAIMS, TRUE_CLAIMS, draw_claims
from grounded_rag.types import ClaimVerdict, Reason, RetrievedChunk, Tier

TARGETS = {"modality": 20, "role": 8, "added": 40}
"""Most false passes in percent by class; 5 where none is named."""


@dataclass(frozen=True)
class Judged:
    """One labelled claim and its verdict."""

    kind: str
    true: bool
    quote: str
    claim: str
    verdict: ClaimVerdict

    @property
    def balanced(self) -> bool:
        """Whether `balanced` ships it."""
        return self.verdict.supported

    @property
    def strict(self) -> bool:
        """Whether `strict` ships it."""
        return self.verdict.supported and self.verdict.tier is not Tier.LEXICAL


def chunks_of(folder: Path) -> dict[str, RetrievedChunk]:
    """Return the chunks of a folder by id, cut as at ingestion (words stand for tokens)."""
    found: dict[str, RetrievedChunk] = {}
    for file in scan(folder).files:
        document = read_document(file).document
        for part in chunk(document, count=lambda text: len(text) // 4):
            found[part.id] = RetrievedChunk(chunk=part, title=document.title)
    return found


def judge(kind: str, true: bool, quote: str, claim: str, cited: RetrievedChunk) -> Judged:
    """Verify one claim."""
    draft = {"claims": [{"text": claim, "chunk_id": cited.chunk.id, "quote": quote}]}
    return Judged(kind, true, quote, claim, verify(draft, [cited]).claims[0])


def generated(chunks: dict[str, RetrievedChunk], *, per_class: int, seed: int) -> Iterator[Judged]:
    """Yield the judged claims of the generator."""
    passages = tuple(
        Passage(id=key, source=item.chunk.doc_id, text=item.chunk.text)
        for key, item in chunks.items()
        if "hostile" not in item.chunk.doc_id
    )
    pools = pools_of(Corpus(name="demo", passages=passages))
    for kind in (*FALSE_CLAIMS, *TRUE_CLAIMS):
        for drawn in draw_claims(kind, pools, count=per_class, seed=seed):
            yield judge(drawn.kind, drawn.true, drawn.quote, drawn.claim, chunks[drawn.passage.id])


def paraphrased(path: Path, chunks: dict[str, RetrievedChunk], split: str) -> Iterator[Judged]:
    """Yield the judged paraphrases of one split whose quote stands in one chunk."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            cited = next((c for c in chunks.values() if row["quote"] in c.chunk.text), None)
            if row["split"] == split and cited is not None:
                yield judge(
                    f"paraphrase {row.get('near', '')}".strip(), True, row["quote"],
                    row["paraphrase"], cited,
                )  # fmt: skip


def share(hits: int, total: int) -> str:
    """Return a share with its counts and interval."""
    ends = clopper_pearson(hits, total)
    percent = 100 * hits / total if total else float("nan")
    return f"{hits:4}/{total:<4} {percent:5.1f}% [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def report(judged: Sequence[Judged]) -> None:
    """Print both tables."""
    by_kind: dict[str, list[Judged]] = defaultdict(list)
    for item in judged:
        by_kind[item.kind].append(item)
    print(f"{'false claims that pass':24} {'balanced':>30} {'strict':>30}   target")
    for kind, part in by_kind.items():
        if not part[0].true:
            print(f"{kind:24} {_passed(part)}   {TARGETS.get(kind, 5)}%")
    print(f"{'all':24} {_passed([item for item in judged if not item.true])}")
    print(f"\n{'true claims refused':24} {'balanced':>30} {'strict':>30}")
    for kind, part in by_kind.items():
        if part[0].true:
            print(f"{kind:24} {_refused(part)}")
    print(f"{'paraphrases':24} {_refused([i for i in judged if i.kind.startswith('para')])}")
    print(f"{'all':24} {_refused([item for item in judged if item.true])}")
    reasons: dict[str, int] = defaultdict(int)
    for item in judged:
        if item.true and not item.balanced:
            reasons[_cause(item.verdict)] += 1
    print("refused true claims by check: " + ", ".join(f"{k} {v}" for k, v in reasons.items()))


def _passed(part: Sequence[Judged]) -> str:
    balanced, strict = sum(i.balanced for i in part), sum(i.strict for i in part)
    return f"{share(balanced, len(part)):>30} {share(strict, len(part)):>30}"


def _refused(part: Sequence[Judged]) -> str:
    balanced, strict = sum(not i.balanced for i in part), sum(not i.strict for i in part)
    return f"{share(balanced, len(part)):>30} {share(strict, len(part)):>30}"


def _cause(verdict: ClaimVerdict) -> str:
    vetoes = [signal.check for signal in verdict.signals if signal.passed is False]
    return vetoes[0] if vetoes else str(verdict.reason or Reason.NOT_ENTAILED)


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
    judged = list(generated(chunks, per_class=options.per_class, seed=options.seed))
    seconds = time.process_time() - started
    print(f"{len(judged)} generated claims, {1000 * seconds / len(judged):.2f} ms each to verify")
    path = options.corpus / "paraphrases.jsonl"
    if path.is_file():
        judged += paraphrased(path, chunks, options.split)
    else:
        print(f"{path}: not there, paraphrases skipped", file=sys.stderr)
    report(judged)
    for item in judged:
        if item.kind.startswith(options.show or "\0") and item.balanced is not item.true:
            why = "" if item.balanced else f"\n    {_cause(item.verdict)}: {item.verdict.why}"
            print(f"- {item.claim}\n    {item.quote}{why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
