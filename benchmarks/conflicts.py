"""How often the conflict flag is raised where sources disagree, and where they do not.

    python benchmarks/conflicts.py [--pairs FILE] [--data DIR] [--corpus DIR | --no-corpus]
                                   [--only pairs,ramdocs,…] [--show]

Everything goes through `verify`: a claim is a copy of one source's words, and the other sources
stand beside it. A set that is not in DIR is skipped. Intervals are exact (Clopper-Pearson, 95 %).

- `pairs`: labelled pairs of two statements and a question; the first is cited. Fields of a row:
  id, conflict, kind, question, and a and b with title, heading and text.
- `ramdocs`: the first sentence of a row with a right answer is cited among all its documents.
  Rows with a planted wrong answer (misinfo) should be flagged, the others should not.
- `fitz_gov`: each context is cited once whole; a row is flagged if one of its contexts is.
- `doc_revisions`: a line of an old revision is cited beside the whole new revision. No question.
- `rgb_counterfactual_nc`: a sentence with the right answer beside the documents whose answer was
  replaced, and beside the untouched ones.
- `demo`: the answers of the built-in generator to the `dev` questions of a corpus.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grounded_rag import Flag, FlagKind, GroundedRAG, verify
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.statistics import clopper_pearson
from grounded_rag.text.sentences import split_sentences

PAIRS = Path(__file__).parents[1] / "tests" / "data" / "conflict_pairs.jsonl"
# Paragraphs of a revision are passed as chunks of about this many characters.
_CHUNK = 1200


@dataclass
class Group:
    """Rows of one kind: how many were flagged, and which."""

    flagged: int = 0
    total: int = 0
    shown: list[str] = field(default_factory=list)

    def add(self, flags: Sequence[Flag], name: str) -> None:
        """Count one row."""
        self.total += 1
        self.flagged += bool(flags)
        details = " / ".join(flag.detail for flag in flags) or "-"
        self.shown.append(f"{name}: {details}")

    def __add__(self, other: Group) -> Group:
        return Group(
            self.flagged + other.flagged, self.total + other.total, [*self.shown, *other.shown]
        )

    def __str__(self) -> str:
        interval = clopper_pearson(self.flagged, self.total)
        share = f"[{interval.low * 100:.0f}, {interval.high * 100:.0f}] %"
        return f"{self.flagged:>4} of {self.total:<4} {share}"


Groups = dict[str, Group]


def source(name: str, text: str, *, title: str = "", headings: Sequence[str] = ()) -> Any:
    """Return a chunk that is a document of its own."""
    metadata = {"doc_id": name, "title": title, "headings": list(headings)}
    return {"id": name, "text": text, "metadata": metadata}


def conflicts(cited: str, quotes: Sequence[str], chunks: Sequence[Any], question: str | None) -> (
    list[Flag]
):  # fmt: skip
    """Return the conflict flags on claims that copy one source."""
    draft = {"claims": [{"text": q, "chunk_id": cited, "quote": q} for q in quotes]}
    found = verify(draft, chunks, question=question).flags
    return [flag for flag in found if flag.kind is FlagKind.CONFLICT]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def pairs(path: Path) -> Groups:
    """Measure labelled pairs, by kind and in all."""
    found: dict[bool, Groups] = {True: {}, False: {}}
    for row in rows(path):
        both = [
            source(
                name,
                row[name]["text"],
                title=row[name]["title"],
                headings=[row[name]["heading"]] if row[name]["heading"] else [],
            )
            for name in ("a", "b")
        ]
        flags = conflicts("a", [row["a"]["text"]], both, row["question"])
        found[row["conflict"]].setdefault(row["kind"], Group()).add(flags, row["id"])
    groups: Groups = {}
    for conflict, word in ((True, "conflict"), (False, "no conflict")):
        for kind, group in sorted(found[conflict].items()):
            groups[f"{word}: {kind}"] = group
        groups[f"{word}, all"] = sum(found[conflict].values(), Group())
    return groups


def ramdocs(folder: Path) -> Groups:
    """Measure rows with and without a planted wrong answer."""
    groups = {"with misinformation": Group(), "without": Group()}
    for row in rows(folder / "test.jsonl"):
        chunks = [source(f"d{d['doc']}", d["text"]) for d in row["documents"]]
        right = [d for d in row["documents"] if d["type"] == "correct"]
        cited = [
            (f"d{d['doc']}", s) for d in right if (s := _sentence_with(d["text"], d["answer"]))
        ]
        if cited:
            wrong = any(d["type"] == "misinfo" for d in row["documents"])
            flags = conflicts(cited[0][0], [cited[0][1]], chunks, row["question"])
            groups["with misinformation" if wrong else "without"].add(flags, row["id"])
    return groups


def fitz_gov(folder: Path) -> Groups:
    """Measure disputed rows against trustworthy ones."""
    groups: Groups = {}
    for name in ("dispute", "trustworthy_direct", "trustworthy_hedged"):
        group = groups[name] = Group()
        for row in rows(folder / f"{name}.jsonl"):
            titles = row.get("context_sources") or []
            chunks = [
                source(f"c{at}", text, title=titles[at] if at < len(titles) else "")
                for at, text in enumerate(row["contexts"])
            ]
            flags = [
                flag
                for chunk in chunks
                for flag in conflicts(chunk["id"], [chunk["text"]], chunks, row["query"])
            ]
            group.add(flags, row["id"])
    return groups


def doc_revisions(folder: Path) -> Groups:
    """Measure lines of an old revision beside the new one."""
    documents = {row["doc"]: row for row in rows(folder / "documents.jsonl")}
    groups: Groups = {}
    for row in rows(folder / "quotes.jsonl"):
        kind = row["label"] + (", another number" if row["numbers_changed"] else "")
        new = documents[row["doc"]]["revisions"][-1]["text"]
        chunks = [source("old", row["old_quote"], title=row["doc"])]
        for at, text in enumerate(_passages(new)):
            chunk = source(f"new-{at}", text, title=row["doc"])
            chunks.append({**chunk, "metadata": {**chunk["metadata"], "doc_id": "new"}})
        flags = conflicts("old", [row["old_quote"]], chunks, None)
        groups.setdefault(kind, Group()).add(flags, row["id"])
    return groups


def rgb_counterfactual_nc(folder: Path) -> Groups:
    """Measure documents with the right answer beside such with a replaced one."""
    groups = {"answer replaced": Group(), "untouched": Group()}
    for row in rows(folder / "en_fact.jsonl"):
        named = row["answer"] if isinstance(row["answer"], str) else str(row["answer"])
        quotes = [s for text in row["positive"] if (s := _sentence_with(text, named))]
        if not quotes:
            continue
        untouched = [source(f"p{at}", text) for at, text in enumerate(row["positive"])]
        cited = next(c["id"] for c in untouched if quotes[0] in c["text"])
        other = [source(f"w{at}", text) for at, text in enumerate(row["positive_wrong"])]
        home = [chunk for chunk in untouched if chunk["id"] == cited]
        for name, beside in (("answer replaced", home + other), ("untouched", untouched)):
            flags = conflicts(cited, quotes[:1], beside, row["question"])
            groups[name].add(flags, row["id"])
    return groups


def demo(corpus: Path) -> Groups:
    """Measure the answers to the golden questions of a corpus."""
    groups = {"golden conflicts": Group(), "other answers": Group()}
    with (
        tempfile.TemporaryDirectory() as scratch,
        GroundedRAG.from_corpus(corpus, index=Path(scratch) / "index") as rag,
    ):
        for item in rows(corpus / "golden.jsonl"):
            if item["split"] == "dev":
                answer = rag.query(item["question"], as_of=item["as_of"])
                if answer.answered:
                    name = "golden conflicts" if item["kind"] == "conflict" else "other answers"
                    groups[name].add(answer.conflicts, item["id"])
    return groups


def _sentence_with(text: str, words: str) -> str:
    """Return the first sentence of a text that holds some words, or ""."""
    found = (span.of(text).strip() for span in split_sentences(text))
    return next((said for said in found if words.lower() in said.lower()), "")


def _passages(text: str) -> list[str]:
    found = [""]
    for paragraph in text.split("\n\n"):
        if len(found[-1]) + len(paragraph) > _CHUNK and found[-1]:
            found.append("")
        found[-1] += ("\n\n" if found[-1] else "") + paragraph
    return found


SETS = {
    "ramdocs": ramdocs,
    "fitz_gov": fitz_gov,
    "doc_revisions": doc_revisions,
    "rgb_counterfactual_nc": rgb_counterfactual_nc,
}


def report(title: str, groups: Groups, *, show: bool) -> None:
    """Print the groups of one set."""
    print(f"\n{title:<40} flagged")
    for name, group in groups.items():
        print(f"  {name:<38} {group}")
        if show:
            print("\n".join(f"      {line}" for line in group.shown))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pairs", type=Path, default=PAIRS, help="labelled pairs")
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--only", default="", help="names of sets, with commas between")
    parser.add_argument("--show", action="store_true", help="print each row with its flags")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    if not only or "pairs" in only:
        report("pairs", pairs(options.pairs), show=options.show)
    for name, load in SETS.items():
        if options.data is not None and (not only or name in only):
            if (options.data / name).is_dir():
                report(name, load(options.data / name), show=options.show)
            else:
                print(f"\n{name}: skipped, not in {options.data}")
    if not only or "demo" in only:
        report("demo", demo(options.corpus), show=options.show)


if __name__ == "__main__":
    main()
