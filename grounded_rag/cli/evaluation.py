"""The commands `eval` and `diagnose`: measure answers, and say why the wrong ones are wrong.

`eval` asks a golden set, judges a recorded run again (`--replay`), or measures another system's
answers (`--answers`). Each way gives a run and its report; comparison, gate and report files are
the same for all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from grounded_rag import GroundedRAG
from grounded_rag.cli.options import (
    CorpusOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    SettingsOption,
    corpus_folder,
    open_rag,
)
from grounded_rag.cli.settings import EvalSettings, Settings, load_settings
from grounded_rag.cli.terminal import NOT_GOOD, console, counting_bar, line, save_text
from grounded_rag.errors import InputError
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.factuality import RunFactuality
from grounded_rag.evaluation.gate import Comparison, GateResult, check_gate, compare, load_gate
from grounded_rag.evaluation.html_report import write_html
from grounded_rag.evaluation.metrics import load_metric
from grounded_rag.evaluation.other_systems import evaluate_answers
from grounded_rag.evaluation.rejudging import replay
from grounded_rag.evaluation.report import (
    EvalReport,
    ItemRow,
    OpenClaims,
    OwnMetrics,
    open_claims,
    report_of,
)
from grounded_rag.evaluation.runner import Options, Progress, ProgressHook, evaluate
from grounded_rag.evaluation.runs import Run, new_id, policy_of
from grounded_rag.evaluation.text_reports import (
    error_lines,
    junit_xml,
    markdown,
    terminal_report,
)

if TYPE_CHECKING:
    from grounded_rag.evaluation.factuality import FactualityModel, Scorers


def evaluation(
    context: typer.Context,
    golden: Annotated[
        Path | None, typer.Argument(help="Golden set; by default the corpus's golden.jsonl.")
    ] = None,
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = None,
    split: Annotated[str | None, typer.Option(help="Only items of this split.")] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", help="Folder of the run, runs/ID by default; an unfinished one is continued."
        ),
    ] = None,
    replay_of: Annotated[
        Path | None,
        typer.Option("--replay", help="Judge this run again, without any model call."),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(help="Measure another system's recorded answers.")
    ] = None,
    gate: Annotated[Path | None, typer.Option(help="Gate file; see docs/evaluation.md.")] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="Run to compare with, item by item.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained HTML report.")] = None,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> int:
    """Measure answers on a golden set, judge a run again, or measure another system's answers.

    Exit code 0: done, and the gate passed where one is named. 3: the gate failed. 1: an error.
    """
    chosen = load_settings(settings)
    _check_effects(context, chosen, replay_of=replay_of, answers=answers, corpus=corpus)
    scoring = _Scoring.load(chosen, html=html)
    folder = run or Path("runs") / new_id()
    # Read before anything is asked, so that a mistake in them costs nothing.
    own = tuple(map(load_metric, chosen.eval.metrics))
    rules = load_gate(gate, metrics=own) if gate is not None else None
    before = report_of(Run.open(baseline), metrics=own) if baseline is not None else None
    if replay_of is not None:
        report = _judge_again(replay_of, folder, chosen, own, quiet=as_json)
    elif answers is not None:
        with _run_bar("Judging", enabled=not as_json) as hook:
            report = evaluate_answers(
                answers,
                format=chosen.answers.format,
                golden=golden,
                run=folder,
                policy=chosen.policy,
                refusal=chosen.answers.refusal,
                metrics=own,
                progress=hook,
            )
    else:
        items = _golden_path(golden, corpus)
        with open_rag(
            index=index, corpus=corpus, settings=chosen, quiet=as_json, generator=generator
        ) as rag:
            scoring.check(rag._parts.fingerprint)
            report = _ask(rag, items, folder, chosen.eval, own, split=split, quiet=as_json)
    likely = scoring.of(folder, quiet=as_json)
    comparison = compare(report, before) if before is not None else None
    unshown = open_claims(report.open_support, None if likely is None else likely.by_item())
    checked = check_gate(report, rules, comparison=comparison) if rules is not None else None
    if html is not None:
        write_html(
            html,
            Run.open(folder),
            report,
            gate=checked,
            comparison=comparison,
            baseline=before,
            factuality=likely,
        )
    if chosen.eval.junit is not None:
        save_text(chosen.eval.junit, junit_xml(report, checked))
    if chosen.eval.markdown is not None:
        text = markdown(report, gate=checked, comparison=comparison)
        save_text(chosen.eval.markdown, text)
    if as_json:
        typer.echo(_report_json(report, unshown, checked, comparison))
        for error in error_lines(report):
            typer.echo(error, err=True)
    else:
        console().print(
            terminal_report(
                report,
                run=folder,
                gate=checked,
                comparison=comparison,
                html=html,
                unshown=unshown,
            )
        )
    if checked is not None:
        return 0 if checked.passed else NOT_GOOD
    return 1 if report.errors else 0


_ASKING = (
    "index", "generator", "split", "rag", "policy.k",
    "eval.limit", "eval.concurrency", "eval.relevance", "eval.prices",
)  # fmt: skip
"""Options and settings of asking, of no use where nothing is asked."""


def _check_effects(
    context: typer.Context,
    settings: Settings,
    *,
    replay_of: Path | None,
    answers: Path | None,
    corpus: str | None,
) -> None:
    """Raise unless answers come from one place, and all that is given has an effect there.

    To drop `--split dev` in silence would show the figures of other questions.
    """
    unused: tuple[str, ...]
    if replay_of is not None and answers is not None:
        raise InputError("--replay and --answers are given together.", hint="Give one of them.")
    if replay_of is not None:
        unused, because = (*_ASKING, "golden", "answers"), "--replay judges a recorded run again"
    elif answers is not None:
        unused, because = (*_ASKING, "eval.everything"), "--answers asks no question"
    else:
        unused, because = ("answers", "eval.everything"), "nothing recorded is judged"
    if corpus is not None and (replay_of or answers):
        raise InputError(
            "--corpus asks questions; --replay and --answers ask none.", hint="Give one of them."
        )
    given = settings.changed()
    if settings.eval.factuality is not None:
        # P(true) may be scored by it.
        given.discard("rag.entailment")
    for name in context.params:
        source = context.get_parameter_source(name)
        # An index by environment is no mistake: it is a default for other commands.
        if source is not None and source.name == "COMMANDLINE" and name != "answers":
            given.add(name)
    for key in sorted(given):
        if key in unused or key.partition(".")[0] in unused:
            shown = key if "." in key else "GOLDEN" if key == "golden" else f"--{key}"
            raise InputError(f"{shown} has no effect here: {because}.", hint=f"Leave out {shown}.")


def _golden_path(golden: Path | None, corpus: str | None) -> Path:
    if golden is not None:
        return golden
    if corpus is None:
        raise typer.BadParameter("name a golden set, or say --corpus demo", param_hint="GOLDEN")
    path = corpus_folder(corpus) / "golden.jsonl"
    if not path.is_file():
        raise InputError(
            f"{path.parent} has no golden.jsonl.",
            hint="Name a golden set, or start one with `grounded-rag golden new`.",
        )
    return path


def _ask(
    rag: GroundedRAG,
    golden: Path,
    folder: Path,
    settings: EvalSettings,
    metrics: OwnMetrics,
    *,
    split: str | None,
    quiet: bool,
) -> EvalReport:
    embedding = None if rag._index is None else rag._index.embedding
    with _run_bar("Asking", enabled=not quiet) as hook, _resumable(folder):
        return evaluate(
            rag,
            golden,
            run=folder,
            split=split,
            limit=settings.limit,
            metrics=metrics,
            options=Options(
                concurrency=settings.concurrency,
                relevance=embedding if settings.relevance else None,
                prices=settings.prices,
                progress=hook,
            ),
        )


def _judge_again(
    recorded: Path, folder: Path, settings: Settings, metrics: OwnMetrics, *, quiet: bool
) -> EvalReport:
    # The recorded policy stays in force except for what was given; nothing is retrieved again.
    changes = settings.policy.model_dump(mode="json", exclude_unset=True, exclude={"k"})
    policy = policy_of(Run.open(recorded).meta, **changes)
    with _run_bar("Judging", enabled=not quiet) as hook:
        return replay(
            recorded,
            run=folder,
            policy=policy,
            everything=settings.eval.everything,
            metrics=metrics,
            progress=hook,
        )


@contextmanager
def _run_bar(doing: str, *, enabled: bool) -> Iterator[ProgressHook]:
    with counting_bar(enabled=enabled) as advance:

        def report(step: Progress) -> None:
            errors = f"{step.errors} errors " if step.errors else ""
            advance(doing, step.done, step.total, errors + step.item)

        yield report


_INTERRUPTED = 130


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Say how to continue a run that somebody interrupts."""
    try:
        yield
    except KeyboardInterrupt:
        text = f"interrupted: the same command with --run {folder} continues"
        console(stderr=True).print(Text(text, style="yellow"), soft_wrap=True)
        raise typer.Exit(_INTERRUPTED) from None


class _Scoring(NamedTuple):
    """The model that says how likely claims are true, and the scorers that it was fitted with."""

    model: FactualityModel | None = None
    scorers: Scorers | None = None

    @classmethod
    def load(cls, settings: Settings, *, html: Path | None) -> _Scoring:
        """Read the model, if one is named."""
        path = settings.eval.factuality
        if path is None:
            return cls()
        if html is None:
            raise InputError(
                "eval.factuality has no effect here: P(true) is shown in the HTML report.",
                hint="Add --html FILE.",
            )
        from grounded_rag.evaluation.factuality import FactualityModel, builtin_scorers
        from grounded_rag.options import make_entailment

        model = FactualityModel.load(path)
        scorers = builtin_scorers()
        if model.scorers != scorers.names and settings.rag.entailment is not None:
            scorers = builtin_scorers(entailment=make_entailment(settings.rag.entailment))
        # Scores nothing; it raises where the scorers are not the model's.
        model.score((), scorers=scorers)
        return cls(model, scorers)

    def check(self, fingerprint: str) -> None:
        """Refuse a policy other than the model's, before anything is asked under it."""
        if self.model is not None:
            self.model.check_fingerprint(fingerprint)

    def of(self, folder: Path, *, quiet: bool) -> RunFactuality | None:
        """Return P(true) of every claim of a run, or None without a model.

        Raises:
            ConfigError: The run was made under another policy than the model was fitted under.
        """
        if self.model is None:
            return None
        from grounded_rag.evaluation.factuality import score_run

        run = Run.open(folder)
        with counting_bar(enabled=not quiet) as advance:
            items = score_run(
                run,
                self.model,
                scorers=self.scorers,
                progress=lambda done: advance("Scoring", done, run.meta.items, ""),
            )
        return RunFactuality(model=self.model, items=items)


def _report_json(
    report: EvalReport, unshown: OpenClaims, gate: GateResult | None, comparison: Comparison | None
) -> str:
    whole = report.model_dump(mode="json") | {
        "open_claims": unshown.model_dump(mode="json"),
        "comparison": None if comparison is None else comparison.model_dump(mode="json"),
        "gate": None if gate is None else {"passed": gate.passed, **gate.model_dump(mode="json")},
    }
    return json.dumps(whole, ensure_ascii=False, indent=2)


def diagnose(
    run: Annotated[Path, typer.Argument(help="Folder of the run, as `eval` wrote it.")],
    kind: Annotated[
        FailureKind | None, typer.Option("--kind", help="Only failures of this kind.")
    ] = None,
    item: Annotated[str | None, typer.Option("--item", help="Only this item.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Say for each wrong answer of a run what went wrong, on what evidence, and what to try."""
    rows = [
        row
        for row in report_of(Run.open(run)).items
        if (row.diagnosis.kind is not FailureKind.NONE or item is not None)
        and (kind is None or row.diagnosis.kind is kind)
        and (item is None or row.id == item)
    ]
    if as_json:
        found = [
            {"item": row.id, "question": row.question, "standing": row.standing}
            | row.diagnosis.model_dump(mode="json")
            for row in rows
        ]
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        console().print(_diagnoses_view(rows, run=run))
    return 0


def _diagnoses_view(rows: Iterable[ItemRow], *, run: Path) -> RenderableType:
    groups: dict[FailureKind, list[ItemRow]] = {}
    for row in rows:
        groups.setdefault(row.diagnosis.kind, []).append(row)
    if not groups:
        return line(f"Nothing went wrong in {run}.", "green")
    parts: list[RenderableType] = []
    for kind, group in sorted(groups.items(), key=lambda pair: -len(pair[1])):
        first = group[0].diagnosis
        parts += ["", line(f"{kind.replace('_', ' ')}: {len(group)}", "bold cyan")]
        if first.fix:
            parts.append(line(f"try ({first.area}): {first.fix}", "dim", indent=2))
        for row in group:
            parts.append(line(f"{row.id}: {row.question}", indent=2))
            parts.append(line(row.diagnosis.why, "dim", indent=6))
    return Group(*parts)
