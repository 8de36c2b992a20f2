"""Rows read as "column: cell" pairs."""

import pytest

from grounded_rag import verify

TABLE = (
    "| Limit | Quill Account | Plus Account |\n|---|---|---|\n"
    "| Cash, each day | €600 | €1,000 |\n| Payments | €3,000 | €6,000 |"
)
ROW = "| Cash, each day | €600 | €1,000 |"


def verdict(text, quote=ROW):
    draft = {"claims": [{"text": text, "chunk_id": "t", "quote": quote}]}
    return verify(draft, [{"id": "t", "text": TABLE}]).claims[0]


@pytest.mark.parametrize(
    "text",
    [
        "Limit: Cash, each day; Plus Account: €1,000",
        "Limit: Cash, each day; Quill Account: €600; Plus Account: €1,000.",
    ],
)
def test_exact_pairs_are_the_top_tier(text):
    assert verdict(text).tier == "high"


@pytest.mark.parametrize(
    "text",
    [
        "Limit: Cash, each day; Plus Account: €600",
        "Limit: Payments; Plus Account: €1,000",
        "Limit: Cash, each day; Gold Account: €1,000",
        "Limit: Cash, each day; Plus Account: €1,000; Fee: none",
    ],
)
def test_pairs_of_another_column_or_row_are_not(text):
    assert verdict(text).tier != "high"


def test_two_rows_never_join():
    found = verdict("Limit: Payments; Plus Account: €1,000", TABLE[TABLE.index("| Cash") :])
    assert found.tier != "high"
