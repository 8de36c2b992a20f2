"""A tamper fuzzer: labelled quotes from real text, counted through any verifier.

    from grounded_rag.testing.tamper import load_corpus, run_fuzz

    report = run_fuzz(load_corpus("handbook/"), per_class=50)
    assert not report.failed, report.findings

Each class of `TAMPERS` makes quotes that the cited chunk does not contain, each class of `BENIGN`
quotes that differ from it in presentation only. The fuzzer's word lists and its oracle (plain
`in` over the unfolded text) are its own; it knows the verifier by its public function alone.
"""

from grounded_rag.testing.tamper.case_files import read_cases
from grounded_rag.testing.tamper.draw import draw_cases
from grounded_rag.testing.tamper.kinds import BENIGN, KINDS, TAMPERS
from grounded_rag.testing.tamper.material import Corpus, pools_of
from grounded_rag.testing.tamper.report import MIN_BENIGN, Finding, FuzzReport, KindResult
from grounded_rag.testing.tamper.run import PER_CLASS, Verifier, run_cases, run_fuzz
from grounded_rag.testing.tamper.sources import load_corpus, load_data
from grounded_rag.testing.tamper.values import FuzzCase, FuzzChunk, Kind, Label, Passage

__all__ = [
    "BENIGN",
    "KINDS",
    "MIN_BENIGN",
    "PER_CLASS",
    "TAMPERS",
    "Corpus",
    "Finding",
    "FuzzCase",
    "FuzzChunk",
    "FuzzReport",
    "Kind",
    "KindResult",
    "Label",
    "Passage",
    "Verifier",
    "draw_cases",
    "load_corpus",
    "load_data",
    "pools_of",
    "read_cases",
    "run_cases",
    "run_fuzz",
]
