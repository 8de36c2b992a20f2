"""The command `eval`: run a golden set, judge a run again, or measure another system's answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

import typer
from rich.text import Text

from grounded_rag import Policy
from grounded_rag.cli.options import (
    CorpusOption,
    EntailmentOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    JudgeOption,
    RunSupportOption,
    RunUnprovenOption,
    open_rag,
    support_of,
)
from grounded_rag.cli.terminal import console, counting_bar, ingest_bar
from grounded_rag.errors import InputError
from grounded_rag.evaluation.factuality import RunFactuality
from grounded_rag.evaluation.gate import Comparison, GateResult, check_gate, compare, load_gate
from grounded_rag.evaluation.html_report import write_html
from grounded_rag.evaluation.other_systems import Format, evaluate_answers
from grounded_rag.evaluation.records import Prices
from grounded_rag.evaluation.rejudging import replay
from grounded_rag.evaluation.report import EvalReport, OpenClaims, open_claims, report_of
from grounded_rag.evaluation.runner import Options, Progress, ProgressHook, evaluate
from grounded_rag.evaluation.runs import Run, new_id, policy_of
from grounded_rag.evaluation.text_reports import (
    error_lines,
    junit_xml,
    markdown,
    terminal_report,
)
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.text.display import one_line

if TYPE_CHECKING:
    from grounded_rag.evaluation.factuality import FactualityModel, Scorers


class OutputFiles(NamedTuple):
    """Files to write; None leaves one out."""

    html: Path | None
    junit: Path | None
    markdown: Path | None


def write_files(
    folder: Path,
    report: EvalReport,
    baseline: EvalReport | None,
    comparison: Comparison | None,
    gate: GateResult | None,
    files: OutputFiles,
    *,
    factuality: RunFactuality | None = None,
) -> None:
    """Write the files that were asked for.

    Args:
        folder: Folder of the run.
        report: Its report.
        baseline: The baseline's report, where there is one.
        comparison: Both side by side.
        gate: What the gate says, where there is one.
        files: What to write.
        factuality: P(true) of the claims, where a model is given.

    Raises:
        InputError: A file cannot be written.
    """
    if files.html is not None:
        write_html(
            files.html,
            Run.open(folder),
            report,
            gate=gate,
            comparison=comparison,
            baseline=baseline,
            factuality=factuality,
        )
    if files.junit is not None:
        _save(files.junit, junit_xml(report, gate))
    if files.markdown is not None:
        _save(files.markdown, markdown(report, gate=gate, comparison=comparison))


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


def whole_json(
    report: EvalReport,
    comparison: Comparison | None,
    gate: GateResult | None,
    unshown: OpenClaims,
) -> str:
    """Return the report with its open claims, comparison and gate as JSON."""
    whole = report.model_dump(mode="json")
    whole["open_claims"] = unshown.model_dump(mode="json")
    whole["comparison"] = None if comparison is None else comparison.model_dump(mode="json")
    whole["gate"] = None
    if gate is not None:
        whole["gate"] = {"passed": gate.passed, **gate.model_dump(mode="json")}
    return json.dumps(whole, ensure_ascii=False, indent=2)


INTERRUPTED = 130


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Tell who interrupts a run how to go on with it."""
    try:
        yield
    except KeyboardInterrupt:
        line = f"interrupted: the same command with --run {folder} continues"
        console(stderr=True).print(Text(line, style="yellow"), soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def run_bar(verb: str, *, enabled: bool) -> Iterator[ProgressHook]:
    """Show how far a run is while it reports to the yielded hook.

    Args:
        verb: What is being done.
        enabled: Whether to show anything at all.
    """
    bar = counting_bar(enabled=enabled, transient=True)
    task = bar.add_task(verb, total=None, item="")

    def report(step: Progress) -> None:
        errors = f"  {step.errors} errors" if step.errors else ""
        bar.update(
            task, completed=step.done, total=step.total, item=one_line(step.item)[:40] + errors
        )

    with bar:
        yield report


_ASKING = (
    "index", "generator", "entailment", "judge", "split", "limit", "k", "prompts", "concurrency",
    "relevance", "prices",
)  # fmt: skip
"""Options of asking, of no use where nothing is asked."""


class Source(NamedTuple):
    """Where answers come from besides an index."""

    replay_of: Path | None
    answers: Path | None

    def check(self, *, corpus: str | None) -> None:
        """Raise unless exactly one source is named; an index by environment does not count."""
        if self.replay_of is not None and self.answers is not None:
            raise InputError("--replay and --answers are given together.", hint="Give one of them.")
        if (self.replay_of or self.answers) and corpus is not None:
            raise InputError(
                "--corpus asks questions; --replay and --answers ask none.",
                hint="Give one of them.",
            )

    def check_unused(self, context: typer.Context) -> None:
        """Raise where an option was typed that this source makes no use of.

        To drop `--split dev` in silence would show the figures of other questions.
        """
        unused: tuple[str, ...]
        if self.replay_of is not None:
            unused, because = (
                (*_ASKING, "golden", "format", "refusal"),
                "--replay judges a recorded run again",
            )
        elif self.answers is not None:
            unused, because = (*_ASKING, "everything"), "--answers asks no question"
        else:
            unused, because = ("everything", "format", "refusal"), "nothing recorded is judged"
        for name in unused:
            typed = context.get_parameter_source(name)
            if typed is not None and typed.name == "COMMANDLINE":
                option = {"golden": "GOLDEN", "k": "-k"}.get(name, f"--{name}")
                raise InputError(
                    f"{option} has no effect here: {because}.", hint=f"Leave out {option}."
                )


def golden_path(golden: Path | None, corpus: str | None) -> Path:
    """Return the golden set that is named, or the corpus's own.

    Raises:
        typer.BadParameter: Neither a set nor a corpus is named.
        InputError: The corpus has none.
    """
    if golden is not None:
        return golden
    if corpus is None:
        raise typer.BadParameter("name a golden set, or say --corpus demo", param_hint="GOLDEN")
    folder = demo_corpus_dir() if corpus == "demo" else Path(corpus)
    if not (folder / "golden.jsonl").is_file():
        raise InputError(
            f"{folder} has no golden.jsonl.",
            hint="Name a golden set, or start one with `grounded-rag golden new`.",
        )
    return folder / "golden.jsonl"


@dataclass(frozen=True)
class Scoring:
    """How the claims of a run are scored, if at all.

    Attributes:
        model: The fitted model, or None.
        scorers: The scorers that it was fitted with.
    """

    model: FactualityModel | None = None
    scorers: Scorers | None = None

    @classmethod
    def load(cls, path: Path | None, *, html: Path | None, entailment: Path | None) -> Self:
        """Read a model, if one is named.

        Args:
            path: File of the model.
            html: The report that shows the probabilities.
            entailment: Folder of the entailment model that it may have been fitted with.

        Raises:
            InputError: There is no report to show them in, or the file is no model.
            ConfigError: The model was fitted with other scorers.
        """
        if path is None:
            return cls()
        if html is None:
            raise InputError(
                "--factuality has no effect here: P(true) is shown in the HTML report.",
                hint="Add --html FILE.",
            )
        from grounded_rag.evaluation.factuality import FactualityModel, builtin_scorers
        from grounded_rag.options import make_entailment

        model = FactualityModel.load(path)
        scorers = builtin_scorers()
        if model.scorers != scorers.names and entailment is not None:
            scorers = builtin_scorers(entailment=make_entailment(entailment))
        model.score((), scorers=scorers)
        return cls(model, scorers)

    def check(self, fingerprint: str) -> None:
        """Refuse a policy other than the model's, before anything is asked under it.

        Raises:
            ConfigError: The fingerprint is another one.
        """
        if self.model is not None:
            self.model.check_fingerprint(fingerprint)

    def of(self, folder: Path, *, enabled: bool) -> RunFactuality | None:
        """Return P(true) of every claim of a run, or None without a model.

        Args:
            folder: Folder of the run.
            enabled: Whether to show a progress bar.

        Raises:
            ConfigError: The run was made under another policy than the model was fitted under.
        """
        if self.model is None:
            return None
        from grounded_rag.evaluation.factuality import factuality_of

        run = Run.open(folder)
        with run_bar("Scoring", enabled=enabled) as hook:
            return factuality_of(
                run,
                self.model,
                scorers=self.scorers,
                progress=lambda done: hook(Progress(done=done, total=run.meta.items)),
            )


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
    support: RunSupportOption = None,
    unproven: RunUnprovenOption = None,
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
    result = check_gate(report, rules, comparison=comparison) if rules is not None else None
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
            terminal_report(
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
