"""Compounds and abbreviations: what is searched for beside the words of a question."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_documents import document, put
from index_helpers import retrieve

from grounded_rag.index.lexical import OtherNames
from grounded_rag.text.spelling import Abbreviation, abbreviations, both_names, joined, split
from grounded_rag.text.words import tokenize

TEXTS = (
    "An overdraft costs nothing for a week. Cash machines give 300 a day.",
    "The annual equivalent rate (AER) lets you compare. It information.",
    "FSCS (Financial Services Compensation Scheme) pays up to 85,000.",
    "A PIN (personal identification number) has four digits. All forms are free.",
    "Das Girokonto ist frei. Die Gebühren stehen im Preisverzeichnis. Geburt und Urkunde.",
)
AER = Abbreviation("aer", "annual equivalent rate")


@pytest.fixture(scope="module")
def names():
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE lexical USING fts5"
        "(body, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    connection.executemany("INSERT INTO lexical (body) VALUES (?)", [(text,) for text in TEXTS])
    yield OtherNames(connection)
    connection.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("is my over draft free?", {"overdraft"}),
        ("Over-Draft fee", {"overdraft"}),
        ("the cashmachine limit", {"cash", "machine"}),
        ("Wie hoch ist die Girokontogebühr?", {"girokonto", "gebühren"}),
        ("Geburtsurkunde", {"geburts", "urkunde"}),
        ("What AER do you pay?", {"annual equivalent rate"}),
        ('NEAR("AER) OR %_* body:x ((((', {"annual equivalent rate"}),
        ("what's the aer", {"annual equivalent rate"}),
        ("the annual equivalent rate, please", {"aer"}),
        ("Does the financial services compensation scheme pay?", {"fscs"}),
        ("I forgot my PIN", {"personal identification number"}),
    ],
)
def test_other_names_are_found_in_the_index(names, question, expected):
    assert set(names.of(question)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "stand order",
        "Is it free for me?",
        "pin it on the wall",
        "the over. Draft it",
        "the financial services of others",
        'NEAR("free) OR %_* body:x ((((',
        "学生口座は？",
        "",
    ],
)
def test_ordinary_words_stay_alone(names, question):
    assert names.of(question) == ()


@given(question=st.text(max_size=200))
def test_any_question_is_searched_with_few_words_more(names, question):
    assert len(names.of(question)) <= 6


def test_retrieval_finds_a_passage_by_the_other_name(index, embedding):
    put(
        index,
        embedding,
        document("glossary", "The annual equivalent rate (AER) lets you compare."),
        document("saver", "On the saver the AER is 4%."),
        document("draft", "An overdraft is free for a week."),
        *(document(f"other-{n}", f"Nothing of note, number {n}.") for n in range(5)),
    )

    def found(question):
        hits = retrieve(index, embedding, question, signals="lexical")
        return {hit.chunk.doc_id for hit in hits}

    assert found("annual equivalent rate?") == {"glossary", "saver"}
    assert found("over draft") == {"draft"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We quote the Annual Equivalent Rate (AER).", (AER,)),
        ("AER (annual equivalent rate) is", (AER,)),
        ('The "annual\nequivalent rate" ("AER")', (AER,)),
        (
            "annual percentage rate of charge (APRC)",
            (Abbreviation("aprc", "annual percentage rate of charge"),),
        ),
        ("Terms of Business (ToB)", (Abbreviation("tob", "terms of business"),)),
        (
            "cash ISAs (individual savings accounts)",
            (Abbreviation("isa", "individual savings accounts"),),
        ),
        ("the bank code (BIC)", ()),
        ("AER (another evil word)", ()),
        ("It ended. Equivalent Rate (AER)", ()),
        ("(AER) and () (a", ()),
    ],
)
def test_definitions_need_matching_initials(text, expected):
    assert abbreviations(text) == expected


def test_a_flood_of_definitions_is_cut():
    assert len(abbreviations("annual rate (AR) " * 100_000)) == 1
    flood = " ".join(f"annual rate{n} (AR)" for n in range(1_000))
    assert len(abbreviations(flood)) == 50
    assert abbreviations("(" * 100_000 + "AER" + ")" * 100_000) == ()


def test_a_text_gets_the_other_name_once():
    assert both_names("The AER is 4%.", (AER,)).endswith("annual equivalent rate")
    assert both_names("The annual  equivalent rate", (AER,)).endswith("aer")
    assert both_names("annual equivalent rate (AER)", (AER,)) == "annual equivalent rate (AER)"
    assert both_names("a faery rate", (AER,)) == "a faery rate"


def test_compounds_prefer_few_and_even_parts():
    known = {"mort", "gage", "mortgage", "rate", "giro", "konto", "auszug"}.__contains__
    assert split("mortgagerate", known) == ("mortgage", "rate")
    assert split("girokontoauszug", known) == ("giro", "konto", "auszug")
    assert split("kontosauszug", known) == ("konto", "auszug")
    assert split("x" * 5_000, lambda word: True) == ()
    text = "e-mail, mort gage"
    assert joined(text, tokenize(text), {"email", "mortgage"}.__contains__) == ("email", "mortgage")
