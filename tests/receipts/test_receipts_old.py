"""Receipts that version 0.1 wrote load, keep their hash, and are checked by what they say."""

from pathlib import Path

import pytest

from grounded_rag import load_receipt, verify_receipt
from grounded_rag.receipts.make import content_hash, seal

WRITTEN = Path(__file__).parent / "written_by_0_1"


def old(name):
    return load_receipt(WRITTEN / f"{name}.json")


@pytest.mark.parametrize("file", sorted(WRITTEN.iterdir()), ids=lambda file: file.stem)
def test_the_canonical_form_and_the_file_are_reproduced_byte_by_byte(file):
    receipt = load_receipt(file)
    assert content_hash(receipt) == receipt.content_hash
    assert receipt.to_json() + "\n" == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["high", "checked", "lexical", "spans_only"])
def test_none_of_them_is_called_altered(name):
    assert verify_receipt(old(name)).altered == ()


def test_a_copy_that_was_called_high_is_verbatim_today():
    check = verify_receipt(old("high"))
    assert check.stands
    assert check.claims[0].tier == "high"


def test_what_rules_of_then_let_pass_is_not_confirmed_today():
    check = verify_receipt(old("lexical"))
    (problem,) = check.unconfirmed
    assert problem.reason == "unproven"
    assert "“lexical”" in problem.detail
    assert not check.stands


def test_what_was_checked_then_is_taken_at_its_word(model):
    check = verify_receipt(old("checked"))
    assert check.stands
    assert "does not name; not asked again" in check.claims[0].note


def test_existence_only_stays_what_it_was():
    assert verify_receipt(old("spans_only")).stands


def test_what_was_shown_then_is_a_stretch_of_the_source_around_the_quote():
    receipt = old("checked")
    (claim,) = receipt.claims
    (citation,) = claim.citations
    shown = f"{citation.sentence}\n\nA withdrawal takes three working days."
    assert shown in receipt.sources[0].text
    longer = claim.model_copy(
        update={"citations": (citation.model_copy(update={"sentence": shown}),)}
    )
    assert verify_receipt(seal(receipt.model_copy(update={"claims": (longer,)}))).stands


def test_old_tiers_hide_no_edit():
    receipt = old("checked")
    (claim,) = receipt.claims
    (citation,) = claim.citations
    forged = citation.model_copy(update={"sentence": f"{citation.sentence} All day."})
    forged = claim.model_copy(update={"citations": (forged,)})
    check = verify_receipt(seal(receipt.model_copy(update={"claims": (forged,)})))
    assert [problem.kind for problem in check.altered] == ["sentence"]
    other = receipt.model_copy(update={"question": "Who parks?"})
    assert [problem.kind for problem in verify_receipt(other).altered] == ["hash"]
