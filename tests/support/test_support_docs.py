"""The examples of docs/support.md: each check sees the one and cannot see the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounded_rag.verification.support import default_checks

PAGE = Path(__file__).parents[2] / "docs" / "support.md"


def examples():
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("## The checks")
    for line in lines[start + 1 :]:
        if line.startswith("## "):
            break
        if line.startswith("| `"):
            name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            yield pytest.param(name.strip("`"), *cells, id=name.strip("`"))


def found(case, name, claim, evidence):
    """What the named check says about a claim whose quote is the bold part of the evidence."""
    quote = evidence.split("**")[1] if "**" in evidence else None
    checks = {check.__name__: check for check in default_checks()}
    signal = checks[name](case(claim, evidence.replace("**", ""), quote))
    if name == "nearness":
        return signal.passed is True
    return signal is not None and signal.passed is False


@pytest.mark.parametrize(("name", "sees", "there", "misses", "elsewhere"), list(examples()))
def test_a_check_sees_its_example_and_not_the_other(case, name, sees, there, misses, elsewhere):
    assert found(case, name, sees, there)
    # The dangerous side of a near-copy is one that it takes for true.
    assert found(case, name, misses, elsewhere) is (name == "nearness")


def test_every_check_has_a_row():
    rows = {param.values[0] for param in examples()}
    assert rows | {"table_cells"} == {check.__name__ for check in default_checks()}
