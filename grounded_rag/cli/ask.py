"""The command `ask`: one question, one answer, in the form that is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from grounded_rag import Answer, Policy
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    EntailmentOption,
    FailedClaimOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    JudgeOption,
    RerankerOption,
    SupportOption,
    UnprovenOption,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.terminal import answer_view, console, ingest_bar
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


REFUSED = 3
_POLICY = Policy()


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = "extractive",
    as_of: AsOfOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="Only documents whose metadata has KEY=VALUE; repeatable."),
    ] = None,
    unproven: UnprovenOption = _POLICY.unproven,
    on_failed_claim: FailedClaimOption = _POLICY.on_failed_claim,
    support: SupportOption = _POLICY.support,
    reranker: RerankerOption = None,
    entailment: EntailmentOption = None,
    judge: JudgeOption = None,
    relevance: Annotated[
        bool, typer.Option("--relevance", help="Flag answers that may be beside the question.")
    ] = False,
    stale: Annotated[
        Literal["flag", "exclude", "refuse"],
        typer.Option(help="What becomes of evidence that no longer holds."),
    ] = _POLICY.stale,
    quote_match: Annotated[
        Literal["repair", "exact"],
        typer.Option(help="Whether differences of presentation are bridged, and recorded."),
    ] = _POLICY.quote_match,
    quote_mode: Annotated[
        Literal["copy", "label"],
        typer.Option(help="A model copies its quotes, or names labelled sentences."),
    ] = "copy",
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Passages to retrieve.")] = _POLICY.k,
    max_attempts: Annotated[
        int, typer.Option(min=1, max=10, help="Calls of the generator, the first included.")
    ] = _POLICY.max_attempts,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, max=86_400, help="Seconds for one question.")
    ] = _POLICY.max_seconds,
    prompts: Annotated[Path | None, typer.Option(help="Folder with prompts of your own.")] = None,
    refusal: Annotated[str | None, typer.Option(help="Refusal string of your own.")] = None,
    receipts: Annotated[
        Path | None, typer.Option(help="Folder to save the answer's receipt to.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show what was retrieved, drafted and rejected.")
    ] = False,
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
    as_json: JsonOption = False,
) -> int:
    """Ask one question. Exit code 0: answered, 3: refused, 1: error."""
    options: dict[str, Any] = {"generator": generator, "quote_mode": quote_mode}
    if relevance:
        options["relevance"] = True
    named = {
        "prompts": prompts,
        "refusal": refusal,
        "receipts": receipts,
        "reranker": reranker,
        "entailment": entailment,
        "judge": judge,
    }
    options |= {name: value for name, value in named.items() if value is not None}
    options["policy"] = Policy(
        unproven=unproven,
        on_failed_claim=on_failed_claim,
        support=support,
        stale=stale,
        quote_match=quote_match,
        k=k,
        max_attempts=max_attempts,
        max_seconds=max_seconds,
    )
    moment = parse_as_of(as_of)
    filters = _filters(where or [])
    with ingest_bar(enabled=corpus is not None and form != "json" and not as_json) as progress:
        rag = open_rag(index=index, corpus=corpus, progress=progress, **options)
    form = "json" if as_json else form
    with rag:
        if stream:
            events = rag.stream(question, as_of=moment, filters=filters, rejected_text=trace)
            answer = show_stream(events, as_json=form == "json", trace=trace)
        else:
            answer = rag.query(question, as_of=moment, filters=filters)
    # With events as lines, the last line is the answer already.
    if not (stream and form == "json"):
        _show(answer, form, trace=trace)
    return 0 if answer.answered else REFUSED


def _show(answer: Answer, form: str, *, trace: bool) -> None:
    if form == "json":
        typer.echo(answer.to_json(trace=trace))
    elif form == "markdown":
        typer.echo(answer.to_markdown(), nl=False)
    elif form == "html":
        typer.echo(answer.to_html(standalone=True), nl=False)
    else:
        console().print(answer_view(answer, trace=trace))


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
