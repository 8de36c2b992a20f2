"""Comparing word piece by word piece: what it measures, and what the generator does with it."""

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.generate import late_interaction as module
from grounded_rag.generate.extractive import ExtractiveGenerator
from grounded_rag.generate.late_interaction import LateInteraction, Likeness
from grounded_rag.generate.question import analyse
from grounded_rag.generate.ranking import Features, Linear
from grounded_rag.text.words import TokenVectors, tokenize

MEANINGS = {"bailiffs": 1, "seizure": 1, "phone": 2, "call": 2, "gadget": 3, "reader": 3}


class Pieces:
    """Whole words are pieces; words of one meaning share a vector, others have one of their own."""

    def __init__(self):
        self.seen = []

    def token_vectors(self, texts):
        self.seen += texts
        return [self._one(text) for text in texts]

    def _one(self, text):
        words = tokenize(text)
        rows = np.zeros((len(words), 512))
        for row, word in enumerate(words):
            rows[row, MEANINGS.get(word.lower, 10 + crc32(word.lower.encode()) % 500)] = 1
        mean = rows.sum(axis=0)
        length = np.linalg.norm(mean)
        return TokenVectors(
            rows=rows,
            mean=mean / length if length else mean,
            places=tuple((word.start, word.end) for word in words),
            ranks=tuple(2_000 if len(word.text) < 4 else 20_000 for word in words),
        )

    def get_query_embedding(self, query):
        raise AssertionError("pieces are enough")

    get_text_embedding_batch = get_query_embedding


def compare(question, *sentences, embedding=None):
    return LateInteraction(embedding or Pieces()).compare(analyse(question), sentences)


def test_words_of_one_meaning_meet():
    same, like, other = compare(
        "bailiffs?", "bailiffs", "A seizure is limited.", "The café opens at nine."
    )
    assert same.cover == pytest.approx(1.0)
    assert like.cover == pytest.approx(1.0)
    assert other.cover == pytest.approx(0.0)
    assert same.late > other.late
    assert same.gap < other.gap
    assert same.cosine > like.cosine > other.cosine


def test_the_word_that_nothing_answers_to_is_told():
    half, whole = compare("phone bailiffs", "Give us a call.", "Call about a seizure.")
    assert half.found == pytest.approx((1.0, 0.0))
    assert whole.found == pytest.approx((1.0, 1.0))
    assert half.gap > whole.gap == pytest.approx(0.0)


def test_nothing_to_compare():
    assert compare("?", "A call.") == [Likeness()]
    (empty,) = compare("phone", "")
    assert (empty.late, empty.cover) == (0.0, 0.0)


def test_sentences_are_read_once():
    embedding = Pieces()
    late = LateInteraction(embedding)
    first = late.compare(analyse("phone"), ["A call.", "A call.", "A reader."])
    assert first[0] == first[1]
    late.compare(analyse("gadget"), ["A reader.", "A call."])
    assert sorted(embedding.seen) == ["A call.", "A reader.", "gadget", "phone"]


def test_kept_vectors_are_bounded_by_their_pieces(monkeypatch):
    monkeypatch.setattr(module, "_KEPT_PIECES", 12)
    embedding = Pieces()
    late = LateInteraction(embedding)
    late.compare(analyse("phone"), ["A call.", "A reader."])
    late.compare(analyse("phone"), ["One long sentence of a good many words."])
    late.compare(analyse("phone"), ["A call."])
    assert embedding.seen.count("A call.") == 2
    assert embedding.seen.count("phone") == 1
    assert late.compare(analyse("phone"), ["gadget " * 50])[0].late == pytest.approx(0.0)


@given(st.text(max_size=40), st.text(max_size=40))
def test_shares_stay_between_zero_and_one(question, sentence):
    (found,) = compare(question, sentence)
    for value in (found.late, found.cover, found.gap, *found.found):
        assert -1e-6 <= value <= 1 + 1e-6


def test_a_linear_model_names_its_features():
    model = Linear({"late": 2.0, "gap": -1.0}, intercept=0.5)
    features = Features(0, 0, 0, 0, 0, 0, 0, late=1.0, gap=0.5)
    assert model(features) == pytest.approx(2.0)
    with pytest.raises(KeyError):
        Linear({"nonsense": 1.0})(features)


def draft(request, **options):
    return ExtractiveGenerator(embedding=Pieces(), **options).draft(request)


def texts(found):
    return [claim.text for claim in found.claims]


def test_one_statement_answers(ask):
    text = (
        "Give us a call on Monday about it.\n\nGive us a call on Friday about it.\n\n"
        "The owner may ask a fee of its own. Cake is served at noon."
    )
    assert len(draft(ask("When can I phone about it?", text), threshold=-9).claims) == 1
    found = draft(ask("What fee may the owner ask?", text), threshold=-9)
    assert texts(found) == ["The owner may ask a fee of its own."]


def test_two_documents_that_say_otherwise_are_both_said_and_two_that_agree_once(ask, chunk):
    said = "The reader costs a fee of {} euros a year."
    question = "What fee does the reader cost?"

    def ask_both(left, right):
        chunks = (chunk(said.format(left), 1, doc_id="a"), chunk(said.format(right), 2, doc_id="b"))
        return draft(ask(question, *chunks), threshold=-9).claims

    assert [claim.text for claim in ask_both(10, 12)] == [said.format(10), said.format(12)]
    (claim,) = ask_both(10, 10)
    assert len(claim.citations) == 2


@pytest.mark.parametrize(
    ("plain", "pressed"),
    [
        ("Is the reader free?", "Do you think the reader is free, should I take it?"),
        ("What does the reader cost?", "Is it worth it, what does the reader cost?"),
    ],
)
def test_advice_is_declined(ask, plain, pressed):
    text = "The reader costs ten euros, the price is free of tax."
    generator = ExtractiveGenerator(embedding=Pieces())
    sure, unsure = (
        max(part.confidence for part in generator.assess(ask(question, text)))
        for question in (plain, pressed)
    )
    assert unsure < sure - 1.5


def test_typing_errors_are_read_as_words_of_the_passages(ask):
    text = "The student account costs nothing.\n\nCake is served at noon."
    request = ask("studnet acount?", text)
    (found,) = draft(request, threshold=-9).claims[:1]
    assert found.text == "The student account costs nothing."
    # What stays open is quoted as it was typed.
    open_part = draft(ask("What does the student account cost and who foundde it?", text))
    assert open_part.unanswered in ((), ("who foundde it?",))


def test_german_nouns_are_no_names():
    assert not [
        t for t in analyse("Was kostet das Konto für Grenzgänger im Monat?").terms if t.name
    ]
    assert [t for t in analyse("What does the account of Northmere cost?").terms if t.name]


def test_what_is_counted_must_be_there():
    counted = [t.word.text for t in analyse("How many keys are there?").terms if t.degree]
    assert counted == ["keys"]
    assert not [t for t in analyse("How many days does it take?").terms if t.degree]


def test_titles_are_no_answers(ask):
    text = (
        "THE LANTERN CONCERTS, SEASON 2026/27\n\n- Home, Savings, Help\n\nConcerts start at nine."
    )
    found = draft(ask("When do the Lantern Concerts start?", text), threshold=float("-inf"))
    assert texts(found) == ["Concerts start at nine."]
