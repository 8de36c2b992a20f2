"""The built-in generator: what it picks, what it adds, and when it declines."""

from __future__ import annotations

import datetime as dt

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.generate import ExtractiveGenerator
from grounded_rag.protocols import FailedClaim, Generator, Reask
from grounded_rag.types import Claim, Draft, Reason, Span, Validity
from grounded_rag.verification import verify

SAVINGS = (
    "# Savings\n\nThe Everyday Saver pays 2.15% gross a year. It is paid every month.\n\n"
    "The Notice Saver pays 2.55% gross a year. You can open it in any branch.\n"
)
LIMITS = (
    "## Card limits\n\n| Limit | Quill Account | Quill Plus Account | Student Account |\n"
    "|---|---|---|---|\n| Cash machine, each day | €600 | €1,000 | €400 |\n"
    "| Card payments, each day | €3,000 | €6,000 | €1,500 |\n"
)
OPENING = (
    "## Opening\n\nTo open the account you need:\n\n- a passport or an identity card\n"
    "- a recent bill that shows your address\n\nThe account is free for students.\n"
)


def draft(request, **options) -> Draft:
    return ExtractiveGenerator(**options).draft(request)


def texts(given_draft: Draft) -> list[str]:
    return [claim.text for claim in given_draft.claims]


def test_it_is_a_generator_that_answers_with_a_literal_sentence(ask):
    request = ask("What does the Everyday Saver pay?", "Nothing here.", SAVINGS)
    generator = ExtractiveGenerator()
    assert isinstance(generator, Generator)
    generation = anyio.run(generator.generate, request)
    (claim,) = generation.draft.claims
    assert claim.text == claim.quote == "The Everyday Saver pays 2.15% gross a year."
    assert claim.chunk_id == request.chunks[1].chunk.id
    assert generation.usage.calls == 0
    assert generation.model == "extractive"


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "How do I train a parrot?",
        "Which saver does not pay interest?",
        "What does the Christmas Saver pay in Lisbon?",
    ],
)
def test_it_declines_what_no_sentence_answers(ask, question):
    assert draft(ask(question, SAVINGS)) == Draft()


def test_without_passages_it_declines(ask):
    assert draft(ask("What does the Everyday Saver pay?")) == Draft()
    assert draft(ask("What does the Everyday Saver pay?", " \n", "# Heading\n")) == Draft()


def test_another_day_of_the_week_is_no_answer(ask):
    text = "The Tarnwick branch is open on Saturday from 9:30 to 12:30."
    assert texts(draft(ask("When does the Tarnwick branch open on Saturday?", text))) == [text]
    assert draft(ask("When does the Tarnwick branch open on Sunday?", text)) == Draft()


def test_the_opposite_word_counts_against_a_sentence(ask):
    generator = ExtractiveGenerator()
    text = "The maximum deposit of the Everyday Saver is €100,000."
    asked = generator.assess(ask("What is the maximum deposit of the Everyday Saver?", text))
    other = generator.assess(ask("What is the minimum deposit of the Everyday Saver?", text))
    assert asked[0].confidence > other[0].confidence + 1


def test_the_threshold_decides(ask):
    request = ask("What does the Everyday Saver pay?", SAVINGS)
    assert draft(request, threshold=float("inf")) == Draft()
    assert draft(ask("What is the capital?", SAVINGS), threshold=float("-inf")).claims


def test_typing_errors_still_match(ask):
    (text,) = texts(draft(ask("What does the Everyady Saver pay groess a year?", SAVINGS)))
    assert "2.15%" in text


def test_everyday_words_match_the_words_of_documents(ask):
    other = "Complaints are answered by the complaints team."
    text = "The charge for a replacement card is €8."
    request = ask("What does a replacement card cost?", other, text)
    assert texts(draft(request)) == [text]


@pytest.mark.parametrize("asked", ["AER", "annual equivalent rate"])
@pytest.mark.parametrize("said", ["AER", "annual equivalent rate"])
def test_an_abbreviation_that_the_passages_define_matches_its_words(ask, asked, said):
    question = f"What is the {asked} of the junior saver?"
    request = ask(
        question,
        f"The {said} of the junior saver is 4%.",
        "The annual equivalent rate (AER) lets you compare.",
    )
    (found,) = ExtractiveGenerator(threshold=-9).assess(request)
    assert found.claims[0].text == f"The {said} of the junior saver is 4%."
    undefined = ask(question, f"The {said} of the junior saver is 4%.")
    (without,) = ExtractiveGenerator(threshold=-9).assess(undefined)
    if asked != said:
        assert found.confidence > without.confidence


def test_a_sentence_that_points_back_takes_the_one_before_it(ask):
    (claim,) = draft(ask("Is it paid every month?", SAVINGS)).claims
    assert claim.quote == "The Everyday Saver pays 2.15% gross a year. It is paid every month."


def test_a_sentence_that_opens_a_list_takes_its_items(ask):
    request = ask("What do I need to open the account?", OPENING)
    (claim,) = draft(request).claims
    assert claim.text == (
        "To open the account you need: a passport or an identity card; "
        "a recent bill that shows your address"
    )
    assert claim.quote in request.chunks[0].chunk.text
    assert claim.quote.endswith("address")


def test_an_item_takes_the_sentence_that_opens_its_list(ask):
    text = "If you move abroad:\n\n* tell us within 30 days\n* send a certificate\n"
    (claim,) = draft(ask("Within how many days must I tell you?", text), threshold=-9).claims
    assert claim.text == "If you move abroad: tell us within 30 days"
    assert claim.quote == "If you move abroad:\n\n* tell us within 30 days"


def test_a_table_row_is_read_with_the_column_asked_about(ask):
    request = ask("What is the cash machine limit of the Quill Plus Account each day?", LIMITS)
    (claim,) = draft(request).claims
    assert claim.text == "Limit: Cash machine, each day; Quill Plus Account: €1,000"
    assert claim.quote == "| Cash machine, each day | €600 | €1,000 | €400 |"


def test_a_row_without_the_names_of_its_columns_is_not_said(ask):
    rows = "".join(LIMITS.splitlines(keepends=True)[4:])
    assert not draft(ask("What is the cash machine limit each day?", rows), threshold=-9).claims


def reject(claim: Claim) -> Reask:
    return Reask(failed=(FailedClaim(claim=claim, reason=Reason.UNPROVEN, detail="no"),))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does the Everyday Saver pay?", SAVINGS),
        ("What is the cash machine limit of the Quill Plus Account each day?", LIMITS),
    ],
)
def test_a_rejected_or_kept_sentence_is_not_said_again(ask, question, text):
    (first,) = draft(ask(question, text)).claims
    for reask in (reject(first), Reask(kept=(first,))):
        again = draft(ask(question, text, reask=reask), threshold=-9)
        assert first.quote not in [claim.quote for claim in again.claims]


def test_headings_and_questions_are_context_and_never_an_answer(ask, chunk):
    text = "The Everyday Saver rate\nWhat does the Everyday Saver pay?\nIt pays 2% a year.\n"
    shown = chunk(text)
    inner = shown.chunk.model_copy(update={"heading_spans": (Span(start=0, end=23),)})
    request = ask("What does the Everyday Saver pay?", shown.model_copy(update={"chunk": inner}))
    assert texts(draft(request, threshold=-9)) == [
        "What does the Everyday Saver pay? It pays 2% a year."
    ]


def test_a_heading_above_a_sentence_counts(ask):
    generator = ExtractiveGenerator()
    under = "## Notice Saver\n\nThe smallest balance is €500.\n"
    alone = "The smallest balance is €500.\n"
    question = "What is the smallest balance of the Notice Saver?"
    assert (
        generator.assess(ask(question, under))[0].confidence
        > generator.assess(ask(question, alone))[0].confidence
    )


def test_the_open_part_of_a_question_is_named(ask):
    question = "What does the Everyday Saver pay, and who founded the bank?"
    answered = draft(ask(question, SAVINGS))
    assert texts(answered) == ["The Everyday Saver pays 2.15% gross a year."]
    assert answered.unanswered == ("who founded the bank?",)


def test_a_part_that_points_back_needs_words_of_its_own(ask):
    question = "What does the Everyday Saver pay, and who invented it?"
    assert draft(ask(question, SAVINGS)).unanswered == ("who invented it?",)


def test_both_parts_are_answered(ask):
    question = "What does the Everyday Saver pay and what does the Notice Saver pay?"
    answered = draft(ask(question, SAVINGS))
    assert ["2.15%" in texts(answered)[0], "2.55%" in texts(answered)[1]] == [True, True]
    assert answered.unanswered == ()


def test_two_names_bring_two_sentences(ask):
    request = ask("What do the Everyday Saver and the Notice Saver pay?", SAVINGS)
    found = " ".join(texts(draft(request)))
    assert "2.15%" in found
    assert "2.55%" in found


OLD = Validity(superseded_by="doc-2", superseded_on=dt.date(2026, 1, 1))
NEW = Validity(effective_from=dt.date(2026, 1, 1))


@pytest.mark.parametrize(
    ("as_of", "rate"), [(dt.date(2026, 6, 1), "2.15%"), (dt.date(2025, 6, 1), "1.85%")]
)
def test_a_current_sentence_beats_a_superseded_one_that_matches_better(ask, chunk, as_of, rate):
    old = chunk("The savings rate of the Everyday Saver is 1.85% a year.", 1, validity=OLD)
    new = chunk("The Everyday Saver pays a savings rate of 2.15%.", 2, validity=NEW)
    request = ask("What is the savings rate of the Everyday Saver?", old, new, as_of=as_of)
    (text,) = texts(draft(request))
    assert rate in text


def test_a_successor_in_other_words_is_found_beside_its_predecessors(ask, chunk):
    oldest = chunk(
        "The savings rate is 1.85% gross a year.",
        1,
        doc_id="sheet-2024",
        validity=Validity(superseded_by="sheet-2025", superseded_on=dt.date(2025, 1, 1)),
    )
    older = chunk(
        "The savings rate of the Everyday Saver is 2.60% gross a year on balances up to €9.",
        2,
        doc_id="sheet-2025",
        validity=Validity(superseded_by="sheet-2026", superseded_on=dt.date(2026, 1, 1)),
    )
    newest = chunk(
        "The Regular Saver pays 3.40% gross a year at first.\n\n"
        "The Everyday Saver pays 2.15% gross a year on balances up to €9.",
        3,
        doc_id="sheet-2026",
        validity=Validity(effective_from=dt.date(2026, 1, 1)),
    )
    chunks = (oldest, older, newest)
    now = ask("What is the savings rate?", *chunks, as_of=dt.date(2026, 6, 1))
    assert texts(draft(now)) == ["The Everyday Saver pays 2.15% gross a year on balances up to €9."]
    then = ask("What is the savings rate?", *chunks[:2], as_of=dt.date(2024, 6, 1))
    assert texts(draft(then)) == ["The savings rate is 1.85% gross a year."]


def test_titles_and_signatures_are_no_answers(ask):
    text = "STOLEN CARDS - WHAT TO DO\nQuillhaven Bank, card services\n\nFreeze the stolen card.\n"
    assert texts(draft(ask("What do I do about stolen cards?", text), threshold=-9)) == [
        "Freeze the stolen card."
    ]


def test_what_only_an_expired_document_says_is_still_found(ask, chunk):
    expired = Validity(valid_until=dt.date(2025, 1, 1))
    old = chunk("The Spring Boost adds 0.50% to the rate.", 1, validity=expired)
    new = chunk("The bank is closed on Sundays.", 2)
    request = ask("What does the Spring Boost add?", old, new, as_of=dt.date(2026, 1, 1))
    assert texts(draft(request)) == ["The Spring Boost adds 0.50% to the rate."]


class Vectors:
    """An embedding whose vectors say which of two topics a text is about."""

    def __init__(self):
        self.batches = []

    def get_query_embedding(self, query):
        return [1.0, 0.0]

    def get_text_embedding_batch(self, texts):
        self.batches.append(list(texts))
        return [[1.0, 0.1] if "tap" in text else [0.0, 1.0] for text in texts]


def test_an_embedding_finds_what_shares_no_word(ask):
    text = "You can tap for small sums. Cheques are not taken."
    request = ask("contactless?", text)
    vectors = Vectors()
    assert texts(draft(request, embedding=vectors)) == ["You can tap for small sums."]
    assert vectors.batches == [["You can tap for small sums.", "Cheques are not taken."]]


def test_sentences_are_embedded_once(ask):
    vectors = Vectors()
    generator = ExtractiveGenerator(embedding=vectors)
    first = generator.draft(ask("Is tap allowed?", "You can tap for small sums."))
    assert generator.draft(ask("Is tap allowed?", "You can tap for small sums.")) == first
    assert len(vectors.batches) == 1


def test_few_sentences_of_many_are_embedded(ask):
    vectors = Vectors()
    text = " ".join(f"Sentence number {number} speaks of things." for number in range(200))
    draft(ask("What of things?", text), embedding=vectors)
    assert len(vectors.batches[0]) <= 20


@pytest.mark.parametrize("question", ["?", "a", "и", "普通預金の金利は？", "\ud800", "x" * 5000])
def test_odd_questions_do_not_break_it(ask, question):
    assert isinstance(draft(ask(question, SAVINGS, LIMITS)), Draft)


PIECES = [
    *("The fee is 5 euros", "fee", "It", ". ", "\n", "\n\n", "- ", "| ", " | ", "|---|", "# ", ":"),
    *("**", "?", "2.5%", "普通預金", "؟", "[a](b)", "1. ", "\r\n", "Fee table"),
]
pieces = st.lists(st.sampled_from(PIECES), max_size=30)


@given(chunks=st.lists(pieces.map("".join), min_size=1, max_size=3), question=pieces.map("".join))
def test_whatever_it_says_is_quoted_literally(ask_any, chunks, question):
    request = ask_any(f"What is the fee {question}", *chunks)
    found = draft(request, threshold=float("-inf"))
    by_id = {one.chunk.id: one.chunk.text for one in request.chunks}
    for claim in found.claims:
        assert claim.text.strip()
        assert claim.citations
        for citation in claim.citations:
            assert citation.quote.strip()
            assert citation.quote in by_id[citation.chunk_id]
    assert all(part in request.question for part in found.unanswered)
    assert found == draft(request, threshold=float("-inf"))


@pytest.mark.parametrize(
    "question",
    [
        "What does the Everyday Saver pay?",
        "Is the interest of the Everyday Saver paid every month?",
        "What do I need to open the account?",
        "Is the account free for students?",
        "What is the cash machine limit of the Quill Plus Account each day?",
        "What are the limits for card payments each day?",
    ],
)
def test_its_answers_are_verbatim(ask, question):
    request = ask(question, SAVINGS, OPENING, LIMITS)
    found = draft(request)
    assert found.claims
    verification = verify(found, request.chunks, question=question)
    assert [verdict.tier for verdict in verification.claims] == ["verbatim"] * len(found.claims)


def test_the_number_of_a_paragraph_is_left_out(ask):
    text = "49.7 You can store 2 gigabytes in the safe.\n\n49.8 The safe is free of charge."
    (claim,) = draft(ask("How much can I store in the safe?", text)).claims
    assert claim.text == claim.quote == "You can store 2 gigabytes in the safe."


def test_a_line_of_a_table_of_contents_is_no_answer(ask):
    statement = "Journal mode keeps a copy of each page before it is changed."
    contents = "1. Overview\n2. Setting Up Journal Mode\n3. Using Journal Mode Safely\n\n"
    found = draft(ask("What is journal mode?", contents + statement), threshold=float("-inf"))
    assert [claim.text for claim in found.claims] == [statement]
