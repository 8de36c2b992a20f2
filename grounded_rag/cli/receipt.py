"""The commands `receipt verify` and `receipt audit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grounded_rag import audit_receipts, load_receipt, verify_receipt
from grounded_rag.cli.errors import guarded
from grounded_rag.cli.options import AsOfOption, JsonOption, parse_as_of
from grounded_rag.cli.receipt_views import audit_view, check_view
from grounded_rag.cli.render import console

WRONG = 3

app = typer.Typer(
    name="receipt",
    help="Check answers again that were given before: receipts against today's documents.",
    no_args_is_help=True,
)

_Index = Annotated[
    Path | None,
    typer.Option("--index", "-i", help="Folder of the index to compare with."),
]
_Folder = Annotated[
    Path | None,
    typer.Option("--folder", "-f", help="Folder of documents to compare with; no index needed."),
]

_Key = Annotated[
    str | None,
    typer.Option(help="Ed25519 public key, hexadecimal, that must have signed what is checked."),
]


def verify(
    file: Annotated[Path, typer.Argument(help="The receipt, as `ask --receipts DIR` saves it.")],
    index: _Index = None,
    folder: _Folder = None,
    as_of: AsOfOption = None,
    public_key: _Key = None,
    as_json: JsonOption = False,
) -> int:
    """Run the verifier again on one receipt, offline.

    Without --index or --folder only the receipt itself is checked: its hash, its quotes, and
    whether its claims have the support that it states. Verbatim and computed claims are shown
    again; what a model or a judge confirmed is taken at its word, and the output says so.

    Exit code 0: every claim stands. 3: altered, wrong or stale. 1: error.
    """
    receipt = load_receipt(file)
    check = verify_receipt(
        receipt,
        index=index,
        folder=folder,
        as_of=parse_as_of(as_of),
        public_key=_key_bytes(public_key),
    )
    if as_json:
        typer.echo(check.model_dump_json(indent=2))
    else:
        console().print(check_view(check))
    return 0 if check.stands else WRONG


def audit(
    receipts: Annotated[Path, typer.Argument(help="Folder with receipts.")],
    index: _Index = None,
    folder: _Folder = None,
    as_of: AsOfOption = None,
    public_key: _Key = None,
    as_json: JsonOption = False,
) -> int:
    """Tell which answers that were given are wrong or stale today, and why.

    Exit code 0: every file is a receipt that stands. 3: some are altered, wrong, stale or
    unreadable. 1: error.
    """
    report = audit_receipts(
        receipts,
        index=index,
        folder=folder,
        as_of=parse_as_of(as_of),
        public_key=_key_bytes(public_key),
    )
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(audit_view(report))
    return 0 if report.clean else WRONG


def _key_bytes(text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        return bytes.fromhex(text)
    except ValueError as error:
        raise typer.BadParameter(
            "64 hexadecimal digits are expected", param_hint="--public-key"
        ) from error


for _name, _function in (("verify", verify), ("audit", audit)):
    app.command(_name)(guarded(_function))
