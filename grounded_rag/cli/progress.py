"""A progress bar for ingestion, on standard error so that output stays clean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grounded_rag.cli.render import console
from grounded_rag.ingestion import IngestProgress, ProgressHook
from grounded_rag.text.display import one_line

_WORDS = {"read": "Reading", "embed": "Embedding", "write": "Writing"}


@contextmanager
def ingest_bar(*, enabled: bool = True) -> Iterator[ProgressHook]:
    """Show a bar a stage while ingestion reports to the yielded hook.

    Args:
        enabled: Whether to show anything at all.
    """
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[item]}", markup=False),
        console=console(stderr=True),
        transient=False,
        disable=not enabled,
    )
    tasks = {}

    def report(step: IngestProgress) -> None:
        # Started at the first step: a command that fails before it shows no empty bar.
        bar.start()
        if step.stage not in tasks:
            tasks[step.stage] = bar.add_task(_WORDS[step.stage].ljust(9), total=step.total, item="")
        bar.update(
            tasks[step.stage], completed=step.done, total=step.total, item=one_line(step.item)[:48]
        )

    try:
        yield report
    finally:
        if tasks:
            bar.stop()
