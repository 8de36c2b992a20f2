"""What became of a receipt's text, against an index and against a bare folder."""

from grounded_rag import verify_receipt

RATE = "The Everyday Saver pays 1.85% gross a year."
PARKING = "Guests of the bank are permitted to park in the courtyard for two hours."
LINK = "Read the [price list](https://bank.example/prices-1) first."


def only(check):
    assert not check.altered, check.altered
    (claim,) = check.claims
    return claim


def test_nothing_changed(bank, place):
    receipt = bank.answer(RATE).receipt()
    check = verify_receipt(receipt, **place())
    assert check.stands
    assert only(check).status == "still_true"


def test_text_above_it_moves_a_quote_and_it_stands(bank, place):
    receipt = bank.answer(RATE).receipt()
    bank.edit("rates.md", "# Savings rates\n", "# Savings rates\n\nValid in all branches.\n")
    check = verify_receipt(receipt, **place())
    assert check.stands
    (standing,) = only(check).citations
    assert standing.status == "text_moved"
    text = (bank.folder / "rates.md").read_text(encoding="utf-8")
    assert standing.span.of(text) == RATE


def test_a_renamed_document_is_found_by_its_hash(bank, place):
    receipt = bank.answer(RATE).receipt()
    (bank.folder / "rates.md").rename(bank.folder / "rates-old.md")
    bank.edit("manifest.toml", "rates.md", "rates-old.md")
    claim = only(verify_receipt(receipt, **place()))
    assert claim.status == "text_moved"
    assert claim.citations[0].found_in == "rates-old.md"
    assert "renamed" in claim.why


def test_a_changed_number_is_shown_with_the_new_sentence(bank, place):
    receipt = bank.answer(RATE).receipt()
    bank.edit("rates.md", "1.85%", "2.10%")
    check = verify_receipt(receipt, **place())
    claim = only(check)
    assert claim.status == "text_changed"
    assert check.wrong
    nearest = claim.citations[0].nearest
    assert nearest.text == "The Everyday Saver pays 2.10% gross a year."
    (change,) = nearest.numbers
    assert change.old.startswith("1.85%")
    assert change.new.startswith("2.10%")
    assert "1.85%" in claim.why
    assert ("removed", "1.85") in [(part.kind, part.text) for part in nearest.diff]


def test_the_quote_stands_and_its_sentence_now_denies_it(bank, place):
    receipt = bank.answer(
        "permitted to park in the courtyard for two hours",
        claim="Guests of the bank are permitted to park in the courtyard for two hours.",
    ).receipt()
    bank.edit("rates.md", "are permitted to park", "are not permitted to park")
    claim = only(verify_receipt(receipt, **place()))
    assert claim.status == "text_changed"
    assert "not permitted" in claim.citations[0].nearest.text


def test_a_longer_sentence_today_does_not_carry_a_verbatim_claim(bank, place):
    receipt = bank.answer(RATE[:-1]).receipt()
    bank.edit("rates.md", "gross a year.", "gross a year, for new customers only.")
    claim = only(verify_receipt(receipt, **place()))
    assert claim.status == "text_changed"
    assert "for new customers only" in claim.citations[0].nearest.text


def test_a_sentence_behind_the_quote_that_takes_it_back_is_told(bank, place):
    receipt = bank.answer(RATE).receipt()
    bank.edit("rates.md", "gross a year.", "gross a year. This does not apply to minors.")
    claim = only(verify_receipt(receipt, **place()))
    assert claim.status == "text_changed"
    assert ("added", " This does not apply to minors.") in [
        (part.kind, part.text) for part in claim.citations[0].nearest.diff
    ]


def test_a_changed_part_of_the_statement_that_leaves_the_claim_is_told(bank, place):
    receipt = bank.answer(RATE[len("The ") :], claim=RATE).receipt()
    bank.edit("rates.md", "The Everyday Saver", "However, the Everyday Saver")
    claim = only(verify_receipt(receipt, **place()))
    assert claim.status in ("still_true", "text_moved")
    assert claim.citations[0].sentence_changed


def test_other_wraps_are_the_same_words(bank, place):
    receipt = bank.answer(PARKING).receipt()
    bank.edit("rates.md", "permitted to park", "permitted\nto park")
    check = verify_receipt(receipt, **place())
    assert only(check).status == "reformatted"
    assert check.stands


def test_another_target_of_a_link_is_told_apart_from_other_words(bank, place):
    receipt = bank.answer(LINK, claim="Read the price list first.").receipt()
    bank.edit("rates.md", "prices-1", "prices-2")
    check = verify_receipt(receipt, **place())
    claim = only(check)
    assert claim.status == "link_changed"
    assert check.stands
    (change,) = claim.citations[0].nearest.numbers
    assert "1" in change.old
    assert "2" in change.new


def test_a_removed_passage(bank, place):
    receipt = bank.answer(PARKING).receipt()
    bank.edit("rates.md", PARKING, "")
    check = verify_receipt(receipt, **place())
    assert only(check).status == "removed"
    assert only(check).citations[0].nearest is None
    assert check.wrong


def test_a_document_that_is_gone(bank, place):
    receipt = bank.answer("A replacement card costs €12.").receipt()
    (bank.folder / "fees.md").unlink()
    bank.write("manifest.toml", "[corpus]\ntitle = 'Bank'\n")
    bank.write("other.md", "# Other\n\nA replacement card costs €12.\n")
    claim = only(verify_receipt(receipt, **place()))
    assert claim.status == "document_gone"
    assert claim.citations[0].also_in == ("other.md",)


def test_a_document_that_cannot_be_read_is_not_said_to_be_gone(bank):
    receipt = bank.answer("A replacement card costs €12.").receipt()
    (bank.folder / "fees.md").write_bytes(b"%PDF\x00\xff\xfe\x00" * 50)
    check = verify_receipt(receipt, folder=bank.folder, as_of="2025-01-02")
    assert only(check).status == "could_not_check"
    assert not check.stands


def test_without_documents_only_the_receipt_is_checked(bank):
    check = verify_receipt(bank.answer(RATE).receipt(), as_of="2025-01-02")
    assert check.against == "nothing"
    assert only(check).status == "not_compared"
    assert check.stands


def test_a_receipt_without_texts_takes_them_from_the_index(bank):
    receipt = bank.answer(RATE).receipt(include_text=False)
    assert all(source.text is None for source in receipt.sources)
    bank.edit("rates.md", "1.85%", "2.10%")
    bank.sync()
    check = verify_receipt(receipt, index=bank.index, as_of="2025-01-02")
    assert only(check).status == "text_changed"


def test_a_refusal_claims_nothing(bank):
    from grounded_rag import GroundedRAG
    from grounded_rag.testing import HashEmbedding

    with GroundedRAG.open(bank.index, embedding=HashEmbedding()) as rag:
        answer = rag.query("Who painted the opera's ceiling?")
    receipt = answer.receipt()
    assert receipt.refusal.reason == answer.refusal.reason
    check = verify_receipt(receipt, index=bank.index)
    assert check.stands
    assert check.claims == ()
