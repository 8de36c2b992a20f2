"""The command `fuzz`: labelled quotes from real text, run through the verifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.terminal import console, counting_bar
from grounded_rag.errors import InputError
from grounded_rag.testing.tamper import (
    CLAIM_KINDS,
    KINDS,
    MIN_BENIGN,
    MIN_HONEST,
    ClaimReport,
    ClaimResult,
    Finding,
    FuzzReport,
    JudgedClaim,
    KindResult,
    load_corpus,
    load_data,
    read_cases,
    run_cases,
    run_claims,
    run_fuzz,
)
from grounded_rag.text.display import one_line

_SHOWN = 20


def claims_view(report: ClaimReport) -> RenderableType:
    """Return the counts of a run as a table, and the claims that were judged wrongly."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("class", no_wrap=True)
    for name in ("claims", "verbatim", "confirmed", "restated", "refused", "own words, 95%"):
        table.add_column(name, justify="right")
    for true in (False, True):
        rows = [row for row in report.results if row.true is true]
        for row in [*rows, report.total(true=true)]:
            table.add_row(*_cells(row), style=_style(row))
        table.add_section()
    wrong = [item for row in report.results if row.near or not row.true for item in row.wrong]
    wrong.sort(key=lambda item: item.true)
    return Group(table, Text(""), *(_finding(item) for item in wrong[:_SHOWN]), _summary(report))


def _cells(row: ClaimResult) -> list[str]:
    low, high = row.interval.low * 100, row.interval.high * 100
    return [
        row.kind,
        f"{row.made:,}",
        f"{row.verbatim:,}",
        f"{row.confirmed:,}",
        f"{row.restated:,}",
        f"{row.refused:,}",
        f"{low:.2f}–{high:.2f} %" if row.made else "no material",
    ]


def _style(row: ClaimResult) -> str:
    if row.true:
        low = row.near and row.own_words < MIN_HONEST * row.made
        return "yellow" if low else ""
    return "bold red" if row.own_words else ""


def _finding(item: JudgedClaim) -> RenderableType:
    head = f"{item.kind}: {item.fate}" + (f" ({item.why})" if item.why else "")
    lines = [Text(one_line(head), style="red")]
    lines.append(Text(f"    claim {one_line(ascii(item.claim))}", style="dim"))
    lines.append(Text(f"    quote {one_line(ascii(item.quote))}", style="dim"))
    return Group(*lines)


def _summary(report: ClaimReport) -> Text:
    false, honest = report.total(true=False), report.total(true=True)
    rate = honest.own_words / honest.made if honest.made else 0.0
    line = (
        f"Seed {report.seed}: {false.own_words} of {false.made:,} false claims ship in their own "
        f"words, {rate:.2%} of {honest.made:,} honest whole statements do (at least "
        f"{MIN_HONEST:.0%} is asked)."
    )
    return Text(one_line(line), style="bold red" if report.failed else "bold green")


_FINDINGS = 20


def fuzz(
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", help='"demo" (default), or a folder of text files.'),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder of data sets: wice, squad2, policyqa, tatqa, ..."),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option("--cases", help="JSON lines of labelled quotes, instead of drawn ones."),
    ] = None,
    per_class: Annotated[
        int, typer.Option("--per-class", min=1, help="Quotes a class, where there is material.")
    ] = 50,
    seed: Annotated[int, typer.Option("--seed", help="The same seed draws the same quotes.")] = 0,
    support: Annotated[
        bool, typer.Option("--support", help="Also count the claims that ship in their own words.")
    ] = False,
    claims: Annotated[
        bool,
        typer.Option("--claims", help="False and honest claims about literal quotes instead."),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Tamper with quotes from real text and count what the verifier lets through.

    Exit code 0: no tampered quote was accepted and at least 99.5% of the benign ones were, each
    with its literal span. 1: not so. With --claims: 0 if no false claim ships in its own words
    and at least 97% of the honest ones do, 1 if not.
    """
    given = [
        name
        for name, value in (("--corpus", corpus), ("--data", data), ("--cases", cases))
        if value is not None
    ]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} are given together.", hint="Give one of them.")
    if claims:
        if cases is not None or support:
            raise InputError(
                "--claims draws claims of its own.", hint="Leave out --cases, --support."
            )
        material = load_data(data) if data is not None else load_corpus(corpus or "demo")
        with fuzz_bar(enabled=not as_json, classes=len(CLAIM_KINDS)) as progress:
            found = run_claims(material, per_class=per_class, seed=seed, progress=progress)
        if as_json:
            typer.echo(found.model_dump_json(indent=2))
        else:
            console().print(claims_view(found))
        return 1 if found.failed else 0
    if cases is not None:
        report = run_cases(read_cases(cases), name=str(cases), support=support)
    else:
        material = load_data(data) if data is not None else load_corpus(corpus or "demo")
        with fuzz_bar(enabled=not as_json) as progress:
            report = run_fuzz(
                material, per_class=per_class, seed=seed, support=support, progress=progress
            )
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(report_view(report))
    return 1 if report.failed else 0


@contextmanager
def fuzz_bar(
    *, enabled: bool, classes: int = len(KINDS)
) -> Iterator[Callable[[KindResult | ClaimResult], None]]:
    """Show a bar while the fuzzer reports its classes to the yielded hook."""
    bar = counting_bar(enabled=enabled, transient=True)
    task = bar.add_task("Fuzzing", total=classes, item="")

    def report(result: KindResult | ClaimResult) -> None:
        bar.update(task, advance=1, item=result.kind)

    with bar:
        yield report


def report_view(report: FuzzReport) -> RenderableType:
    """Return the counts of a run as a table, and the quotes that were judged wrongly."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("class", no_wrap=True)
    for name in ("quotes", "accepted", "mended", "refused", "wrong span", "95% interval", "shown"):
        table.add_column(name, justify="right", no_wrap=name == "95% interval")
    for label in ("tamper", "benign"):
        rows = [row for row in report.results if row.label == label]
        for row in [*rows, report.total(label)]:
            table.add_row(*_fuzz_cells(row), style=_fuzz_style(row))
        table.add_section()
    parts: list[RenderableType] = [table, Text("")]
    parts.extend(_fuzz_finding(finding) for finding in report.findings[:_FINDINGS])
    parts.append(_fuzz_summary(report))
    return Group(*parts)


def _fuzz_cells(row: KindResult) -> list[str]:
    low, high = row.interval.low * 100, row.interval.high * 100
    return [
        row.kind,
        f"{row.made:,}",
        f"{row.accepted:,}",
        f"{row.mended:,}" if row.label == "tamper" else "",
        f"{row.refused + row.crashed:,}" + (f" ({row.crashed} crashed)" if row.crashed else ""),
        str(row.wrong_span),
        f"{low:.1f}–{high:.1f} %" if row.made else "no material",
        "" if row.shown is None else f"{row.shown:,}",
    ]


def _fuzz_style(row: KindResult) -> str:
    if row.wrong:
        return "bold red" if row.label == "tamper" else "yellow"
    return "bold" if row.kind.startswith("all ") else ""


def _fuzz_finding(finding: Finding) -> RenderableType:
    detail = f" ({finding.detail})" if finding.detail else ""
    lines = [Text(f"{finding.kind}: {finding.found}{one_line(detail)}", style="red")]
    lines.append(Text(f"    source {one_line(ascii(finding.original))}", style="dim"))
    lines.append(Text(f"    quote  {one_line(ascii(finding.quote))}", style="dim"))
    return Group(*lines)


def _fuzz_summary(report: FuzzReport) -> Text:
    tampers, benign = report.total("tamper"), report.total("benign")
    rate = benign.accepted / benign.made if benign.made else 0.0
    line = (
        f"{report.quotes:,} quotes from {report.corpus} ({report.sentences:,} sentences, seed "
        f"{report.seed}): {tampers.accepted} of {tampers.made:,} tampered quotes accepted, "
        f"{rate:.2%} of {benign.made:,} benign ones accepted with their literal span "
        f"(at least {MIN_BENIGN:.1%} is asked); {report.seconds:.1f} s in the verifier."
    )
    return Text(one_line(line), style="bold red" if report.failed else "bold green")
