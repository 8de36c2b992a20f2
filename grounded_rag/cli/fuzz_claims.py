"""What `fuzz --claims` prints: how false and honest claims ship."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grounded_rag.testing.tamper import MIN_HONEST, ClaimReport, ClaimResult, JudgedClaim
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
