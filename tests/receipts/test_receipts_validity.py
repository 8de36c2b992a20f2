"""Whether a receipt's sources still hold: the second answer, apart from its text."""

import pytest

from grounded_rag import verify_receipt
from grounded_rag.testing import HashEmbedding  # noqa: F401 - imported early: LlamaIndex is slow

RATE = "The Everyday Saver pays 1.85% gross a year."
NEW = "# Deposits\n\nThe Everyday Saver pays 2.15% gross a year on balances up to €100,000.\n"
OLD_ENTRY = 'path = "rates.md"\neffective_from = 2024-01-01\n'


@pytest.fixture
def superseded(bank):
    """The rate sheet was superseded after the answer was given, by way of a sheet in between."""
    receipt = bank.answer(RATE).receipt()
    bank.write("rates-2026.md", NEW)
    bank.write("rates-2025.md", "# Deposits\n\nThe Everyday Saver pays 2.60% gross a year.\n")
    entry = OLD_ENTRY + 'superseded_by = "rates-2025.md"\n'
    bank.edit("manifest.toml", OLD_ENTRY, entry)
    text = (bank.folder / "manifest.toml").read_text(encoding="utf-8")
    bank.write(
        "manifest.toml",
        text
        + '\n[[document]]\npath = "rates-2025.md"\neffective_from = 2025-02-01\n'
        + 'superseded_by = "rates-2026.md"\n'
        + '\n[[document]]\npath = "rates-2026.md"\neffective_from = 2026-03-01\n',
    )
    return receipt


def check(receipt, place, as_of):
    return verify_receipt(receipt, **(place() | {"as_of": as_of}))


def test_superseded_since_with_what_the_document_in_force_says(superseded, place):
    result = check(superseded, place, "2026-06-01")
    (claim,) = result.claims
    assert claim.status == "still_true"
    (stale,) = claim.stale
    assert (stale.kind, stale.successor, stale.known_then) == ("superseded", "rates-2025.md", False)
    assert stale.successor_says.doc_id == "rates-2026.md"
    assert "2.15%" in stale.successor_says.text
    assert any("1.85" in (number.old or "") for number in stale.successor_says.numbers)
    assert result.stale
    assert not result.wrong
    assert not result.stands


def test_before_the_successor_took_over_nothing_was_stale(superseded, place):
    assert check(superseded, place, "2025-01-31").stands


def test_expired_since(bank, place):
    receipt = bank.answer(RATE).receipt()
    bank.edit("manifest.toml", OLD_ENTRY, OLD_ENTRY + "valid_until = 2025-06-30\n")
    assert check(receipt, place, "2025-06-30").stands
    (claim,) = check(receipt, place, "2025-07-01").claims
    assert [stale.kind for stale in claim.stale] == ["expired"]


def test_what_was_flagged_then_is_told_apart(bank, place):
    bank.edit("manifest.toml", OLD_ENTRY, OLD_ENTRY + "valid_until = 2024-06-30\n")
    bank.sync()
    receipt = bank.answer(RATE).receipt()
    (claim,) = check(receipt, place, "2025-01-02").claims
    assert [(stale.kind, stale.known_then) for stale in claim.stale] == [("expired", True)]


def test_both_answers_at_once(superseded, bank, place):
    bank.edit("rates.md", "1.85%", "1.80%")
    result = check(superseded, place, "2026-06-01")
    (claim,) = result.claims
    assert claim.status == "text_changed"
    assert [stale.kind for stale in claim.stale] == ["superseded"]
    assert result.wrong
    assert result.stale


def test_documents_that_name_each_other_as_successor_end(bank, place):
    receipt = bank.answer(RATE).receipt()
    bank.write("manifest.toml", "[corpus]\ntitle = 'Bank'\n")
    text = (bank.folder / "rates.md").read_text(encoding="utf-8")
    bank.write("rates.md", f"---\nsuperseded_by: twin.md\n---\n{text}")
    bank.write("twin.md", f"---\nsuperseded_by: rates.md\n---\n{NEW}")
    (claim,) = check(receipt, place, "2025-01-02").claims
    assert [stale.kind for stale in claim.stale] == ["superseded"]


def test_the_version_in_force_at_the_moment_counts(bank):
    receipt = bank.answer(RATE).receipt()
    bank.edit("rates.md", "1.85%", "2.10%")
    bank.edit("manifest.toml", OLD_ENTRY, 'path = "rates.md"\neffective_from = 2025-06-01\n')
    bank.sync()
    before = verify_receipt(receipt, index=bank.index, as_of="2025-05-31")
    after = verify_receipt(receipt, index=bank.index, as_of="2025-06-01")
    assert before.claims[0].status == "still_true"
    assert after.claims[0].status == "text_changed"
