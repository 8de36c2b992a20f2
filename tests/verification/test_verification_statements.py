"""From a quote to the whole statement: what belongs to it, and what nobody asserts."""

import pytest

from grounded_rag.verification.passages import Passages, read_chunks
from grounded_rag.verification.statements import statements_at


def statements(text, quote, **metadata):
    chunks = read_chunks([{"id": "c", "text": text, "metadata": metadata}])
    (passage,) = Passages(chunks)
    start = text.index(quote)
    return [found.statement for found in statements_at(passage, start, start + len(quote))]


def statement(text, quote, **metadata):
    (found,) = statements(text, quote, **metadata)
    return found


WHOLE = [
    ("Guests may not smoke inside, ever. Bring a towel too.", "smoke inside",
     "Guests may not smoke inside, ever."),
    ("Wir zahlen nichts. Sie zahlen alles. Danke schön an alle.", "zahlen alles",
     "Sie zahlen alles."),
    ("今日は休みです。明日は開きます。", "明日は", "明日は開きます。"),
    ("The rate is 5 %.[3] The fee is low.", "rate is", "The rate is 5 %.[3]"),
    ("It is paid by Orsk Ltd. Monday is free.", "paid by",
     "It is paid by Orsk Ltd. Monday is free."),
    ("“The roof leaks,” said the tenant. We went home.", "roof leaks",
     '"The roof leaks," said the tenant.'),
    ("“The roof leaks. It rains in.” The tenant said so.", "It rains in",
     '"The roof leaks. It rains in." The tenant said so.'),
    ("7.3 You may keep a dog. 7.4 You may keep a cat.", "keep a dog", "You may keep a dog."),
    ("- Towels are free.\n- Soap is not.", "Towels", "Towels are free."),
    ("A long line that\nwraps hyph-\nenated words. Bring a towel too.", "wraps",
     "A long line that wraps hyphenated words."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "quote", "expected"), WHOLE)
def test_a_quote_stands_for_its_whole_sentence(text, quote, expected):
    found = statement(text, quote)
    assert found.text == expected
    assert found.asserted
    assert found.whole


CARRIED = [
    ("The sauna is free. This does not apply on Sundays.", "The sauna is free",
     "The sauna is free. This does not apply on Sundays."),
    ("The sauna is free. But not on Sundays. Bring a towel to it.", "The sauna is free",
     "The sauna is free. But not on Sundays."),
    ("The sauna is free.\n\nExcept at Easter.", "The sauna is free",
     "The sauna is free. Except at Easter."),
    ("The sauna is free. That changed in May.", "The sauna is free",
     "The sauna is free. That changed in May."),
    ("Die Sauna ist kostenlos. Das gilt nicht am Sonntag.", "Die Sauna",
     "Die Sauna ist kostenlos. Das gilt nicht am Sonntag."),
    ("The sauna is free. False.", "The sauna is free", "The sauna is free. False."),
    ("Caller: The sauna is free.\nAgent: No, it costs 5 euros.", "The sauna is free",
     "Caller: The sauna is free. Agent: No, it costs 5 euros."),
    ("True or false? The sauna is free. Answer: false.", "The sauna is free",
     "True or false? The sauna is free. Answer: false."),
    ("You may not bring:\n- knives\n- glass", "glass", "You may not bring: glass"),
    ("You may not bring the following items.\n- knives\n- glass", "glass",
     "You may not bring the following items. glass"),
    ("What is not insured\n- Floods that come from a river.", "Floods that",
     "What is not insured: Floods that come from a river."),
    ("# What is not insured\n\nWhat is not insured:\n- Floods.", "Floods",
     "What is not insured: Floods."),
    ("Bring one of these:\n- Papers:\n  - a passport\n  - a card", "a card",
     "Bring one of these: Papers: a card"),
    ("The sauna is at Orsk. Hence it is cold.", "Hence it",
     "The sauna is at Orsk. Hence it is cold."),
    ("The sauna opens at 7. It is open to all of the guests that pay.", "open to all",
     "The sauna opens at 7. It is open to all of the guests that pay."),
    ("Is the sauna open? Yes.", "Yes.", "Is the sauna open? Yes."),
    ("# What we do not cover\n\nWater damage from rivers.", "Water damage",
     "What we do not cover: Water damage from rivers."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "quote", "expected"), CARRIED)
def test_what_takes_back_leads_in_or_comes_before_belongs_to_it(text, quote, expected):
    assert statement(text, quote).text == expected


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The sauna is free. This week brings music.", "The sauna is free"),
        ("The sauna is free. From Monday to Friday the sauna opens at 9.", "The sauna is free"),
        ("The sauna is free. Towels cost 2 euros.", "The sauna is free"),
        ("Open at last\n\nThe sauna is free. It has a view.", "The sauna is free"),
    ],
)
def test_a_neighbour_that_takes_nothing_back_stays_outside(text, quote):
    assert statement(text, quote).text == "The sauna is free."


@pytest.mark.parametrize(
    "sentence", ["It is clear that guests pay.", "Es ist klar, dass wir zahlen.", "Es gibt Tee."]
)
def test_what_points_back_at_nothing_stands_alone(sentence):
    assert statement(f"The sauna opens at 7. {sentence}", sentence).text == sentence


LIST = "You may bring:\n\n- glass, if it is safe;\n- a dog.\n- towels\n\nAsk at the gate.\n"
ITEMS = ["You may bring: glass, if it is safe", "You may bring: a dog.", "You may bring: towels"]


def test_a_line_that_leads_into_a_list_says_what_its_items_say():
    found = statement(LIST, "You may bring:")
    assert found.text == "You may bring: glass, if it is safe; a dog. towels"
    assert found.whole
    assert [span.of(LIST) for span in found.quotes] == [LIST[: LIST.index("\n\nAsk")]]


def test_a_whole_list_is_its_line_with_all_items_and_each_item_by_itself():
    quote = LIST[: LIST.index("\n\nAsk")]
    assert [each.text for each in statements(LIST, quote)][1:] == ITEMS
    assert [each.text for each in statements(LIST, quote[:-8])] == ITEMS[:-1]


@pytest.mark.parametrize(
    ("text", "whole", "asserted"),
    [
        ("Free:\n- [ ] sauna\n- [x] towels\n", True, False),
        ("Bring:\n- papers:\n  - a passport\n- towels\n", False, True),
    ],
)
def test_a_list_with_an_unticked_or_nested_item_is_not_told_on_one_line(text, whole, asserted):
    found = statement(text, text.partition("\n")[0])
    assert (found.whole, found.asserted) == (whole, asserted)


TABLE = (
    "Prices\n\n| Plan | GB | Price |\n|---|---|---|\n| Basic | 10 | 4 EUR |\n| Plus | 50 | 9 EUR |"
)


def test_a_row_stands_under_the_names_of_its_columns():
    found = statement(TABLE, "| Plus | 50 | 9 EUR |")
    assert found.text == "Plan: Plus; GB: 50; Price: 9 EUR"
    assert found.cells == (("Plan", "Plus"), ("GB", "50"), ("Price", "9 EUR"))
    assert found.headings == ("Prices",)


def test_a_row_whose_header_is_cut_off_is_not_whole():
    assert not statement(TABLE[TABLE.index("| Basic") :], "| Plus | 50 | 9 EUR |").whole


def test_a_chunk_that_begins_inside_a_table_has_its_header_as_last_heading():
    text = "| Plus | 50 | 9 EUR |\n| Max | 90 | 19 EUR |"
    found = statement(text, "Max", headings=["Plans", "Plan | GB | Price"])
    assert found.text == "Plan: Max; GB: 90; Price: 19 EUR"


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("and the sauna is free. Towels are not.", "sauna is free"),
        ("Towels cost 2 euros. The sauna is free for", "The sauna is free"),
        ("“The sauna is free. It always was", "The sauna is free"),
        ("Revenue in Asia grew. […] It fell by 8 percent.", "It fell"),
    ],
)
def test_what_the_passage_cuts_off_is_not_whole(text, quote):
    assert not statement(text, quote).whole


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Is the sauna free? Ask at the desk.", "Is the sauna free?"),
        ("~~The sauna is free.~~ The sauna costs 5 euros.", "The sauna is free."),
        ("<!-- The sauna is free. --> The sauna costs 5 euros.", "The sauna is free."),
        ("<del>The sauna is free.</del> The sauna costs 5 euros.", "The sauna is free."),
        ("Offers:\n- [ ] The sauna is free.\n- [x] Towels are free.", "The sauna is free."),
        ("Offers:\n✗ The sauna is free.\n✓ Towels are free.", "The sauna is free."),
    ],
)
def test_a_question_and_withdrawn_hidden_or_unticked_text_assert_nothing(text, quote):
    assert not any(found.asserted for found in statements(text, quote))


def test_a_ticked_box_is_no_word_of_what_it_ticks():
    found = statement("Offers:\n- [ ] Free sauna\n- [x] Free towels", "Free towels")
    assert found.text == "Offers: Free towels"
    assert found.asserted


def test_a_quote_over_two_sentences_stands_in_two_statements():
    text = "The sauna is free. Towels cost 2 euros."
    assert [each.text for each in statements(text, text)] == [
        "The sauna is free.",
        "Towels cost 2 euros.",
    ]


def test_all_words_of_a_statement_stand_in_what_it_quotes():
    text = "You may not bring:\n\n- knives\n- glass\n\nThis does not apply to guides."
    found = statement(text, "glass")
    quoted = " ".join(span.of(text) for span in found.quotes)
    assert found.text == "You may not bring: glass This does not apply to guides."
    assert set(found.text.split()) <= set(quoted.split())


ROOMS = "| Room | Price |\n| --- | --- |\n| Attic | 40 EUR |\n| Cellar | 25 EUR |"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Prices until 2019:\n\n{ROOMS}", "Prices until 2019: Room: Attic; Price: 40 EUR"),
        (f"**No longer on offer**\n\n{ROOMS}", "No longer on offer: Room: Attic; Price: 40 EUR"),
        (f"**No longer on offer**\n{ROOMS}", "No longer on offer: Room: Attic; Price: 40 EUR"),
        (f"{ROOMS}\n\nThese prices are no longer valid.",
         "Room: Attic; Price: 40 EUR These prices are no longer valid."),
    ],
)  # fmt: skip
def test_a_line_around_a_table_that_limits_it_belongs_to_each_row(text, expected):
    assert statement(text, "| Attic | 40 EUR |").text == expected


@pytest.mark.parametrize(
    "text", [f"The room is not heated.\n\n{ROOMS}", f"{ROOMS}\n\nBreakfast is at eight."]
)
def test_a_sentence_beside_a_table_stays_outside(text):
    assert statement(text, "| Attic | 40 EUR |").text == "Room: Attic; Price: 40 EUR"


def test_the_name_of_the_first_column_may_deny_what_its_rows_say():
    table = "| Myth | Told by |\n| --- | --- |\n| Toads cause warts. | Bede |"
    found = statement(table, "| Toads cause warts. | Bede |")
    assert found.text == "Myth: Toads cause warts; Told by: Bede"


@pytest.mark.parametrize(
    "text",
    [
        "# Repealed\n\n## Dues\n\nMillers pay nine crowns.",
        "Common misconceptions\n-----\n\nMillers pay nine crowns.",
        "Myths\n=====\n\nDues\n----\n\nMillers pay nine crowns.",
    ],
)
def test_every_heading_above_a_sentence_governs_it(text):
    assert statement(text, "Millers pay").text != "Millers pay nine crowns."


def test_a_heading_of_a_closed_section_governs_nothing_below_the_next():
    text = "# Repealed\n\nMillers pay.\n\n# Dues\n\nWeavers pay nothing."
    assert statement(text, "Weavers pay").text == "Weavers pay nothing."


def test_a_paragraph_of_one_sentence_above_a_list_says_what_its_items_are():
    text = "The auditors rejected these findings.\n\n- The dues were paid.\n- The ledger balances."
    assert statement(text, "The ledger balances").text == (
        "The auditors rejected these findings. The ledger balances."
    )


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Imagine the dam had burst. The siren sounds.", "The siren"),
        ("Voici ce que dit la rumeur. La vache vole.", "La vache"),
        ("次の文は誤りです。鯨は卵を産む。", "鯨"),
    ],
)
def test_a_brief_sentence_that_presents_the_next_one_belongs_to_it(text, quote):
    assert statement(text, quote).text.startswith(text.split(". ")[0][:6])


def test_the_header_of_a_table_that_is_carried_as_a_heading_denies_nothing():
    found = statement(
        "| Restart | monthly | never |", "Restart", headings=["Task | Low | Not rated"]
    )
    assert found.whole


def test_at_most_three_sentences_take_something_back():
    text = "The sauna is free. Not on Sundays. But guides may. Only in May. Except in rain."
    assert statement(text, "sauna").text == text.removesuffix(" Except in rain.")


def test_a_long_line_without_a_stop_is_no_heading():
    line = "A line of the leaflet that goes on and says much more than a heading ever would"
    assert statement(f"{line}\n\nThe sauna is free.", "sauna").headings == ()
    assert statement(f"{line[:24]}\n\nThe sauna is free.", "sauna").headings == (line[:24],)


def test_a_word_that_joins_two_items_of_a_list_stays_between_them():
    text = "A pass is valid for:\n\n- ten days; or\n- one hour, if sent.\n"
    assert statement(text, "A pass is valid for:").text == (
        "A pass is valid for: ten days; or one hour, if sent."
    )
