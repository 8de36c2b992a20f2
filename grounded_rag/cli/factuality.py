"""The commands `calibrate` and `factuality`: how likely each claim is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from grounded_rag import Answer
from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.terminal import console
from grounded_rag.errors import InputError
from grounded_rag.text.display import one_line

if TYPE_CHECKING:
    from grounded_rag.evaluation.factuality import (
        ClaimFactuality,
        FactualityModel,
        Measured,
        ScoredItem,
    )
    from grounded_rag.evaluation.factuality.fit import Calibration

_SHOWN = 25
_EntailmentOption = Annotated[
    Path | None,
    typer.Option(help="Folder with an ONNX entailment model, to score with instead of words."),
]


def calibrate(
    labelled: Annotated[
        Path,
        typer.Argument(help='JSON lines of {"claim", "evidence": [...], "true": true|false}.'),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the fitted model (JSON).")],
    variant: Annotated[
        str,
        typer.Option(help='"condition-calibrated", "calibrated" or "none".'),
    ] = "condition-calibrated",
    policy_of: Annotated[
        Path | None,
        typer.Option(
            help="Run folder, answer or receipt under whose policy the claims were made; "
            "without it, the default policy and prompts."
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=2, max=50, help="Parts for measuring on claims not fitted on.")
    ] = 5,
    entailment: _EntailmentOption = None,
    as_json: JsonOption = False,
) -> int:
    """Fit P(true) on labelled claims, and write a model bound to the policy.

    The figures shown are from claims that were not fitted on, each beside its raw counterpart.
    A calibration holds for claims like the labelled ones, made under the same policy.
    """
    from grounded_rag.evaluation.factuality import builtin_scorers, read_labelled
    from grounded_rag.evaluation.factuality.factuality_model import Variant
    from grounded_rag.evaluation.factuality.fit import calibrate_claims
    from grounded_rag.evaluation.runs import fingerprint_of, policy_fingerprint
    from grounded_rag.options import make_entailment

    try:
        wanted = Variant(variant)
    except ValueError as error:
        raise typer.BadParameter(
            f"{variant!r} is none of {', '.join(Variant)}", param_hint="--variant"
        ) from error
    fingerprint = policy_fingerprint() if policy_of is None else fingerprint_of(policy_of)
    claims = read_labelled(labelled)
    scorers = builtin_scorers(entailment=make_entailment(entailment))
    with _bar(len(claims), enabled=not as_json) as progress:
        found = calibrate_claims(
            claims,
            variant=wanted,
            fingerprint=fingerprint,
            scorers=scorers,
            folds=folds,
            progress=progress,
        )
    path = found.model.save(out)
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        console().print(calibration_view(found, path))
    return 0


def factuality(
    answer: Annotated[
        Path, typer.Argument(help="An answer, as `ask --json` prints it, or the folder of a run.")
    ],
    model: Annotated[Path, typer.Option("--model", "-m", help="Model that `calibrate` wrote.")],
    entailment: _EntailmentOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show how likely each claim of an answer is true, or of a run, the least likely first.

    Exit code 1 where the model was fitted under another policy than the answers'.
    """
    from grounded_rag.evaluation.factuality import FactualityModel, builtin_scorers, score_run
    from grounded_rag.evaluation.runs import Run
    from grounded_rag.options import make_entailment

    fitted = FactualityModel.load(model)
    scorers = builtin_scorers(entailment=make_entailment(entailment))
    if answer.is_dir():
        run = Run.open(answer)
        with _bar(run.meta.items, enabled=not as_json) as progress:
            items = score_run(run, fitted, scorers=scorers, progress=progress)
        if as_json:
            typer.echo("[" + ", ".join(item.model_dump_json() for item in items) + "]")
        else:
            console().print(run_view(items, fitted))
        return 0
    try:
        read = Answer.model_validate_json(answer.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            f"{answer} is no answer: {str(error).splitlines()[0]}.",
            hint="Save one: grounded-rag ask … --json > answer.json",
        ) from error
    claims = fitted.score_answer(read, scorers=scorers)
    if as_json:
        typer.echo("[" + ", ".join(claim.model_dump_json() for claim in claims) + "]")
    else:
        console().print(factuality_view(claims, fitted))
    return 0


@contextmanager
def _bar(total: int, *, enabled: bool) -> Iterator[Callable[[int], None]]:
    bar = Progress(
        TextColumn("Scoring", markup=False),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console(stderr=True),
        transient=True,
        disable=not enabled,
    )
    task = bar.add_task("score", total=total)
    with bar:
        yield lambda done: bar.update(task, completed=done)


def calibration_view(found: Calibration, path: Path) -> RenderableType:
    """Return the figures of a calibration, raw beside calibrated, and where the model is."""
    model = found.model
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("figure", "raw", str(model.variant), "95% interval", "better is"):
        table.add_column(name, justify="left" if name in ("figure", "better is") else "right")
    for raw, fitted in zip(found.raw, model.held_out, strict=True):
        table.add_row(
            _TITLES[fitted.name][0],
            _number(raw),
            _number(fitted),
            _interval(fitted),
            _TITLES[fitted.name][1],
        )
    left_out = found.given - model.fitted_on
    lines = [
        Text(
            f"{model.fitted_on} claims, {model.base_rate:.1%} of them true"
            + (f"; {left_out} left out, for they lack a score" if left_out else "")
        ),
        Text(f"scorers: {', '.join(dict.fromkeys(map(one_line, model.scorers)))}", style="dim"),
        Text(f"policy:  {model.fingerprint[:16]}…", style="dim"),
    ]
    warnings = [Text(f"note: {one_line(note)}", style="yellow") for note in found.notes]
    return Group(
        *lines,
        Text(""),
        table,
        Text(""),
        *warnings,
        Text(f"written: {one_line(str(path))}"),
        Text(f"next: grounded-rag factuality ANSWER.json --model {one_line(str(path))}", "dim"),
    )


_TITLES = {
    "roc_auc": ("ROC-AUC", "higher"),
    "pr_auc": ("PR-AUC", "higher"),
    "prr": ("PRR", "higher"),
    "ece": ("ECE", "lower"),
    "brier": ("Brier", "lower"),
}


def _number(measured: Measured) -> str:
    return "–" if measured.value is None else f"{measured.value:.3f}"


def _interval(measured: Measured) -> str:
    ends = measured.interval
    return "–" if ends is None else f"{ends.low:.3f}–{ends.high:.3f}"


def factuality_view(claims: Sequence[ClaimFactuality], model: FactualityModel) -> RenderableType:
    """Return each claim with its probability and what it is made of."""
    if not claims:
        return Text("The answer is a refusal: it claims nothing.")
    lines: list[RenderableType] = []
    for claim in claims:
        found = claim.factuality
        share = "unknown" if found.p_true is None else f"{found.p_true:.2f}"
        lines.append(Text(f"P(true) {share}  {one_line(claim.claim)}"))
        parts = (
            ("faithful", found.scores.faithful),
            ("true if faithful", found.scores.if_faithful),
            ("true if not", found.scores.if_unfaithful),
        )
        shown = ", ".join(f"{name} {_plain(value)}" for name, value in parts)
        lines.append(Text(f"    {shown}", style="dim"))
    lines.append(Text(f"{model.variant}, fitted on {model.fitted_on} labelled claims", style="dim"))
    return Group(*lines)


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def run_view(items: Sequence[ScoredItem], model: FactualityModel) -> RenderableType:
    """Return the answered questions of a run with the lowest probability of each."""
    lines: list[RenderableType] = []
    for item in items[:_SHOWN]:
        share = "unknown" if item.lowest is None else f"{item.lowest:.2f}"
        lines.append(Text(f"P(true) {share}  {one_line(item.item)}: {one_line(item.question)}"))
        lines.extend(
            Text(f"    {_plain(claim.factuality.p_true)}  {one_line(claim.claim)}", style="dim")
            for claim in item.claims
        )
    if len(items) > _SHOWN:
        lines.append(Text(f"{len(items) - _SHOWN} more (see --json)", style="dim"))
    lines.append(Text(f"{len(items)} answers; fitted on {model.fitted_on} claims", style="dim"))
    return Group(*lines)
