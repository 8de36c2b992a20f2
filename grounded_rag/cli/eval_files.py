"""The files that `eval` writes: HTML, JUnit XML, Markdown; and its JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from grounded_rag import InputError
from grounded_rag.evaluation.comparison import Comparison
from grounded_rag.evaluation.factuality.reporting import RunFactuality
from grounded_rag.evaluation.gate import GateResult
from grounded_rag.evaluation.html_report import write_html
from grounded_rag.evaluation.junit import junit_xml
from grounded_rag.evaluation.markdown_report import markdown
from grounded_rag.evaluation.openness import OpenClaims
from grounded_rag.evaluation.report import EvalReport
from grounded_rag.evaluation.runs import Run


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
