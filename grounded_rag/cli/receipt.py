"""The commands `receipt verify` and `receipt audit`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grounded_rag import AuditReport, ReceiptCheck, audit_receipts, load_receipt, verify_receipt
from grounded_rag.cli.options import AsOfOption, JsonOption, parse_as_of
from grounded_rag.cli.terminal import console, guarded
from grounded_rag.receipts.findings import (
    UNCHANGED,
    AuditFinding,
    ClaimCheck,
    DiffPart,
    IntegrityProblem,
    NearestPassage,
    StaleSource,
    number_line,
    support_line,
)
from grounded_rag.text.display import one_line, safe

_DIFF = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
_STYLES = {"same": "dim", "removed": "red", "added": "green"}
_QUESTION = 60


def check_view(check: ReceiptCheck) -> RenderableType:
    """Return one checked receipt, claim by claim."""
    verdict, style = ("stands", "bold green") if check.stands else _headline(check)
    lines: list[RenderableType] = [
        Text(f"{verdict}: {one_line(check.question)}", style=style),
        Text(
            f"  answered {check.created_at:%Y-%m-%d %H:%M} UTC, checked as of {check.as_of} "
            f"against {_against(check.against)}; receipt {one_line(check.receipt_id[:12])}",
            style="dim",
        ),
    ]
    lines += [_problem(problem, "altered") for problem in check.altered]
    lines += [_problem(problem, "not confirmed") for problem in check.unconfirmed]
    for claim in check.claims:
        lines += _claim(claim)
    if not check.claims:
        lines.append(Text("  A refusal: it claims nothing.", style="dim"))
    return Group(*lines)


def _headline(check: ReceiptCheck) -> tuple[str, str]:
    if check.altered:
        return "altered", "bold red"
    return ("wrong", "bold red") if check.wrong else ("stale", "bold magenta")


def _against(kind: str) -> str:
    return "itself only" if kind == "nothing" else f"the {kind}"


def _problem(problem: IntegrityProblem, name: str) -> Text:
    place = f" @ {problem.path}" if problem.path else ""
    return Text(f"  {name}{one_line(place)}: {one_line(problem.detail)}", style="red")


def _claim(claim: ClaimCheck) -> Iterator[RenderableType]:
    mark, style = ("✗", "red")
    if claim.status in UNCHANGED:
        mark, style = ("!", "magenta") if claim.stale else ("✓", "green")
    yield Text(f"  {mark} {one_line(claim.claim)}", style=style)
    yield Text(f"      {claim.status.replace('_', ' ')}: {one_line(claim.why)}", style="dim")
    if support := support_line(claim):
        yield Text(f"      {one_line(support)}", style="dim")
    for standing in claim.citations:
        if standing.nearest is not None:
            yield Padding(_passage(standing.nearest, "reads now"), (0, 0, 0, 6))
    for stale in claim.stale:
        yield Text(f"      ! {_stale(stale)}", style="magenta")
        if stale.successor_says is not None:
            title = f"nearest passage of {stale.successor_says.doc_id}, which holds now"
            yield Padding(_passage(stale.successor_says, title), (0, 0, 0, 8))


def _stale(stale: StaleSource) -> str:
    since = "flagged already when it was answered" if stale.known_then else "not flagged then"
    return f"{stale.kind.replace('_', ' ')}: {one_line(stale.detail)} ({since})"


def _passage(nearest: NearestPassage, title: str) -> RenderableType:
    line = Text(f"{one_line(title)}: ", style="dim")
    for part in nearest.diff:
        line.append_text(_part(part))
    rows: list[RenderableType] = [line]
    if nearest.numbers:
        told = "; ".join(one_line(number_line(change)) for change in nearest.numbers)
        rows.append(Text(f"numbers: {told}", style="bold"))
    return Group(*rows)


def _part(part: DiffPart) -> Text:
    # The marks stay readable where there are no colours: in a pipe, in a log.
    opened, closed = _DIFF[part.kind]
    text = safe(part.text).replace("\n", " ")
    return Text(f"{opened}{text}{closed}", style=_STYLES[part.kind])


def audit_view(report: AuditReport) -> RenderableType:
    """Return which answers are wrong or stale, why, and what was looked at."""
    good = report.receipts - len(report.findings)
    counts = f"{report.receipts} receipts as of {report.as_of}; still right: {good}, "
    counts += f"wrong or altered: {len(report.wrong)}, stale: {len(report.stale)}"
    lines: list[RenderableType] = [Text(counts, style="bold")]
    if report.refusals:
        lines.append(Text(f"{report.refusals} of them are refusals.", style="dim"))
    if report.findings:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in ("answered", "question and claim", "why"):
            table.add_column(name, overflow="fold", no_wrap=name == "answered")
        for finding in report.findings:
            for what, why in _rows(finding):
                table.add_row(Text(f"{finding.check.created_at:%Y-%m-%d}"), what, why)
        lines.append(table)
    lines += [
        Text(f"unreadable: {one_line(item.file)}: {one_line(item.message)}", style="yellow")
        for item in report.unreadable
    ]
    return Group(*lines)


def _rows(finding: AuditFinding) -> Iterator[tuple[Text, Text]]:
    check = finding.check
    question = one_line(check.question)
    if len(question) > _QUESTION:
        question = question[: _QUESTION - 1] + "…"
    if check.altered:
        yield (
            Text(question, style="bold"),
            Text(f"altered: {one_line(check.altered[0].detail)} ({one_line(finding.file)})"),
        )
        return
    for problem in check.unconfirmed:
        yield Text(question, style="bold"), _problem(problem, "not confirmed")
    for claim in check.claims:
        if not claim.stands:
            what = Text(question, style="bold")
            what.append(f"\n{one_line(claim.claim)}", style="not bold")
            what.append(f"\n{one_line(support_line(claim))}", style="not bold dim")
            yield what, _why(claim)


def _why(claim: ClaimCheck) -> Text:
    why = Text()
    if claim.status not in UNCHANGED:
        why.append(f"{claim.status.replace('_', ' ')}: {one_line(claim.why)}", style="red")
        for standing in claim.citations:
            if standing.nearest is not None:
                why.append(f"\nnow: {one_line(standing.nearest.text)}", style="dim")
    for stale in claim.stale:
        if why:
            why.append("\n")
        why.append(_stale(stale), style="magenta")
        if stale.successor_says is not None:
            says = stale.successor_says
            why.append(f"\nnow: {one_line(says.text)} ({one_line(says.doc_id)})", style="dim")
    return why


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
