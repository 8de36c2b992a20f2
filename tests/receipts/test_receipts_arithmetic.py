"""Receipts of claims that compute a number: the computation is part of the receipt."""

from grounded_rag import verify_receipt
from grounded_rag.receipts.canonical import canonical_json, seal
from grounded_rag.types import Receipt

FEE = "A replacement card costs €12. The fee is waived for customers under 18 years of age."


def computed(bank):
    bank.edit("fees.md", "costs €12.", "costs €12, a second one €20.")
    bank.sync()
    quote = FEE.replace("costs €12.", "costs €12, a second one €20.")
    claim = "The two replacement cards cost €32 together."
    return bank.answer(quote, claim=claim, arithmetic="12 + 20").receipt()


def test_the_computation_is_carried_and_done_again(bank):
    receipt = Receipt.model_validate_json(computed(bank).model_dump_json())
    assert receipt.claims[0].arithmetic == "12 + 20"
    check = verify_receipt(receipt, index=bank.index)
    assert not check.altered
    assert check.stands


def test_a_receipt_with_another_computation_is_refused(bank):
    receipt = computed(bank)
    (claim,) = receipt.claims
    for arithmetic in ("12 + 21", "12 * 20", None):
        forged = claim.model_copy(update={"arithmetic": arithmetic})
        again = seal(receipt.model_copy(update={"claims": (forged,)}))
        check = verify_receipt(again, index=bank.index)
        assert check.altered or not check.stands


def test_receipts_without_one_keep_their_canonical_form(bank):
    receipt = bank.answer("A replacement card costs €12.").receipt()
    assert b"arithmetic" not in canonical_json(receipt)
