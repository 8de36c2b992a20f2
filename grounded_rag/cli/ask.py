"""The command `ask`: one question, one answer, in the form that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

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
from grounded_rag.cli.progress import ingest_bar
from grounded_rag.cli.render import answer_view, console
from grounded_rag.cli.streams import show_stream

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
