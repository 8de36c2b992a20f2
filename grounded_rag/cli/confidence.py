"""The commands that say how sure one may be: `calibrate`, `factuality` and `certify`.

The first two give each claim a probability of being true, the third gives a whole system exact
bounds of its errors. All three read what `ask` or `eval` recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import BaseModel, ValidationError
from rich.console import Group, RenderableType

from grounded_rag import Answer
from grounded_rag.cli.fuzz import fuzz_bar
from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.terminal import (
    NOT_GOOD,
    console,
    counting_bar,
    figures,
    line,
    save_text,
    show,
)
from grounded_rag.errors import InputError
from grounded_rag.options import make_entailment

if TYPE_CHECKING:
    from grounded_rag.evaluation.certificate import Certificate, ErrorBound
    from grounded_rag.evaluation.factuality import (
        ClaimFactuality,
        FactualityModel,
        Measured,
        ScoredItem,
    )
    from grounded_rag.evaluation.factuality.fit import Calibration

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
        Literal["condition-calibrated", "calibrated", "none"],
        typer.Option(help="What is fitted: scores of each condition, of all claims, or none."),
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

    fingerprint = policy_fingerprint() if policy_of is None else fingerprint_of(policy_of)
    claims = read_labelled(labelled)
    scorers = builtin_scorers(entailment=make_entailment(entailment))
    with _scoring_bar(len(claims), enabled=not as_json) as progress:
        found = calibrate_claims(
            claims,
            variant=Variant(variant),
            fingerprint=fingerprint,
            scorers=scorers,
            folds=folds,
            progress=progress,
        )
    path = found.model.save(out)
    show(found, partial(calibration_view, path=path), as_json=as_json)
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

    fitted = FactualityModel.load(model)
    scorers = builtin_scorers(entailment=make_entailment(entailment))
    found: Sequence[BaseModel]
    if answer.is_dir():
        run = Run.open(answer)
        with _scoring_bar(run.meta.items, enabled=not as_json) as progress:
            found = items = score_run(run, fitted, scorers=scorers, progress=progress)
        view = run_view(items, fitted)
    else:
        found = claims = fitted.score_answer(_read_answer(answer), scorers=scorers)
        view = factuality_view(claims, fitted)
    if as_json:
        typer.echo("[" + ", ".join(each.model_dump_json() for each in found) + "]")
    else:
        console().print(view)
    return 0


def _read_answer(path: Path) -> Answer:
    try:
        return Answer.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(
            f"{path} is no answer: {str(error).splitlines()[0]}.",
            hint="Save one: grounded-rag ask … --json > answer.json",
        ) from error


@contextmanager
def _scoring_bar(total: int, *, enabled: bool) -> Iterator[Callable[[int], None]]:
    with counting_bar(enabled=enabled) as advance:
        yield lambda done: advance("Scoring", done, total, "")


_FIGURES = {
    "roc_auc": ("ROC-AUC", "higher"),
    "pr_auc": ("PR-AUC", "higher"),
    "prr": ("PRR", "higher"),
    "ece": ("ECE", "lower"),
    "brier": ("Brier", "lower"),
}
"""What a figure is called, and which way it is better."""


def calibration_view(found: Calibration, *, path: Path) -> RenderableType:
    """Return the figures of a calibration, raw beside calibrated, and where the model is."""
    model = found.model
    table = figures(
        "figure", "raw", str(model.variant), "95% interval", "better is",
        left=("figure", "better is"),
    )  # fmt: skip
    for raw, fitted in zip(found.raw, model.held_out, strict=True):
        title, better = _FIGURES[fitted.name]
        table.add_row(title, _number(raw), _number(fitted), _interval(fitted), better)
    left_out = found.given - model.fitted_on
    counted = f"{model.fitted_on} claims, {model.base_rate:.1%} of them true"
    if left_out:
        counted += f"; {left_out} left out, for they lack a score"
    return Group(
        line(counted),
        line(f"scorers: {', '.join(dict.fromkeys(model.scorers))}", "dim"),
        line(f"policy:  {model.fingerprint[:16]}…", "dim"),
        "",
        table,
        "",
        *(line(f"note: {note}", "yellow") for note in found.notes),
        line(f"written: {path}"),
        line(f"next: grounded-rag factuality ANSWER.json --model {path}", "dim"),
    )


def _number(measured: Measured) -> str:
    return "–" if measured.value is None else f"{measured.value:.3f}"


def _interval(measured: Measured) -> str:
    ends = measured.interval
    return "–" if ends is None else f"{ends.low:.3f}–{ends.high:.3f}"


def factuality_view(claims: Sequence[ClaimFactuality], model: FactualityModel) -> RenderableType:
    """Return each claim with its probability and what it is made of."""
    if not claims:
        return line("The answer is a refusal: it claims nothing.")
    lines: list[RenderableType] = []
    for claim in claims:
        scores = claim.factuality.scores
        lines.append(line(f"P(true) {_share(claim.factuality.p_true)}  {claim.claim}"))
        lines.append(
            line(
                f"faithful {_share(scores.faithful)}, true if faithful "
                f"{_share(scores.if_faithful)}, true if not {_share(scores.if_unfaithful)}",
                "dim",
                indent=4,
            )
        )
    lines.append(line(f"{model.variant}, fitted on {model.fitted_on} labelled claims", "dim"))
    return Group(*lines)


_SHOWN = 25
"""Answers of a run that are listed; they come with the least likely first."""


def run_view(items: Sequence[ScoredItem], model: FactualityModel) -> RenderableType:
    """Return the answered questions of a run with the lowest probability of each."""
    lines: list[RenderableType] = []
    for item in items[:_SHOWN]:
        lines.append(line(f"P(true) {_share(item.lowest)}  {item.item}: {item.question}"))
        lines += [
            line(f"{_share(claim.factuality.p_true)}  {claim.claim}", "dim", indent=4)
            for claim in item.claims
        ]
    if len(items) > _SHOWN:
        lines.append(line(f"{len(items) - _SHOWN} more (see --json)", "dim"))
    lines.append(line(f"{len(items)} answers; fitted on {model.fitted_on} claims", "dim"))
    return Group(*lines)


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def certify(
    run: Annotated[Path, typer.Argument(help="Folder of a complete run, from `eval`.")],
    bound: Annotated[
        float | None,
        typer.Option(
            min=0.0001, max=0.9999, help="Error rate to stay under, both ways, such as 0.05."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.51, max=0.9999, help="One-sided confidence of every bound.")
    ] = 0.95,
    fuzz: Annotated[
        str | None,
        typer.Option(
            "--fuzz", help='Also tamper with quotes of this corpus: "demo", or a folder of texts.'
        ),
    ] = None,
    per_class: Annotated[int, typer.Option(min=1, help="Quotes of each class of the fuzzer.")] = 50,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for the JSON.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="File for Markdown.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Certify upper bounds of false passes and false refusals for one policy, exactly.

    Exit code 0: made, and the wanted bounds are reached. 3: not reached. 1: error.
    """
    from grounded_rag.evaluation.certificate import (
        certificate_markdown,
        certify_run,
        complete_records,
    )
    from grounded_rag.evaluation.runs import Run
    from grounded_rag.testing.tamper import load_corpus, run_fuzz

    report = None
    opened = Run.open(run)
    # Before the fuzzer takes its time.
    complete_records(opened)
    if fuzz is not None:
        with fuzz_bar(enabled=not as_json) as progress:
            report = run_fuzz(load_corpus(fuzz), per_class=per_class, progress=progress)
    certificate = certify_run(opened, confidence=confidence, wanted=bound, fuzz=report)
    if out is not None:
        save_text(out, certificate.model_dump_json(indent=2) + "\n")
    if markdown is not None:
        save_text(markdown, certificate_markdown(certificate))
    show(certificate, certificate_view, as_json=as_json)
    return 0 if certificate.reached else NOT_GOOD


def certificate_view(certificate: Certificate) -> RenderableType:
    """Return the bounds, what is missing, and what they hold for."""
    from grounded_rag.evaluation.certificate import percent

    table = figures("at most", "of", "counted", "items missing", left=("of",))
    bounds = list(certificate.bounds)
    if certificate.fuzz is not None:
        bounds += [certificate.fuzz.accepted, certificate.fuzz.refused]
    for bound in bounds:
        unscored = f", {bound.unscored} not scored" if bound.unscored else ""
        table.add_row(
            f"{bound.upper:.2%}",
            bound.says,
            f"{bound.errors} of {bound.trials}{unscored}",
            _missing(bound),
            style="" if bound.reached else "yellow",
        )
    subject = certificate.subject
    parts: list[RenderableType] = [
        line(f"certificate {certificate.id}", "bold"),
        line(f"one-sided, exact, at {percent(certificate.confidence)}", "dim"),
        table,
        line(f"policy {subject.fingerprint[:16] or 'unknown'}", "dim"),
        line(f"generator {subject.generator}, index {subject.index.name or 'unknown'}", "dim"),
    ]
    if certificate.fuzz is None:
        parts.append(line("the fuzzer was not run: say --fuzz CORPUS", "dim"))
    parts += [line(f"note: {note}", "yellow") for note in certificate.notes]
    if not certificate.reached:
        parts.append(line("the wanted bounds are not reached", "yellow"))
    return Group(*parts)


def _missing(bound: ErrorBound) -> str:
    if bound.wanted is None:
        return "–"
    if bound.missing == 0:
        return f"reached ({bound.wanted:.1%})"
    return f"{bound.missing:,} without error ({bound.wanted:.1%})"
