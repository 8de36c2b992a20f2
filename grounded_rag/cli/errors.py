"""The one place that turns an error into one line, the next step, and an exit code."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import typer
from rich.text import Text

from grounded_rag import GroundedRAGError
from grounded_rag.cli.render import console
from grounded_rag.text.display import safe

ERROR = 1


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
    line = Text("error: ", style="bold red")
    line.append(safe(error.message), style="not bold default")
    screen.print(line, soft_wrap=True)
    if error.hint:
        screen.print(Text(f"  next: {safe(error.hint)}", style="dim"), soft_wrap=True)
