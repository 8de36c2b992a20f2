"""The application object and the one place that turns errors into a line and an exit code."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import click
import typer
from rich.text import Text

from grounded_rag import GroundedRAGError, __version__
from grounded_rag.cli import commands, demo
from grounded_rag.cli.render import console, safe

app = typer.Typer(
    name="grounded-rag",
    help="Answers that can be checked: every claim carries a verified quote, or it is a refusal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"grounded-rag {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Answers that can be checked: every claim carries a verified quote, or it is a refusal."""


app.command("ingest")(commands.ingest)
app.command("ask")(commands.ask)
app.command("verify")(commands.verify)
app.command("status")(commands.status)
app.command("demo")(demo.demo)


def main() -> None:
    """Run the command line."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command line on `arguments` and return the exit code."""
    try:
        code: Any = app(arguments, standalone_mode=False, prog_name="grounded-rag")
    except GroundedRAGError as error:
        _report(error, as_json="--json" in arguments)
        return 1
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as usage:
        usage.show()
        return 2
    except (click.exceptions.Abort, KeyboardInterrupt):
        console(stderr=True).print("Stopped.")
        return 130
    except BrokenPipeError:
        return 1
    return code if isinstance(code, int) else 0


def _report(error: GroundedRAGError, *, as_json: bool) -> None:
    if as_json:
        kind = type(error).__name__
        typer.echo(json.dumps({"error": kind, "message": error.message, "hint": error.hint}))
        return
    line = Text("error: ", style="bold red")
    line.append(safe(error.message), style="default not bold")
    console(stderr=True).print(line)
    if error.hint:
        console(stderr=True).print(Text(f"  next: {safe(error.hint)}", style="dim"))
