"""Tokens of copied quotes against sentence labels, on the same answers.

    python benchmarks/quote_modes.py [--corpus FOLDER] [--golden FILE] [--limit N]

Answers are those that the built-in generator gives to the golden questions of the demo corpus, its
drafts as they were recorded in the traces. Each draft is written down twice as the tool call of a
model: with its quotes copied, and with the labels of the same sentences. Input is what
`StructuredGenerator` sends in either mode, tool schema included. Tokens are counted by the
project's tokenizer (`o200k_base`), which only estimates other vendors' tokens; both sides are
counted by the same one. Quotes that are no whole sentence are named by the sentence(s) they touch.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from pathlib import Path

from grounded_rag import GroundedRAG, Policy
from grounded_rag.generate import PromptSet
from grounded_rag.generate.messages import (
    SAFETY_FACTOR,
    BuiltMessages,
    build_messages,
    estimate_tokens,
)
from grounded_rag.generate.schema import labelled_model, response_model
from grounded_rag.protocols import GenerationRequest
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.types import Claim
from grounded_rag.validity import parse_instant

BUDGET = 24_000
COLUMNS = ("output tokens an answer", "median", "a claim", "input tokens")
ROWS = ("copied quotes", "labels")


def tokens(text: str) -> float:
    """Return the tokenizer's count, without the safety factor of estimates."""
    return estimate_tokens(text) / SAFETY_FACTOR


def copied(claims: Sequence[Claim], messages: BuiltMessages) -> str:
    """Return the tool call of a model that copies its quotes."""
    label_of = {chunk_id: label for label, chunk_id in messages.labels.items()}
    items = [
        {
            "citations": [
                {"chunk_id": label_of[c.chunk_id], "quote": c.quote} for c in claim.citations
            ],
            "text": claim.text,
        }
        for claim in claims
    ]
    return json.dumps({"claims": items, "unanswered": []}, ensure_ascii=False)


def labelled(claims: Sequence[Claim], messages: BuiltMessages) -> str:
    """Return the tool call of a model that names the same sentences."""
    items = [
        {
            "sentences": [
                label
                for citation in claim.citations
                for label, sentence in messages.quotes.items()
                if sentence.chunk_id == citation.chunk_id
                and (citation.quote in sentence.quote or sentence.quote in citation.quote)
            ],
            "text": claim.text,
        }
        for claim in claims
    ]
    return json.dumps({"claims": items, "unanswered": []}, ensure_ascii=False)


def schema(messages: BuiltMessages, *, labels: bool) -> str:
    """Return the tool's schema as it is sent."""
    model = labelled_model() if labels else response_model(tuple(messages.labels))
    return json.dumps(model.model_json_schema())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=demo_corpus_dir())
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--limit", type=int, default=200)
    options = parser.parse_args()
    golden = options.golden or options.corpus / "golden.jsonl"
    lines = golden.read_text(encoding="utf-8").splitlines()[: options.limit]
    prompts = {False: PromptSet.load(), True: PromptSet.load(kind="label")}
    out: dict[bool, list[float]] = {False: [], True: []}
    into: dict[bool, list[float]] = {False: [], True: []}
    claims = unnamed = 0
    with GroundedRAG.from_corpus(options.corpus, policy=Policy(support="spans-only")) as rag:
        for line in lines:
            record = json.loads(line)
            as_of = parse_instant(record.get("as_of"))
            answer = rag.query(record["question"], as_of=as_of)
            if not answer.answered or answer.trace.attempts[-1].draft is None:
                continue
            drafted = answer.trace.attempts[-1].draft.claims
            request = GenerationRequest(
                question=answer.question,
                chunks=answer.trace.retrieved,
                refusal="I don't have enough information to answer that.",
                as_of=answer.as_of,
            )
            for labels in (False, True):
                messages = build_messages(request, prompts[labels], budget=BUDGET, labelled=labels)
                written = (labelled if labels else copied)(drafted, messages)
                out[labels].append(tokens(written))
                sent = [messages.system, *messages.blocks, schema(messages, labels=labels)]
                into[labels].append(sum(tokens(text) for text in sent))
                if labels:
                    unnamed += sum(not c["sentences"] for c in json.loads(written)["claims"])
            claims += len(drafted)
    print(f"{len(out[True])} answers, {claims} claims; {unnamed} claims without a label\n")
    print(f"{'mode':<16}" + "".join(f"{column:>26}" for column in COLUMNS))
    for labels, name in zip((False, True), ROWS, strict=True):
        print(
            f"{name:<16}{statistics.mean(out[labels]):>26.1f}{statistics.median(out[labels]):>26.1f}"
            f"{sum(out[labels]) / claims:>26.1f}{statistics.mean(into[labels]):>26.0f}"
        )
    saved = 1 - sum(out[True]) / sum(out[False])
    added = sum(into[True]) / sum(into[False]) - 1
    print(f"\nwith labels: output {-saved:+.1%}, input {added:+.1%}")


if __name__ == "__main__":
    main()
