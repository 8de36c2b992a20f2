"""Recorded drafts of a large model through the whole pipeline, without and with a judge."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from grounded_rag import RefusalReason

ROOT = Path(__file__).parents[2]
LEAST_ANSWERED = 0.97


def _benchmark():
    path = ROOT / "benchmarks" / "recorded_drafts.py"
    spec = importlib.util.spec_from_file_location("recorded_drafts", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["recorded_drafts"] = module
    spec.loader.exec_module(module)
    return module


recorded = _benchmark()
RECORDINGS, LEFT_OUT = recorded.load()


@pytest.fixture(scope="module", params=[False, True], ids=["no judge", "judge"])
def outcomes(request):
    return [recorded.ask(recording, judged=request.param) for recording in RECORDINGS]


def test_no_false_claim_ships_in_its_own_words(outcomes):
    shipped = [(each.recording.row["id"], each.false_own) for each in outcomes if each.false_own]
    assert shipped == []


def test_drafts_that_are_true_and_answer_are_answered(outcomes):
    honest = [each for each in outcomes if each.recording.honest]
    refused = [each.recording.row["id"] for each in honest if not each.answer.answered]
    answered = len(honest) - len(refused)
    assert answered >= LEAST_ANSWERED * len(honest), (
        f"{answered} of {len(honest)} answered; refused: {', '.join(refused)}"
    )


def test_drafts_without_claims_are_refusals_of_the_generator(outcomes):
    declined = [each for each in outcomes if each.fate == "declined"]
    assert len(declined) == 19
    assert {each.answer.refusal.reason for each in declined} == {RefusalReason.GENERATOR_DECLINED}


def words(text):
    """The words of a text, also those that a hyphen at a line end or a soft one cuts."""
    joined = re.sub(r"-\s*\n\s*|\u00ad", "", text)
    return set(re.findall(r"\w+", f"{text} {joined}".casefold()))


def test_no_word_of_the_model_is_in_a_restatement(outcomes):
    for each in outcomes:
        source = {chunk.chunk.id: words(chunk.chunk.text) for chunk in each.recording.chunks}
        written = {claim.text for claim in each.recording.draft.claims}
        for verdict in each.answer.claims:
            cited = {located.chunk_id for located in verdict.located}
            said = set().union(*(source[chunk_id] for chunk_id in cited))
            if verdict.restated:
                assert words(verdict.text) <= said, each.recording.row["id"]
            else:
                assert verdict.text in written, each.recording.row["id"]


def test_every_recording_is_labelled_and_cites_passages_that_were_shown():
    assert {recording.row["set"] for recording in RECORDINGS} == {"demo", "own"}
    assert len(RECORDINGS) == 90
    for row, chunks in RECORDINGS:
        shown = {chunk.chunk.id for chunk in chunks}
        draft = recorded.Recording(row, chunks).draft
        assert len(row["true_of_source"]) == len(draft.claims), row["id"]
        for claim in draft.claims:
            assert {citation.chunk_id for citation in claim.citations} <= shown, row["id"]


def test_drafts_on_other_documents_are_left_out_and_told():
    assert len(LEFT_OUT) == 40
    assert all("--data" in why for why in LEFT_OUT.values())
