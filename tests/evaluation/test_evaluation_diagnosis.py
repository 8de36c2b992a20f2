"""The diagnosis on failures made by hand, one of each kind, and on answers that are right."""

import datetime as dt

import pytest
from evaluation_records import (
    FEE,
    LOOSE,
    NOISE,
    QUESTION,
    RIGHT,
    TEXTS,
    WRONG,
    answered,
    item,
    refused,
    see,
)

from grounded_rag import GroundedRAG, Policy
from grounded_rag.evaluation.diagnosis import Area, FailureKind, cause_of, diagnose
from grounded_rag.evaluation.records import EvalRecord, RecordError
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.types import Reason, Validity

BESIDE = (NOISE, "hours.md", NOISE)
MANY = {f"x{number}.md": f"Sentence number {number} is about gardens." for number in range(6)}
OLD = "The account costs 5 euros a month."
RIVAL = "The account costs 3 euros a month."


@pytest.fixture(autouse=True)
def documents(monkeypatch):
    for name, text in {**MANY, "old.md": OLD, "rival.md": RIVAL}.items():
        monkeypatch.setitem(TEXTS, name, text)


def kind(record):
    found = diagnose(see(record))
    assert found.why
    return found.kind


def test_a_right_answer_has_nothing_wrong_with_it():
    assert kind(answered(RIGHT)) is FailureKind.NONE


def test_a_right_refusal_has_nothing_wrong_with_it():
    assert kind(refused(of=item("no"))) is FailureKind.NONE


def test_gold_that_was_not_retrieved():
    assert kind(refused(retrieved=("hours.md",))) is FailureKind.RETRIEVAL_MISS
    assert kind(answered(BESIDE, retrieved=("hours.md",))) is FailureKind.RETRIEVAL_MISS


def test_gold_behind_four_others():
    order = ("x0.md", "x1.md", "x2.md", "x3.md", "fees.md")
    assert kind(refused(retrieved=order)) is FailureKind.BURIED
    claim = (MANY["x0.md"], "x0.md", MANY["x0.md"])
    assert kind(answered(claim, retrieved=order)) is FailureKind.BURIED


def test_gold_at_hand_and_refused():
    assert kind(refused()) is FailureKind.WRONG_REFUSAL


def test_a_claim_that_its_quote_does_not_carry():
    found = diagnose(see(answered(("The account costs 9 euros a month.", "fees.md", FEE))))
    assert found.kind is FailureKind.UNFAITHFUL
    assert "9" in found.why
    assert found.area is Area.PROMPT


def test_a_source_out_of_force():
    expired = {"old.md": Validity(valid_until=dt.date(2026, 1, 1))}
    record = answered((OLD, "old.md", OLD), retrieved=("old.md", "fees.md"), validity=expired)
    found = diagnose(see(record))
    assert (found.kind, found.area) == (FailureKind.STALE, Area.DATA)
    assert "old.md" in found.why


def test_two_sources_in_force_that_disagree():
    of = item(
        expected="the documents differ: 2 euros and 3 euros a month",
        gold=[
            {
                "any_of": [
                    {"file": "fees.md", "quote": FEE},
                    {"file": "rival.md", "quote": RIVAL},
                ]
            }
        ],
    )
    assert kind(answered(RIGHT, of=of, retrieved=("fees.md", "rival.md"))) is FailureKind.CONFLICT


def test_faithful_and_beside_the_question():
    assert kind(answered(BESIDE)) is FailureKind.IRRELEVANT


def test_an_answer_where_there_is_none():
    found = diagnose(see(answered(RIGHT, of=item("no"))))
    assert found.kind is FailureKind.MISSED_REFUSAL


def test_an_answer_to_the_open_part():
    of = item("part")
    assert kind(answered(RIGHT, BESIDE, of=of)) is FailureKind.MISSED_REFUSAL
    assert kind(answered(RIGHT, of=of)) is FailureKind.NONE


def test_a_source_that_says_otherwise_than_expected():
    of = item(expected="4 euros a month")
    found = diagnose(see(answered(RIGHT, of=of)))
    assert (found.kind, found.area) == (FailureKind.SOURCE_DISAGREES, Area.GOLDEN)


def test_a_needed_piece_that_is_not_cited():
    of = item(
        expected="2 euros a month; 8 euros",
        gold=[
            {"any_of": [{"file": "fees.md", "quote": FEE}]},
            {"any_of": [{"file": "cards.md", "quote": TEXTS["cards.md"]}]},
        ],
    )
    assert kind(answered(RIGHT, of=of, retrieved=("fees.md",))) is FailureKind.RETRIEVAL_MISS
    assert kind(answered(RIGHT, of=of)) is FailureKind.IRRELEVANT


def test_without_gold_the_expected_values_are_looked_for():
    of = item(gold=[])
    assert kind(refused(of=of)) is FailureKind.WRONG_REFUSAL
    assert kind(refused(of=of, retrieved=("hours.md",))) is FailureKind.RETRIEVAL_MISS
    assert kind(answered(RIGHT, of=of)) is FailureKind.NONE


def test_an_error_is_named_as_such():
    record = EvalRecord(item=item(), error=RecordError(kind="Boom", message="no answer"))
    found = diagnose(see(record))
    assert found.kind is FailureKind.ERROR
    assert "no answer" in found.why


def test_unlabelled_questions_are_judged_by_what_the_verifier_finds():
    of = item(None, expected="", gold=[])
    assert kind(answered(RIGHT, of=of)) is FailureKind.NONE
    assert kind(answered(WRONG, of=of)) is FailureKind.UNFAITHFUL


def drafted(*script, **policy):
    """The record of an answer of our own pipeline over the fee."""
    with GroundedRAG(
        StaticRetriever({"fees.md": FEE}),
        generator=ScriptedGenerator(*script),
        policy=Policy(max_attempts=1, **policy),
    ) as rag:
        return EvalRecord(item=item(), answer=rag.query(QUESTION))


@pytest.mark.parametrize(
    ("text", "quote", "reason", "area"),
    [
        (LOOSE[0], FEE, Reason.UNPROVEN, Area.VERIFICATION),
        ("The account costs 9 euros a month.", FEE, Reason.NUMBER_MISMATCH, Area.PROMPT),
        (FEE, "Parrots live in the hills of Brazil.", Reason.QUOTE_NOT_FOUND, Area.PROMPT),
    ],
)
def test_a_wrong_refusal_names_why_its_draft_was_withheld(text, quote, reason, area):
    record = drafted(make_draft((text, "fees.md", quote)), unproven="refuse")
    found = diagnose(see(record))
    assert (found.kind, found.reason, found.area) == (FailureKind.WRONG_REFUSAL, reason, area)
    assert reason in found.why


def test_what_could_have_been_restated_is_not_what_failed():
    good, bad = (LOOSE[0], "fees.md", FEE), (FEE, "fees.md", "Parrots live in the hills of Brazil.")
    found = diagnose(see(drafted(make_draft(good, good, bad))))
    assert found.reason is Reason.QUOTE_NOT_FOUND


@pytest.mark.parametrize(
    "reason",
    [
        Reason.UNPROVEN, Reason.TOO_LONG, Reason.BESIDE_QUESTION, Reason.NOT_ASSERTED,
        Reason.CUT_CONTEXT, Reason.IDENTIFIER_MISMATCH, Reason.WRONG_CELL,
        Reason.INJECTED_INSTRUCTION, Reason.COULD_NOT_CHECK,
    ],
)  # fmt: skip
def test_every_reason_to_withhold_has_a_cause_of_its_own(reason):
    assert cause_of(reason) != cause_of(Reason.QUOTE_NOT_FOUND)
    assert cause_of(reason).fix


def test_a_restated_answer_is_right_and_an_open_one_is_named():
    restated = drafted(make_draft((LOOSE[0], "fees.md", FEE)))
    assert kind(restated) is FailureKind.NONE
    found = diagnose(see(answered(LOOSE, of=item(expected=""))))
    assert found.kind is FailureKind.NONE
    assert LOOSE[0] in found.why


def test_an_open_claim_to_an_unanswerable_question_is_told_from_a_quoted_one():
    found = diagnose(see(answered(LOOSE, of=item("no"))))
    assert found.kind is FailureKind.MISSED_REFUSAL
    assert "nothing has shown" in found.why
