"""The progress bar of `eval`, and what an interrupted run says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.text import Text

from grounded_rag.cli.progress import counting_bar
from grounded_rag.cli.render import console
from grounded_rag.evaluation.runner import Progress, ProgressHook
from grounded_rag.text.display import one_line

INTERRUPTED = 130


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Tell who interrupts a run how to go on with it."""
    try:
        yield
    except KeyboardInterrupt:
        line = f"interrupted: the same command with --run {folder} continues"
        console(stderr=True).print(Text(line, style="yellow"), soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def run_bar(verb: str, *, enabled: bool) -> Iterator[ProgressHook]:
    """Show how far a run is while it reports to the yielded hook.

    Args:
        verb: What is being done.
        enabled: Whether to show anything at all.
    """
    bar = counting_bar(enabled=enabled, transient=True)
    task = bar.add_task(verb, total=None, item="")

    def report(step: Progress) -> None:
        errors = f"  {step.errors} errors" if step.errors else ""
        bar.update(
            task, completed=step.done, total=step.total, item=one_line(step.item)[:40] + errors
        )

    with bar:
        yield report
