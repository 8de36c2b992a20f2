"""Sends recorded drafts of a large model through the whole pipeline, without and with a judge.

    python benchmarks/recorded_drafts.py [--data DIR] [--show] [--json]

The drafts, their passages and the labels are described in `tests/data/README.md`. Each draft goes
through a `GroundedRAG` at its defaults, with a retriever that finds the passages that the model
was shown and a generator that returns the draft at every attempt; then once more with a judge
whose verdicts are recorded too. The texts of the "docs" drafts are not part of the repository:
without --data, a folder that holds `docs_corpus`, they are left out.

Drafts without a claim decline. Of the others, "in own words" are those that ship every claim as
the model wrote it, "restated" those of which a reader gets at least one claim in the words of the
source. False in own words are claims that say more than their passages and ship as they are.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from grounded_rag import Answer, GroundedRAG
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.reading import read_draft
from grounded_rag.generate.schema import response_model
from grounded_rag.ingest import read_document, scan
from grounded_rag.judge.verdicts import Verdicts, read_verdicts
from grounded_rag.protocols import Judge, JudgeItem, Judgement, JudgeRequest
from grounded_rag.statistics import clopper_pearson
from grounded_rag.testing import ScriptedGenerator, StaticRetriever
from grounded_rag.types import Document, Draft, RetrievedChunk

ROOT = Path(__file__).parent.parent
DRAFTS = ROOT / "tests" / "data" / "recorded_drafts.jsonl"
PASSAGES = ROOT / "tests" / "data" / "recorded_passages.jsonl"
SETS = ("demo", "docs", "own")
CORPUS = "docs_corpus"
ATTEMPTS = 10
"""How often the generator gives the same draft; more than any policy asks."""

Fate = Literal["own", "restated", "refused", "declined"]


class Recording(NamedTuple):
    """One recorded draft, its labels, and the passages that the model was shown."""

    row: Mapping[str, Any]
    chunks: tuple[RetrievedChunk, ...]

    @property
    def draft(self) -> Draft:
        """The draft as the generator reads it from the output, with chunk ids for labels."""
        labels = self.row["labels"]
        shape = response_model(tuple(labels), own_words=self.row["set"] == "own")
        messages = BuiltMessages(system="", blocks=(), labels=labels)
        return read_draft(shape.model_validate(self.row["draft"]), messages)

    @property
    def honest(self) -> bool:
        """Whether everything that the draft says is true, and answers the question."""
        return self.row["answers_question"] and all(self.row["true_of_source"])


class Outcome(NamedTuple):
    """What became of one recorded draft.

    Attributes:
        recording: The draft.
        answer: What the pipeline made of it.
        own: For each claim of the draft, whether it ships in its own words.
        unrecorded: Claims that the judge was asked about and has no recorded verdict on.
    """

    recording: Recording
    answer: Answer
    own: tuple[bool, ...]
    unrecorded: tuple[str, ...]

    @property
    def fate(self) -> Fate:
        """How the draft ships, by the worst of its claims."""
        if not self.own:
            return "declined"
        if not self.answer.answered:
            return "refused"
        return "own" if all(self.own) else "restated"

    @property
    def false_own(self) -> tuple[str, ...]:
        """Claims that are not true of their source and ship in their own words."""
        claims = self.recording.row["draft"]["claims"]
        labels = self.recording.row["true_of_source"]
        return tuple(
            claim["text"]
            for claim, true, own in zip(claims, labels, self.own, strict=True)
            if own and not true
        )


class RecordedJudge:
    """A judge that repeats recorded verdicts, by claim and evidence.

    Attributes:
        unrecorded: Claims that it was asked about and knows no verdict on.
    """

    name = "recorded"

    def __init__(self, verdicts: Iterable[Mapping[str, Any]]) -> None:
        """Take the verdicts of one draft."""
        self._verdicts = {(each["claim"], tuple(each["evidence"])): each for each in verdicts}
        self.unrecorded: list[str] = []

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Return the recorded opinions; none on a claim that was never judged."""
        given = [
            {"number": number, "rests_on": found["rests_on"], "verdict": found["verdict"]}
            for number, item in enumerate(request.items, start=1)
            if (found := self._found(item)) is not None
        ]
        answer = Verdicts.model_validate({"verdicts": given})
        return Judgement(opinions=read_verdicts(request.items, answer))

    def _found(self, item: JudgeItem) -> Mapping[str, Any] | None:
        found = self._verdicts.get((item.claim, item.evidence))
        if found is None:
            self.unrecorded.append(item.claim)
        return found


def load(data: Path | None = None) -> tuple[list[Recording], dict[str, str]]:
    """Return the recorded drafts, and why each of the others is left out, by id.

    Args:
        data: Folder with `docs_corpus`, for the drafts whose texts are not in the repository.
    """
    documents = {} if data is None else _documents(data / CORPUS)
    passages = {row["chunk"]["id"]: row for row in _rows(PASSAGES)}
    recordings: list[Recording] = []
    left_out: dict[str, str] = {}
    for row in _rows(DRAFTS):
        try:
            chunks = tuple(
                _passage(passages[chunk_id], rank, documents)
                for rank, chunk_id in enumerate(row["labels"].values(), start=1)
            )
        except LookupError as error:
            left_out[row["id"]] = str(error.args[0])
        else:
            recordings.append(Recording(row, chunks))
    return recordings, left_out


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _documents(folder: Path) -> dict[str, Document]:
    return {file.doc_id: read_document(file).document for file in scan(folder).files}


def _passage(
    row: Mapping[str, Any], rank: int, documents: Mapping[str, Document]
) -> RetrievedChunk:
    chunk = row["chunk"]
    if "text" in chunk:
        return RetrievedChunk.model_validate({**row, "rank": rank})
    document = documents.get(chunk["doc_id"])
    if document is None:
        raise LookupError(f"their texts are not here; --data names a folder with {CORPUS}")
    text = document.text[chunk["span"]["start"] : chunk["span"]["end"]]
    if hashlib.sha256(text.encode("utf-8")).hexdigest() != chunk["content_hash"]:
        raise LookupError(f"{document.id} does not read as it did when the drafts were made")
    whole = {**row, "chunk": {**chunk, "text": text}, "metadata": document.metadata}
    return RetrievedChunk.model_validate({**whole, "rank": rank})


def ask(recording: Recording, *, judged: bool = False) -> Outcome:
    """Send one draft through the whole pipeline at its defaults.

    Args:
        recording: The draft.
        judged: Whether its recorded verdicts count.
    """
    draft = recording.draft
    judge = RecordedJudge(recording.row["verdicts"])
    generator = ScriptedGenerator(*[draft] * ATTEMPTS)
    with GroundedRAG(
        StaticRetriever(recording.chunks),
        generator=generator,
        **_options(judge if judged else None),
    ) as rag:
        answer = rag.query(recording.row["question"], as_of=recording.row["as_of"])
    return Outcome(recording, answer, _own(answer), tuple(dict.fromkeys(judge.unrecorded)))


def _own(answer: Answer) -> tuple[bool, ...]:
    """Return for each claim of the last draft whether it ships as it was verified."""
    verification = answer.trace.attempts[-1].verification
    claims = () if verification is None else verification.claims
    shipped = {verdict.text for verdict in answer.claims if not verdict.restated}
    return tuple(verdict.text in shipped for verdict in claims)


def _options(judge: Judge | None) -> dict[str, Any]:
    return {} if judge is None else {"judge": judge}


def figures(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Return what a set is measured by, as hits and trials."""
    speaking = [each for each in outcomes if each.fate != "declined"]
    honest = [each for each in speaking if each.recording.honest]
    false = [
        (each, claim)
        for each in speaking
        for claim, true in enumerate(each.recording.row["true_of_source"])
        if not true
    ]
    return {
        "answered": (sum(each.answer.answered for each in speaking), len(speaking)),
        "in own words": (sum(each.fate == "own" for each in speaking), len(speaking)),
        "restated": (sum(each.fate == "restated" for each in speaking), len(speaking)),
        "refused": (sum(each.fate == "refused" for each in speaking), len(speaking)),
        "honest ones answered": (sum(each.answer.answered for each in honest), len(honest)),
        "claims in own words": (
            sum(sum(each.own) for each in speaking),
            sum(len(each.own) for each in speaking),
        ),
        "false claims in own words": (sum(each.own[claim] for each, claim in false), len(false)),
        "declined": (len(outcomes) - len(speaking), len(outcomes)),
    }


def _share(hits: int, total: int) -> str:
    if not total:
        return "none to count"
    ends = clopper_pearson(hits, total)
    percent = 100 * hits / total
    return f"{hits:4}/{total:<4} {percent:5.1f}% [{100 * ends.low:5.1f}, {100 * ends.high:5.1f}]"


def _print(name: str, outcomes: Sequence[Outcome]) -> None:
    print(f"\n{name}")
    for what, (hits, total) in figures(outcomes).items():
        print(f"  {what:27}{_share(hits, total)}")


def _show(outcomes: Sequence[Outcome]) -> None:
    for each in outcomes:
        row = each.recording.row
        if each.fate in ("own", "declined") and not each.false_own:
            continue
        print(f"- {row['set']} {row['id']} {each.fate}: {row['question']}")
        for claim, own in zip(row["draft"]["claims"], each.own, strict=True):
            print(f"    {'own   ' if own else 'not so'} {claim['text']}")
        detail = each.answer.refusal.detail if each.answer.refusal is not None else ""
        print(f"    answer {each.answer.text} {detail}")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help=f"folder that holds {CORPUS}")
    parser.add_argument("--show", action="store_true", help="print what ships in other words")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    recordings, left_out = load(options.data)
    runs = {
        "without a judge": [ask(each) for each in recordings],
        "with a judge": [ask(each, judged=True) for each in recordings],
    }
    if options.json:
        found = {
            run: {name: figures(part) for name in SETS if (part := _of(outcomes, name))}
            for run, outcomes in runs.items()
        }
        print(json.dumps({**found, "left out": left_out}, indent=1))
        return 0
    for run, outcomes in runs.items():
        for name in SETS:
            if part := _of(outcomes, name):
                _print(f"{name}, {run}", part)
        if options.show:
            _show(outcomes)
        unrecorded = sum(len(each.unrecorded) for each in outcomes)
        if unrecorded:
            print(f"\n{unrecorded} claims have no recorded verdict: their statements have changed.")
    if left_out:
        print(
            f"\n{len(left_out)} drafts are left out: {'; '.join(sorted(set(left_out.values())))}."
        )
    return 0


def _of(outcomes: Iterable[Outcome], name: str) -> list[Outcome]:
    return [each for each in outcomes if each.recording.row["set"] == name]


if __name__ == "__main__":
    sys.exit(main())
