"""A tamper fuzzer: labelled quotes from real text, counted through any verifier.

    from grounded_rag.testing.tamper import load_corpus, run_fuzz

    report = run_fuzz(load_corpus("handbook/"), per_class=50)
    assert not report.failed, report.findings

Each class of `TAMPERS` makes quotes that the cited chunk does not contain, each class of `BENIGN`
quotes that differ from it in presentation only. The fuzzer's word lists and its oracle (plain
`in` over the unfolded text) are its own; it knows the verifier by its public function alone.

`run_claims` does the same for claims about literal quotes: the false classes of `CLAIM_KINDS` say
what their sources do not assert, the true ones are whole statements with one harmless edit.
"""

from grounded_rag.testing.tamper.claim_run import (
    CLAIM_KINDS,
    FALSE_CLAIMS,
    MIN_HONEST,
    TRUE_CLAIMS,
    ClaimReport,
    ClaimResult,
    JudgedClaim,
    draw_claims,
    fate_of,
    judge_claim,
    result_of,
    run_claims,
)
from grounded_rag.testing.tamper.claim_values import Cited, ClaimKind, LabelledClaim
from grounded_rag.testing.tamper.corpora import Corpus, load_corpus, load_data, pools_of, read_cases
from grounded_rag.testing.tamper.report import MIN_BENIGN, Finding, FuzzReport, KindResult
from grounded_rag.testing.tamper.run import (
    BENIGN,
    KINDS,
    PER_CLASS,
    TAMPERS,
    Verifier,
    draw_cases,
    run_cases,
    run_fuzz,
)
from grounded_rag.testing.tamper.values import FuzzCase, FuzzChunk, Kind, Label, Passage

__all__ = [
    "BENIGN",
    "CLAIM_KINDS",
    "FALSE_CLAIMS",
    "KINDS",
    "MIN_BENIGN",
    "MIN_HONEST",
    "PER_CLASS",
    "TAMPERS",
    "TRUE_CLAIMS",
    "Cited",
    "ClaimKind",
    "ClaimReport",
    "ClaimResult",
    "Corpus",
    "Finding",
    "FuzzCase",
    "FuzzChunk",
    "FuzzReport",
    "JudgedClaim",
    "Kind",
    "KindResult",
    "Label",
    "LabelledClaim",
    "Passage",
    "Verifier",
    "draw_cases",
    "draw_claims",
    "fate_of",
    "judge_claim",
    "load_corpus",
    "load_data",
    "pools_of",
    "read_cases",
    "result_of",
    "run_cases",
    "run_claims",
    "run_fuzz",
]
