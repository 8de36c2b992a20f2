"""The commands about documents: `ingest` them, and look at an index with `status`, `currency`."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import grounded_rag
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    IndexOption,
    JsonOption,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.settings import load_object
from grounded_rag.cli.terminal import NOT_GOOD, ingest_bar, line, show
from grounded_rag.types.display import safe

if TYPE_CHECKING:
    from grounded_rag.evaluation.production import CurrencyReport
    from grounded_rag.index.records import IndexStatus
    from grounded_rag.ingest.update import IngestReport
    from grounded_rag.protocols import Reader


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
    readers: Annotated[
        list[str] | None,
        typer.Option(
            "--reader",
            metavar="SUFFIX=PACKAGE.MODULE:NAME",
            help="Your own file format; its code is run. May be given several times.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Bring an index up to date with folders or files; unchanged documents cost nothing.

    Exit code 0: done. 1: a document could not be read.
    """
    with ingest_bar(enabled=not as_json) as progress:
        report = grounded_rag.update_index(
            paths,
            index=index,
            embedding=None if words_only else "default",
            strict=strict,
            readers=dict(map(_reader, readers or ())),
            progress=progress,
        )
    show(report, partial(ingest_view, index=index), as_json=as_json)
    return 1 if report.failed else 0


def _reader(given: str) -> tuple[str, Reader]:
    suffix, _, name = given.partition("=")
    return suffix, load_object(name)


_SHOWN = 12
"""Documents named one by one, so that a large folder does not push the summary away."""


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
    lines = [line(f"{summary}; {report.embedded} chunks embedded in {report.seconds:.1f} s")]
    lines += [line(f"removed: {each}", "dim", indent=2) for each in report.removed[:_SHOWN]]
    if report.words_only:
        lines.append(line(f"note: search is by words alone: {report.words_only}", "yellow"))
    lines += [
        line(f"skipped: {each.path}: {each.reason}", "dim") for each in report.skipped[:_SHOWN]
    ]
    if len(report.skipped) > _SHOWN:
        lines.append(line(f"skipped: {len(report.skipped) - _SHOWN} more (see --json)", "dim"))
    lines += [line(f"warning: {each.message}", "yellow") for each in report.warnings]
    for failure in report.failed:
        lines.append(line(f"failed: {failure.message}", "red"))
        if failure.hint:
            lines.append(line(f"next: {failure.hint}", "dim", indent=2))
    lines.append(line(f'next: grounded-rag ask --index {index} "your question"', "dim"))
    return Group(*lines)


def status(
    index: IndexOption = None, corpus: CorpusOption = None, as_json: JsonOption = False
) -> int:
    """Show what an index holds."""
    with open_rag(index=index, corpus=corpus, quiet=as_json) as rag:
        show(rag.status(), status_view, as_json=as_json)
    return 0


def status_view(status: IndexStatus) -> RenderableType:
    """Return an index's state, a name and a value in each row."""
    embedding = (
        "none: search is by words alone" if status.embedding is None else str(status.embedding)
    )
    table = Table.grid(padding=(0, 2))
    for name, value in (
        ("documents", f"{status.documents} ({status.undated} undated)"),
        ("chunks", str(status.chunks)),
        ("stored versions", str(status.versions)),
        ("vectors", str(status.vectors)),
        ("embedding", embedding),
        ("threshold", _threshold(status)),
        ("size on disk", f"{status.bytes_on_disk / 1e6:.1f} MB"),
        ("schema, generation", f"{status.schema_version}, {status.generation}"),
    ):
        table.add_row(Text(name, style="dim"), safe(value))
    return table


def _threshold(status: IndexStatus) -> str:
    tuned = status.threshold
    if tuned is None:
        return "built in"
    later = "" if tuned.generation == status.generation else "; the documents have changed since"
    return f"{tuned.threshold:+.2f}, tuned {tuned.made_at:%Y-%m-%d} on {tuned.golden}{later}"


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

    # An index is read from its ledger alone; a corpus has to be brought up to date first.
    if corpus is not None or index is None:
        with open_rag(index=index, corpus=corpus, quiet=as_json) as rag:
            # It has one: it was opened from one.
            index = cast("Path", rag.index_path)
    report = index_currency(
        index,
        as_of=parse_as_of(as_of),
        max_age=None if review_days is None else dt.timedelta(days=review_days),
        soon=dt.timedelta(days=soon_days),
    )
    show(report, currency_view, as_json=as_json)
    return NOT_GOOD if report.overdue else 0


_STYLES = {"expired": "red", "past_review": "yellow", "successor_missing": "red"}


def currency_view(report: CurrencyReport) -> RenderableType:
    """Return the documents that are not simply current, and the counts."""
    lines: list[RenderableType] = []
    for entry in report.found:
        style = next((_STYLES[state] for state in entry.states if state in _STYLES), "dim")
        names = ", ".join(state.replace("_", " ") for state in entry.states)
        lines.append(line(f"{entry.doc_id}: {names}", style))
        lines += [line(detail, "dim", indent=4) for detail in entry.details]
    counts = ", ".join(
        f"{count} {state.replace('_', ' ')}" for state, count in report.counts.items() if count
    )
    lines.append(line(f"{report.documents} documents as of {report.as_of}: {counts or 'none'}"))
    if report.overdue:
        lines.append(
            line("next: renew or withdraw the overdue documents, then ingest again", "dim")
        )
    return Group(*lines)
