"""Verbatim: every licence in both directions, and nothing that nobody licensed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag import Tier, verify
from grounded_rag.verification.rules import Rules


def tier(text, claim, quote=None, **metadata):
    chunk = {"id": "c", "text": text, "metadata": metadata}
    draft = [{"text": claim, "chunk_id": "c", "quote": quote or text}]
    return verify(draft, [chunk], rules=Rules(checks=())).claims[0].tier


LICENSED = {
    "presentation": [
        ("The “fee” is 5 %.", 'The "fee" is 5 %.'),
        ("The *fee* is\npaid.", "The fee is paid."),
    ],
    "marks": [
        ("The fee [3] is paid.[4]", "The fee is paid."),
        ("The fee is paid (Orsk et al., 2019) in May.", "The fee is paid in May."),
        ("The fee is paid.² Towels are free too.", "The fee is paid."),
    ],
    "numbers of items": [
        ("7.3 You may keep a dog.", "You may keep a dog."),
        ("(a) You may keep a dog.", "You may keep a dog."),
        ("§ 4 You may keep a dog.", "You may keep a dog."),
        ("2) L'eau est froide.", "L'eau est froide."),
        ("7.3 You may keep a dog.", "7.3 You may keep a dog."),
    ],
    "unicode forms": [
        ("Trio E\u0301poque plays in May.", "Trio E\u0301poque plays in May."),
        ("Trio E\u0301poque plays in May.", "Trio \u00c9poque plays in May."),
    ],
    "linking word": [
        ("However, the fee is paid.", "The fee is paid."),
        ("Please note that the fee is paid.", "The fee is paid."),
        ("Uwaga, psy są groźne.", "Psy są groźne."),
        ("Proszę pamiętać, że psy są groźne.", "Psy są groźne."),
        ("Außerdem, die Gebühr ist fällig.", "Die Gebühr ist fällig."),
    ],
    "contractions": [
        ("The shop doesn't sell stamps.", "The shop does not sell stamps."),
        ("You can not pay here.", "You can't pay here."),
    ],
    "notation": [
        ("The estate of the town measures 1,250 hectares.",
         "The estate of the town measures 1250 hectares."),
        ("La tasa es del 4 por ciento.", "La tasa es del 4 %."),
        ("Zij betaalt voor het huis twaalf euro.", "Zij betaalt voor het huis 12 euro."),
    ],
    "articles": [
        ("The interest belongs to the tenant.", "Interest belongs to the tenant."),
        ("Interest belongs to the tenant.", "The interest belongs to the tenant."),
    ],
    "same": [
        ("Orders of no fewer than 5 items ship free.", "Orders of at least 5 items ship free."),
        ("Bring a card, a towel, and soap.", "Bring a card, a towel and soap."),
    ],
    "definition": [
        ("**Chargeback** – a way to get money back.", "A chargeback is a way to get money back."),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("text", "claim"), [pair for pairs in LICENSED.values() for pair in pairs])
def test_a_licensed_edit_leaves_a_claim_verbatim(text, claim):
    assert tier(text, claim, text.split("²")[0]) is Tier.VERBATIM


NOT_LICENSED = [
    ("7.3 You may keep a dog.", "7.4 You may keep a dog."),
    ("1. 5 % of the fee is due.", "1.5 % of the fee is due."),
    # An article that says something of its own, or another one in its place.
    ("A few guests pay.", "Few guests pay."),
    ("Ana is a director of the bank.", "Ana is the director of the bank."),
    ("He took a second bath.", "He took the second bath."),
    # A word that only seems to link.
    ("However hard you try, the door stays shut.", "Hard you try, the door stays shut."),
    ("Note the sign.", "The sign."),
    ("If approved, the fee is paid.", "The fee is paid."),
    ("Allegedly, the fee is paid.", "The fee is paid."),
    # "'s" may be "has".
    ("It's run for a year.", "It is run for a year."),
    # Where the language is not known, "1,375" may be a decimal.
    ("Sztabka waży 1,375 kg.", "Sztabka waży 1375 kg."),
    # A number that counts is not the number of a paragraph.
    ("2.5 Million people came.", "Million people came."),
    ("Version 2.1 works.", "Version 2.10 works."),
    # Case, order and punctuation inside.
    ("Only adults pay the fee.", "Adults pay only the fee."),
    ("The fee is for US citizens.", "The fee is for us citizens."),
    ("No, cash is taken.", "No cash is taken."),
    ("The “safe” account pays 5 %.", "The safe account pays 5 %."),
    ("The dose is 10⁵ units.", "The dose is 105 units."),
    # A dash that defines nothing.
    ("The fee – a burden.", "The fee is a burden."),
    # Another language has no English licence.
    ("Il a un chien noir et blanc.", "Il un chien noir et blanc."),
    ("Der Hund beißt den Mann.", "Den Hund beißt der Mann."),
]


@pytest.mark.parametrize(("text", "claim"), NOT_LICENSED)
def test_what_is_not_licensed_is_not_verbatim(text, claim):
    assert tier(text, text) is Tier.VERBATIM
    assert tier(text, claim) is Tier.NONE


NAMES = {"title": "How Orsk Bank works", "headings": ["Young Saver"]}


@pytest.mark.parametrize(
    ("text", "claim", "quote"),
    [
        ("We charge no fee.", "Orsk Bank charges no fee.", None),
        ("Our staff never ask for a code.", "Orsk Bank's staff never ask for a code.", None),
        ("It pays 2 % a year.", "The Young Saver pays 2 % a year.", None),
        ("The card reader weighs 80 grams. Its battery lasts four years.",
         "The battery of the card reader lasts four years.", "Its battery lasts four years."),
        ("The card reader weighs 80 grams. It costs 9 euros.", "The card reader costs 9 euros.",
         "It costs 9 euros."),
    ],
)  # fmt: skip
def test_a_name_that_the_surroundings_give_may_stand_for_a_pronoun(text, claim, quote):
    assert tier(text, claim, quote, **NAMES) is Tier.VERBATIM


@pytest.mark.parametrize(
    ("text", "claim", "quote", "metadata"),
    [
        # Another name than the surroundings give, or none at all.
        ("We charge no fee.", "Merl Bank charges no fee.", None, NAMES),
        ("We charge no fee.", "Orsk Bank charges no fee.", None, {}),
        ("It pays 2 % a year.", "The Notice Saver pays 2 % a year.", None, NAMES),
        # Two things that could be meant.
        ("We charge no fee.", "Orsk Bank charges no fee.", None,
         {"title": "Orsk Bank and Merl Insurance"}),
        ("The reader comes with a stand. It weighs 80 grams.", "The reader weighs 80 grams.",
         "It weighs 80 grams.", {}),
        ("The Alder clinic merged with the Birch clinic. It has 40 beds.",
         "The Alder clinic has 40 beds.", "It has 40 beds.", {}),
        # What stood before is lost in a gap.
        ("Revenue is high. […] It fell by 8 percent.", "Revenue fell by 8 percent.",
         "It fell by 8 percent.", {}),
        # Only the pronoun may change.
        ("We charge no fee.", "Orsk Bank charges a fee.", None, NAMES),
        ("We may charge a fee.", "Orsk Bank charges a fee.", None, NAMES),
    ],
)  # fmt: skip
def test_a_name_in_doubt_may_not(text, claim, quote, metadata):
    assert tier(text, claim, quote, **metadata) is Tier.NONE


TABLE = (
    "| Payment | Counter | Market |\n|---|---|---|\n"
    "| Credit card | 0.95% | 1.60% |\n| Debit card | 0.35% | 0.90% |"
)


@pytest.mark.parametrize(
    "claim",
    [
        "Credit card, Market: 1.60%",
        "Credit card: Counter: 0.95%, Market: 1.60%",
        "Payment: Credit card; Counter: 0.95%",
        "The credit card on the counter is 0.95%.",
        "A credit card at the market is 1.60%.",
    ],
)
def test_cells_under_their_own_names_are_verbatim(claim):
    assert tier(TABLE, claim, "| Credit card | 0.95% | 1.60% |") is Tier.VERBATIM


@pytest.mark.parametrize(
    "claim",
    [
        "Credit card, Market: 0.95%",
        "Debit card, Market: 1.60%",
        "Market: 1.60%",
        "| Credit card | 0.95% | 1.60% |",
        "A credit card at the market is not 1.60%.",
        "A credit card at the counter market is 1.60%.",
        "A debit card at the market is 1.60%.",
    ],
)
def test_a_cell_of_another_place_or_without_one_is_not(claim):
    assert tier(TABLE, claim, "| Credit card | 0.95% | 1.60% |") is Tier.NONE


def test_two_columns_with_one_name_in_another_order_are_two_journeys():
    table = "| From | To Orsk | To Merl |\n|---|---|---|\n| Merl | 5 EUR | 9 EUR |"
    assert tier(table, "Merl, To Orsk: 5 EUR", "| Merl | 5 EUR | 9 EUR |") is Tier.VERBATIM
    assert tier(table, "Orsk to Merl is 5 EUR.", "| Merl | 5 EUR | 9 EUR |") is Tier.NONE


def test_two_statements_never_make_one_sentence():
    text = "Metformin is taken with meals. Alcohol should be avoided."
    assert tier(text, "Metformin is taken with alcohol.") is Tier.NONE
    assert tier(text, "Alcohol should be avoided. Metformin is taken with meals.") is Tier.VERBATIM


def test_a_claim_of_several_sentences_is_judged_sentence_by_sentence():
    text = "The sauna is free. This does not apply on Sundays. Towels cost 2 euros."
    assert tier(text, "The sauna is free. Towels cost 2 euros.") is Tier.NONE
    assert tier(text, text) is Tier.VERBATIM


def test_a_sentence_with_a_pronoun_is_verbatim_only_where_nothing_else_stands_before_it():
    text = "The pool is warm.\n\nThe van is old. It holds nine boxes."
    assert tier(text, "It holds nine boxes.") is Tier.VERBATIM
    assert tier(text, "The pool is warm. It holds nine boxes.") is Tier.NONE


def test_a_lead_in_and_its_item_make_one_sentence():
    text = "You may not bring:\n- glass bottles\n- umbrellas"
    assert tier(text, "You may not bring umbrellas.", "umbrellas") is Tier.VERBATIM
    assert tier(text, "You may bring umbrellas.", "umbrellas") is Tier.NONE


WORD = st.text(alphabet="abcdefghij", min_size=2, max_size=7)
SENTENCE = st.lists(WORD, min_size=4, max_size=10, unique=True)


@given(SENTENCE, st.data())
def test_whatever_is_left_out_of_a_sentence_in_any_language_is_missed(words, data):
    sentence = f"The {' '.join(words)}."
    drop = data.draw(st.integers(0, len(words) - 1))
    torn = f"The {' '.join(words[:drop] + words[drop + 1 :])}."
    assert tier(sentence, sentence) is Tier.VERBATIM
    assert tier(sentence, torn) is Tier.NONE


@given(SENTENCE, WORD, st.data())
def test_whatever_is_put_in_or_moved_is_seen(words, added, data):
    sentence = f"The {' '.join(words)}."
    place = data.draw(st.integers(0, len(words)))
    longer = f"The {' '.join([*words[:place], added, *words[place:]])}."
    assert tier(sentence, longer) is Tier.NONE
    assert tier(sentence, f"The {' '.join(reversed(words))}.") is Tier.NONE
