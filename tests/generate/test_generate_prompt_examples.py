"""The worked examples of the prompts say what the verifier does."""

from __future__ import annotations

import json

import pytest

from grounded_rag import verify
from grounded_rag.generate import PromptSet
from grounded_rag.generate.messages import build_messages
from grounded_rag.generate.prompts import read_examples, show_examples
from grounded_rag.generate.reading import read_draft
from grounded_rag.generate.schema import labelled_model, response_model
from grounded_rag.protocols import GenerationRequest
from grounded_rag.resources import prompts_dir

TEXT = (prompts_dir() / "examples.toml").read_text(encoding="utf-8")
EXAMPLES = list(enumerate(read_examples(TEXT), start=1))
NUMBERED = pytest.mark.parametrize(("number", "example"), EXAMPLES)
WORDINGS = pytest.mark.parametrize("own_words", [False, True])


def verdicts(number, example, *, own_words):
    draft = example.draft(number, own_words=own_words)
    result = verify(draft, example.chunks(number), question=example.question, as_of=example.as_of)
    return result.claims


def test_each_wording_has_the_examples_that_it_needs():
    shown = " ".join(example.shows.lower() for _, example in EXAMPLES)
    for kind in ("pronoun", "table", "yes or no", "left open"):
        assert kind in shown
    assert any(example.source.unanswered for _, example in EXAMPLES)


@NUMBERED
def test_an_example_in_the_words_of_the_source_is_verbatim(number, example):
    for verdict in verdicts(number, example, own_words=False):
        assert verdict.status == "supported", verdict.why
        assert verdict.tier == "verbatim", (verdict.claim.text, verdict.why)


@NUMBERED
def test_an_example_in_words_of_its_own_is_located_and_not_rejected(number, example):
    for verdict in verdicts(number, example, own_words=True):
        assert all(check.located for check in verdict.citations), verdict.why
        assert verdict.status in ("supported", "open"), verdict.why


@NUMBERED
@WORDINGS
def test_an_example_leaves_no_whole_question_open(number, example, own_words):
    draft = example.draft(number, own_words=own_words)
    assert all(0 < len(part) < len(example.question) - 1 for part in draft.unanswered)


def messages_of(number, example, mode):
    """The messages for the question of an example, under the labels of the example."""
    request = GenerationRequest(
        question=example.question,
        chunks=example.chunks(number),
        refusal="No.",
        as_of=example.as_of,
    )
    prompts = PromptSet.load(kind=mode)
    built = build_messages(request, prompts, budget=90_000, labelled=mode == "label")
    mark = next(iter(built.labels)).partition("-")[0]
    return built, mark


@NUMBERED
@WORDINGS
@pytest.mark.parametrize("mode", ["copy", "label"])
def test_an_example_has_the_form_that_the_model_meets_and_answers_in(
    number, example, own_words, mode
):
    whole = show_examples(tuple(one for _, one in EXAMPLES), mode, own_words=own_words)
    shown = next(part for part in whole.split("## ") if part.startswith(example.shows))
    built, mark = messages_of(number, example, mode)
    passages = [block.replace(mark, f"EX{number}") for block in built.blocks[:-1]]
    assert "\n".join((*passages, "QUESTION", example.question)) in shown
    given = json.loads(shown.partition("Input of the tool:\n")[2])
    model = labelled_model() if mode == "label" else response_model(tuple(built.labels))
    wanted = json.loads(json.dumps(given).replace(f"EX{number}-", f"{mark}-"))
    parsed = model.model_validate_json(json.dumps(wanted), strict=True)
    assert not parsed.repaired
    draft = read_draft(parsed, built)
    expected = example.draft(number, own_words=own_words)
    assert draft.unanswered == expected.unanswered
    assert [claim.text for claim in draft.claims] == [claim.text for claim in expected.claims]
    for claim, meant in zip(draft.claims, expected.claims, strict=True):
        for one, other in zip(claim.citations, meant.citations, strict=True):
            assert one.chunk_id == other.chunk_id
            assert other.quote in one.quote


@WORDINGS
def test_native_citations_show_what_each_sentence_cites(own_words):
    shown = show_examples(
        tuple(example for _, example in EXAMPLES), "citations", own_words=own_words
    )
    for number, example in EXAMPLES:
        draft = example.draft(number, own_words=own_words)
        for claim in draft.claims:
            cited = "\n".join(f"  cites: {citation.quote}" for citation in claim.citations)
            assert f"{claim.text}\n{cited}" in shown
        assert all(f"\nUNANSWERED: {part}" in shown for part in draft.unanswered)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('quote = "The pottery course', 'quote = "A pottery course', "not in its passage"),
        ('unanswered = ["who teaches it"]', 'unanswered = ["who pays"]', "no part of the question"),
        ("shows =", "show =", "show"),
        ("[[examples]]", "[[examples", "line"),
    ],
)
def test_an_example_that_breaks_its_own_rules_is_named(old, new, named):
    assert old in TEXT
    with pytest.raises(ValueError, match=named):
        read_examples(TEXT.replace(old, new))
