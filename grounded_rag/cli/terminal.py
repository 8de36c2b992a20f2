"""Progress bars, on standard error so that output stays clean."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from grounded_rag import Answer, ClaimStatus, ClaimVerdict, GroundedRAGError, Verification
from grounded_rag.ingest.update import IngestProgress, ProgressHook
from grounded_rag.render.cards import withheld_in_words
from grounded_rag.render.terminal import answer_lines, flag_line
from grounded_rag.text.display import one_line, safe

_MARKS = {
    ClaimStatus.SUPPORTED: ("✓", "green"),
    ClaimStatus.OPEN: ("?", "yellow"),
    ClaimStatus.UNCHECKED: ("?", "yellow"),
    ClaimStatus.CONTRADICTED: ("✗", "red"),
}


def answer_view(answer: Answer, *, trace: bool = False) -> RenderableType:
    """Return an answer with its quotes highlighted, its badges, and what it cost."""
    parts: list[RenderableType] = [answer_lines(answer)]
    if trace:
        parts.extend(_trace(answer))
    parts.append(Text(_cost(answer), style="dim"))
    return Group(*parts)


def _trace(answer: Answer) -> list[RenderableType]:
    lines: list[RenderableType] = [Text("  retrieved", style="bold dim")]
    for chunk in answer.trace.retrieved:
        found = "+".join(chunk.sources)
        label = f"{chunk.rank}. {chunk.chunk.doc_id} ({found}, {chunk.score:.4f})"
        lines.append(Text(f"    {one_line(label)}", style="dim"))
    for attempt in answer.trace.attempts:
        detail = f": {attempt.detail}" if attempt.detail else ""
        lines.append(
            Text(f"  attempt {attempt.number}: {attempt.stop}{one_line(detail)}", style="bold dim")
        )
        if attempt.verification is not None:
            restates = answer.policy.get("unproven", "restate") == "restate"
            view = verification_view(attempt.verification, restates=restates)
            lines.append(Padding(view, (0, 0, 0, 4)))
    return lines


def _cost(answer: Answer) -> str:
    parts = [
        f"as of {answer.as_of}",
        answer.generator or "generator",
        f"{answer.timings.total * 1000:.0f} ms",
    ]
    if answer.usage.total_tokens:
        parts.append(f"{answer.usage.total_tokens} tokens in {answer.usage.calls} calls")
    return "  " + " · ".join(parts)


def verification_view(verification: Verification, *, restates: bool = True) -> RenderableType:
    """Return the verdict on each claim, with what decided and what ships in its place.

    Args:
        verification: The verification.
        restates: Whether the policy lets the source's own words ship in the place of a claim.
    """
    lines: list[RenderableType] = [Text(f"outcome: {verification.outcome}", style="bold")]
    for verdict in verification.claims:
        mark, style = _MARKS.get(verdict.status, ("✗", "yellow"))
        name = f"{verdict.status}, {verdict.tier}" if verdict.supported else str(verdict.status)
        reason = f" ({verdict.reason})" if verdict.reason else ""
        lines.append(Text(f"{mark} {one_line(verdict.text)}", style=style))
        lines.append(_indented(f"{name}{reason}: {one_line(verdict.why)}", "dim"))
        for located in verdict.located:
            span = located.document_span
            place = f"{located.doc_id}[{span.start}:{span.end}]"
            lines.append(_indented(f"“{one_line(located.quote)}” — {one_line(place)}", "dim"))
        if restates and (verdict.restatements or not verdict.supported):
            lines.append(_instead(verdict))
    lines.extend(flag_line(flag) for flag in verification.flags)
    lines.extend(
        Text(one_line(f"{problem.reason} @ {problem.path}: {problem.detail}"), style="yellow")
        for problem in verification.problems
    )
    return Group(*lines)


def _instead(verdict: ClaimVerdict) -> RenderableType:
    if verdict.restatement is not None:
        return _indented(f"would ship instead: {one_line(verdict.restatement)}", "cyan")
    return _indented(f"nothing would ship instead: {withheld_in_words(verdict)}", "dim")


def _indented(text: str, style: str) -> Padding:
    return Padding(Text(text, style), (0, 0, 0, 4))


def pairs_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Return a two-column table without lines."""
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(Text(name, style="dim"), Text(safe(value)))
    return table


def console(*, stderr: bool = False) -> Console:
    """Return a console that treats every string as plain text."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


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


_WORDS = {"read": "Reading", "embed": "Embedding", "write": "Writing"}


def counting_bar(*, enabled: bool, transient: bool) -> Progress:
    """Return a bar that counts, with the item at hand in the task's field `item`.

    Args:
        enabled: Whether to show anything at all.
        transient: Whether it vanishes when it is done.
    """
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[item]}", markup=False),
        console=console(stderr=True),
        transient=transient,
        disable=not enabled,
    )


@contextmanager
def ingest_bar(*, enabled: bool = True) -> Iterator[ProgressHook]:
    """Show a bar a stage while ingestion reports to the yielded hook.

    Args:
        enabled: Whether to show anything at all.
    """
    bar = counting_bar(enabled=enabled, transient=False)
    tasks = {}

    def report(step: IngestProgress) -> None:
        # Started at the first step: a command that fails before it shows no empty bar.
        bar.start()
        if step.stage not in tasks:
            tasks[step.stage] = bar.add_task(_WORDS[step.stage].ljust(9), total=step.total, item="")
        bar.update(
            tasks[step.stage], completed=step.done, total=step.total, item=one_line(step.item)[:48]
        )

    try:
        yield report
    finally:
        if tasks:
            bar.stop()
