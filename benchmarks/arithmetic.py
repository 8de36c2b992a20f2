"""Declared arithmetic on TAT-QA: gold derivations must be accepted, changed ones rejected.

    python benchmarks/arithmetic.py --data DIR [--show]

DIR holds the folder `tatqa`. Each arithmetic question becomes a claim ("<question> <answer>
<scale>") that declares the gold derivation and quotes the table rows and sentences in which its
operands stand; the public `verify` judges it with the number and
arithmetic checks; "accepted" means that neither rejects it, "confirmed" that the words around the
number are those of its quotes as well (those of a question seldom are). Then, with the quotes
unchanged, one operand is exchanged, one digit of an operand, or one digit of the answer.
Intervals are Clopper-Pearson at 95 %. A derivation with an operand that stands nowhere in the
table or the paragraphs is counted apart: nobody could quote it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grounded_rag import verify
from grounded_rag.statistics import clopper_pearson
from grounded_rag.text.sentences import split_sentences
from grounded_rag.verification.support import arithmetic, numbers

_OPERAND = re.compile(r"\d+(?:[.,]\d+)*")
_CONSTANTS = {"1", "2", "3", "4", "5", "100"}


@dataclass(frozen=True)
class Question:
    """One arithmetic question as a claim."""

    id: str
    question: str
    claim: str
    derivation: str
    answer: str
    quotes: tuple[str, ...]
    text: str
    missing: tuple[str, ...]

    def judged(self) -> Judged:
        """Say whether a number check rejects the claim, and whether the program confirms it."""
        citations = [{"chunk_id": "c", "quote": quote} for quote in self.quotes]
        claim = {"text": self.claim, "citations": citations, "arithmetic": self.derivation}
        chunks = [{"id": "c", "text": self.text}]
        verdict = verify(
            {"claims": [claim]}, chunks, question=self.question, checks=(arithmetic, numbers)
        ).claims[0]
        wrong = [signal.detail for signal in verdict.signals if signal.passed is not True]
        confirmed = any(signal.role == "decider" for signal in verdict.signals)
        return Judged("; ".join(wrong) if verdict.signals else verdict.why or "", confirmed)


@dataclass(frozen=True)
class Judged:
    """Why a claim is rejected, "" where it is not, and whether its calculation confirms it."""

    why: str
    confirmed: bool


def questions(path: Path) -> Iterator[Question]:
    """Yield the arithmetic questions of a file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            context = json.loads(line)
            rows = [_row(cells) for cells in context["table"]]
            ruled = [rows[0], _row(["---"] * len(context["table"][0])), *rows[1:]]
            paragraphs = [part["text"] for part in context["paragraphs"]]
            text = "\n".join(ruled) + "\n\n" + "\n\n".join(paragraphs)
            places = [*rows, *(s for p in paragraphs for s in _sentences(p))]
            for entry in context["questions"]:
                if entry["answer_type"] == "arithmetic":
                    yield _question(entry, places, text)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/").strip() for cell in cells) + " |"


def _sentences(paragraph: str) -> list[str]:
    return [span.of(paragraph).strip() for span in split_sentences(paragraph)]


def _question(entry: dict[str, Any], places: Sequence[str], text: str) -> Question:
    operands = list(dict.fromkeys(_OPERAND.findall(entry["derivation"])))
    quotes: dict[str, None] = {}
    missing = []
    for operand in operands:
        found = [place for place in places if operand in _OPERAND.findall(place)]
        quotes.update(dict.fromkeys(found[:4]))
        if not found and operand not in _CONSTANTS:
            missing.append(operand)
    answer = str(entry["answer"])
    scale = f" {entry['scale']}" if entry["scale"] else ""
    return Question(
        id=entry["id"],
        question=entry["question"],
        claim=f"{entry['question'].rstrip('?')}: {answer}{scale}.",
        derivation=entry["derivation"],
        answer=answer,
        quotes=tuple(quotes),
        text=text,
        missing=tuple(missing),
    )


def other_operand(question: Question, rng: random.Random) -> Question | None:
    """Exchange one operand of the derivation for another number of the quotes."""
    pool = [n for quote in question.quotes for n in _OPERAND.findall(quote)]
    found = rng.choice(list(_OPERAND.finditer(question.derivation)))
    others = [n for n in pool if _plain(n) != _plain(found.group())]
    if not others:
        return None
    return replace(question, derivation=_put(question.derivation, found, rng.choice(others)))


def operand_digit(question: Question, rng: random.Random) -> Question | None:
    """Change one digit of one operand."""
    found = rng.choice(list(_OPERAND.finditer(question.derivation)))
    changed = _digit(found.group(), rng)
    return replace(question, derivation=_put(question.derivation, found, changed))


def answer_digit(question: Question, rng: random.Random) -> Question | None:
    """Change one digit of the answer."""
    at = question.claim.rindex(question.answer)
    changed = _digit(question.answer, rng)
    claim = question.claim[:at] + changed + question.claim[at + len(question.answer) :]
    return replace(question, claim=claim)


def _digit(number: str, rng: random.Random) -> str:
    places = [i for i, character in enumerate(number) if character.isdigit()]
    place = rng.choice(places)
    other = rng.choice([d for d in "123456789" if d != number[place]])
    return number[:place] + other + number[place + 1 :]


def _put(text: str, found: re.Match[str], other: str) -> str:
    return text[: found.start()] + other + text[found.end() :]


def _plain(number: str) -> str:
    return number.replace(",", "")


def share(hits: int, total: int) -> str:
    """Return a share with its counts and interval."""
    ends = clopper_pearson(hits, total)
    percent = 100 * hits / total if total else float("nan")
    return f"{hits}/{total} {percent:.1f}% [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


_CHANGES: dict[str, Callable[[Question, random.Random], Question | None]] = {
    "another number of the quotes": other_operand,
    "one digit of an operand": operand_digit,
    "one digit of the answer": answer_digit,
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the public sets")
    parser.add_argument("--show", action="store_true", help="print what was decided wrongly")
    parser.add_argument("--seed", type=int, default=0, help="seed of the changes")
    arguments = parser.parse_args()
    path = arguments.data / "tatqa" / "dev.jsonl"
    if not path.is_file():
        print(f"{path}: not there, skipped")
        return
    everything = list(questions(path))
    asked = [question for question in everything if not question.missing]
    gold = [(question, question.judged()) for question in everything]
    refused = [(question, judged.why) for question, judged in gold if judged.why]
    within = sum(not q.missing for q, _ in refused)
    accepted = len(everything) - len(refused)
    print(f"gold derivations accepted           {share(accepted, len(everything))}")
    print(f"  of those whose operands are there {share(len(asked) - within, len(asked))}")
    confirmed = sum(judged.confirmed and not judged.why for _, judged in gold)
    print(f"gold derivations confirmed          {share(confirmed, len(everything))}")
    rng = random.Random(arguments.seed)
    passed: list[tuple[str, Question]] = []
    for label, change in _CHANGES.items():
        total = wrong = 0
        for question in asked:
            changed = change(question, rng)
            if changed is None or (changed.claim, changed.derivation) == (
                question.claim, question.derivation,
            ):  # fmt: skip
                continue
            total += 1
            if not changed.judged().why:
                wrong += 1
                passed.append((label, changed))
        print(f"{label:35} rejected {share(total - wrong, total)}")
    if arguments.show:
        for question, why in refused:
            print(f"- refused: {question.derivation} | {question.claim}\n    {why}")
        for label, question in passed:
            print(f"- passed ({label}): {question.derivation} | {question.claim}")


if __name__ == "__main__":
    main()
