"""A pytest fixture that fuzzes the verifier with an application's own documents.

It is not registered by itself: an entry point would import the package at every start of pytest
in the environment, before coverage begins to measure. Name it in `conftest.py`:

    pytest_plugins = ["grounded_rag.testing.pytest_plugin"]

and use it in a test:

    def test_no_tampered_quote_passes(tamper_fuzz):
        tamper_fuzz("docs/", per_class=20)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grounded_rag.testing.tamper import (
    PER_CLASS,
    FuzzReport,
    Verifier,
    load_corpus,
    run_fuzz,
)


@pytest.fixture(scope="session")
def tamper_fuzz() -> Callable[..., FuzzReport]:
    """Return `fuzz_folder`, which fails the test on a wrong judgement."""
    return fuzz_folder


def fuzz_folder(
    corpus: str | Path = "demo",
    *,
    per_class: int = PER_CLASS,
    seed: int = 0,
    verify: Verifier | None = None,
) -> FuzzReport:
    """Fuzz with the documents of a folder and fail the test on a wrong judgement.

    Args:
        corpus: "demo", or a folder of text files.
        per_class: Quotes per class, as far as there is material.
        seed: Seed of the randomness.
        verify: The verifier; by default `grounded_rag.verify`.

    Raises:
        pytest.fail.Exception: A tampered quote was accepted, too many benign ones were refused,
            or the folder gave no quotes; the message shows the first of them.
    """
    report = run_fuzz(load_corpus(str(corpus)), per_class=per_class, seed=seed, verify=verify)
    if report.failed:
        pytest.fail(_message(report), pytrace=False)
    return report


def _message(report: FuzzReport) -> str:
    tampers, benign = report.total("tamper"), report.total("benign")
    head = (
        f"{tampers.accepted} of {tampers.made} tampered quotes were accepted, and "
        f"{benign.accepted} of {benign.made} benign ones (seed {report.seed})."
    )
    lines = [head]
    lines.extend(
        f"{finding.kind}, {finding.found}: {finding.quote!r} of {finding.original!r}"
        for finding in report.findings[:10]
    )
    return "\n".join(lines)
