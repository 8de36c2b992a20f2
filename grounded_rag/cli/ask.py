"""The commands that answer: `ask` one question, or `chat`, one question per line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grounded_rag import Answer
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    SettingsOption,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.settings import load_settings
from grounded_rag.cli.terminal import NOT_GOOD, console, line, report_error
from grounded_rag.cli.verify import verification_view
from grounded_rag.conversation import Conversation, Turn
from grounded_rag.errors import ProviderError, QuestionError
from grounded_rag.events import (
    ClaimRejected,
    ClaimVerified,
    Drafting,
    Event,
    Final,
    ReAsked,
    Retrieved,
)
from grounded_rag.render.cards import IN_SOURCE_WORDS
from grounded_rag.render.terminal import answer_lines
from grounded_rag.types.display import one_line


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = None,
    as_of: AsOfOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="Only documents whose metadata has KEY=VALUE; repeatable."),
    ] = None,
    settings: SettingsOption = None,
    receipts: Annotated[
        Path | None, typer.Option(help="Folder to save the answer's receipt to.")
    ] = None,
    form: Annotated[
        Literal["terminal", "markdown", "html", "json"],
        typer.Option("--format", help="How the answer is printed; html is a whole page."),
    ] = "terminal",
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Show claims as they pass; with --json one event a line (JSON Lines)."
        ),
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show what was retrieved, drafted and rejected.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Ask one question. Exit code 0: answered, 3: refused, 1: error."""
    as_json = as_json or form == "json"
    chosen = load_settings(settings)
    moment = parse_as_of(as_of)
    filters = _filters(where or [])
    with open_rag(
        index=index,
        corpus=corpus,
        settings=chosen,
        quiet=as_json,
        generator=generator,
        receipts=receipts,
    ) as rag:
        if stream:
            events = rag.stream(question, as_of=moment, filters=filters, rejected_text=trace)
            answer = show_stream(events, as_json=as_json, trace=trace)
        else:
            answer = rag.query(question, as_of=moment, filters=filters)
    if form == "markdown" and not as_json:
        typer.echo(answer.to_markdown(), nl=False)
    elif form == "html" and not as_json:
        typer.echo(answer.to_html(standalone=True), nl=False)
    elif not as_json:
        console().print(answer_view(answer, trace=trace))
    elif not stream:
        # With events as lines, the last line was the answer already.
        typer.echo(answer.to_json(trace=trace))
    return 0 if answer.answered else NOT_GOOD


def _filters(where: list[str]) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    for condition in where:
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(
                f"{condition!r} is no KEY=VALUE, such as trust=official.", param_hint="--where"
            )
        filters.setdefault(key.strip(), []).append(value.strip())
    return filters


def show_stream(events: Iterable[Event], *, as_json: bool, trace: bool = False) -> Answer:
    """Show events as they come and return the answer that the last one carries.

    As JSON each event is a line on standard output; for a person lines go to standard error, and
    the answer is left to the caller.
    """
    screen = console(stderr=True)
    for event in events:
        if as_json:
            typer.echo(event_json(event, trace=trace))
        elif (shown := _event_line(event)) is not None:
            screen.print(shown, soft_wrap=True)
        if isinstance(event, Final):
            return event.answer
    raise AssertionError("a stream ends with its answer, or raises")


def event_json(event: Event, *, trace: bool) -> str:
    """Return an event as one line of JSON; an answer leaves its trace out unless asked for."""
    if isinstance(event, Final) and trace:
        answer = event.answer.to_json(trace=True, indent=None)
        return f'{{"kind": {json.dumps(event.kind)}, "answer": {answer}}}'
    return event.model_dump_json()


def _event_line(event: Event) -> Text | None:
    if isinstance(event, Retrieved):
        return Text(f"  {_counted(len(event.chunks), 'passage')} found", style="dim")
    if isinstance(event, Drafting) and event.drafted == 0:
        return Text("  drafting ...", style="dim")
    if isinstance(event, ClaimVerified):
        shown = Text(f"  ✓ {one_line(event.verdict.text)}", style="green")
        if event.verdict.restated:
            shown.append(f" ({IN_SOURCE_WORDS})", style="dim")
        return shown
    if isinstance(event, ClaimRejected):
        text = f": {one_line(event.verdict.text)}" if event.verdict is not None else ""
        return Text(f"  ✗ a claim did not pass ({event.reason}){text}", style="yellow")
    if isinstance(event, ReAsked):
        about = f" about {_counted(len(event.reasons), 'claim')}" if event.reasons else ""
        return Text(f"  asked again{about}", style="dim")
    return None


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def answer_view(answer: Answer, *, trace: bool = False) -> RenderableType:
    """Return an answer with its quotes highlighted, its badges, and what it cost."""
    parts: list[RenderableType] = [answer_lines(answer)]
    if trace:
        parts += _trace_lines(answer)
    cost = [
        f"as of {answer.as_of}",
        answer.generator or "generator",
        f"{answer.timings.total * 1000:.0f} ms",
    ]
    if answer.usage.total_tokens:
        cost.append(f"{answer.usage.total_tokens} tokens in {answer.usage.calls} calls")
    return Group(*parts, line(" · ".join(cost), "dim", indent=2))


def _trace_lines(answer: Answer) -> Iterator[RenderableType]:
    yield line("retrieved", "bold dim", indent=2)
    for chunk in answer.trace.retrieved:
        found = "+".join(chunk.sources)
        label = f"{chunk.rank}. {chunk.chunk.doc_id} ({found}, {chunk.score:.4f})"
        yield line(label, "dim", indent=4)
    restates = answer.policy.get("unproven", "restate") == "restate"
    for attempt in answer.trace.attempts:
        detail = f": {attempt.detail}" if attempt.detail else ""
        yield line(f"attempt {attempt.number}: {attempt.stop}{detail}", "bold dim", indent=2)
        if attempt.verification is not None:
            view = verification_view(attempt.verification, restates=restates)
            yield Padding(view, (0, 0, 0, 4))


def chat(
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = None,
    as_of: AsOfOption = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> int:
    """Ask follow-up questions, one a line; works with piped input, and --json prints JSON Lines.

    One line comes for each question; one that failed has "error", "message" and "hint". Exit code
    0: all were answered or refused, 1: one failed.
    """
    chosen = load_settings(settings)
    moment = parse_as_of(as_of)
    failed = False
    with open_rag(
        index=index, corpus=corpus, settings=chosen, quiet=as_json, generator=generator
    ) as rag:
        conversation = Conversation(rag)
        for question in _questions(quiet=as_json):
            try:
                turn = conversation.ask(question, as_of=moment)
            except (ProviderError, QuestionError) as error:
                # One question fails; the conversation goes on.
                failed = True
                report_error(error, as_json=as_json)
                continue
            if as_json:
                typer.echo(turn.model_dump_json())
            else:
                console().print(turn_view(turn))
    return 1 if failed else 0


_HELP = "Ask a question; follow-ups may refer to earlier ones. An empty line or Ctrl-D ends it."


def _questions(*, quiet: bool) -> Iterator[str]:
    """Yield one question a line until an empty line, the end of the input or an interrupt."""
    typed = sys.stdin.isatty()
    if typed and not quiet:
        console(stderr=True).print(Text(_HELP, style="dim"), soft_wrap=True)
    while True:
        if typed and not quiet:
            typer.echo("\n> ", nl=False, err=True)
        try:
            question = sys.stdin.readline()
        except KeyboardInterrupt:
            return
        if not question or (typed and not question.strip()):
            return
        # Piped input may space its questions out.
        if question.strip():
            yield question.strip()


def turn_view(turn: Turn) -> RenderableType:
    """Return an answer of a conversation, and which earlier ones no longer hold."""
    lines: list[RenderableType] = [Text("")]
    for outdated in turn.outdated:
        lines.append(line(f"! The answer to “{outdated.question}” no longer holds:", "magenta"))
        lines += [line(reason, "magenta", indent=4) for reason in outdated.reasons]
    if turn.question != turn.asked:
        lines.append(line(f"understood from: {turn.asked}", "dim", indent=2))
    if turn.note:
        lines.append(line(turn.note, "dim", indent=2))
    return Group(*lines, answer_view(turn.answer))
