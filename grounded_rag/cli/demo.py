"""The demo: the main job on the demo corpus, without any key or download of models."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import typer
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from grounded_rag import (
    Citation,
    Claim,
    ClaimVerdict,
    Draft,
    GroundedRAG,
    audit_receipts,
    save_receipt,
    verify,
)
from grounded_rag.cli.ask import answer_view
from grounded_rag.cli.options import JsonOption, open_rag
from grounded_rag.cli.terminal import console, line
from grounded_rag.cli.verify import audit_view
from grounded_rag.render.cards import IN_SOURCE_WORDS
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.types.display import one_line

_TODAY = "2026-11-29"
"""Today in the demo bank's world, so that the demo reads the same in any year."""
_THEN = "2024-06-01"


class _Scene(NamedTuple):
    heading: str
    question: str
    as_of: str = _TODAY


_SCENES = (
    _Scene(
        "A fact, with its quote highlighted in the source sentence",
        "Within how many days must a dispute of a card payment reach you?",
    ),
    _Scene(
        "The current rate, although the superseded sheet matches the words better",
        "What is the savings rate on the Everyday Saver?",
    ),
    _Scene(
        "The same question as of an earlier date",
        "What is the savings rate on the Everyday Saver?",
        _THEN,
    ),
    _Scene(
        "Something that only an expired document says: answered, and flagged",
        "What is the promotion code for Spring Boost?",
    ),
    _Scene("From a PDF, with its page", "How much deposit do I need to buy my first home?"),
    _Scene(
        "A cell of a table, read under its own column",
        "What is the cash machine limit each day of the Quill Plus Account?",
    ),
    _Scene(
        "Two current documents that disagree: both sides are told",
        "Is the Tarnwick branch open on Saturdays?",
    ),
    _Scene(
        "Two questions in one, and only one of them is answered by the documents",
        "How much does an unarranged overdraft cost and who is the chief executive?",
    ),
    _Scene(
        "Not in the documents: one fixed sentence, and the reason",
        "Does the bank offer pet insurance?",
    ),
    _Scene(
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
    "See every rule that you can change:",
    "    grounded-rag settings",
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
            f"The demo corpus holds the documents of a fictional bank. Today is {_TODAY} there.\n"
        )
    answers = []
    with open_rag(index=None, corpus="demo", quiet=as_json) as rag:
        for scene in _SCENES:
            answer = rag.query(scene.question, as_of=scene.as_of)
            answers.append(answer)
            if not as_json:
                screen.print(_heading(scene.heading), answer_view(answer, trace=trace))
        if not as_json:
            screen.print(_drafts_scene(rag))
            screen.print(_audit_scene(rag))
    if as_json:
        typer.echo(json.dumps([answer.model_dump(mode="json") for answer in answers], indent=2))
        return 0
    screen.print(Rule("Now you"))
    for step in _NEXT_STEPS:
        screen.print(Text(f"  {step}"), soft_wrap=True)
    return 0


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold cyan")


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
"""Claims with the quotes that they cite: two false ones and two true ones over one sentence."""


def _drafts_scene(rag: GroundedRAG) -> RenderableType:
    """Verify what a model might draft over literal quotes."""
    retrieved = rag.query(_QUESTION, as_of=_TODAY).trace.retrieved
    source = next(each.chunk for each in retrieved if _SENTENCE in each.chunk.text)
    draft = Draft(
        claims=tuple(
            Claim(text=text, citations=(Citation(chunk_id=source.id, quote=quote),))
            for text, quote in _DRAFTED
        )
    )
    verdicts = verify(draft, retrieved, question=_QUESTION, as_of=_TODAY).claims
    return Group(
        _heading("A literal quote is not enough: what a model might draft"),
        line(f"Q: {_QUESTION}"),
        *(shown for verdict in verdicts for shown in _verdict_lines(verdict)),
        line(
            "The third draft is true, and nothing here can tell: an entailment model or a judge "
            "may confirm it (the settings rag.entailment, rag.judge). Whichever of the four a "
            "model drafts, the reader gets the same sentence."
        ),
    )


def _verdict_lines(verdict: ClaimVerdict) -> Iterator[RenderableType]:
    mark = ("passes: ", "green") if verdict.supported else ("not shown: ", "yellow")
    quote = one_line(verdict.located[0].quote)
    yield Text.assemble(mark, one_line(verdict.text))
    yield line(f"quoted, character for character: “{quote}”", "dim", indent=4)
    yield line(verdict.why, "dim", indent=4)
    if verdict.restatement is not None:
        shown = f"the reader gets, {IN_SOURCE_WORDS}: {verdict.restatement}"
        yield line(shown, "cyan", indent=4)


_CUSTOMERS = (
    ("What is the savings rate on the Everyday Saver?", _THEN),
    ("What is the savings rate of the Young Saver?", _THEN),
    ("How long do I have to dispute a card payment?", _TODAY),
)


def _audit_scene(rag: GroundedRAG) -> RenderableType:
    """Answer three customers, keep the receipts, and audit them against today's documents."""
    with tempfile.TemporaryDirectory(prefix="grounded-rag-") as folder:
        for question, as_of in _CUSTOMERS:
            save_receipt(rag.query(question, as_of=as_of).receipt(), folder)
        report = audit_receipts(folder, folder=demo_corpus_dir(), as_of=_TODAY)
    return Group(
        _heading("The bank learns which customers were told the old rate"),
        line(
            f"Two customers asked as of {_THEN}, one today; each answer left a receipt. "
            "The audit runs the verifier on them again, against the documents of today:"
        ),
        line("grounded-rag receipt audit RECEIPTS --folder DOCUMENTS", "dim", indent=4),
        audit_view(report),
    )
