"""The commands `ingest`, `verify` and `status`."""

from __future__ import annotations

import datetime as dt
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import typer
from rich.console import Group, RenderableType
from rich.text import Text

import grounded_rag
from grounded_rag import Outcome
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    EntailmentOption,
    IndexOption,
    JsonOption,
    JudgeOption,
    cache_of,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.terminal import console, ingest_bar, pairs_table, verification_view
from grounded_rag.errors import InputError
from grounded_rag.index.records import IndexStatus
from grounded_rag.ingest.update import IngestReport
from grounded_rag.options import make_entailment, make_judge
from grounded_rag.text.display import one_line

if TYPE_CHECKING:
    from grounded_rag.evaluation.production import CurrencyReport


_SHOWN = 12


def ingest_view(report: IngestReport, *, index: Path) -> RenderableType:
    """Return what ingestion did, what it left out, and the next step."""
    counts = (
        ("added", report.added),
        ("changed", report.changed),
        ("new metadata", report.metadata_changed),
        ("removed", report.removed),
        ("unchanged", report.unchanged),
    )
    summary = ", ".join(f"{len(ids)} {name}" for name, ids in counts if ids) or "nothing to do"
    lines: list[RenderableType] = [
        Text(f"{summary}; {report.embedded} chunks embedded in {report.seconds:.1f} s")
    ]
    lines.extend(
        Text(f"  removed: {one_line(doc_id)}", style="dim") for doc_id in report.removed[:_SHOWN]
    )
    if report.words_only:
        lines.append(
            Text(f"note: search is by words alone: {one_line(report.words_only)}", style="yellow")
        )
    lines.extend(
        Text(f"skipped: {one_line(item.path)}: {one_line(item.reason)}", style="dim")
        for item in report.skipped[:_SHOWN]
    )
    if len(report.skipped) > _SHOWN:
        lines.append(
            Text(f"skipped: {len(report.skipped) - _SHOWN} more (see --json)", style="dim")
        )
    lines.extend(
        Text(f"warning: {one_line(item.message)}", style="yellow") for item in report.warnings
    )
    for failure in report.failed:
        lines.append(Text(f"failed: {one_line(failure.message)}", style="red"))
        if failure.hint:
            lines.append(Text(f"  next: {one_line(failure.hint)}", style="dim"))
    lines.append(Text(f'next: grounded-rag ask --index {index} "your question"', style="dim"))
    return Group(*lines)


def status_rows(status: IndexStatus) -> list[tuple[str, str]]:
    """Return an index's state as rows of name and value."""
    embedding = (
        "none: search is by words alone" if status.embedding is None else str(status.embedding)
    )
    return [
        ("documents", f"{status.documents} ({status.undated} undated)"),
        ("chunks", str(status.chunks)),
        ("stored versions", str(status.versions)),
        ("vectors", str(status.vectors)),
        ("embedding", embedding),
        ("size on disk", f"{status.bytes_on_disk / 1e6:.1f} MB"),
        ("schema, generation", f"{status.schema_version}, {status.generation}"),
    ]


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


OVERDUE = 3
_STYLES = {"expired": "red", "past_review": "yellow", "successor_missing": "red"}


def currency(
    index: IndexOption = None,
    corpus: CorpusOption = None,
    as_of: AsOfOption = None,
    review_days: Annotated[
        int | None,
        typer.Option(min=1, max=36_500, help="Days after which a document is past its review."),
    ] = None,
    soon_days: Annotated[
        int, typer.Option(min=0, max=3_650, help="Announce what expires within so many days.")
    ] = 30,
    as_json: JsonOption = False,
) -> int:
    """Show which documents are expired, past review, undated or soon to expire.

    Meant for a daily job. Exit code 0: nothing is overdue. 3: a document is expired or past its
    review, or names a successor that is not there. 1: error.
    """
    from grounded_rag.evaluation.production import index_currency
    from grounded_rag.resources import demo_corpus_dir

    if corpus is not None or index is None:
        # Brings the corpus up to date, and says what is missing where neither is named.
        open_rag(index=index, corpus=corpus).close()
        index = cache_of(demo_corpus_dir() if corpus == "demo" else Path(corpus or ""))
    report = index_currency(
        index,
        as_of=parse_as_of(as_of),
        max_age=None if review_days is None else dt.timedelta(days=review_days),
        soon=dt.timedelta(days=soon_days),
    )
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(currency_view(report))
    return OVERDUE if report.overdue else 0


def currency_view(report: CurrencyReport) -> RenderableType:
    """Return the documents that are not simply current, and the counts."""
    lines: list[RenderableType] = []
    for entry in report.found:
        style = next((_STYLES[state] for state in entry.states if state in _STYLES), "dim")
        names = ", ".join(state.replace("_", " ") for state in entry.states)
        lines.append(Text(one_line(f"{entry.doc_id}: {names}"), style=style))
        lines.extend(Text(f"    {one_line(detail)}", style="dim") for detail in entry.details)
    counts = ", ".join(
        f"{count} {state.replace('_', ' ')}" for state, count in report.counts.items() if count
    )
    lines.append(Text(f"{report.documents} documents as of {report.as_of}: {counts or 'none'}"))
    if report.overdue:
        lines.append(
            Text("next: renew or withdraw the overdue documents, then ingest again", style="dim")
        )
    return Group(*lines)
