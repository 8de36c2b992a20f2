"""Near-copies: one small word, role or unit exchanged; free wording is left alone."""

from __future__ import annotations

import pytest

from grounded_rag.types import Reason
from grounded_rag.verification.support import default_checks

FALSE = [
    ("operators", "The form is free from 1 May.", "The form is free until 1 May."),
    ("operators", "No member has a locker.", "Each member has a locker."),
    ("operators", "The gate is never locked at night.", "The gate is locked at night."),
    ("operators", "The gate is locked at night.", "The gate is never locked at night."),
    ("operators", "The deposit is paid with interest.", "The deposit is paid without interest."),
    ("operators", "Bags over 20 kg travel free.", "Bags under 20 kg travel free."),
    ("names", "You tell us before the fee changes.", "We tell you before the fee changes."),
    ("names", "The shop is open from Friday to Monday.", "The shop is open from Monday to Friday."),
    ("names", "Arden lent the boat to Berit.", "Berit lent the boat to Arden."),
    ("units", "Coins are counted within five working weeks.",
     "Coins are counted within five working days."),
    ("units", "The rate for savers is 5.4 a year.", "The rate for savers is 5.4% a year."),
    ("numbers", "The lift carries up to 350 kilograms.", "The lift carries up to 300 kilograms."),
    ("substitution", "The reader is chargeable for members.", "The reader is free for members."),
    ("polarity", "The week of the move counts in full.", "The day of the move counts in full."),
]  # fmt: skip
TRUE = [
    ("You are told the reason in writing.", "We tell you the reason in writing."),
    ("Nobody may park here.", "It is forbidden to park here."),
    ("A child of 14 can use the card in shops.",
     "From the 14th birthday the card can be used in shops."),
    ("The talk takes half an hour.", "The talk takes 30 minutes."),
    ("You have until 13 months after the charge.", "You have up to 13 months after the charge."),
    ("A copy that is at most six months old will do.",
     "A copy that is not older than six months will do."),
    ("The bus leaves at half past seven.", "The bus leaves at 7:30."),
    ("Up to a hundred and eighty euros are insured.", "Up to 180 euros are insured."),
    ("If you ask, we pay at once.", "We pay at once if you ask."),
    ("The yearly fee is 12 euros.", "The annual fee is 12 euros."),
    ("Half of the fee is waived.", "50% of the fee is waived."),
]  # fmt: skip


def vetoes(case):
    found = (check(case) for check in default_checks())
    return {signal.check: signal for signal in found if signal and signal.passed is False}


@pytest.mark.parametrize(("name", "claim", "text"), FALSE)
def test_what_one_small_change_turns_round_is_seen(case, name, claim, text):
    found = vetoes(case(claim, text))
    assert name in found
    assert found[name].reason is not Reason.LOW_OVERLAP


@pytest.mark.parametrize(("name", "claim", "text"), FALSE)
def test_the_copy_itself_passes(case, name, claim, text):
    assert not vetoes(case(text, text)), name


@pytest.mark.parametrize(("claim", "text"), TRUE)
def test_other_words_for_the_same_pass(case, claim, text):
    assert vetoes(case(claim, text)) == {}
