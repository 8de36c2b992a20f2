"""The command `certify`: exact bounds of a system's errors, from a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.terminal import console
from grounded_rag.errors import InputError
from grounded_rag.text.display import one_line

if TYPE_CHECKING:
    from grounded_rag.evaluation.certificate import Certificate, ErrorBound

NOT_REACHED = 3


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
    per_class: Annotated[int, typer.Option(min=1, help="Quotes a class of the fuzzer.")] = 50,
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
        from grounded_rag.cli.fuzz import fuzz_bar

        with fuzz_bar(enabled=not as_json) as progress:
            report = run_fuzz(load_corpus(fuzz), per_class=per_class, progress=progress)
    certificate = certify_run(opened, confidence=confidence, wanted=bound, fuzz=report)
    if out is not None:
        _write(out, certificate.model_dump_json(indent=2) + "\n")
    if markdown is not None:
        _write(markdown, certificate_markdown(certificate))
    if as_json:
        typer.echo(certificate.model_dump_json(indent=2))
    else:
        console().print(certificate_view(certificate))
    return 0 if certificate.reached else NOT_REACHED


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error


def certificate_view(certificate: Certificate) -> RenderableType:
    """Return the bounds, what is missing, and what they hold for."""
    from grounded_rag.evaluation.certificate import percent

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("at most", "of", "counted", "items missing"):
        table.add_column(name, justify="left" if name == "of" else "right")
    for bound in certificate.all_bounds:
        style = "" if bound.reached else "yellow"
        table.add_row(
            f"{bound.upper:.2%}", bound.says, _counted(bound), _missing(bound), style=style
        )
    subject = certificate.subject
    index = subject.index.name or "unknown"
    parts: list[RenderableType] = [
        Text(f"certificate {certificate.id}", style="bold"),
        Text(f"one-sided, exact, at {percent(certificate.confidence)}", style="dim"),
        table,
        Text(f"policy {subject.fingerprint[:16] or 'unknown'}", style="dim"),
        Text(one_line(f"generator {subject.generator}, index {index}"), style="dim"),
    ]
    if certificate.fuzz is None:
        parts.append(Text("the fuzzer was not run: say --fuzz CORPUS", style="dim"))
    parts.extend(Text(f"note: {one_line(note)}", style="yellow") for note in certificate.notes)
    if not certificate.reached:
        parts.append(Text("the wanted bounds are not reached", style="yellow"))
    return Group(*parts)


def _counted(bound: ErrorBound) -> str:
    unscored = f", {bound.unscored} not scored" if bound.unscored else ""
    return f"{bound.errors} of {bound.trials}{unscored}"


def _missing(bound: ErrorBound) -> str:
    if bound.wanted is None:
        return "–"
    if bound.missing == 0:
        return f"reached ({bound.wanted:.1%})"
    return f"{bound.missing:,} without error ({bound.wanted:.1%})"
