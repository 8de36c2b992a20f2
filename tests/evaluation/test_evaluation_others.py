"""Recorded answers of other systems: formats, refusals by structure, attribution, bad lines."""

import json

import pytest
from evaluation_records import CARD, FEE, NOISE, QUESTION

from grounded_rag import InputError, Policy
from grounded_rag.evaluation.attribution import attribute
from grounded_rag.evaluation.batch import evaluate_answers
from grounded_rag.evaluation.formats import Unreadable, read_answers
from grounded_rag.evaluation.report import Standing
from grounded_rag.evaluation.runs import Run
from grounded_rag.resources import default_refusal
from grounded_rag.testing import make_chunk

CONTEXTS = [FEE, CARD, NOISE]
OWN = {
    "id": "q1",
    "question": QUESTION,
    "answer": FEE,
    "contexts": [{"id": "fees", "text": FEE}, {"id": "cards", "text": CARD}],
    "expected": "2 euros a month",
}


@pytest.fixture
def file(tmp_path):
    def write(*rows, whole=False):
        path = tmp_path / "answers.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text(json.dumps(list(rows)) if whole else "\n".join(lines), encoding="utf-8")
        return path

    return write


def report_of(path, **options):
    return evaluate_answers(path, **options)


def row(path, **options):
    (only,) = report_of(path, **options).items
    return only


def test_our_own_lines_with_citations(file):
    claims = [{"text": FEE, "citations": [{"chunk_id": "fees", "quote": FEE}]}]
    report = report_of(file({**OWN, "claims": claims}))
    assert report.metric("faithful_answers").hits == 1
    assert report.metric("quote_exactness").trials == 1
    assert report.items[0].standing is Standing.RIGHT


def test_an_answer_without_citations_is_looked_up_and_its_citations_are_not_judged(file):
    report = report_of(file({**OWN, "answer": f"{FEE} A new card costs 9 euros."}))
    claims = report.metric("faithful_claims")
    assert (claims.hits, claims.trials) == (1, 2)
    assert report.metric("citation_precision").trials == 0
    assert report.metric("quote_exactness").trials == 0


@pytest.mark.parametrize(
    "given",
    [
        {"user_input": QUESTION, "response": FEE, "retrieved_contexts": CONTEXTS,
         "reference": "2 euros a month"},
        {"question": QUESTION, "answer": FEE, "contexts": CONTEXTS,
         "ground_truth": "2 euros a month"},
    ],
)  # fmt: skip
def test_both_generations_of_ragas_rows(file, given):
    report = report_of(file(given), format="ragas")
    assert report.metric("faithful_answers").hits == 1
    assert report.metric("complete_answers").hits == 1
    assert report.metric("false_refusals").trials == 1


@pytest.mark.parametrize(
    "given",
    [
        {"query": QUESTION, "response": FEE, "contexts": CONTEXTS, "reference": "2 euros"},
        {"query": QUESTION, "response": FEE, "reference_answer": "2 euros", "source_nodes": [
            {"node": {"id_": "n1", "text": FEE}, "score": 0.9}]},
    ],
)  # fmt: skip
def test_llamaindex_results_and_responses(file, given):
    report = report_of(file(given), format="llamaindex")
    assert report.metric("faithful_answers").hits == 1
    assert report.metric("complete_answers").hits == 1


def test_a_json_list_is_read_as_well(file):
    rows = [{"user_input": f"{QUESTION} {n}", "response": FEE, "retrieved_contexts": CONTEXTS}
            for n in range(3)]  # fmt: skip
    assert len(report_of(file(*rows, whole=True), format="ragas").items) == 3


@pytest.mark.parametrize(
    ("answer", "refused", "standing"),
    [
        (default_refusal(), None, Standing.RIGHT_REFUSAL),
        (default_refusal().replace("'", "’"), None, Standing.RIGHT_REFUSAL),
        ("I am sorry, that I cannot say.", True, Standing.RIGHT_REFUSAL),
        ("I can't share that, but it costs 3 euros.", None, Standing.MISSED_REFUSAL),
        (f"{default_refusal()} It costs 3 euros.", None, Standing.MISSED_REFUSAL),
        ("", None, Standing.MISSED_REFUSAL),
    ],
)
def test_refusals_are_told_by_structure_and_never_by_phrases(file, answer, refused, standing):
    given = {"question": "Who owns it?", "answer": answer, "contexts": CONTEXTS, "answerable": "no"}
    if refused is not None:
        given["refused"] = refused
    assert row(file(given)).standing is standing


def test_a_refusal_string_of_ones_own(file):
    given = {"question": "Who?", "answer": "Unknown.", "contexts": CONTEXTS, "answerable": "no"}
    assert row(file(given), refusal="Unknown.").standing is Standing.RIGHT_REFUSAL


def test_an_answer_without_contexts_is_an_error_and_not_a_score(file):
    report = report_of(file({**OWN, "contexts": []}))
    assert report.items[0].standing is Standing.ERROR
    assert report.metric("faithful_answers").failed == 1


def test_bad_lines_are_errors_of_their_own(file):
    path = file("{", "[1]", {"question": "x"}, {**OWN, "answer": 7}, '{"question": "\\ud800"}', OWN)
    report = report_of(path)
    assert report.errors == 5
    assert sum(one.standing is Standing.RIGHT for one in report.items) == 1
    lines = [line.content for line in read_answers(path)]
    messages = [line.error.message for line in lines if isinstance(line, Unreadable)]
    assert any("'answer'" in message for message in messages)
    assert all(message.startswith("line ") for message in messages)


def test_an_id_that_comes_twice_is_an_error(file):
    assert report_of(file(OWN, OWN)).errors == 1


def test_labels_come_from_a_golden_set_by_id_or_by_question(file, tmp_path):
    golden = tmp_path / "golden.jsonl"
    golden.write_text(
        json.dumps({"id": "g9", "question": QUESTION, "answerable": "no"}) + "\n", encoding="utf-8"
    )
    given = {"question": QUESTION, "answer": FEE, "contexts": CONTEXTS}
    found = row(file(given), golden=golden)
    assert (found.id, found.standing) == ("g9", Standing.MISSED_REFUSAL)


def test_the_run_is_kept_and_can_be_read_again(file, tmp_path):
    report = report_of(file(OWN), run=tmp_path / "run", name="other")
    run = Run.open(tmp_path / "run")
    assert (run.meta.items, run.meta.generator) == (1, "other")
    (record,) = run.records()
    assert record.other.text == FEE
    assert report.missing == 0


def test_unreadable_files_are_one_error(tmp_path):
    with pytest.raises(InputError):
        report_of(tmp_path / "none.jsonl")


def test_balanced_support_counts_what_nothing_rejects(file):
    loose = {**OWN, "answer": "Each month two euros are due for the account."}
    assert report_of(file(loose)).metric("faithful_answers").failed == 1
    balanced = report_of(file(loose), policy=Policy(support="balanced"))
    assert balanced.metric("faithful_answers").hits == 1


def test_attribution_joins_two_sentences_where_one_is_not_enough():
    chunks = [make_chunk("The fee is 2 euros. It is due on Mondays.", id="c1")]
    draft = attribute("The fee is 2 euros and is due on Mondays.", chunks)
    assert len(draft.claims[0].citations) >= 1
    nothing = attribute("Bananas grow in bunches.", chunks)
    assert nothing.claims[0].citations == ()
    assert attribute("", chunks).claims == ()


@pytest.mark.parametrize("given", ["one text", [None], [3], {"a": "text"}, 7])
def test_contexts_of_another_shape_are_an_error_of_their_line_alone(file, given):
    """A lone text would have been read letter by letter, and a null have ended the whole run."""
    rows = [
        {"user_input": "What?", "response": "So.", "retrieved_contexts": given},
        {"user_input": QUESTION, "response": FEE, "retrieved_contexts": CONTEXTS},
    ]
    report = report_of(file(*rows), format="ragas")
    assert len(report.items) == 2
    assert report.errors == 1


def test_a_file_without_answers_is_no_run(file, tmp_path):
    with pytest.raises(InputError, match="no answer"):
        report_of(file(), run=tmp_path / "run")
    with pytest.raises(InputError, match="cannot be read"):
        report_of(tmp_path / "absent.jsonl", run=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("form", "row_of"),
    [
        ("jsonl", {"question": QUESTION, "answer": "No idea.", "contexts": CONTEXTS}),
        ("ragas", {"user_input": QUESTION, "response": "No idea.", "retrieved_contexts": CONTEXTS}),
        ("llamaindex", {"query": QUESTION, "response": "No idea.", "contexts": CONTEXTS}),
    ],
)
def test_every_format_may_say_that_an_answer_is_a_refusal(file, form, row_of):
    """Whatever the phrase: it is told by a field, or by the string that the system is known for."""
    labelled = {**row_of, "answerable": "no"}
    assert row(file(labelled), format=form).standing is Standing.MISSED_REFUSAL
    told = file({**labelled, "refused": True})
    assert row(told, format=form).standing is Standing.RIGHT_REFUSAL
    assert row(file(labelled), format=form, refusal="No idea.").standing is Standing.RIGHT_REFUSAL


def test_chunks_of_one_document_may_share_its_id(file):
    """The one that holds the quote must not be hidden by another."""
    contexts = [{"id": "d", "text": text} for text in (NOISE, FEE, CARD)]
    prose = {**OWN, "contexts": contexts}
    assert row(file(prose)).standing is Standing.RIGHT
    claims = [{"text": FEE, "citations": [{"chunk_id": "d", "quote": FEE}]}]
    report = report_of(file({**prose, "claims": claims}))
    assert report.metric("quote_exactness").hits == 1
    assert report.metric("faithful_answers").hits == 1


def test_a_refusal_without_contexts_is_no_miss_of_retrieval(file):
    gold = [{"any_of": [{"file": "fees.md", "quote": FEE}]}]
    shy = {**OWN, "answer": "", "refused": True, "gold": gold}
    for contexts, trials, kind in (([], 0, "wrong_refusal"), ([NOISE], 1, "retrieval_miss")):
        report = report_of(file({**shy, "contexts": contexts}))
        assert report.metric("hit_at_k").trials == trials
        assert report.metric("hit_at_k").failed == 0
        assert report.items[0].diagnosis.kind == kind
