"""What a person sees in a terminal. Document and model text is data: never markup, never codes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grounded_rag import Answer, AnswerStatus, Flag, Verification
from grounded_rag.highlight import Highlight, highlight

_OVERRIDES = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069"
_STYLES = {True: "black on bright_yellow", False: ""}
_MARKS = {"supported": ("✓", "green"), "contradicted": ("✗", "red")}


def safe(text: str) -> str:
    """Return `text` without characters that could steer a terminal or reorder its line."""
    return "".join(
        c if c in "\n\t" or not _steers(c) else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _steers(character: str) -> bool:
    return character in _OVERRIDES or (
        unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t"
    )


def one_line(text: str) -> str:
    """Return `text` on one line, safe for a terminal."""
    return " ".join(safe(text).split())


def answer_view(answer: Answer, *, trace: bool = False) -> RenderableType:
    """Return an answer with its quotes highlighted, its flags, and what it cost."""
    parts: list[RenderableType] = [Text(one_line(answer.question), style="bold")]
    if answer.status is AnswerStatus.REFUSED:
        parts.append(Text(safe(answer.text), style="yellow"))
        if answer.refusal is not None:
            parts.append(
                Text(f"  why: {answer.refusal.detail} [{answer.refusal.reason}]", style="dim")
            )
            parts.append(Text(f"  next: {answer.refusal.next_step}", style="dim"))
    else:
        parts.append(Text(safe(answer.text), style="green"))
        parts.extend(
            Text(f"  not answered: {one_line(part)}", style="yellow") for part in answer.unanswered
        )
        parts.extend(Padding(_reference(item), (0, 0, 0, 2)) for item in highlight(answer))
        parts.extend(_flag(flag) for flag in _once(answer.flags))
    if trace:
        parts.extend(_trace(answer))
    parts.append(Text(_cost(answer), style="dim"))
    return Group(*parts)


def _reference(item: Highlight) -> RenderableType:
    place = [item.chunk.title or item.chunk.chunk.doc_id]
    headings = [name for name in item.chunk.chunk.headings if name != item.chunk.title]
    if headings:
        place.append(" › ".join(headings))
    if item.reference.located.page is not None:
        place.append(f"page {item.reference.located.page}")
    if item.chunk.source:
        place.append(item.chunk.source)
    line = Text(f"[{item.reference.number}] ", style="cyan")
    line.append(one_line(" · ".join(place)), style="dim")
    quote = Text()
    for segment in item.segments:
        text = safe(segment.text).replace("\n", " ")
        # The marks stay readable where there are no colours: in a pipe, in a log.
        quote.append(f"“{text}”" if segment.quoted else text, style=_STYLES[segment.quoted])
    return Group(line, Padding(quote, (0, 0, 0, 4)))


def _once(flags: Sequence[Flag]) -> list[Flag]:
    """Return one flag a kind and document: a person need not read it once a claim."""
    return list({(flag.kind, flag.doc_id, flag.detail): flag for flag in flags}.values())


def _flag(flag: Flag) -> Text:
    name = flag.kind.replace("_", " ")
    return Text(f"  ! {name}: {one_line(flag.detail)}", style="magenta")


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
    lines.extend(_flag(flag) for flag in verification.flags)
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
