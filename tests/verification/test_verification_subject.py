"""Whether a statement is about what the question asks about."""

import pytest

from grounded_rag import verify
from grounded_rag.types import Reason
from grounded_rag.verification.passages import Passage, read_chunks
from grounded_rag.verification.subject import absent_subject


def withheld(question, text, **metadata):
    quote = text.splitlines()[-1]
    chunk = {"id": "c", "text": text, "metadata": metadata}
    draft = {"claims": [{"text": quote, "chunk_id": "c", "quote": quote}]}
    return verify(draft, [chunk], question=question).claims[0].withheld


BESIDE = [
    ("How loud is the drill KX20?", "The drill KX10 makes 80 dB."),
    ("What changed in version 2.4?", "Since version 2.3 the menu is blue."),
    ("What does level 4 require?", "At level 3 a second person signs."),
    ("When is the library open on Sunday?", "The library is open on Saturday from 9 to 12."),
    (
        "Which class has a score of 30?",
        "| Score | Class |\n| --- | --- |\n| 40–60 | B |",
    ),
    (
        "What was done in version 1.4?",
        "| Version | What was done |\n| --- | --- |\n| 1.2 | First draft |",
    ),
    ("How long does the Ombudsman of Norland take?", "The Ombudsman of Surland takes a month."),
]
ABOUT = [
    ("How loud is the drill KX20?", "The drill KX20 makes 80 dB."),
    ("What changed in version 2.4?", "The menu is blue since version 2.4."),
    ("Is the library open on Wednesday?", "The library is open from Monday to Friday."),
    (
        "Which class has a score of 50?",
        "| Score | Class |\n| --- | --- |\n| 40–60 | B |",
    ),
    ("How long is the AL3 session?", "## Assurance Level 3\n\nA session lasts 15 minutes."),
    ("I moved to Canada. What does an account cost?", "An account costs 2 euros a month."),
]


@pytest.mark.parametrize(("question", "text"), BESIDE)
def test_a_statement_about_something_else_does_not_ship(question, text):
    assert withheld(question, text) is Reason.BESIDE_QUESTION


@pytest.mark.parametrize(("question", "text"), ABOUT)
def test_a_statement_about_the_thing_ships(question, text):
    assert withheld(question, text) is None


def test_it_says_nothing_about_support():
    text = "The drill KX10 makes 80 dB."
    draft = {"claims": [{"text": text, "chunk_id": "c", "quote": text}]}
    verdict = verify(draft, [{"id": "c", "text": text}], question="How loud is KX20?").claims[0]
    assert verdict.supported


def test_a_title_or_heading_may_hold_the_code():
    text = "It makes 80 dB when it runs."
    assert withheld("How loud is the drill KX20?", text, title="Manual of the KX20") is None
    assert withheld("How loud is the drill KX20?", text, headings=["KX20"]) is None


def test_what_nothing_is_about_is_named_with_its_like():
    chunks = [{"id": str(n), "text": f"The drill KX{n}0 makes {n}0 dB."} for n in (1, 3)]
    absent = absent_subject("How loud is the KX20?", map(Passage, read_chunks(chunks)))
    assert absent is not None
    assert (absent.name, absent.others) == ("KX20", ("KX10", "KX30"))
    assert absent_subject("How loud is the KX30?", map(Passage, read_chunks(chunks))) is None
