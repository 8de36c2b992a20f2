"""The commands `golden new | check | stats`: golden sets from their first template on."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from grounded_rag.cli.options import JsonOption, corpus_folder
from grounded_rag.cli.terminal import NOT_GOOD, guarded, line, show
from grounded_rag.evaluation.datasets import (
    GoldenCheck,
    GoldenStats,
    GoldenTemplates,
    check_golden,
    golden_stats,
    load_golden,
    new_golden,
)
from grounded_rag.ingest import read_document, scan
from grounded_rag.types import Document

app = typer.Typer(
    name="golden",
    help="Golden sets: start one from a corpus, check it, look at its size.",
    no_args_is_help=True,
)

_Set = Annotated[Path, typer.Argument(help="The golden set, one JSON object a line.")]
_Corpus = Annotated[
    str | None,
    typer.Option("--corpus", "-c", help='"demo", or the folder that the quotes are from.'),
]


def new(
    corpus: Annotated[str, typer.Argument(help='"demo", or a folder of documents.')],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path("golden.jsonl"),
    size: Annotated[int, typer.Option(min=3, help="Templates; a third without a passage.")] = 150,
    seed: Annotated[int, typer.Option(help="The same seed draws the same passages.")] = 0,
    as_json: JsonOption = False,
) -> int:
    """Write templates for a person to fill in: passages to ask about, and blanks.

    No question, answer or label is invented.
    """
    made = new_golden(out, _documents(corpus), size=size, seed=seed)
    show(made, partial(_templates_view, corpus=corpus), as_json=as_json)
    return 0


def check(golden: _Set, corpus: _Corpus = None, as_json: JsonOption = False) -> int:
    """Check schema, quotes, duplicates, leakage between splits, balance and size.

    Exit code 0: usable. 3: errors make it unusable. 1: it cannot be read.
    """
    documents = None
    if corpus is not None:
        documents = {document.id: document.text for document in _documents(corpus)}
    result = check_golden(golden, documents=documents)
    show(result, partial(_check_view, compared=documents is not None), as_json=as_json)
    return 0 if result.usable else NOT_GOOD


def stats(golden: _Set, as_json: JsonOption = False) -> int:
    """Show size and balance, and how precise a rate over the set can be."""
    show(golden_stats(load_golden(golden)), _stats_view, as_json=as_json)
    return 0


for _command in (new, check, stats):
    app.command(_command.__name__)(guarded(_command))


def _documents(corpus: str) -> list[Document]:
    return [read_document(file).document for file in scan(corpus_folder(corpus)).files]


def _templates_view(made: GoldenTemplates, *, corpus: str) -> RenderableType:
    return Group(
        line(
            f"{made.answerable} passages from {made.documents} documents, and "
            f"{made.unanswerable} blanks for questions without an answer, in {made.path}"
        ),
        line("next: fill in question, answerable and expected, then", "dim"),
        line(f"grounded-rag golden check {made.path} --corpus {corpus}", "dim", indent=2),
    )


def _check_view(check: GoldenCheck, *, compared: bool) -> RenderableType:
    parts: list[RenderableType] = [_stats_view(check.stats)]
    parts += [
        line(
            f"{finding.severity}: {finding.rule}: {finding.where}: {finding.detail}",
            "red" if finding.severity == "error" else "yellow",
        )
        for finding in check.findings
    ]
    errors = sum(finding.severity == "error" for finding in check.findings)
    parts.append(
        line("usable", "bold green")
        if check.usable
        else line(f"{errors} errors make it unusable", "bold red")
    )
    if not compared:
        parts.append(line("quotes were not compared: add --corpus FOLDER", "dim"))
    return Group(*parts)


def _stats_view(stats: GoldenStats) -> RenderableType:
    lines = [f"{stats.items} items; {stats.with_gold} with gold, {stats.with_expected} with answer"]
    for name, counts in (
        ("answerable", stats.answerable),
        ("split", stats.splits),
        ("kind", stats.kinds),
    ):
        lines.append(f"{name}: {', '.join(f'{key} {count}' for key, count in counts.items())}")
    precision = f"a rate of one half over all of them is known to ± {stats.widest:.1%}"
    if stats.missing:
        precision += f"; {stats.missing} more make a useful set of 100"
    return Group(*map(line, lines), line(precision))
