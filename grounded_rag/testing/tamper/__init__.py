"""A tamper fuzzer: labelled quotes and claims, counted through any verifier.

    from grounded_rag.testing.tamper import load_corpus, run_fuzz

    report = run_fuzz(load_corpus("handbook/"), per_class=50)
    assert not report.failed, report.findings

Each class of `TAMPERS` makes quotes that the cited chunk does not contain, each class of `BENIGN`
quotes that differ from it in presentation only. With `kinds=CLAIM_KINDS`, claims about literal
quotes are drawn instead: those of `FALSE_CLAIMS` say what their sources do not assert, those of
`TRUE_CLAIMS` are whole statements with at most one harmless edit.

The fuzzer's word lists and its oracle (plain `in` over the unfolded text) are its own; it knows the
verifier by its public function alone.
"""

from grounded_rag.testing.tamper.cases import (
    Cited,
    Draw,
    FuzzCase,
    Kind,
    Label,
    Passage,
    Pools,
    Sentence,
)
from grounded_rag.testing.tamper.corpora import Corpus, load_corpus, load_data, pools_of, read_cases
from grounded_rag.testing.tamper.report import (
    MIN_BENIGN,
    MIN_HONEST,
    Finding,
    Found,
    FuzzReport,
    KindResult,
    result_of,
)
from grounded_rag.testing.tamper.run import (
    BENIGN,
    CLAIM_KINDS,
    FALSE_CLAIMS,
    KINDS,
    PER_CLASS,
    TAMPERS,
    TRUE_CLAIMS,
    Verifier,
    draw_cases,
    fate_of,
    judge,
    run_cases,
    run_fuzz,
)

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
    "Corpus",
    "Draw",
    "Finding",
    "Found",
    "FuzzCase",
    "FuzzReport",
    "Kind",
    "KindResult",
    "Label",
    "Passage",
    "Pools",
    "Sentence",
    "Verifier",
    "draw_cases",
    "fate_of",
    "judge",
    "load_corpus",
    "load_data",
    "pools_of",
    "read_cases",
    "result_of",
    "run_cases",
    "run_fuzz",
]
