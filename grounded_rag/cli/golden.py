"""The commands `golden new | check | stats`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from grounded_rag.cli.eval_views import diagnoses_view, golden_view, stats_view
from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.terminal import console, guarded
from grounded_rag.errors import InputError
from grounded_rag.evaluation.datasets import check_golden, golden_stats, load_golden, new_golden
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.report import report_of
from grounded_rag.evaluation.runs import Run
from grounded_rag.ingest import read_document, scan
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.types import Document

UNUSABLE = 3

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
    if as_json:
        typer.echo(made.model_dump_json(indent=2))
    else:
        screen = console()
        screen.print(
            Text(
                f"{made.answerable} passages from {made.documents} documents, and "
                f"{made.unanswerable} blanks for questions without an answer, in {made.path}"
            )
        )
        screen.print(Text("next: fill in question, answerable and expected, then", style="dim"))
        screen.print(Text(f"  grounded-rag golden check {out} --corpus {corpus}", style="dim"))
    return 0


def check(golden: _Set, corpus: _Corpus = None, as_json: JsonOption = False) -> int:
    """Check schema, quotes, duplicates, leakage between splits, balance and size.

    Exit code 0: usable. 3: errors make it unusable. 1: it cannot be read.
    """
    documents = None
    if corpus is not None:
        documents = {document.id: document.text for document in _documents(corpus)}
    result = check_golden(golden, documents=documents)
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        console().print(golden_view(result))
        if documents is None:
            console().print(Text("quotes were not compared: add --corpus FOLDER", style="dim"))
    return 0 if result.usable else UNUSABLE


def stats(golden: _Set, as_json: JsonOption = False) -> int:
    """Show size and balance, and how precise a rate over the set can be."""
    result = golden_stats(load_golden(golden))
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        console().print(stats_view(result))
    return 0


def _documents(corpus: str) -> list[Document]:
    folder = demo_corpus_dir() if corpus == "demo" else Path(corpus)
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", hint="Name the folder with the documents.")
    return [read_document(file).document for file in scan(folder).files]


for _name, _function in (("new", new), ("check", check), ("stats", stats)):
    app.command(_name)(guarded(_function))


def diagnose(
    run: Annotated[Path, typer.Argument(help="Folder of the run, as `eval` wrote it.")],
    kind: Annotated[
        FailureKind | None, typer.Option("--kind", help="Only failures of this kind.")
    ] = None,
    item: Annotated[str | None, typer.Option("--item", help="Only this item.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Say for each wrong answer of a run what went wrong, on what evidence, and what to try."""
    rows = [
        row
        for row in report_of(Run.open(run)).items
        if (row.diagnosis.kind is not FailureKind.NONE or item is not None)
        and (kind is None or row.diagnosis.kind is kind)
        and (item is None or row.id == item)
    ]
    if as_json:
        typer.echo(
            json.dumps(
                [
                    {"item": row.id, "question": row.question, "standing": row.standing}
                    | row.diagnosis.model_dump(mode="json")
                    for row in rows
                ],
                ensure_ascii=False,
                indent=2,
            )
        )
    else:
        console().print(diagnoses_view(rows, run=run))
    return 0
