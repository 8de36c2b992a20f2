"""Measuring: golden sets, runs, metrics with exact intervals, gates, reports and diagnosis.

    from grounded_rag import GroundedRAG
    from grounded_rag.evaluation import evaluate

    with GroundedRAG.open("my-index") as rag:
        report = evaluate(rag, "golden.jsonl", run="runs/today")
    print(report.metric("correct_answers").interval)

`docs/evaluation.md` shows the whole loop, and `docs/metrics.md` defines every metric.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grounded_rag.evaluation.comparison import Comparison, compare
    from grounded_rag.evaluation.diagnosis import Diagnosis, FailureKind, diagnose
    from grounded_rag.evaluation.gate import GateResult, GateRules, judge_gate, load_gate
    from grounded_rag.evaluation.golden import check_golden, load_golden, new_golden
    from grounded_rag.evaluation.html_report import write_html
    from grounded_rag.evaluation.markdown_report import junit_xml, markdown
    from grounded_rag.evaluation.metrics import MetricResult, MetricState
    from grounded_rag.evaluation.observed import judged
    from grounded_rag.evaluation.records import EvalRecord, GoldenItem, Prices, RunMeta
    from grounded_rag.evaluation.replay import evaluate_answers, replay
    from grounded_rag.evaluation.report import EvalReport, report_of
    from grounded_rag.evaluation.runner import Options, Progress, aevaluate, evaluate
    from grounded_rag.evaluation.runs import Run

__all__ = [
    "Comparison",
    "Diagnosis",
    "EvalRecord",
    "EvalReport",
    "FailureKind",
    "GateResult",
    "GateRules",
    "GoldenItem",
    "MetricResult",
    "MetricState",
    "Options",
    "Prices",
    "Progress",
    "Run",
    "RunMeta",
    "aevaluate",
    "check_golden",
    "compare",
    "diagnose",
    "evaluate",
    "evaluate_answers",
    "judge_gate",
    "judged",
    "junit_xml",
    "load_gate",
    "load_golden",
    "markdown",
    "new_golden",
    "replay",
    "report_of",
    "write_html",
]

# Imported at first use, so that one part of the package costs no other.
_LAZY = {
    "Comparison": "comparison",
    "Diagnosis": "diagnosis",
    "EvalRecord": "records",
    "EvalReport": "report",
    "FailureKind": "diagnosis",
    "GateResult": "gate",
    "GateRules": "gate",
    "GoldenItem": "records",
    "MetricResult": "metrics",
    "MetricState": "metrics",
    "Options": "runner",
    "Prices": "records",
    "Progress": "runner",
    "Run": "runs",
    "RunMeta": "records",
    "aevaluate": "runner",
    "check_golden": "golden",
    "compare": "comparison",
    "diagnose": "diagnosis",
    "evaluate": "runner",
    "evaluate_answers": "replay",
    "judge_gate": "gate",
    "judged": "observed",
    "junit_xml": "markdown_report",
    "load_gate": "gate",
    "load_golden": "golden",
    "markdown": "markdown_report",
    "new_golden": "golden",
    "replay": "replay",
    "report_of": "report",
    "write_html": "html_report",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{module}"), name)
