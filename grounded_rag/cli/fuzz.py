"""The command `fuzz`: labelled quotes or claims from real text, run through the verifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.terminal import counting_bar, figures, line, show
from grounded_rag.errors import InputError
from grounded_rag.testing.tamper import (
    CLAIM_KINDS,
    KINDS,
    MIN_BENIGN,
    MIN_HONEST,
    Finding,
    FuzzReport,
    KindResult,
    Label,
    load_corpus,
    load_data,
    read_cases,
    run_cases,
    run_fuzz,
)


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
        int, typer.Option("--per-class", min=1, help="Quotes of each class that has material.")
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
    sources = {"--corpus": corpus, "--data": data, "--cases": cases}
    given = [name for name, value in sources.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)} are given together.", hint="Give one of them.")
    if claims and (cases is not None or support):
        raise InputError("--claims draws claims of its own.", hint="Leave out --cases, --support.")
    if cases is not None:
        report = run_cases(read_cases(cases), name=str(cases), support=support)
        show(report, report_view, as_json=as_json)
        return 1 if report.failed else 0
    material = load_data(data) if data is not None else load_corpus(corpus or "demo")
    kinds = CLAIM_KINDS if claims else KINDS
    with fuzz_bar(enabled=not as_json, classes=len(kinds)) as progress:
        report = run_fuzz(
            material,
            per_class=per_class,
            seed=seed,
            kinds=kinds,
            support=support,
            progress=progress,
        )
    show(report, claims_view if claims else report_view, as_json=as_json)
    return 1 if report.failed else 0


@contextmanager
def fuzz_bar(*, enabled: bool, classes: int = len(KINDS)) -> Iterator[Callable[[KindResult], None]]:
    """Show a bar while the fuzzer reports its classes to the yielded hook."""
    done = count(1)
    with counting_bar(enabled=enabled) as advance:
        yield lambda result: advance("Fuzzing", next(done), classes, result.kind)


_SHOWN = 20
"""Wrong judgements that are shown: one mistake of the verifier makes many alike."""


def report_view(report: FuzzReport) -> RenderableType:
    """Return the counts of a run as a table, and the quotes that were judged wrongly."""
    columns = ("class", "quotes", "accepted", "mended", "refused", "wrong span", "95% interval")
    table = figures(*columns, "shown", left=("class",))
    # A class and its interval are read as a whole: the other columns give way first.
    table.columns[0].no_wrap = table.columns[columns.index("95% interval")].no_wrap = True
    for label in ("tamper", "benign"):
        rows = [row for row in report.results if row.label == label]
        for row in [*rows, report.total(label)]:
            table.add_row(*_quote_cells(row), style=_quote_style(row))
        table.add_section()
    findings = (_quote_finding(finding) for finding in report.findings[:_SHOWN])
    return Group(table, "", *findings, _quote_summary(report))


def _quote_cells(row: KindResult) -> list[str]:
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


def _quote_style(row: KindResult) -> str:
    if row.findings:
        return "bold red" if row.label == "tamper" else "yellow"
    return "bold" if row.kind.startswith("all ") else ""


def _quote_finding(finding: Finding) -> RenderableType:
    detail = f" ({finding.detail})" if finding.detail else ""
    return Group(
        line(f"{finding.kind}: {finding.found}{detail}", "red"),
        # As ASCII: what was tampered with may be a look-alike or no visible character at all.
        line(f"source {finding.original!a}", "dim", indent=4),
        line(f"quote  {finding.quote!a}", "dim", indent=4),
    )


def _quote_summary(report: FuzzReport) -> RenderableType:
    tampers, benign = report.total("tamper"), report.total("benign")
    rate = benign.accepted / benign.made if benign.made else 0.0
    return line(
        f"{report.quotes:,} quotes from {report.corpus} ({report.sentences:,} sentences, seed "
        f"{report.seed}): {tampers.accepted} of {tampers.made:,} tampered quotes accepted, "
        f"{rate:.2%} of {benign.made:,} benign ones accepted with their literal span "
        f"(at least {MIN_BENIGN:.1%} is asked); {report.seconds:.1f} s in the verifier.",
        "bold red" if report.failed else "bold green",
    )


def claims_view(report: FuzzReport) -> RenderableType:
    """Return the counts of a run as a table, and the claims that were judged wrongly."""
    table = figures(
        "class", "claims", "verbatim", "confirmed", "restated", "refused", "own words, 95%",
        left=("class",),
    )  # fmt: skip
    table.columns[0].no_wrap = True
    groups: tuple[tuple[Label, ...], ...] = (("false",), ("honest", "reworded"))
    for labels in groups:
        rows = [row for row in report.results if row.label in labels]
        for row in [*rows, report.total(labels[0])]:
            table.add_row(*_claim_cells(row), style=_claim_style(row))
        table.add_section()
    # Reworded claims are not asked to ship in their own words.
    wrong = [item for item in report.findings if item.label != "reworded"]
    wrong.sort(key=lambda item: item.true)
    return Group(table, "", *map(_claim_finding, wrong[:_SHOWN]), _claim_summary(report))


def _claim_cells(row: KindResult) -> list[str]:
    low, high = row.interval.low * 100, row.interval.high * 100
    counts = (row.made, row.verbatim, row.confirmed, row.restated, row.refused)
    interval = f"{low:.2f}–{high:.2f} %" if row.made else "no material"
    return [row.kind, *(f"{number:,}" for number in counts), interval]


def _claim_style(row: KindResult) -> str:
    if row.label == "false":
        return "bold red" if row.passed else ""
    low = row.label == "honest" and row.passed < MIN_HONEST * row.made
    return "yellow" if low else ""


def _claim_finding(item: Finding) -> RenderableType:
    why = f" ({item.detail})" if item.detail else ""
    return Group(
        line(f"{item.kind}: {item.found}{why}", "red"),
        line(f"claim {item.claim!a}", "dim", indent=4),
        line(f"quote {item.quote!a}", "dim", indent=4),
    )


def _claim_summary(report: FuzzReport) -> RenderableType:
    false, honest = report.total("false"), report.total("honest")
    rate = honest.passed / honest.made if honest.made else 0.0
    return line(
        f"Seed {report.seed}: {false.passed} of {false.made:,} false claims ship in their own "
        f"words, {rate:.2%} of {honest.made:,} honest whole statements do (at least "
        f"{MIN_HONEST:.0%} is asked).",
        "bold red" if report.failed else "bold green",
    )
