"""What a person sees in a terminal. Document and model text is data: never markup, never codes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grounded_rag import Answer, Verification
from grounded_rag.render.terminal import answer_lines, flag_line
from grounded_rag.text.display import one_line, safe

_MARKS = {"supported": ("✓", "green"), "contradicted": ("✗", "red")}


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
            lines.append(Padding(verification_view(attempt.verification), (0, 0, 0, 4)))
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


def verification_view(verification: Verification) -> RenderableType:
    """Return the verdict on each claim, with what decided."""
    lines: list[RenderableType] = [Text(f"outcome: {verification.outcome}", style="bold")]
    for verdict in verification.claims:
        mark, style = _MARKS.get(verdict.status, ("✗", "yellow"))
        name = f"{verdict.status}, {verdict.tier}" if verdict.supported else str(verdict.status)
        reason = f" ({verdict.reason})" if verdict.reason else ""
        lines.append(Text(f"{mark} {one_line(verdict.text)}", style=style))
        lines.append(Text(f"    {name}{reason}: {one_line(verdict.why)}", style="dim"))
        for located in verdict.located:
            span = located.document_span
            place = f"{located.doc_id}[{span.start}:{span.end}]"
            lines.append(Text(f"    “{one_line(located.quote)}” — {one_line(place)}", style="dim"))
    lines.extend(flag_line(flag) for flag in verification.flags)
    lines.extend(
        Text(one_line(f"{problem.reason} @ {problem.path}: {problem.detail}"), style="yellow")
        for problem in verification.problems
    )
    return Group(*lines)


def pairs_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Return a two-column table without lines."""
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(Text(name, style="dim"), Text(safe(value)))
    return table


def console(*, stderr: bool = False) -> Console:
    """Return a console that treats every string as plain text."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)
