"""Progress bars, on standard error so that output stays clean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grounded_rag.cli.render import console
from grounded_rag.ingestion import IngestProgress, ProgressHook
from grounded_rag.text.display import one_line

_WORDS = {"read": "Reading", "embed": "Embedding", "write": "Writing"}


def counting_bar(*, enabled: bool, transient: bool) -> Progress:
    """Return a bar that counts, with the item at hand in the task's field `item`.

    Args:
        enabled: Whether to show anything at all.
        transient: Whether it vanishes when it is done.
    """
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[item]}", markup=False),
        console=console(stderr=True),
        transient=transient,
        disable=not enabled,
    )


@contextmanager
def ingest_bar(*, enabled: bool = True) -> Iterator[ProgressHook]:
    """Show a bar a stage while ingestion reports to the yielded hook.

    Args:
        enabled: Whether to show anything at all.
    """
    bar = counting_bar(enabled=enabled, transient=False)
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
