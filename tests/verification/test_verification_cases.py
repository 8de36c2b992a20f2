"""Every case of `tests/data/verifier_cases.jsonl`, scored as the benchmark scores it."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _scoring():
    path = ROOT / "benchmarks" / "case_scoring.py"
    spec = importlib.util.spec_from_file_location("case_scoring", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["case_scoring"] = module
    spec.loader.exec_module(module)
    return module


scoring = _scoring()
CASES = scoring.load_cases(ROOT / "tests" / "data" / "verifier_cases.jsonl")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_the_case_is_judged_as_expected(case):
    score = scoring.score_case(case)
    assert score.misses == ()
    assert score.remarks == ()


def test_plain_in_gets_what_the_cases_say_it_gets():
    assert len(CASES) == 55
    assert sum(scoring.plain_in(case) for case in CASES) == 22


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["kind"])
def test_quote_match_exact_accepts_no_repaired_quote(case):
    verification = scoring.verify(
        case["model_output"], case["chunks"], question=case["question"], quote_match="exact"
    )
    for verdict in verification.claims:
        assert all(located.exact for located in verdict.located)
