"""The command `eval`: run a golden set, judge a run again, or measure another system's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from grounded_rag import Policy
from grounded_rag.cli.eval_factuality import Scoring
from grounded_rag.cli.eval_files import OutputFiles, whole_json, write_files
from grounded_rag.cli.eval_progress import resumable, run_bar
from grounded_rag.cli.eval_sources import Source, golden_path
from grounded_rag.cli.eval_views import error_lines, report_view
from grounded_rag.cli.options import (
    CorpusOption,
    EntailmentOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    JudgeOption,
    open_rag,
)
from grounded_rag.cli.policy_options import SupportOption, UnprovenOption, support_of
from grounded_rag.cli.progress import ingest_bar
from grounded_rag.cli.render import console
from grounded_rag.evaluation.batch import evaluate_answers, replay
from grounded_rag.evaluation.comparison import compare
from grounded_rag.evaluation.formats import Format
from grounded_rag.evaluation.gate import judge_gate, load_gate
from grounded_rag.evaluation.making import new_id
from grounded_rag.evaluation.openness import open_claims
from grounded_rag.evaluation.records import Prices
from grounded_rag.evaluation.report import report_of
from grounded_rag.evaluation.runner import Options, evaluate
from grounded_rag.evaluation.runs import Run, policy_of

GATE_FAILED = 3
_POLICY = Policy()


def evaluation(
    context: typer.Context,
    golden: Annotated[
        Path | None, typer.Argument(help="Golden set; by default the corpus's golden.jsonl.")
    ] = None,
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = "extractive",
    entailment: EntailmentOption = None,
    judge: JudgeOption = None,
    split: Annotated[
        str | None, typer.Option(help="Only items of this split.", rich_help_panel="Running")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="Only so many items, spread over the set.", rich_help_panel="Running"
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            help="Folder of the run, runs/ID by default; an unfinished one is continued.",
            rich_help_panel="Running",
        ),
    ] = None,
    replay_of: Annotated[
        Path | None,
        typer.Option(
            "--replay",
            help="Judge this run again, without any model call.",
            rich_help_panel="Judging without asking",
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Measure another system's recorded answers.",
            rich_help_panel="Judging without asking",
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - it is called --format
        Format,
        typer.Option(
            help="Shape of the records in --answers.", rich_help_panel="Judging without asking"
        ),
    ] = "jsonl",
    refusal: Annotated[
        str,
        typer.Option(
            help="With --answers: what that system says when it declines, word for word.",
            rich_help_panel="Judging without asking",
        ),
    ] = "",
    gate: Annotated[
        Path | None,
        typer.Option(help="Gate file; see docs/evaluation.md.", rich_help_panel="Gate and reports"),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(help="Run to compare with, item by item.", rich_help_panel="Gate and reports"),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a self-contained HTML report.", rich_help_panel="Gate and reports"
        ),
    ] = None,
    factuality: Annotated[
        Path | None,
        typer.Option(
            help="Model that `calibrate` wrote: show P(true) of each claim in --html.",
            rich_help_panel="Gate and reports",
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write JUnit XML.", rich_help_panel="Gate and reports")
    ] = None,
    markdown_file: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            help="Write GitHub-flavoured Markdown.",
            rich_help_panel="Gate and reports",
        ),
    ] = None,
    support: SupportOption = None,
    unproven: UnprovenOption = None,
    on_failed_claim: Annotated[
        Literal["refuse", "drop"] | None,
        typer.Option(
            help="A claim cannot be mended or restated: refuse the answer (default), or drop it.",
            rich_help_panel="Answers",
        ),
    ] = None,
    k: Annotated[
        int,
        typer.Option("-k", min=1, max=100, help="Passages to retrieve.", rich_help_panel="Answers"),
    ] = _POLICY.k,
    prompts: Annotated[
        Path | None,
        typer.Option(help="Folder with prompts of your own.", rich_help_panel="Answers"),
    ] = None,
    concurrency: Annotated[
        int,
        typer.Option(min=1, max=64, help="Questions under way at once.", rich_help_panel="Running"),
    ] = 4,
    relevance: Annotated[
        bool,
        typer.Option(help="Score relevance with the index's embedding.", rich_help_panel="Running"),
    ] = True,
    prices: Annotated[
        str | None,
        typer.Option(
            help='Money for a million tokens: "input=3,output=15,cache_read=0.3".',
            rich_help_panel="Running",
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--everything",
            help="With --replay: run unchanged checks again, too.",
            rich_help_panel="Judging without asking",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Measure answers on a golden set, judge a run again, or measure another system's answers.

    Exit code 0: done, and the gate passed where one is named. 3: the gate failed. 1: an error.
    """
    source = Source(replay_of=replay_of, answers=answers)
    source.check(corpus=corpus)
    source.check_unused(context)
    scoring = Scoring.load(factuality, html=html, entailment=entailment)
    chosen = {
        "support": support_of(support),
        "unproven": unproven,
        "on_failed_claim": on_failed_claim,
    }
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    folder = run or Path("runs") / new_id()
    rules = load_gate(gate) if gate is not None else None
    before = report_of(Run.open(baseline)) if baseline is not None else None
    if replay_of is not None:
        policy = policy_of(Run.open(replay_of).meta, **given)
        with run_bar("Judging", enabled=not as_json) as hook:
            report = replay(
                replay_of, run=folder, policy=policy, everything=everything, progress=hook
            )
    elif answers is not None:
        with run_bar("Judging", enabled=not as_json) as hook:
            report = evaluate_answers(
                answers,
                format=format,
                golden=golden,
                run=folder,
                policy=Policy.model_validate(given),
                refusal=refusal,
                progress=hook,
            )
    else:
        policy = Policy.model_validate({**given, "k": k})
        options: dict[str, Any] = {"generator": generator, "policy": policy}
        named = {"prompts": prompts, "entailment": entailment, "judge": judge}
        options |= {name: value for name, value in named.items() if value is not None}
        items = golden_path(golden, corpus)
        with ingest_bar(enabled=corpus is not None and not as_json) as steps:
            rag = open_rag(index=index, corpus=corpus, progress=steps, **options)
        scoring.check(rag._parts.fingerprint)
        with rag, run_bar("Asking", enabled=not as_json) as hook:
            embedding = rag._index.embedding if relevance and rag._index is not None else None
            with resumable(folder):
                report = evaluate(
                    rag,
                    items,
                    run=folder,
                    split=split,
                    limit=limit,
                    options=Options(
                        concurrency=concurrency,
                        relevance=embedding,
                        prices=_prices(prices),
                        progress=hook,
                    ),
                )
    comparison = compare(report, before) if before is not None else None
    result = judge_gate(report, rules, comparison=comparison) if rules is not None else None
    files = OutputFiles(html, junit, markdown_file)
    likely = scoring.of(folder, enabled=not as_json)
    write_files(folder, report, before, comparison, result, files, factuality=likely)
    unshown = open_claims(report.open_support, None if likely is None else likely.by_item())
    if as_json:
        typer.echo(whole_json(report, comparison, result, unshown))
        for line in error_lines(report):
            typer.echo(line, err=True)
    else:
        console().print(
            report_view(
                report, run=folder, gate=result, comparison=comparison, html=html, unshown=unshown
            )
        )
    if result is not None and not result.passed:
        return GATE_FAILED
    return 1 if report.errors and result is None else 0


def _prices(text: str | None) -> Prices | None:
    if text is None:
        return None
    fields: dict[str, object] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        fields[name.strip()] = value.strip()
    try:
        return Prices.model_validate(fields)
    except ValueError as error:
        raise typer.BadParameter(
            "write input=3,output=15, and where needed cache_read, cache_write, currency",
            param_hint="--prices",
        ) from error
