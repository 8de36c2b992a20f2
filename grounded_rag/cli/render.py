"""What a person sees in a terminal. Document and model text is data: never markup, never codes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grounded_rag import Answer, ClaimStatus, ClaimVerdict, Verification
from grounded_rag.render.support import withheld_in_words
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
