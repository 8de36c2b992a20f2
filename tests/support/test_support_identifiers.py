import pytest

from grounded_rag.types import Reason
from grounded_rag.verification.support import identifiers


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Version 2.10 needs a licence.", "Version 2.1 needs a licence."),
        ("Section 4(b) sets the fee.", "Section 4(a) sets the fee."),
        ("The code 0x2F opens the gate.", "The code 0x1F opens the gate."),
        ("Go to https://x.example/a.", "Go to https://x.example/a/b."),
        ("Write to help@acme.example.org.", "Write to help@acme.example."),
        ("Write to help@acme.example.", "Write to help@acme.example.org."),
        ("Call 020 555 0101.", "Call 020 555 0100."),
        ("Pay to DE89 3704 0044 0532 0130 01.", "Pay to DE89 3704 0044 0532 0130 00."),
        ("The treaty ended World War I.", "The treaty ended World War II."),
        ("Chapter 6 covers appeals.", "Chapter IV covers appeals."),
        ("The Nova 12 Pro is blue.", "The Nova 12 Max is blue."),
        ("The A321 is quiet.", "The A320 is quiet."),
        ("Type 2 diabetes is covered.", "Type 1 diabetes is covered."),
        ("It applies from 2024/25.", "It applies from 2023/24."),
    ],
)
def test_an_identifier_that_the_passage_lacks_is_a_veto(case, claim, passage):
    signal = identifiers(case(claim, passage))
    assert signal.passed is False
    assert signal.reason is Reason.IDENTIFIER_MISMATCH


def test_the_veto_names_both(case):
    signal = identifiers(case("Version 2.10 is free.", "Version 2.1 is free. Version 3 is not."))
    assert signal.detail == "The claim says “2.10”; its passage gives “2.1”, “3”."


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Chapter 4 covers appeals.", "Chapter IV covers appeals."),
        ("Chapter 4 covers appeals.", "IV. Appeals\n\nThis chapter covers appeals."),
        ("It began after World War II.", "It began after the Second World War."),
        ("Es begann nach Weltkrieg II.", "Es begann nach dem zweiten Weltkrieg."),
        ("Call 020-555-0100.", "Call 020 555 0100."),
        ("Version 2.1 is free.", "| Version | Price |\n|---|---|\n| 2.1 | free |"),
        ("Rooms 11 and 12 are shut.", "Rooms 11-12 are shut."),
        ("Covid-19 is covered.", "COVID-19 is covered."),
        ("Section 4 sets the fee.", "Under Section 4(a) the fee is set."),
        ("Read acme.example/fees.", "Read https://acme.example/fees."),
        ("In this chapter 4 methods are named.", "This chapter names four methods."),
    ],
)
def test_an_identifier_in_another_notation_is_none(case, claim, passage):
    assert identifiers(case(claim, passage)).passed is True


def test_title_and_headings_count(case):
    claim, text = "Version 2.1 is free.", "It is free."
    assert identifiers(case(claim, text, title="Acme 2.1")).passed is True
    assert identifiers(case(claim, text, headings=("Version 2.1",))).passed is True
    assert identifiers(case(claim, text, title="Acme 2.10")).passed is False


def test_a_claim_without_identifiers_is_left_alone(case):
    assert identifiers(case("A ticket costs 12 euros.", "A ticket costs 13 euros.")) is None


def test_a_few_digits_in_groups_are_no_telephone_number(case):
    assert identifiers(case("The code is +12 34 here.", "The code is +12 35 here.")) is None
    signal = identifiers(case("The code is +12 345 678 here.", "The code is +12 345 679 here."))
    assert signal.reason is Reason.IDENTIFIER_MISMATCH
