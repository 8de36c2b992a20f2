"""The command `currency`: which documents of an index no longer hold, or soon will not."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    IndexOption,
    JsonOption,
    cache_of,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.render import console
from grounded_rag.text.display import one_line

if TYPE_CHECKING:
    from grounded_rag.evaluation.production import CurrencyReport

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
