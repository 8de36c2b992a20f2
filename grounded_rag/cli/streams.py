"""Events of a stream as lines: for a person on standard error, for a program as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable

import typer
from rich.text import Text

from grounded_rag import Answer
from grounded_rag.cli.render import console
from grounded_rag.events import (
    ClaimRejected,
    ClaimVerified,
    Drafting,
    Event,
    Final,
    ReAsked,
    Retrieved,
)
from grounded_rag.render.support import IN_SOURCE_WORDS
from grounded_rag.text.display import one_line


def show_stream(events: Iterable[Event], *, as_json: bool, trace: bool = False) -> Answer:
    """Show events as they come and return the answer that the last one carries.

    Args:
        events: The events.
        as_json: Whether to print each event as a line of JSON on standard output; otherwise lines
            for a person go to standard error, and the answer is left to the caller.
        trace: Whether the answer's JSON includes the trace.
    """
    screen = console(stderr=True)
    for event in events:
        if as_json:
            typer.echo(_line(event, trace=trace))
        elif (text := _told(event)) is not None:
            screen.print(text, soft_wrap=True)
        if isinstance(event, Final):
            return event.answer
    raise AssertionError("a stream ends with its answer, or raises")


def _line(event: Event, *, trace: bool) -> str:
    if isinstance(event, Final) and trace:
        answer = event.answer.to_json(trace=True, indent=None)
        return f'{{"kind": {json.dumps(event.kind)}, "answer": {answer}}}'
    return event.model_dump_json()


def _told(event: Event) -> Text | None:
    """Return an event as a line, or None for one that a person need not see."""
    if isinstance(event, Retrieved):
        return Text(f"  {_counted(len(event.chunks), 'passage')} found", style="dim")
    if isinstance(event, Drafting) and event.drafted == 0:
        return Text("  drafting ...", style="dim")
    if isinstance(event, ClaimVerified):
        told = Text(f"  ✓ {one_line(event.verdict.text)}", style="green")
        if event.verdict.restated:
            told.append(f" ({IN_SOURCE_WORDS})", style="dim")
        return told
    if isinstance(event, ClaimRejected):
        text = f": {one_line(event.verdict.text)}" if event.verdict is not None else ""
        return Text(f"  ✗ a claim did not pass ({event.reason}){text}", style="yellow")
    if isinstance(event, ReAsked):
        about = f" about {_counted(len(event.reasons), 'claim')}" if event.reasons else ""
        return Text(f"  asked again{about}", style="dim")
    return None


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
