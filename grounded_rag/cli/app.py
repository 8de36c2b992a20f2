"""The application object: every command under its name."""

from __future__ import annotations

from typing import Annotated

import typer

from grounded_rag import __version__
from grounded_rag.cli import (
    ask,
    certify,
    chat,
    commands,
    demo,
    evaluation,
    factuality,
    fuzz,
    golden,
    receipt,
)
from grounded_rag.cli.terminal import guarded

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


for _name, _function in (
    ("ingest", commands.ingest),
    ("ask", ask.ask),
    ("chat", chat.chat),
    ("verify", commands.verify),
    ("status", commands.status),
    ("demo", demo.demo),
    ("fuzz", fuzz.fuzz),
    ("eval", evaluation.evaluation),
    ("diagnose", golden.diagnose),
    ("calibrate", factuality.calibrate),
    ("factuality", factuality.factuality),
    ("certify", certify.certify),
    ("currency", commands.currency),
):
    app.command(_name)(guarded(_function))
app.add_typer(receipt.app)
app.add_typer(golden.app)


def main() -> None:
    """Run the command line."""
    app(prog_name="grounded-rag")
