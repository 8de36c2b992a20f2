"""The commands `ingest`, `verify` and `status`."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

import grounded_rag
from grounded_rag import InputError, Outcome
from grounded_rag.assembly import make_entailment, make_judge
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    EntailmentOption,
    IndexOption,
    JsonOption,
    JudgeOption,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.progress import ingest_bar
from grounded_rag.cli.render import console, pairs_table, verification_view
from grounded_rag.cli.reports import ingest_view, status_rows

REFUSED = 3


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files.")],
    index: Annotated[
        Path,
        typer.Option("--index", "-i", help="Folder of the index.", envvar="GROUNDED_RAG_INDEX"),
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first file that cannot be read.")
    ] = False,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Search by words alone, without an embedding.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Bring an index up to date with folders or files; unchanged documents cost nothing."""
    with ingest_bar(enabled=not as_json) as progress:
        report = grounded_rag.update_index(
            paths,
            index=index,
            embedding=None if words_only else "default",
            strict=strict,
            progress=progress,
        )
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(ingest_view(report, index=index))
    return 1 if report.failed else 0


def verify(
    draft: Annotated[
        Path, typer.Argument(help='JSON file with the draft, "-" for standard input.')
    ],
    chunks: Annotated[
        Path | None,
        typer.Option("--chunks", help='JSON list of {"id", "text", "metadata"}.'),
    ] = None,
    question: Annotated[str | None, typer.Option(help="The question; never evidence.")] = None,
    as_of: AsOfOption = None,
    refusal: Annotated[str | None, typer.Option(help="The refusal string in force.")] = None,
    entailment: EntailmentOption = None,
    judge: JudgeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Verify a draft of any stack, claim by claim.

    Exit code 0: every claim is supported, and nothing else is wrong with the
    draft. 3: anything else. A claim is supported if it is word for word from its
    source, or confirmed by --entailment or --judge. One that nothing has shown is
    open, and not supported.

    Without --chunks, the file holds an object with "draft", "chunks" and, where
    known, "question".
    """
    text = _read(draft)
    body: Any = text
    passages: Any
    if chunks is None:
        whole = _json(text, draft)
        if not isinstance(whole, dict) or not {"draft", "chunks"} <= set(whole):
            raise InputError(
                f'{draft} has no "draft" and "chunks".',
                hint="Put both into the file, or give the chunks by --chunks FILE.",
            )
        body, passages = whole["draft"], whole["chunks"]
        if question is None and isinstance(whole.get("question"), str):
            question = whole["question"]
    else:
        passages = _json(_read(chunks), chunks)
    check = partial(
        grounded_rag.averify,
        body,
        passages,
        question=question,
        as_of=parse_as_of(as_of),
        refusal=refusal,
        entailment=make_entailment(entailment),
        judge=make_judge(judge),
    )
    result = anyio.run(check)
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        console().print(verification_view(result))
    return 0 if result.outcome is Outcome.ACCEPTED else REFUSED


def status(
    index: IndexOption = None, corpus: CorpusOption = None, as_json: JsonOption = False
) -> int:
    """Show what an index holds."""
    with open_rag(index=index, corpus=corpus) as rag:
        report = rag.status()
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(pairs_table(status_rows(report)))
    return 0


def _read(path: Path) -> str:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}.", hint="See `verify --help`.") from error
