"""Mistyped words of a question, and questions that ask two things."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.index.lexical import Vocabulary, corrected
from grounded_rag.text.spelling import edit_distance

TEXT = "The student account costs nothing a month. Holowford closes on Saturday. Personal loans."


@pytest.fixture(scope="module")
def vocabulary():
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE VIRTUAL TABLE lexical USING fts5(body, tokenize = 'porter unicode61');"
        "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(lexical, row);"
    )
    connection.execute("INSERT INTO lexical (body) VALUES (?)", (TEXT,))
    yield Vocabulary(connection)
    connection.close()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("studnet acount?", "student account?"),
        ("pesronal laons", "person loan"),
        ("when does hollowford close", "when does holowford close"),
    ],
)
def test_mistyped_words_find_the_words_of_the_index(vocabulary, question, expected):
    assert corrected(question, vocabulary) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What does the student account cost a month?",
        "Is the weather nice in autumn?",
        "Does Acme Stufent open?",
        "Wie lange gilt das Formular, mit dem ich keine Steuer zahle?",
        "学生口座は？",
        "don't well-known x1",
        "",
    ],
)
def test_common_words_names_and_other_languages_stay(vocabulary, question):
    assert corrected(question, vocabulary) == question


@given(first=st.text("abc", max_size=6), second=st.text("abc", max_size=6))
def test_the_distance_is_symmetric_and_bounded(first, second):
    distance = edit_distance(first, second, limit=2)
    assert distance == edit_distance(second, first, limit=2)
    assert (distance == 0) == (first == second)
    assert 0 <= distance <= 3


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("laon", "loan", 1), ("acount", "account", 1), ("abc", "xyz", 3), ("", "ab", 2)],
)
def test_a_swap_of_neighbours_counts_once(first, second, distance):
    assert edit_distance(first, second, limit=2) == distance
