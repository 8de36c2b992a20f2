"""The rules for follow-ups: a phrase replaces its like, a pronoun gets a sure name, or nothing."""

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.conversation import RuleRewriter, stand_alone
from grounded_rag.conversation.follow_ups import why_left

NOTICE = "What is the notice period?"


@pytest.mark.parametrize(
    ("before", "asked", "expected"),
    [
        # The same preposition
        (
            "How do I reset my password in the web portal?",
            "And in the mobile app?",
            "How do I reset my password in the mobile app?",
        ),
        (
            "What does a day ticket for adults cost?",
            "For children?",
            "What does a day ticket for children cost?",
        ),
        ("Who pays above 500 euros?", "And above 5,000 euros?", "Who pays above 5,000 euros?"),
        # The same kind
        ("When is the pool open on Mondays?", "Sundays?", None),
        (
            "When is the pool open on Mondays?",
            "What about Sundays?",
            "When is the pool open on Sundays?",
        ),
        ("What was earned in 2022?", "And in 2023?", "What was earned in 2023?"),
        # The same noun
        (
            "Does the bank offer pet insurance?",
            "And travel insurance?",
            "Does the bank offer travel insurance?",
        ),
        (
            "How long is the notice period?",
            "And the trial period?",
            "How long is the trial period?",
        ),
        (
            "Who may leave during probation?",
            "And after probation?",
            "Who may leave after probation?",
        ),
        # Another name
        (
            "What is the rate on the Everyday Saver?",
            "What about the Plus Account?",
            "What is the rate on the Plus Account?",
        ),
        # The same article
        ("Can I overpay my mortgage?", "And my loan?", "Can I overpay my loan?"),
        ("Can I bring a dog on the ferry?", "And a bike?", "Can I bring a bike on the ferry?"),
    ],
)
def test_a_phrase_takes_the_one_place_that_is_like_it(before, asked, expected):
    assert stand_alone(asked, [before]) == (expected or asked)


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        ("How long is a code valid when sent by email?", "What about to a postal address?"),
        ("What is the speed limit on motorways?", "And in towns?"),
        ("Can nurses prescribe antibiotics?", "And pharmacists?"),
        ("Does travel insurance cover skiing?", "And lost luggage?"),
        ("Who may use the gym and the pool?", "And the sauna?"),
        ("Is the ferry free for a dog?", "And for the owner?"),
        ("How many rooms are free in 2026?", "And in Rome?"),
        ("Where is the youngest crust found?", "What about the oldest?"),
        ("What is the arranged rate?", "And the unarranged one?"),
        ("What are the pros and cons of it?", "And the cons?"),
        ("What is the rate on the Everyday Saver?", "And for businesses?"),
        ("Wow! What happens to the fund?", "And the pension?"),
    ],
)
def test_a_phrase_without_a_sure_like_stays_as_asked_and_the_reason_is_told(before, asked):
    assert stand_alone(asked, [before]) == asked
    assert "not certain" in why_left(asked)


@pytest.mark.parametrize(
    ("before", "asked", "expected"),
    [
        (
            "What is the maximum number of tables in a join?",
            "Can I raise it?",
            "Can I raise the maximum number of tables in a join?",
        ),
        (NOTICE, "When does it start?", "When does the notice period start?"),
        (
            "Who were the founders of the company?",
            "Where did they meet?",
            "Where did the founders of the company meet?",
        ),
        ("Who is the registrar?", "How can I reach him?", "How can I reach the registrar?"),
        (
            "What does the platinum card cost?",
            "What is its limit?",
            "What is the platinum card’s limit?",
        ),
        ("Is Tarnwick open on Saturdays?", "When does it close?", "When does Tarnwick close?"),
        (
            "What does the Quill Plus Account cost?",
            "Does it include insurance?",
            "Does the Quill Plus Account include insurance?",
        ),
        (
            "How do I get a parking permit?",
            "Is there a fee for it?",
            "Is there a fee for a parking permit?",
        ),
    ],
)
def test_a_pronoun_gets_the_whole_of_what_it_stands_for(before, asked, expected):
    assert stand_alone(asked, [before]) == expected


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        ("Does the city have a bike scheme?", "How much does it cost?"),
        ("What are the opening hours?", "Is it open today?"),
        ("When was the town hall built?", "Who designed it?"),
        ("Why is learning a language hard?", "Is it worth more later?"),
        ("What happens to leave at the office?", "Can it be paid out?"),
        ("Where is the form signed?", "Who signs it?"),
        ("Who leads Tarnwick's harbour?", "When does it open?"),
        ("What is the rate on the Everyday Saver?", "Can I put more into it?"),
        ("Who are the founders?", "Where does he live?"),
        ("What is the front desk?", "Where does he live?"),
        ("How do I block my card?", "What does it cost?"),
        ("What are the rooms in the attic?", "What is their rent’s share?"),
    ],
)
def test_a_pronoun_without_a_sure_name_stays(before, asked):
    assert stand_alone(asked, [before]) == asked


@pytest.mark.parametrize(
    "asked",
    [
        "What is the address?",
        "Is it possible to pause?",
        "How long does it take to ship a parcel?",
        "If a guest loses the key, what does it cost?",
        "Do residents have to separate their waste?",
        "Can children under six travel without their parents?",
        "And who is the head of complaints?",
        "What about the new building, when will it be finished?",
        "Until when must I dispute a card payment?",
        "Thanks",
        "解約は？",
        "",
        "Why?",
    ],
)
def test_what_stands_alone_stays_and_nothing_is_said_about_it(asked):
    assert stand_alone(asked, [NOTICE]) == asked
    assert why_left(asked) == ""


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        ("Was kostet eine Karte für Erwachsene im Zoo?", "Und was kostet sie für Kinder?"),
        ("Combien coûte un billet pour les adultes ?", "Et pour les enfants ?"),
        ("¿Cuánto cuesta una entrada para los adultos?", "¿Y para los niños?"),
    ],
)
def test_other_languages_have_no_rules_and_that_is_told(before, asked):
    assert stand_alone(asked, [before]) == asked
    assert "English" in why_left(asked)


def test_the_first_question_stays_as_it_is():
    assert stand_alone("And for it?", []) == "And for it?"


def test_rules_are_a_rewriter():
    async def run():
        return await RuleRewriter().rewrite("When does it start?", earlier=[NOTICE])

    assert anyio.run(run) == "When does the notice period start?"


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=2))
def test_any_text_is_borne_and_every_word_was_asked(asked, earlier):
    why_left(asked)
    written = stand_alone(asked, earlier)
    joined = "".join([asked, *earlier])
    assert all(c in joined or c in "?’s" or c.isspace() for c in written)


@given(st.text(alphabet="and what about it the X?.'’ ", max_size=300))
def test_questions_of_nothing_but_triggers_are_borne(text):
    stand_alone(text, [text])
