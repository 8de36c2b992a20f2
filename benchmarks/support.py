"""How well the built-in support checks tell supported claims from the rest.

    python benchmarks/support.py --data DIR [--sets wice,fm2] [--signals]

DIR holds one folder per public set (wice, fm2, summedits, scifact_nli, factcheckgpt_stance,
attributionbench, breaking_nli, med_nli, prompt_injection). One threshold serves all sets; for
"LODO" it is chosen on the other five. Intervals are Clopper-Pearson at 95 %.

Columns: `BAcc` balanced accuracy of "no veto"; `AUROC` of the score; `LODO` balanced accuracy of
the score under leave-one-set-out; `false pass` unsupported claims that no veto rejects; `false
refuse` supported claims that one rejects; `high` share of near-copies without a veto and their
precision beside the base rate of the set.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grounded_rag.protocols import ClaimCase, EvidencePiece
from grounded_rag.statistics import clopper_pearson
from grounded_rag.text.numbers import Agreement, compare
from grounded_rag.text.words import content_words
from grounded_rag.types import Chunk, Citation, Claim, Located, RetrievedChunk, Signal, Span
from grounded_rag.verification.support import default_checks, injected_spans, support_score
from grounded_rag.verification.support.terms import read

SIX = ("wice", "fm2", "summedits", "scifact_nli", "factcheckgpt_stance", "attributionbench")


@dataclass(frozen=True)
class Pair:
    """One labelled claim with its evidence."""

    claim: str
    evidence: str
    supported: bool
    group: str = ""
    title: str = ""
    question: str | None = None
    id: str = ""

    def case(self) -> ClaimCase:
        """Return the pair as the checks see it: all of the evidence is cited."""
        span = Span(start=0, end=len(self.evidence))
        chunk = RetrievedChunk(
            chunk=Chunk(id="c", doc_id="d", span=span, text=self.evidence, content_hash=""),
            title=self.title,
        )
        citation = Citation(chunk_id="c", quote=self.evidence)
        located = Located(
            chunk_id="c", doc_id="d", chunk_span=span, document_span=span, quote=self.evidence
        )
        piece = EvidencePiece(
            citation=citation, located=located, sentence=self.evidence, sentence_span=span,
            chunk=chunk,
        )  # fmt: skip
        return ClaimCase(
            claim=Claim(text=self.claim, citations=(citation,)),
            evidence=(piece,),
            question=self.question,
        )


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def load(name: str, data: Path) -> list[Pair]:
    """Return the pairs of one set."""
    return list(_LOADERS[name](data / name))


def _wice(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "oracle_chunks.dev.jsonl"):
        yield Pair(
            row["claim"], "\n".join(row["evidence_sentences"]), row["label"] == "supported",
            title=row["page"], id=row["id"],
        )  # fmt: skip


def _fm2(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "dev.jsonl"):
        yield Pair(
            row["claim"], "\n".join(row["gold_evidence"]), row["label"] == "supported",
            title=row["page"], id=row["id"],
        )  # fmt: skip


def _summedits(folder: Path) -> Iterator[Pair]:
    documents = {row["doc_id"]: row["text"] for row in rows(folder / "documents.jsonl")}
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(
            row["summary"], documents[row["doc_id"]], row["label"] == "supported", row["domain"],
            id=row["id"],
        )  # fmt: skip


def _scifact(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "train.jsonl"):
        yield Pair(
            row["hypothesis"], row["premise"], row["label"] == "entailment", id=row["id"]
        )  # fmt: skip


def _factcheck(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(row["claim"], row["evidence"], row["label"] == "supported", id=row["id"])


def _attribution(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "dev.jsonl"):
        yield Pair(
            row["claim"], "\n".join(row["evidence"]), row["label"] == "supported",
            row["source_dataset"], question=row["question"], id=row["id"],
        )  # fmt: skip


def _breaking(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(
            row["hypothesis"], row["premise"], row["label"] == "entailment", row["category"],
            id=row["id"],
        )  # fmt: skip


def _med(folder: Path) -> Iterator[Pair]:
    for row in rows(folder / "pairs.jsonl"):
        yield Pair(
            row["hypothesis"], row["premise"], row["label"] == "entailment",
            row["genre"].rsplit(":", 1)[-1], id=row["id"],
        )  # fmt: skip


_LOADERS: dict[str, Callable[[Path], Iterator[Pair]]] = {
    "wice": _wice,
    "fm2": _fm2,
    "summedits": _summedits,
    "scifact_nli": _scifact,
    "factcheckgpt_stance": _factcheck,
    "attributionbench": _attribution,
    "breaking_nli": _breaking,
    "med_nli": _med,
}


@dataclass(frozen=True)
class Scored:
    """One pair with what a method says about it."""

    pair: Pair
    score: float
    passed: bool
    high: bool = False
    vetoes: tuple[str, ...] = ()


def plain_overlap(pair: Pair) -> float:
    """Baseline: share of the claim's content words, stemmed, that the evidence has."""
    claim = {word.stem for word in content_words(pair.claim)}
    evidence = {word.stem for word in content_words(pair.evidence)}
    return len(claim & evidence) / len(claim) if claim else 1.0


def overlap_minus_numbers(pair: Pair) -> float:
    """Baseline: plain overlap less 0.25 where the claim has a number that the evidence lacks."""
    theirs = read(pair.evidence).quantities
    absent = any(
        all(compare(ours, other) is not Agreement.SAME for other in theirs)
        for ours in read(pair.claim).quantities
    )
    return plain_overlap(pair) - 0.25 * absent


def judge(pair: Pair) -> Scored:
    """Run the built-in checks."""
    case = pair.case()
    signals = [signal for check in default_checks() if (signal := check(case)) is not None]
    vetoes = tuple(signal.check for signal in signals if signal.passed is False)
    near = any(_is_near(signal) for signal in signals)
    return Scored(pair, support_score(case), not vetoes, near and not vetoes, vetoes)


def _is_near(signal: Signal) -> bool:
    return signal.role == "decider" and signal.passed is True


def auroc(scored: Sequence[Scored]) -> float:
    """Return the area under the ROC curve, ties counted half."""
    ordered = sorted(scored, key=lambda item: item.score)
    rank_sum, index = 0.0, 0
    while index < len(ordered):
        end = index
        while end < len(ordered) and ordered[end].score == ordered[index].score:
            end += 1
        mean = (index + 1 + end) / 2
        rank_sum += mean * sum(item.pair.supported for item in ordered[index:end])
        index = end
    positive = sum(item.pair.supported for item in scored)
    negative = len(scored) - positive
    if not positive or not negative:
        return math.nan
    return (rank_sum - positive * (positive + 1) / 2) / (positive * negative)


def balanced(scored: Iterable[Scored], passes: Callable[[Scored], bool]) -> float:
    """Return balanced accuracy."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for item in scored:
        right[item.pair.supported].append(passes(item) == item.pair.supported)
    return sum(sum(part) / len(part) for part in right.values() if part) / 2


def best_threshold(sets: Sequence[Sequence[Scored]]) -> float:
    """Return the threshold with the best mean balanced accuracy over sets."""
    candidates = sorted({round(item.score, 2) for part in sets for item in part})

    def mean(threshold: float) -> float:
        parts = [balanced(part, lambda item: item.score >= threshold) for part in sets]
        return sum(parts) / len(parts)

    return max(candidates, key=mean)


def share(hits: int, total: int) -> str:
    """Return a share with counts and interval, for a table."""
    ends = clopper_pearson(hits, total)
    low, high = ends.low, ends.high
    percent = 100 * hits / total if total else math.nan
    return f"{hits}/{total} {percent:.0f}% [{100 * low:.0f},{100 * high:.0f}]"


def passing(scored: Sequence[Scored]) -> str:
    """Return the share that no veto rejects."""
    return share(sum(item.passed for item in scored), len(scored))


def report_six(results: dict[str, dict[str, list[Scored]]], times: dict[str, float]) -> None:
    """Print the table of the six sets."""
    print(
        f"{'set':20} {'method':22} {'AUROC':>6} {'LODO':>6} {'BAcc':>6}  false pass / false refuse"
    )
    means: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for name, methods in results.items():
        for method, scored in methods.items():
            others = [parts[method] for other, parts in results.items() if other != name]
            threshold = best_threshold(others or [scored])
            lodo = balanced(scored, lambda item, t=threshold: item.score >= t)
            means[method].append((auroc(scored), lodo))
            line = f"{name:20} {method:22} {auroc(scored):6.3f} {lodo:6.3f}"
            if method == "built-in rule":
                negative = [item for item in scored if not item.pair.supported]
                positive = [item for item in scored if item.pair.supported]
                high = [item for item in scored if item.high]
                right = sum(item.pair.supported for item in high)
                line += (
                    f" {balanced(scored, lambda item: item.passed):6.3f}"
                    f"  {share(sum(i.passed for i in negative), len(negative))}"
                    f" / {share(sum(not i.passed for i in positive), len(positive))}"
                    f"\n{'':20} high {share(len(high), len(scored))}, "
                    f"right {share(right, len(high))}"
                    f", base {100 * len(positive) / len(scored):.0f}%, {times[name]:.2f} ms a claim"
                )
            print(line)
    for method, values in means.items():
        count = len(values)
        print(
            f"{'mean':20} {method:22} {sum(v[0] for v in values) / count:6.3f} "
            f"{sum(v[1] for v in values) / count:6.3f}"
        )


def report_signals(results: dict[str, list[Scored]]) -> None:
    """Print, for each veto, how often it fires on supported and unsupported claims."""
    print(f"\n{'veto':16} " + " ".join(f"{name[:12]:>15}" for name in results))
    names = sorted({veto for scored in results.values() for item in scored for veto in item.vetoes})
    for veto in names:
        cells = []
        for scored in results.values():
            rates = []
            for supported in (False, True):
                part = [item for item in scored if item.pair.supported is supported]
                fired = sum(veto in item.vetoes for item in part)
                rates.append(100 * fired / len(part) if part else math.nan)
            cells.append(f"{rates[0]:6.1f}/{rates[1]:5.1f} %")
        print(f"{veto:16} " + " ".join(f"{cell:>15}" for cell in cells))
    print("(share of unsupported / of supported claims on which the veto fires)")


def report_groups(name: str, scored: Sequence[Scored]) -> None:
    """Print false passes by class of a stress test."""
    print(f"\n{name}: false pass by class; supported claims that pass")
    groups: dict[str, list[Scored]] = defaultdict(list)
    for item in scored:
        groups[item.pair.group].append(item)
    for group, part in sorted(groups.items()):
        negative = [item for item in part if not item.pair.supported]
        positive = [item for item in part if item.pair.supported]
        cells = [
            f"false pass {share(sum(i.passed for i in negative), len(negative))}"
            if negative
            else "",
            f"accepted {share(sum(i.passed for i in positive), len(positive))}" if positive else "",
        ]
        print(f"  {group:22} " + "   ".join(cell for cell in cells if cell))
    negative = [item for item in scored if not item.pair.supported]
    positive = [item for item in scored if item.pair.supported]
    print(f"  {'all':22} false pass {passing(negative)}   accepted {passing(positive)}")
    high = [item for item in scored if item.high]
    print(f"  {'high':22} {share(sum(i.pair.supported for i in high), len(high))} right")


def report_injection(folder: Path) -> None:
    """Print how often text addressed to an assistant is found, and honest text is left alone."""
    attacks = [row["attack"] for row in rows(folder / "bipia_attacks.train.jsonl")]
    indirect = [
        row["user_input"]
        for row in rows(folder / "cyberseceval.jsonl")
        if row["type"] == "indirect"
    ]
    honest = [
        row["context"]
        for kind in ("email", "table")
        for row in rows(folder / f"bipia_{kind}_contexts.train.jsonl")
    ]
    print("\nprompt_injection: texts in which an instruction is found")
    for label, texts in (("bipia attacks", attacks), ("indirect", indirect), ("honest", honest)):
        print(f"  {label:22} {share(sum(bool(injected_spans(t)) for t in texts), len(texts))}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--sets", default="", help="comma-separated names; all by default")
    parser.add_argument("--signals", action="store_true", help="also print each veto's rates")
    parser.add_argument("--show", default="", help="set:veto whose wrong cases are printed")
    arguments = parser.parse_args()
    wanted = arguments.sets.split(",") if arguments.sets else [*_LOADERS, "prompt_injection"]
    six: dict[str, dict[str, list[Scored]]] = {}
    judged: dict[str, list[Scored]] = {}
    times: dict[str, float] = {}
    for name in wanted:
        if name not in _LOADERS:
            continue
        if not (arguments.data / name).is_dir():
            print(f"{name}: not in {arguments.data}, skipped")
            continue
        pairs = load(name, arguments.data)
        cases, checks = [pair.case() for pair in pairs], default_checks()
        started = time.process_time()
        for case in cases:
            for check in checks:
                check(case)
        times[name] = 1000 * (time.process_time() - started) / len(pairs)
        judged[name] = [judge(pair) for pair in pairs]
        if name in SIX:
            six[name] = {
                "word overlap": [Scored(p, plain_overlap(p), True) for p in pairs],
                "overlap minus numbers": [Scored(p, overlap_minus_numbers(p), True) for p in pairs],
                "built-in rule": judged[name],
            }
    if six:
        report_six(six, times)
    if arguments.signals:
        report_signals(judged)
    for name in ("breaking_nli", "med_nli"):
        if name in judged:
            report_groups(name, judged[name])
            print(f"  {times[name]:.2f} ms a claim")
    if "prompt_injection" in wanted and (arguments.data / "prompt_injection").is_dir():
        report_injection(arguments.data / "prompt_injection")
    if arguments.show:
        show(arguments.show, judged)


def show(choice: str, judged: dict[str, list[Scored]], limit: int = 25) -> None:
    """Print wrong cases: false refusals of a veto, or what `pass` or `high` let through."""
    name, _, veto = choice.partition(":")
    if veto == "pass":
        wrong = [item for item in judged[name] if item.passed and not item.pair.supported]
    elif veto == "high":
        wrong = [item for item in judged[name] if item.high and not item.pair.supported]
    else:
        wrong = [item for item in judged[name] if veto in item.vetoes and item.pair.supported]
    random.Random(0).shuffle(wrong)
    print(f"\n{choice}: {len(wrong)} wrong")
    for item in wrong[:limit]:
        case = item.pair.case()
        details = [
            s.detail for check in default_checks() if (s := check(case)) and s.passed is False
        ]
        print(
            f"- {item.pair.group} CLAIM {item.pair.claim}\n  EVIDENCE {item.pair.evidence[:600]!r}"
        )
        print(f"  {details}")


if __name__ == "__main__":
    main()
