"""Receipts of claims that compute a number: the computation is part of the receipt."""

import pytest

from grounded_rag import verify_receipt
from grounded_rag.receipts.make import canonical_json, seal
from grounded_rag.types import Receipt

FEES = "The joining fee is 35 euros. The yearly fee is 120 euros."
TOGETHER = "The joining fee and the yearly fee are 155 euros together."


@pytest.fixture
def computed(bank):
    """The receipt of a claim that the program itself confirmed, by working out a sum."""
    bank.write("fees.md", f"# Fees\n\n{FEES}\n")
    bank.sync()
    return bank.answer(FEES, claim=TOGETHER, arithmetic="35 + 120").receipt()


def changed(receipt, **update):
    """Return the receipt with another claim, its text and its hash made to fit."""
    (claim,) = receipt.claims
    claim = claim.model_copy(update=update)
    update = {"claims": (claim,), "text": f"{claim.text} [1]"}
    return seal(receipt.model_copy(update=update))


def test_the_computation_is_carried_and_done_again(computed, bank):
    receipt = Receipt.model_validate_json(computed.model_dump_json())
    (claim,) = receipt.claims
    assert (claim.text, claim.arithmetic) == (TOGETHER, "35 + 120")
    assert (claim.tier, claim.decided_by) == ("confirmed", "arithmetic")
    check = verify_receipt(receipt, index=bank.index, as_of="2025-01-02")
    assert check.stands
    assert check.claims[0].note == "Confirmed again by arithmetic."


@pytest.mark.parametrize("arithmetic", ["35 + 121", "35 * 120", None])
def test_a_receipt_with_another_computation_is_refused(computed, arithmetic):
    assert verify_receipt(changed(computed, arithmetic=arithmetic)).altered


def test_a_computed_claim_that_says_more_than_its_sum_is_an_alteration(computed):
    # The sum is right, and no rule confirms the rest: the computation is not taken at its word.
    text = "Members complain that the joining fee and the yearly fee are 155 euros together."
    assert verify_receipt(changed(computed, text=text)).altered
    # Another name than that of the computation would be.
    trusted = changed(computed, text=text, decided_by="a judge")
    assert verify_receipt(trusted).stands


def test_receipts_without_one_keep_their_canonical_form(bank):
    receipt = bank.answer("A replacement card costs €12.").receipt()
    assert b"arithmetic" not in canonical_json(receipt)
