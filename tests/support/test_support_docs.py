"""The tables of docs/support.md: what each check sees, and what is licensed."""

from __future__ import annotations

from pathlib import Path

import pytest

from grounded_rag import Tier, default_checks, verify

PAGE = (Path(__file__).parents[2] / "docs" / "support.md").read_text(encoding="utf-8")
NAMES = {"title": "How Orsk Bank works", "headings": ["Young Saver"]}


def table(heading, columns):
    """The rows of five cells of the first such table under a heading."""
    section = PAGE.split(f"\n{heading}\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in section.splitlines() if line.startswith("|")]  # fmt: skip
    return [pytest.param(*row, id=row[0].strip("`")) for row in rows[2:] if len(row) == columns]


CHECKS = table("## The checks", 5)
LICENCES = table("## Licences: what may differ", 5)


def verdict(claim, source, metadata=None):
    draft = [{"text": claim, "chunk_id": "c1", "quote": source}]
    return verify(draft, [{"id": "c1", "text": source, "metadata": metadata}]).claims[0]


@pytest.mark.parametrize(("name", "sees", "there", "misses", "elsewhere"), CHECKS)
def test_a_check_sees_its_example_and_not_the_other(name, sees, there, misses, elsewhere):
    def rejects(found):
        return name.strip("`") in {s.check for s in found.signals if s.passed is False}

    assert rejects(verdict(sees, there))
    missed = verdict(misses, elsewhere)
    assert not rejects(missed)
    assert missed.status == "open"


def test_every_check_is_told():
    rows = {param.id for param in CHECKS}
    assert rows | {"table_cells", "arithmetic"} == {check.__name__ for check in default_checks()}


@pytest.mark.parametrize(("licence", "source", "claim", "other", "unlicensed"), LICENCES)
def test_what_the_page_calls_licensed_is_and_the_other_is_not(
    licence, source, claim, other, unlicensed
):
    assert verdict(claim, source, NAMES).tier is Tier.VERBATIM
    assert verdict(unlicensed, other, NAMES).tier is Tier.NONE


def test_the_page_has_its_tables():
    assert len(CHECKS) == 4
    assert len(LICENCES) == 9
