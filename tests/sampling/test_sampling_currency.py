"""The currency monitor: which documents do not hold, and which soon will not."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from typer.testing import CliRunner

from grounded_rag import Validity, update_index
from grounded_rag.cli.app import app
from grounded_rag.errors import IndexNotFoundError
from grounded_rag.evaluation.production import (
    CurrencyState,
    DatedDocument,
    index_currency,
    judge_currency,
)

DAY = dt.date(2026, 6, 30)
YEAR = dt.timedelta(days=365)


def states(*, others=(), **validity):
    documents = {"d": DatedDocument(title="D", validity=Validity(**validity))}
    documents.update({name: DatedDocument(title=name, validity=Validity()) for name in others})
    report = judge_currency(documents, as_of=DAY, max_age=YEAR)
    return next((entry.states for entry in report.found if entry.doc_id == "d"), ())


@pytest.mark.parametrize(
    ("validity", "expected"),
    [
        ({"reviewed_on": dt.date(2026, 1, 1)}, ()),
        ({}, ("undated",)),
        ({"valid_until": dt.date(2026, 6, 29), "updated_at": DAY}, ("expired",)),
        ({"valid_until": DAY, "updated_at": DAY}, ("expires_soon",)),
        ({"valid_until": dt.date(2026, 7, 29), "updated_at": DAY}, ("expires_soon",)),
        ({"valid_until": dt.date(2026, 9, 1), "updated_at": DAY}, ()),
        ({"reviewed_on": dt.date(2025, 6, 1)}, ("past_review",)),
        ({"effective_from": dt.date(2026, 7, 1)}, ("not_yet_effective",)),
        (
            {"valid_until": dt.date(2026, 6, 29), "reviewed_on": dt.date(2020, 1, 1)},
            ("expired", "past_review"),
        ),
    ],
)
def test_states_of_one_document(validity, expected):
    assert states(**validity) == tuple(map(CurrencyState, expected))


def test_nobody_renews_what_is_replaced():
    old = {"valid_until": dt.date(2025, 1, 1), "superseded_by": "new"}
    assert states(others=("new",), **old) == (CurrencyState.SUPERSEDED,)
    assert states(**old) == (CurrencyState.SUPERSEDED, CurrencyState.SUCCESSOR_MISSING)


def test_counts_add_up():
    documents = {
        "a": DatedDocument(title="A", validity=Validity(reviewed_on=DAY)),
        "b": DatedDocument(title="B", validity=Validity()),
        "c": DatedDocument(title="C", validity=Validity(valid_until=dt.date(2026, 1, 1))),
    }
    report = judge_currency(documents, as_of=DAY)
    assert report.documents == 3
    assert {k: v for k, v in report.counts.items() if v} == {
        CurrencyState.CURRENT: 1,
        CurrencyState.UNDATED: 1,
        CurrencyState.EXPIRED: 1,
    }
    assert [entry.doc_id for entry in report.overdue] == ["c"]


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, until in (("old", "2026-05-31"), ("good", "2027-12-31")):
        text = f"---\nvalid_until: {until}\nreviewed_on: 2026-01-15\n---\n# {name}\n\nIt costs 4.\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    update_index([folder], index=tmp_path / "index", embedding=None)
    return tmp_path / "index"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_an_index_is_judged_from_its_ledger(index, tmp_path):
    report = index_currency(index, as_of="2026-06-30")
    assert [entry.doc_id for entry in report.overdue] == ["old.md"]
    assert not index_currency(index, as_of="2026-05-31").overdue
    with pytest.raises(IndexNotFoundError):
        index_currency(tmp_path / "none")


def test_the_command_fails_for_what_is_overdue(index):
    late = run("currency", "--index", index, "--as-of", "2026-06-30")
    assert late.exit_code == 3
    assert "old.md: expired" in late.output
    assert "2 documents as of 2026-06-30: 1 current, 1 expired" in late.output
    fine = run("currency", "--index", index, "--as-of", "2026-02-01")
    assert fine.exit_code == 0
    review = run("currency", "--index", index, "--as-of", "2026-05-01", "--review-days", "90")
    assert review.exit_code == 3
    data = json.loads(run("currency", "--index", index, "--as-of", "2026-06-30", "--json").output)
    assert data["counts"]["expired"] == 1
    assert run("currency").exit_code == 2
