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
    from grounded_rag.evaluation.certificate import Certificate, certify_run, load_certificate
    from grounded_rag.evaluation.datasets import GoldenItem, check_golden, load_golden, new_golden
    from grounded_rag.evaluation.diagnosis import Diagnosis, FailureKind, diagnose
    from grounded_rag.evaluation.gate import (
        Comparison,
        GateResult,
        GateRules,
        check_gate,
        compare,
        judge_gate,
        load_gate,
    )
    from grounded_rag.evaluation.html_report import write_html
    from grounded_rag.evaluation.metrics import MetricResult, MetricState, load_metric
    from grounded_rag.evaluation.other_systems import evaluate_answers
    from grounded_rag.evaluation.records import EvalRecord, JudgedRecord, Prices, RunMeta, judged
    from grounded_rag.evaluation.rejudging import replay
    from grounded_rag.evaluation.report import EvalReport, report_of
    from grounded_rag.evaluation.runner import Options, Progress, aevaluate, evaluate
    from grounded_rag.evaluation.runs import Run
    from grounded_rag.evaluation.text_reports import junit_xml, markdown
    from grounded_rag.evaluation.tuning import Tuning, reset_threshold, tune

__all__ = [
    "Certificate",
    "Comparison",
    "Diagnosis",
    "EvalRecord",
    "EvalReport",
    "FailureKind",
    "GateResult",
    "GateRules",
    "GoldenItem",
    "JudgedRecord",
    "MetricResult",
    "MetricState",
    "Options",
    "Prices",
    "Progress",
    "Run",
    "RunMeta",
    "Tuning",
    "aevaluate",
    "certify_run",
    "check_gate",
    "check_golden",
    "compare",
    "diagnose",
    "evaluate",
    "evaluate_answers",
    "judge_gate",
    "judged",
    "junit_xml",
    "load_certificate",
    "load_gate",
    "load_golden",
    "load_metric",
    "markdown",
    "new_golden",
    "replay",
    "report_of",
    "reset_threshold",
    "tune",
    "write_html",
]

# Imported at first use, so that one part of the package costs no other.
_NAMES = {
    "certificate": "Certificate certify_run load_certificate",
    "datasets": "GoldenItem check_golden load_golden new_golden",
    "diagnosis": "Diagnosis FailureKind diagnose",
    "gate": "Comparison GateResult GateRules check_gate compare judge_gate load_gate",
    "html_report": "write_html",
    "metrics": "MetricResult MetricState load_metric",
    "other_systems": "evaluate_answers",
    "records": "EvalRecord JudgedRecord Prices RunMeta judged",
    "rejudging": "replay",
    "report": "EvalReport report_of",
    "runner": "Options Progress aevaluate evaluate",
    "runs": "Run",
    "text_reports": "junit_xml markdown",
    "tuning": "Tuning reset_threshold tune",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{module}"), name)
