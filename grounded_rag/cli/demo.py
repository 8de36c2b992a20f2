"""The demo: the main job on the demo corpus, without any key or download of models."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from grounded_rag import (
    Answer,
    Citation,
    Claim,
    ClaimVerdict,
    Draft,
    GroundedRAG,
    RetrievedChunk,
    audit_receipts,
    save_receipt,
    verify,
)
from grounded_rag.cli.options import JsonOption, open_rag
from grounded_rag.cli.receipt import audit_view
from grounded_rag.cli.terminal import answer_view, console, ingest_bar
from grounded_rag.render.cards import IN_SOURCE_WORDS
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.text.display import one_line
from grounded_rag.validity import parse_instant

_THEN = "2024-06-01"
_ASKED = (
    ("What is the savings rate on the Everyday Saver?", _THEN),
    ("What is the savings rate of the Young Saver?", _THEN),
    ("How long do I have to dispute a card payment?", None),
)


def audit_scene(rag: GroundedRAG, *, documents: Path, today: str) -> RenderableType:
    """Answer three customers, keep the receipts, and audit them against today's documents.

    Args:
        rag: The demo bank.
        documents: Folder of its documents.
        today: Today in its world.
    """
    with tempfile.TemporaryDirectory(prefix="grounded-rag-") as folder:
        for question, as_of in _ASKED:
            answer = rag.query(question, as_of=parse_instant(as_of or today))
            save_receipt(answer.receipt(), folder)
        report = audit_receipts(folder, folder=documents, as_of=today)
    lines = [Text("\nThe bank learns which customers were told the old rate", style="bold cyan")]
    lines += [
        Text(
            f"Two customers asked as of {_THEN}, one today; each answer left a receipt. "
            "The audit runs the verifier on them again, against the documents of today:"
        ),
        Text("    grounded-rag receipt audit RECEIPTS --folder DOCUMENTS", style="dim"),
    ]
    return Group(*lines, audit_view(report))


_QUESTION = "Can a card payment still be disputed after two years?"
_SENTENCE = "In no case can we dispute a payment that is more than 540 days old."
_DRAFTED = (
    (
        "We can dispute a payment that is more than 540 days old.",
        "can we dispute a payment that is more than 540 days old",
    ),
    (_SENTENCE.replace("540", "730"), _SENTENCE),
    ("A payment from over 540 days ago cannot be disputed.", _SENTENCE),
    (_SENTENCE, _SENTENCE),
)


def lies_scene(rag: GroundedRAG, *, today: str) -> RenderableType:
    """Verify what a model might draft over literal quotes: two false claims and two true ones.

    Args:
        rag: The demo bank.
        today: Today in its world.
    """
    retrieved = rag.query(_QUESTION, as_of=parse_instant(today)).trace.retrieved
    verdicts = verify_drafted(retrieved, today=today)
    lines: list[RenderableType] = [
        Text("\nA literal quote is not enough: what a model might draft", style="bold cyan"),
        Text(f"Q: {_QUESTION}"),
    ]
    for verdict in verdicts:
        passed = verdict.supported
        lines += [
            Text("passes: " if passed else "not shown: ", "green" if passed else "yellow")
            + Text(one_line(verdict.text), "default"),
            _indented(f"quoted, character for character: “{one_line(_quote(verdict))}”", "dim"),
            _indented(one_line(verdict.why), "dim"),
        ]
        if verdict.restatement is not None:
            told = f"the reader gets, {IN_SOURCE_WORDS}: {one_line(verdict.restatement)}"
            lines.append(_indented(told, "cyan"))
    lines.append(
        Text(
            "The third draft is true, and nothing here can tell: an entailment model or a judge "
            "may confirm it (--entailment, --judge). Whichever of the four a model drafts, the "
            "reader gets the same sentence."
        )
    )
    return Group(*lines)


def _indented(text: str, style: str) -> Padding:
    return Padding(Text(text, style), (0, 0, 0, 4))


def verify_drafted(retrieved: Sequence[RetrievedChunk], *, today: str) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts on the drafted claims, from the first passage that holds the sentence."""
    source = next(each.chunk for each in retrieved if _SENTENCE in each.chunk.text)
    draft = Draft(
        claims=tuple(
            Claim(text=text, citations=(Citation(chunk_id=source.id, quote=quote),))
            for text, quote in _DRAFTED
        )
    )
    return verify(draft, retrieved, question=_QUESTION, as_of=today).claims


def _quote(verdict: ClaimVerdict) -> str:
    return verdict.located[0].quote


_TODAY = "2026-11-29"
"""Today in the demo bank's world, so that the demo reads the same in any year."""


class Scene(NamedTuple):
    """One question of the demo and what to look at."""

    heading: str
    question: str
    as_of: str = _TODAY


SCENES = (
    Scene(
        "A fact, with its quote highlighted in the source sentence",
        "Until when must I dispute a card payment?",
    ),
    Scene(
        "The current rate, although the superseded sheet matches the words better",
        "What is the savings rate on the Everyday Saver?",
    ),
    Scene(
        "The same question as of an earlier date",
        "What is the savings rate on the Everyday Saver?",
        "2024-06-01",
    ),
    Scene(
        "Something that only an expired document says: answered, and flagged",
        "What is the promotion code for Spring Boost?",
    ),
    Scene("From a PDF, with its page", "How much deposit do I need to buy my first home?"),
    Scene(
        "A cell of a table, read under its own column",
        "How much cash can I withdraw each day with the Quill Plus Account?",
    ),
    Scene(
        "Two current documents that disagree: both sides are told",
        "Is the Tarnwick branch open on Saturdays?",
    ),
    Scene(
        "Two questions in one, and only one of them is answered by the documents",
        "How much does an unarranged overdraft cost and who is the chief executive?",
    ),
    Scene(
        "Not in the documents: one fixed sentence, and the reason",
        "Does the bank offer pet insurance?",
    ),
    Scene(
        "A hostile e-mail in the corpus claims 9.99%; it changes nothing",
        "Does the Everyday Saver pay 9.99% gross a year on all balances?",
    ),
)


_NEXT_STEPS = (
    "Ask this bank:",
    '    grounded-rag ask --corpus demo "Can I overpay my mortgage?"',
    "Use your own folder:",
    "    grounded-rag ingest FOLDER --index my-index",
    '    grounded-rag ask --index my-index "your question"',
    "Keep receipts, and audit them when documents have changed:",
    '    grounded-rag ask --index my-index --receipts my-receipts "your question"',
    "    grounded-rag receipt audit my-receipts --index my-index",
    "Let Claude write the claims (the same verifier checks them):",
    '    ANTHROPIC_API_KEY=... grounded-rag ask --corpus demo --generator anthropic "..."',
    "Measure it on the golden questions:",
    "    grounded-rag eval --corpus demo --split dev --html report.html",
    "See it in a browser: make chatbot",
    "After `make demo` the command is .venv/bin/grounded-rag.",
)


def demo(
    trace: Annotated[bool, typer.Option("--trace", help="Also show what was retrieved.")] = False,
    as_json: JsonOption = False,
) -> int:
    """Ingest the demo corpus and show answers, refusals and flags."""
    screen = console()
    if not as_json:
        screen.print(Rule("grounded_rag: every claim carries a verified quote, or it is a refusal"))
        screen.print(
            "The demo corpus holds the documents of a fictional bank. Today is 2026-11-29 there.\n"
        )
    with ingest_bar(enabled=not as_json) as progress:
        rag = open_rag(index=None, corpus="demo", progress=progress)
    with rag:
        answers = [_show(rag, scene, trace=trace, quiet=as_json) for scene in SCENES]
        if not as_json:
            screen.print(lies_scene(rag, today=_TODAY))
            screen.print(audit_scene(rag, documents=demo_corpus_dir(), today=_TODAY))
    if as_json:
        typer.echo(json.dumps([answer.model_dump(mode="json") for answer in answers], indent=2))
        return 0
    screen.print(Rule("Now you"))
    for line in _NEXT_STEPS:
        screen.print(Text(f"  {line}"), soft_wrap=True)
    return 0


def _show(rag: GroundedRAG, scene: Scene, *, trace: bool, quiet: bool) -> Answer:
    answer = rag.query(scene.question, as_of=parse_instant(scene.as_of))
    if not quiet:
        console().print(Text(f"\n{scene.heading}", style="bold cyan"))
        console().print(answer_view(answer, trace=trace))
    return answer
