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
def test_exact_pairs_are_verbatim(text):
    assert verdict(text).tier == "verbatim"


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
    assert verdict(text).tier == "none"


def test_two_rows_never_join():
    found = verdict("Limit: Payments; Plus Account: €1,000", TABLE[TABLE.index("| Cash") :])
    assert found.tier == "none"


def test_an_empty_cell_at_the_edge_shifts_no_column():
    table = "||Gold|Plus|\n|---|---|---|\n|Monthly account fee|5 EUR||\n"
    row = "|Monthly account fee|5 EUR||"
    draft = {"claims": [{"text": "Plus: 5 EUR", "chunk_id": "t", "quote": row}]}
    assert verify(draft, [{"id": "t", "text": table}]).claims[0].tier == "none"


def test_a_first_row_without_a_rule_is_no_header_to_read_under():
    table = "| Contact | Anna Smith |\n| Room | 12 |"
    draft = {"claims": [{"text": "Anna Smith: 12", "chunk_id": "t", "quote": "| Room | 12 |"}]}
    assert verify(draft, [{"id": "t", "text": table}]).claims[0].tier == "none"
