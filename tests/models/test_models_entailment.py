"""Entailment by the tiny ONNX model: label order, windows, maximum, batching, fail closed."""

import itertools

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_model import write_model

from grounded_rag import ClaimStatus, Tier, averify
from grounded_rag.errors import ConfigError, InputError
from grounded_rag.models.entailment import OnnxEntailment, read_columns, to_scores, windows
from grounded_rag.protocols import EntailmentModel, TextPair

SAME = TextPair(premise="The dam was built in 1962.", hypothesis="The dam was built.")
DENIED = TextPair(premise="The dam is not open to visitors.", hypothesis="The dam is open.")
OTHER = TextPair(premise="The river is cold.", hypothesis="The dam is open.")


@pytest.mark.parametrize(
    "labels", list(itertools.permutations(("ENTAILMENT", "neutral", "Contradiction")))
)
def test_the_order_of_labels_is_read_from_the_config(tmp_path, labels):
    model = OnnxEntailment(write_model(tmp_path / "m", labels=labels))
    same, denied, other = model.score([SAME, DENIED, OTHER])
    assert same.entailment > 0.9
    assert denied.contradiction > 0.9
    assert other.neutral > 0.9
    assert isinstance(model, EntailmentModel)


@pytest.mark.parametrize(
    "labels",
    [
        ("not_entailment", "entailment"),
        ("entailment", "not_entailment"),
        ("LABEL_0", "LABEL_1"),
        ("unsupported", "supported"),
        ("supported", "unsupported"),
        ("hallucinated", "consistent"),
        ("score",),
        ("LABEL_0",),
    ],
)
def test_models_with_fewer_labels(tmp_path, labels):
    single = write_model(tmp_path / "m", labels=labels)
    if labels == ("LABEL_0",):
        single = write_model(
            tmp_path / "n", labels=("score",), config={"id2label": {"0": "LABEL_0"}}
        )
    same, denied, other = OnnxEntailment(single).score([SAME, DENIED, OTHER])
    assert same.entailment > 0.9
    assert max(denied.entailment, other.entailment) < 0.1
    assert {score.contradiction for score in (same, denied, other)} == {0.0}


def test_two_labels_of_which_one_contradicts(tmp_path):
    model = OnnxEntailment(write_model(tmp_path / "m", labels=("contradiction", "entailment")))
    same, denied = model.score([SAME, DENIED])
    assert (same.entailment > 0.9, denied.contradiction > 0.9) == (True, True)


@pytest.mark.parametrize(
    "labels",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("positive", "negative"),
        (),
        ("entailment",) * 2,
        ("a",) * 4,
    ],
)
def test_an_order_that_is_not_told_is_never_guessed(labels):
    with pytest.raises(ConfigError, match="labels="):
        read_columns(labels)


def test_labels_of_ones_own_stand_in_for_nameless_ones(tmp_path):
    order = ("contradiction", "neutral", "entailment")
    nameless = {"id2label": {str(n): f"LABEL_{n}" for n in range(3)}}
    folder = write_model(tmp_path / "m", labels=order, config=nameless)
    with pytest.raises(ConfigError):
        OnnxEntailment(folder)
    named = OnnxEntailment(folder, labels=order)
    assert named.score([SAME])[0].entailment > 0.9
    turned = OnnxEntailment(folder, labels=order[::-1])
    assert turned.score([SAME])[0].entailment < 0.1
    assert named.name != turned.name, "a fingerprint has to tell them apart"


FILLER = "The old bridge is north. " * 12


@pytest.mark.parametrize(
    "premise",
    [
        f"The dam was built in 1962. {FILLER}",
        f"{FILLER} The dam was built in 1962.",
        f"{FILLER} The dam was built in 1962. {FILLER}",
        # Two neighbours together, wherever the windows fall.
        *(
            f"{FILLER}{'Lake. ' * n}The dam is deep. It was built in 1962. {FILLER}"
            for n in range(9)
        ),
        "the cold lake and the deep river " * 9 + "the dam was built in 1962 " + "by train " * 30,
    ],
)
def test_long_evidence_is_read_in_windows_and_the_maximum_counts(tiny, premise):
    model = OnnxEntailment(tiny)
    pair = TextPair(premise=premise, hypothesis="The dam was built in 1962.")
    (found,) = model.score([pair])
    assert found.entailment > 0.9
    (denied,) = model.score(
        [TextPair(premise=premise, hypothesis="The dam was not built in 1962.")]
    )
    assert denied.contradiction > 0.9


def test_long_and_short_pairs_keep_their_order(tiny):
    long = TextPair(premise=FILLER + SAME.premise, hypothesis=SAME.hypothesis)
    scores = OnnxEntailment(tiny, batch_size=2).score([OTHER, long, DENIED, long, SAME, OTHER])
    assert [score.entailment > 0.9 for score in scores] == [False, True, False, True, True, False]
    assert OnnxEntailment(tiny).score([]) == []


def test_a_claim_is_never_judged_by_its_beginning(tiny):
    claim = "The dam was built in 1962 " + "and the lake is cold " * 8
    with pytest.raises(InputError, match="too long"):
        OnnxEntailment(tiny).score([TextPair(premise="The dam was built.", hypothesis=claim)])


def test_numbers_that_are_not_finite_are_no_scores():
    rows = np.array([[1.0, float("nan"), 0.0]], dtype=np.float32)
    with pytest.raises(FloatingPointError):
        to_scores(rows, read_columns(("entailment", "neutral", "contradiction")))


def test_more_columns_than_labels_are_refused():
    with pytest.raises(ConfigError, match="columns"):
        to_scores(np.zeros((1, 3), np.float32), read_columns(("no_label",)))


def words(texts):
    return [len(text.split()) for text in texts]


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(3, 40))
def test_windows_fit_and_cover_every_word_in_order(sizes, room):
    numbers = iter(range(1000))
    text = " ".join(" ".join(f"W{next(numbers)}" for _ in range(size)) + "." for size in sizes)
    parts = windows(text, room=room, count=words)
    assert all(size <= room for size in words(parts))
    assert all(part in text for part in parts)
    seen = []
    for part in parts:
        seen += [word for word in part.split() if word not in seen]
    assert seen == text.split()


TEXT = "Admission is priced at twelve euros. The museum is not open on Monday."


def claim(text, quote):
    return {"text": text, "chunk_id": "c1", "quote": quote}


def test_the_real_model_confirms_and_rejects_in_the_stage(tiny):
    ticket = "Admission is priced at twelve euros."
    draft = [
        claim("Priced at twelve euros: admission.", ticket),
        claim("The museum charge is twelve euros.", ticket),
    ]

    async def run(model):
        return await averify(draft, [{"id": "c1", "text": TEXT}], entailment=model, checks=())

    found = anyio.run(run, OnnxEntailment(tiny))
    assert found.claims[0].tier is Tier.CONFIRMED
    assert found.claims[1].status is ClaimStatus.UNSUPPORTED
    assert found.claims[0].signals[0].decided_by.startswith("tiny-nli@")


def test_one_claim_that_is_too_long_costs_the_others_nothing(tiny):
    ticket = "Admission is priced at twelve euros."
    draft = [
        claim("Priced at twelve euros: admission.", ticket),
        claim("Admission is twelve euros " + "and the lake is cold " * 8, ticket),
    ]

    async def run():
        model = OnnxEntailment(tiny)
        return await averify(draft, [{"id": "c1", "text": TEXT}], entailment=model, checks=())

    first, second = anyio.run(run).claims
    assert first.tier is Tier.CONFIRMED
    assert second.status is ClaimStatus.UNCHECKED
    assert "too long" in second.why
