"""The command `diagnose`: why were the answers of a run wrong?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from grounded_rag.cli.eval_views import diagnoses_view
from grounded_rag.cli.options import JsonOption
from grounded_rag.cli.render import console
from grounded_rag.evaluation.diagnosis import FailureKind
from grounded_rag.evaluation.report import report_of
from grounded_rag.evaluation.runs import Run


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
        typer.echo(
            json.dumps(
                [
                    {"item": row.id, "question": row.question, "standing": row.standing}
                    | row.diagnosis.model_dump(mode="json")
                    for row in rows
                ],
                ensure_ascii=False,
                indent=2,
            )
        )
    else:
        console().print(diagnoses_view(rows, run=run))
    return 0
