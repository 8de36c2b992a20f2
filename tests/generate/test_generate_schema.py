"""The response model: narrow in its JSON schema, lenient in reading."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from grounded_rag.generate.schema import normalise, response_model

SHAPE = response_model(("AB-1", "AB-2"))
GOOD = {"text": "a", "citations": [{"chunk_id": "AB-1", "quote": "a"}]}
READ = {**GOOD, "arithmetic": ""}


def read(value):
    """Read as instructor does: from JSON text, in strict mode."""
    return SHAPE.model_validate_json(json.dumps(value), strict=True)


def test_the_schema_lists_labels_and_wants_citations():
    schema = SHAPE.model_json_schema()
    assert schema["$defs"]["CitationItem"]["properties"]["chunk_id"]["enum"] == ["AB-1", "AB-2"]
    assert schema["$defs"]["ClaimItem"]["properties"]["citations"]["minItems"] == 1
    assert schema["required"] == ["claims", "unanswered"]
    assert set(schema["properties"]) == {"claims", "unanswered"}


def test_a_regular_answer_is_not_repaired():
    parsed = read({"claims": [GOOD], "unanswered": ["x"]})
    assert parsed.claims[0].citations[0].quote == "a"
    assert not parsed.repaired


def test_declared_arithmetic_is_kept_and_optional():
    computed = {**GOOD, "arithmetic": "(120 - 96) / 96"}
    parsed = read({"claims": [computed, {**GOOD, "arithmetic": ""}], "unanswered": []})
    assert [claim.arithmetic for claim in parsed.claims] == ["(120 - 96) / 96", ""]
    assert not parsed.repaired
    assert "arithmetic" not in SHAPE.model_json_schema()["$defs"]["ClaimItem"]["required"]


@pytest.mark.parametrize(
    "claim",
    [
        {"text": "a", "chunk_id": "AB-1", "quote": "a"},
        {"text": "a", "citations": {"chunk_id": "AB-1", "quote": "a"}},
        {"text": "a", "citations": json.dumps([{"chunk_id": "AB-1", "quote": "a"}])},
        json.dumps(GOOD),
    ],
)
def test_other_forms_of_the_same_claim_are_read(claim):
    parsed = read({"claims": [claim]})
    assert parsed.repaired
    assert parsed.claims[0].model_dump() == READ


@pytest.mark.parametrize("bad", ["just text", 5, None, {}, {"text": ["x"]}, {"citations": 3}, [1]])
def test_a_bad_claim_costs_no_good_one(bad):
    parsed = read({"claims": [GOOD, bad], "unanswered": []})
    assert parsed.claims[0].model_dump() == READ
    assert len(parsed.claims) == 2
    assert parsed.repaired


def test_a_whole_answer_as_a_string_is_decoded_once():
    twice = json.dumps(json.dumps({"claims": []}))
    assert normalise(json.dumps({"claims": [GOOD]}))["claims"] == [GOOD]
    assert normalise(twice) == twice


@pytest.mark.parametrize("value", [{}, [], "x", {"claims": "The rate is 4 %."}, {"answer": "x"}])
def test_without_a_list_of_claims_it_is_no_answer(value):
    with pytest.raises(ValidationError):
        read(value)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda given: {"input": given},
        lambda given: {"GroundedAnswer": given},
        lambda given: {"parameters": json.dumps(given)},
        lambda given: {"name": "GroundedAnswer", "arguments": given},
        lambda given: [{"function": {"name": "x", "arguments": json.dumps(given)}}],
        lambda given: {"input": {"claims": given["claims"]}, "unanswered": given["unanswered"]},
    ],
)
def test_a_wrapper_is_taken_off_without_loss(wrap):
    parsed = read(wrap({"claims": [GOOD], "unanswered": ["x"]}))
    assert [claim.model_dump() for claim in parsed.claims] == [READ]
    assert parsed.unanswered == ["x"]
    assert parsed.repaired


@pytest.mark.parametrize(
    "value",
    [
        {"first": {"claims": [GOOD]}, "second": {"claims": []}},
        {"a": {"b": {"c": {"d": {"e": {"claims": [GOOD]}}}}}},
        {"input": {"answer": "x"}},
    ],
)
def test_what_could_mean_several_answers_or_none_is_not_taken(value):
    with pytest.raises(ValidationError):
        read(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["claims", "text", "citations", "chunk_id", "quote", "unanswered", "z"]
            ),
            inner,
            max_size=4,
        )
    ),
)


@given(claims=st.lists(json_values, max_size=4), unanswered=json_values)
def test_any_list_of_claims_can_be_read(claims, unanswered):
    parsed = read({"claims": [GOOD, *claims], "unanswered": unanswered})
    assert parsed.claims[0].model_dump() == READ
    assert len(parsed.claims) == len(claims) + 1
