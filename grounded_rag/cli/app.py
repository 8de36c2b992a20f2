"""The application object: every command under its name."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from grounded_rag import __version__
from grounded_rag.cli import golden, verify
from grounded_rag.cli.ask import ask, chat
from grounded_rag.cli.confidence import calibrate, certify, factuality
from grounded_rag.cli.demo import demo
from grounded_rag.cli.documents import currency, ingest, status
from grounded_rag.cli.evaluation import diagnose, evaluation
from grounded_rag.cli.fuzz import fuzz
from grounded_rag.cli.settings import SettingsCommand, settings
from grounded_rag.cli.terminal import guarded, show_warning
from grounded_rag.cli.tuning import tune

app = typer.Typer(
    name="grounded-rag",
    help="Answers that can be checked: every claim carries a verified quote, or it is a refusal.",
    epilog="Exit codes: 0 done, answered or good; 1 an error; 2 wrong usage; 3 refused, not "
    "accepted, out of date or below the gate. Every command takes --json.",
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


for _name, _command in (
    ("demo", demo),
    ("ingest", ingest),
    ("ask", ask),
    ("chat", chat),
    ("verify", verify.verify),
    ("settings", settings),
    ("status", status),
    ("currency", currency),
    ("eval", evaluation),
    ("diagnose", diagnose),
    ("tune", tune),
    ("certify", certify),
    ("calibrate", calibrate),
    ("factuality", factuality),
    ("fuzz", fuzz),
):
    app.command(_name, cls=SettingsCommand)(guarded(_command))
app.add_typer(verify.receipts_app)
app.add_typer(golden.app)


def main() -> None:
    """Run the command line."""
    warnings.showwarning = show_warning
    app(prog_name="grounded-rag")
