"""What all commands share to talk to a terminal: output, lines, tables, bars, errors.

Output goes to standard output, progress and errors to standard error. Text of documents, questions
and models is data: `line` and `console` let none of it act as markup or as a terminal's codes.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from grounded_rag import GroundedRAGError
from grounded_rag.errors import InputError
from grounded_rag.ingest.update import IngestProgress, ProgressHook
from grounded_rag.types.display import one_line, safe

ERROR = 1
NOT_GOOD = 3
"""Exit code of a command that did its work and found something wrong, such as a refusal."""


def console(*, stderr: bool = False) -> Console:
    """Return a console that treats every string as plain text."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def show(result: BaseModel, view: Callable[[Any], RenderableType], *, as_json: bool) -> None:
    """Print a result as JSON, or as its view for people."""
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        console().print(view(result))


def line(text: str, style: str = "", *, indent: int = 0) -> RenderableType:
    """Return text of any origin on one line; where it wraps, it stays indented."""
    shown = Text(one_line(text), style=style)
    return Padding(shown, (0, 0, 0, indent), expand=False) if indent else shown


def figures(*columns: str, left: Collection[str] = ()) -> Table:
    """Return an empty table of figures: columns to the right, except those named in `left`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="left" if name in left else "right")
    return table


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """Return `command` as Typer wants it: its number becomes the exit code, errors become lines."""

    @functools.wraps(command)
    def run(**options: Any) -> None:
        try:
            code = command(**options)
        except GroundedRAGError as error:
            report_error(error, as_json=bool(options.get("as_json")))
            code = ERROR
        raise typer.Exit(code)

    return run


def report_error(error: GroundedRAGError, *, as_json: bool) -> None:
    """Print an error with its next step: a line of JSON, or lines on standard error."""
    if as_json:
        kind = type(error).__name__
        typer.echo(json.dumps({"error": kind, "message": error.message, "hint": error.hint}))
        return
    screen = console(stderr=True)
    screen.print(Text.assemble(("error: ", "bold red"), safe(error.message)), soft_wrap=True)
    if error.hint:
        screen.print(Text(f"  next: {safe(error.hint)}", style="dim"), soft_wrap=True)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a line on standard error, without the place in the code."""
    text = Text.assemble(("warning: ", "bold yellow"), safe(str(message)))
    console(stderr=True).print(text, soft_wrap=True)


def save_text(path: Path, text: str) -> None:
    """Write a report.

    Raises:
        InputError: It cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


Advance = Callable[[str, int, int | None, str], None]
"""Takes what is being done, how many are done, how many there are, and the item at hand."""


@contextmanager
def counting_bar(*, enabled: bool, transient: bool = True) -> Iterator[Advance]:
    """Show a bar for each thing that is being done, from the first report of it on."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[item]}", markup=False),
        console=console(stderr=True),
        transient=transient,
    )
    tasks: dict[str, TaskID] = {}

    def advance(doing: str, done: int, total: int | None, item: str) -> None:
        # Started at the first report: a command that fails before it shows no empty bar.
        if not tasks:
            bar.start()
        if doing not in tasks:
            tasks[doing] = bar.add_task(doing.ljust(9), total=total, item="")
        bar.update(tasks[doing], completed=done, total=total, item=one_line(item)[:48])

    try:
        yield advance if enabled else lambda *_: None
    finally:
        if tasks:
            bar.stop()


_STAGES = {"read": "Reading", "embed": "Embedding", "write": "Writing"}


@contextmanager
def ingest_bar(*, enabled: bool) -> Iterator[ProgressHook]:
    """Show a bar for each stage that ingestion reports to the yielded hook."""
    with counting_bar(enabled=enabled, transient=False) as advance:

        def report(step: IngestProgress) -> None:
            advance(_STAGES[step.stage], step.done, step.total, step.item)

        yield report
