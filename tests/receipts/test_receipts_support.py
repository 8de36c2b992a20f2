"""On what a claim rests is stored, and all of it is verified again."""

from dataclasses import replace

import pytest

from grounded_rag import Policy, audit_receipts, role, verify_receipt
from grounded_rag.receipts.make import canonical_json, seal
from grounded_rag.types import Receipt, Tier
from grounded_rag.verification.rules import Rules

PARKING = "Guests of the bank are permitted to park in the courtyard for two hours."
LOOSE = "For two hours you may leave a car in the yard as a guest."


def made(answer):
    """Return an answer's receipt as it comes back from its JSON, with its only claim."""
    receipt = Receipt.model_validate_json(answer.receipt().to_json())
    (claim,) = receipt.claims
    return receipt, claim


def changed(receipt, **update):
    (claim,) = receipt.claims
    return receipt.model_copy(update={"claims": (claim.model_copy(update=update),)})


def test_a_verbatim_claim_says_no_more_than_its_tier(bank):
    receipt, claim = made(bank.answer(PARKING))
    assert (claim.tier, claim.restated, claim.decided_by) == ("verbatim", False, "")
    for name in (b"restated", b"decided_by", b"arithmetic"):
        assert name not in canonical_json(receipt)


def test_a_restated_claim_is_verbatim_and_says_that_it_is_restated(bank):
    receipt, claim = made(bank.answer("permitted to park in the courtyard", claim=LOOSE))
    assert (claim.text, claim.tier, claim.restated) == (PARKING, "verbatim", True)
    assert LOOSE not in receipt.to_json()
    check = verify_receipt(receipt, index=bank.index, as_of="2025-01-02")
    assert check.stands
    assert check.claims[0].restated


def test_what_is_shown_with_a_quote_is_its_whole_statement(bank):
    bank.edit("rates.md", "two hours.", "two hours. This does not apply on Sundays.")
    bank.sync()
    whole = f"{PARKING} This does not apply on Sundays."
    _, claim = made(bank.answer("park in the courtyard for two hours", claim=whole))
    assert claim.citations[0].sentence == whole


def test_what_a_decider_confirmed_is_taken_at_its_word_and_the_check_says_so(bank, model):
    receipt, claim = made(bank.answer(PARKING, claim=LOOSE, entailment=model))
    assert (claim.text, claim.tier, claim.decided_by) == (LOOSE, "confirmed", "test-nli")
    check = verify_receipt(receipt, index=bank.index, as_of="2025-01-02")
    assert check.stands
    assert check.claims[0].note == "Confirmed then by test-nli; not asked again."


@pytest.mark.parametrize(("says", "stands"), [(0.9, True), (0.2, False)])
def test_a_decider_that_is_named_is_asked_again_and_its_answer_counts(bank, model, says, stands):
    receipt, _ = made(bank.answer(PARKING, claim=LOOSE, entailment=model))
    model.says, model.asked = says, 0
    rules = Rules(entailment=model)
    check = verify_receipt(receipt, rules=rules)
    assert model.asked == 1
    assert check.stands is stands
    # A decider that changed its mind accuses nobody of an alteration.
    assert not check.altered
    assert bool(check.unconfirmed) is not stands
    if stands:
        assert check.claims[0].note == "Confirmed again by test-nli."
    assert audit_receipts(bank.receipts, rules=rules).clean is stands


def test_a_decider_that_says_nothing_confirms_nothing(bank, model):
    receipt, _ = made(bank.answer(PARKING, claim=LOOSE, entailment=model))
    silent = role(lambda _case: None, "decider", name="silent")
    check = verify_receipt(receipt, rules=Rules(checks=(silent,)))
    assert not check.altered
    assert [problem.reason for problem in check.unconfirmed] == ["unproven"]


def test_a_confirmed_claim_must_still_pass_every_rule(bank, model):
    claim = "A new card costs you €12."
    receipt, _ = made(bank.answer("A replacement card costs €12.", claim=claim, entailment=model))
    other = claim.replace("12", "15")
    forged = seal(changed(receipt, text=other).model_copy(update={"text": f"{other} [1]"}))
    assert [p.reason for p in verify_receipt(forged).altered] == ["number_mismatch"]
    assert verify_receipt(forged, rules=Rules(entailment=model)).altered


def test_an_open_claim_that_is_called_verbatim_is_an_alteration(bank, model):
    receipt, _ = made(bank.answer(PARKING, claim=LOOSE, entailment=model))
    forged = seal(changed(receipt, tier=Tier.VERBATIM, decided_by=""))
    assert [(p.kind, p.reason) for p in verify_receipt(forged).altered] == [
        ("unsupported", "unproven")
    ]
    assert verify_receipt(forged, rules=Rules(entailment=model)).altered


@pytest.mark.parametrize("update", [{"restated": False}, {"decided_by": "a judge"}])
def test_what_decided_and_what_was_restated_are_part_of_the_hash(bank, model, update):
    if "restated" in update:
        receipt, _ = made(bank.answer("park in the courtyard for two hours", claim=LOOSE))
    else:
        receipt, _ = made(bank.answer(PARKING, claim=LOOSE, entailment=model))
    assert [p.kind for p in verify_receipt(changed(receipt, **update)).altered] == ["hash"]


def test_what_was_confirmed_on_other_words_does_not_stand_unasked(bank, model, place):
    quote = "permitted to park in the courtyard for two hours"
    receipt, _ = made(bank.answer(quote, claim=LOOSE, entailment=model))
    bank.edit("rates.md", "Guests of the bank", "Horses of the club")
    now = place()
    (claim,) = verify_receipt(receipt, **now).claims
    assert claim.status == "text_changed"
    assert "not asked again" in claim.why
    # Asked again, its answer counts, whatever it is.
    (claim,) = verify_receipt(receipt, rules=Rules(entailment=model), **now).claims
    assert claim.status in ("still_true", "text_moved")
    assert claim.citations[0].sentence_changed


def test_existence_only_is_checked_as_existence_only(bank):
    policy = Policy(support="spans-only")
    receipt, claim = made(bank.answer(PARKING, claim="Parking is easy.", policy=policy))
    assert claim.tier == "none"
    assert verify_receipt(receipt, index=bank.index, as_of="2025-01-02").stands
    strict = seal(receipt.model_copy(update={"policy": {"support": "strict"}}))
    assert [p.kind for p in verify_receipt(strict).altered] == ["tier"]


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"support": "balanced", "quote_match": "repair"},
        {"support": 7, "max_age": "soon", "quote_match": "perhaps", "k": -1, "unheard_of": [1]},
    ],
)
def test_a_policy_that_nobody_can_read_any_more_is_no_error(bank, policy):
    receipt = seal(bank.answer(PARKING).receipt().model_copy(update={"policy": policy}))
    assert verify_receipt(receipt, index=bank.index, as_of="2025-01-02").stands


def test_the_readable_part_of_a_policy_counts(bank):
    receipt = bank.answer(PARKING, as_of="2025-01-01").receipt()
    aged = receipt.policy | {"max_age": "P30D", "support": "balanced"}
    receipt = seal(receipt.model_copy(update={"policy": aged}))
    (claim,) = verify_receipt(receipt, index=bank.index, as_of="2025-01-02").claims
    assert [stale.kind for stale in claim.stale] == ["too_old"]


def test_rules_of_an_application_add_to_those_of_the_receipt(bank):
    def never(case):
        from grounded_rag.types import Signal

        return Signal(check="never", passed=False, detail="Never.", reason="not_entailed")

    receipt, _ = made(bank.answer(PARKING))
    rules = replace(Rules(), checks=(never,), quote_match="exact")
    assert [p.reason for p in verify_receipt(receipt, rules=rules).altered] == ["not_entailed"]


def test_what_never_had_its_support_is_not_said_to_have_lost_it_today(bank, place):
    """A claim that is not confirmed on its own texts is not rejected for the sake of today's."""
    receipt, _ = made(bank.answer(PARKING))
    forged = changed(receipt, text=PARKING.replace("two hours", "three hours"))
    forged = forged.model_copy(
        update={"text": f"{forged.claims[0].text} [1]", "package_version": "0.0.1"}
    )
    # The quote stands; the rest of its chunk is another, so that today's text would be judged.
    bank.edit("rates.md", "1.85%", "2.10%")
    check = verify_receipt(seal(forged), **place())
    assert [problem.reason for problem in check.unconfirmed] == ["unit_mismatch"]
    (claim,) = check.claims
    assert claim.status in ("still_true", "text_moved")
    assert "does not carry the claim" not in claim.why
    assert claim.citations[0].nearest is None
