"""What users and models hand over: shapes of drafts and chunks, refusals, foreign objects."""

import json
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from grounded_rag import Chunk, Citation, Claim, Draft, Outcome, Reason, Span, verify
from grounded_rag.errors import DraftError
from grounded_rag.verification.drafts import open_parts, parse_draft

TEXT = "The dam was built in 1962."
CHUNKS = [{"id": "c1", "text": TEXT}]
FLAT = {"text": TEXT, "chunk_id": "c1", "quote": TEXT}
NESTED = {"text": TEXT, "citations": [{"chunk_id": "c1", "quote": TEXT}]}
REFUSAL = "I can't answer this from the provided documents."


class Output(BaseModel):
    answer: str
    claims: list[dict[str, str]]


@pytest.mark.parametrize(
    ("draft", "repaired"),
    [
        ({"claims": [FLAT]}, False),
        ({"claims": [NESTED]}, False),
        ({"answer": TEXT, "claims": [FLAT]}, False),
        ([FLAT], False),
        (json.dumps({"claims": [NESTED]}), False),
        (json.dumps([FLAT]), False),
        ("```json\n" + json.dumps({"claims": [FLAT]}) + "\n```", True),
        ({"claims": json.dumps([FLAT])}, True),
        ({"claims": [json.dumps(FLAT)]}, True),
        ({"claims": [{"text": TEXT, "citations": json.dumps(NESTED["citations"])}]}, True),
        (Output(answer=TEXT, claims=[FLAT]), False),
        (
            Draft(claims=(Claim(text=TEXT, citations=(Citation(chunk_id="c1", quote=TEXT),)),)),
            False,
        ),
        ("\ufeff" + json.dumps({"claims": [FLAT]}), False),
        ({"input": {"claims": [FLAT]}}, True),
        ({"GroundedAnswer": {"claims": [NESTED], "unanswered": []}}, True),
        ({"parameters": json.dumps({"claims": [FLAT]})}, True),
        ({"name": "answer", "arguments": {"claims": [FLAT]}}, True),
        ({"type": "tool_use", "id": "t1", "name": "answer", "input": {"claims": [FLAT]}}, True),
        ({"function": {"name": "answer", "arguments": json.dumps({"claims": [FLAT]})}}, True),
        (json.dumps([{"name": "answer", "parameters": {"claims": [FLAT]}}]), True),
        ([{"claims": [FLAT]}], True),
        ({"claims": [{**FLAT, "quote": [TEXT]}]}, True),
        ({"claims": [{**FLAT, "chunk_id": ["c1"]}]}, True),
        ({"claims": [{**FLAT, "quote": [TEXT, "The dam was built"]}]}, True),
        ({"claims": [FLAT], "unanswered": "none"}, True),
        ({"claims": [FLAT], "unanswered": ["None"]}, True),
        ({"claims": [FLAT], "unanswered": ""}, True),
        ({"claims": [FLAT], "unanswered": ["N/A"]}, True),
        (Draft(claims=(Claim(**NESTED),), unanswered=("none",)), False),
        ({"claims": [{**FLAT, "text": f"{TEXT} [1]"}]}, True),
        (Draft(claims=(Claim(**{**NESTED, "text": f"\u2067{TEXT}"}),)), True),
        ("Here is the answer:\n" + json.dumps({"claims": [FLAT]}), True),
        ("Sure:\n```json\n" + json.dumps({"claims": [FLAT]}) + "\n```", True),
        (json.dumps({"claims": [FLAT]}) + "\n```", True),
        ("Read {this}: " + json.dumps({"input": {"claims": [FLAT]}}), True),
    ],
)
def test_every_shape_of_a_draft_is_read(draft, repaired):
    verification = verify(draft, CHUNKS, checks=())
    assert verification.outcome is Outcome.ACCEPTED
    assert verification.claims[0].located[0].quote == TEXT
    assert verification.claims[0].repaired is repaired


@pytest.mark.parametrize(
    "output",
    [
        '{"claims": [{"text": "The dam was',
        '{"claims": [{"text": "The dam", "chunk_id": "c1", "quote": "The dam"}',
        '[{"text": "x"',
        '{"claims": 5}',
        '{"claims": {"text": "x"}}',
        '{"claims": [5]}',
        '{"claims": "no list at all"}',
        '{"claims": [{"text": 7, "chunk_id": "c1", "quote": "x"}]}',
        '{"claims": [{"text": "x", "citations": [3]}]}',
        '{"claims": [{"text": "x", "citations": {"chunk_id": "c1"}}]}',
        '{"other": 1}',
        '{"input": {"claims": []}, "parameters": {"claims": []}}',
        '{"a": {"b": {"c": {"claims": []}}}}',
        '{"claims": [{"text": "x", "chunk_id": ["c1", "c2"], "quote": "x"}]}',
        '{"claims": []}{"claims": []}',
        "[" * 100_000,
        '{"claims": ' + "[" * 100_000,
        json.dumps({"claims": json.dumps(json.dumps([FLAT]))}),
        '{"claims": [{"text": "x", "chunk_id": "c1", "quote": "6 \\ud83d"}]}',
        '{"answer": "\\udc00", "claims": []}',
        {"claims": [{"text": "x", "chunk_id": "c1", "quote": "\ud83d"}]},
        Draft(claims=(Claim(text="\ud83d"),)),
        "raw \ud83d text",
        {"claims": [], "unanswered": ["\ud83d"]},
        {"claims": {1, 2}},
    ],
)
def test_unusable_output_is_an_outcome_and_no_exception(output):
    verification = verify(output, CHUNKS)
    # A list of lists is no JSON of claims: it is text, and uncited.
    if verification.outcome is not Outcome.INVALID_OUTPUT:
        assert output.startswith("[[")
        assert verification.outcome is Outcome.REJECTED
    assert not verification.claims
    assert verification.problems
    assert verification.model_dump_json()


@pytest.mark.parametrize("draft", [None, 5, b"{}", object(), {1, 2}])
def test_what_can_be_no_draft_is_the_callers_error(draft):
    with pytest.raises(DraftError, match="no draft"):
        verify(draft, CHUNKS)


@pytest.mark.parametrize(
    "chunks",
    [
        "text",
        b"x",
        {"id": "c1", "text": "x"},
        [5],
        [{"text": "x"}],
        [{"id": "", "text": "x"}],
        [{"id": "c"}],
    ],
)
def test_what_can_be_no_chunks_is_the_callers_error(chunks):
    with pytest.raises(DraftError):
        verify({"claims": []}, chunks)


@pytest.mark.parametrize(
    "answer",
    [
        REFUSAL,
        "I can’t answer this from the provided documents.\n",
        f'  "{REFUSAL}"  ',
        f"“{REFUSAL}”",
        f"**{REFUSAL}**",
        f"_{REFUSAL}_",
        REFUSAL.rstrip("."),
        REFUSAL.replace(" ", "\u00a0"),
        REFUSAL.replace(" this", "\nthis"),
    ],
)
@pytest.mark.parametrize("raw", [True, False])
def test_the_refusal_is_known_by_the_whole_string(answer, raw):
    draft = answer if raw else {"answer": answer, "claims": []}
    assert verify(draft, CHUNKS, refusal=REFUSAL).outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    "answer",
    [
        f"{REFUSAL} However, the dam is old.",
        f"Sorry. {REFUSAL}",
        REFUSAL.upper(),
        REFUSAL.replace("can't", "can"),
        "Das geht aus den Unterlagen nicht hervor.",
        f"He said: {REFUSAL}",
    ],
)
def test_anything_more_or_less_is_uncited_prose(answer):
    verification = verify({"answer": answer, "claims": []}, CHUNKS, refusal=REFUSAL)
    assert verification.outcome is Outcome.REJECTED
    assert [problem.reason for problem in verification.problems] == ["uncited"]


@pytest.mark.parametrize("draft", [{"claims": []}, {"claims": None, "answer": " \n"}, Draft(), ""])
def test_no_claims_and_no_prose_is_a_refusal(draft):
    assert verify(draft, CHUNKS).outcome is Outcome.REFUSED


def test_without_a_refusal_string_the_built_in_one_counts():
    text = "I don't have enough information to answer that."
    assert verify(text, CHUNKS).outcome is Outcome.REFUSED


def test_claims_beside_a_refusal_are_located_and_rejected():
    verification = verify({"answer": REFUSAL, "claims": [FLAT]}, CHUNKS, refusal=REFUSAL)
    assert verification.outcome is Outcome.REFUSED
    assert verification.claims[0].reason is Reason.BESIDE_REFUSAL
    assert verification.claims[0].located
    assert not verification.flags


def test_prose_that_no_claim_carries_is_left_out_and_told():
    draft = {"answer": f"{TEXT} It is run by a private trust.", "claims": [FLAT]}
    verification = verify(draft, CHUNKS)
    assert verification.outcome is Outcome.PARTIAL
    assert verification.claims[0].supported
    assert "private trust" in verification.problems[0].detail


def test_open_parts_must_stand_in_the_question():
    draft = {"claims": [FLAT], "unanswered": ["who paid for it", "what colour it is"]}
    verification = verify(draft, CHUNKS, question="When was it built and who paid for it?")
    assert verification.unanswered == ("who paid for it",)
    assert verification.outcome is Outcome.PARTIAL
    assert verification.problems[0].reason == "unanswered_not_in_question"


def test_the_text_that_is_judged_is_the_text_that_is_shown():
    marked = {**FLAT, "text": "The dam was built in \u20671962\u2069 [1]."}
    verification = verify([marked], CHUNKS, checks=())
    assert verification.claims[0].text == TEXT
    assert "\\u2067" not in verification.model_dump_json(ensure_ascii=True)


def test_a_claim_that_turns_round_what_a_reader_sees_is_rejected():
    spoofed = {**FLAT, "text": "The dam was built in \u202e1962\u202c."}
    verdict = verify([spoofed], CHUNKS).claims[0]
    assert verdict.reason is Reason.SPOOFED_TEXT
    assert verdict.restatement == TEXT


def test_a_quote_is_never_cleaned():
    quote = "built in 1962 [1]"
    claim = {"text": "It was built [1].", "chunk_id": "c1", "quote": quote}
    assert parse_draft([claim]).draft.claims[0].quote == quote


def test_several_quotes_under_one_id_are_several_citations():
    draft = parse_draft([{**FLAT, "quote": ["The dam", "in 1962"]}]).draft
    assert draft.claims[0].citations == (
        Citation(chunk_id="c1", quote="The dam"),
        Citation(chunk_id="c1", quote="in 1962"),
    )


def test_words_around_an_object_are_kept_as_prose_unless_they_introduce_it():
    text = f"The dam is old.\n{json.dumps({'claims': [FLAT]})}\nIt leaks."
    draft = parse_draft(text).draft
    assert len(draft.claims) == 1
    assert draft.prose == "The dam is old.\n\nIt leaks."


@pytest.mark.parametrize(
    "text",
    [
        'The form has {"claims": [1, 2]} in it.',
        f"First {json.dumps({'claims': [FLAT]})}, then {json.dumps({'claims': [FLAT]})}.",
        'The word "claims" stands in {braces}.',
        "{" * 100_000 + '"claims"',
    ],
)
def test_a_text_without_exactly_one_answer_in_it_gives_no_claims(text):
    draft = parse_draft(text).draft
    assert draft is None or draft == Draft(prose=text)


QUESTION = "When was it built and who paid for it?"


@pytest.mark.parametrize("part", [QUESTION, QUESTION[:-1], QUESTION.lower(), f" {QUESTION}"])
def test_claims_beside_the_whole_question_leave_nothing_open(part):
    claims = (Claim(**NESTED),)
    assert open_parts(Draft(claims=claims, unanswered=(part,)), QUESTION) == ((), [])


def test_the_whole_question_without_claims_stays_open():
    assert open_parts(Draft(unanswered=(QUESTION,)), QUESTION) == ((QUESTION,), [])


def test_a_part_that_does_not_stand_in_the_question_is_a_problem():
    draft = Draft(claims=(Claim(**NESTED),), unanswered=("who paid for it", "its colour", " "))
    kept, problems = open_parts(draft, QUESTION)
    assert kept == ("who paid for it",)
    assert [problem.path for problem in problems] == ["unanswered[1]"]
    assert open_parts(draft, None)[0] == ()


@pytest.mark.parametrize(
    "node",
    [
        SimpleNamespace(
            node=SimpleNamespace(
                node_id="n1", text=TEXT, metadata={}, ref_doc_id="d", start_char_idx=7
            ),
            score=0.5,
        ),
        SimpleNamespace(node_id="n1", text=TEXT, metadata={"doc_id": "d", "doc_start": 7}),
        Chunk(id="n1", doc_id="d", span=Span(start=7, end=33), text=TEXT, content_hash="0"),
        {"id": "n1", "text": TEXT, "metadata": {"doc_id": "d", "doc_start": 7, "blob": {1, 2}}},
    ],
)
def test_chunks_of_other_stacks_keep_their_place_in_the_document(node):
    located = verify([{**FLAT, "chunk_id": "n1"}], [node], checks=()).claims[0].located[0]
    assert located.doc_id == "d"
    assert located.document_span == Span(start=7, end=33)


@pytest.mark.parametrize(
    ("metadata", "flags"),
    [
        ({}, ["undated"]),
        ({"valid_until": "", "updated_at": ""}, ["undated"]),
        ({"effective_from": "2020-01-01", "valid_until": "soon"}, ["undated"]),
        ({"effective_from": "03/04/2020"}, ["undated"]),
        ({"valid_until": 5}, ["undated"]),
        ({"valid_until": "2026-06-14"}, ["expired"]),
        ({"valid_until": "2026-06-15"}, []),
        ({"effective_from": "2026-06-16"}, ["not_yet_effective"]),
        ({"superseded_by": "d2"}, ["superseded"]),
        (
            {"effective_from": "2020-01-01", "superseded_by": "d2", "valid_until": "x"},
            ["superseded"],
        ),
    ],
)
def test_metadata_gives_staleness_only_at_a_moment(metadata, flags):
    chunks = [{"id": "c1", "text": TEXT, "metadata": metadata}]
    at = verify([FLAT], chunks, as_of="2026-06-15T12:00:00Z")
    assert [flag.kind.value for flag in at.flags] == flags
    assert at.outcome is Outcome.ACCEPTED
    assert verify([FLAT], chunks).flags == ()
