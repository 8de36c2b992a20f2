"""Recorded answers of other systems: formats, refusals by structure, attribution, bad lines."""

import json

import pytest
from evaluation_records import CARD, FEE, NOISE, QUESTION

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import InputError
from grounded_rag.evaluation.other_systems import UnreadableLine, evaluate_answers, read_answers
from grounded_rag.evaluation.prose import attribute, prose_parts
from grounded_rag.evaluation.report import Standing
from grounded_rag.evaluation.runs import Run
from grounded_rag.resources import default_refusal
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_chunk, make_draft
from grounded_rag.types import Signal
from grounded_rag.verification import verify
from grounded_rag.verification.checks import role
from grounded_rag.verification.support import default_checks

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
    odd = {**OWN, "id": "q2", "answer": 7}
    path = file("{", "[1]", {"question": "x"}, odd, '{"question": "\\ud800"}', OWN)
    report = report_of(path)
    assert report.errors == 5
    assert sum(one.standing is Standing.RIGHT for one in report.items) == 1
    lines = read_answers(path)
    messages = [line.error.message for line in lines if isinstance(line, UnreadableLine)]
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


def test_a_paraphrase_is_open_and_has_a_score_and_no_verdict(file):
    loose = {**OWN, "answer": "Each month two euros are due for the account."}
    report = report_of(file(loose))
    for name in ("faithful_answers", "faithful_claims", "hallucinated_claims"):
        assert (report.metric(name).trials, report.metric(name).failed) == (0, 0)
    assert report.metric("open_claims").hits == 1
    (scores,) = report.open_support.values()
    assert 0 < report.metric("open_support").value == scores[0] < 1
    assert report.items[0].diagnosis.kind == "none"


def test_existence_alone_shows_nothing(file):
    loose = {**OWN, "answer": "Each month two euros are due for the account."}
    report = report_of(file(loose), policy=Policy(support="spans-only"))
    assert report.metric("open_claims").hits == 1


def test_a_claim_without_any_word_of_the_contexts_is_open_and_not_hallucinated(file):
    report = report_of(file({**OWN, "answer": "Das kostet nichts."}))
    assert report.metric("hallucinated_claims").trials == 0
    assert report.open_support == {"q1": (0.0,)}


def test_a_decider_is_asked_once_about_each_open_claim(file):
    asked = []

    def model(case):
        asked.append(case.claim.text)
        return Signal(check="model", passed=True)

    loose = {**OWN, "answer": f"{FEE} Each month two euros are due for the account."}
    report = report_of(file(loose), checks=[*default_checks(), role(model, "decider")])
    assert asked == ["Each month two euros are due for the account."]
    assert (report.metric("faithful_answers").hits, report.metric("confirmed_claims").hits) == (
        1,
        1,
    )


def test_attribution_joins_two_sentences_where_one_is_not_enough():
    text = "The fee is 2 euros. It is due on Mondays."
    chunks = [make_chunk(text, id="c1")]
    draft, _ = attribute("The fee is 2 euros and is due on Mondays.", chunks)
    assert [citation.quote for citation in draft.claims[0].citations] == [text]
    nothing, _ = attribute("Bananas grow in bunches.", chunks)
    assert nothing.claims[0].citations == ()
    assert attribute("", chunks).draft.claims == ()


def test_a_sentence_that_is_taken_back_is_looked_up_with_the_one_that_does_so():
    text = "Dogs are allowed in the hall. This does not apply on Mondays."
    draft, _ = attribute(text, [make_chunk(f"{text} The hall has two doors.", id="c1")])
    assert [claim.text for claim in draft.claims] == [text]
    half, _ = attribute("Dogs are allowed in the hall.", [make_chunk(text, id="c1")])
    assert verify(half, [make_chunk(text, id="c1")]).claims[0].status == "open"


def test_a_place_of_ours_that_does_not_fit_is_no_fault_of_the_answer():
    """The nearest sentence gives another number; one further away gives the claim's."""
    contexts = [make_chunk("Adults pay 12 euros for a ticket. Schools pay 6 euros.", id="c1")]
    draft, _ = attribute("A ticket costs schools only 6 euros.", contexts)
    assert verify(draft, contexts).claims[0].status == "open"
    wrong, _ = attribute("A ticket costs schools only 7 euros.", contexts)
    assert verify(wrong, contexts).claims[0].status == "unsupported"


@pytest.mark.parametrize(
    "mark",
    [
        "[1]", "[1][2]", "(1)", "[^1]", "[^1^]", "【4:0†source】", "[fees.md]", "[[fees.md]]",
        "[Source 1]", "(Source: fees.md)", "(see [1])", "<sup>1</sup>", "[[1]](https://x.example/a)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", ["{said} {mark}.", "{said}. {mark}", "{said}.{mark}"])
def test_citation_marks_are_no_claims_and_no_numbers(file, mark, shape):
    answer = shape.format(said=FEE.rstrip("."), mark=mark)
    report = report_of(file({**OWN, "answer": answer}))
    faithful = report.metric("faithful_claims")
    assert (faithful.hits, faithful.trials) == (1, 1)
    assert report.metric("open_claims").hits == 0


@pytest.mark.parametrize(
    "answer",
    [
        f"1. {FEE}\n2. {CARD}",
        f"- {FEE}\n- {CARD}",
        f"## Fees\n\n{FEE}\n\n---\n\n**Cards**\n\n{CARD}",
        f"Fees\n====\n{FEE} {CARD}",
        f"Great question! {FEE} {CARD} I hope this helps!",
        f"Here is the answer: {FEE}\n\n{CARD}\n\nSources:\n- fees.md\n- cards.md",
        f"Based on the provided context, {FEE[0].lower()}{FEE[1:]} {CARD}",
        f"According to the documents you provided:\n\n* {FEE}\n* {CARD}",
        f"Sure! {FEE} [1] {CARD} [2]\n\n[1] fees.md\n[2] cards.md",
        f"**Answer:** {FEE} {CARD} Would you like to know more?",
        f"Laut den bereitgestellten Dokumenten: {FEE} {CARD} Ich hoffe, das hilft!",
    ],
)
def test_presentation_is_no_claim_and_is_counted_apart(file, answer):
    report = report_of(file({**OWN, "answer": answer}))
    claims = report.metric("faithful_claims")
    assert (claims.hits, claims.trials) == (2, 2)
    assert report.metric("open_claims").hits == 0
    marked = not answer.startswith(("1.", "- "))
    assert bool(report.metric("parts_apart").hits) is marked


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("According to the ministry, the fee is 2 euros.",) * 2,
        ("If you have any questions, call 555-0100.",) * 2,
        ("Sources: the fee is 2 euros and is due on every Monday.",) * 2,
        ("Sure, the fee is 2 euros.", "the fee is 2 euros."),
        ("The account is free, of course.",) * 2,
        ("Version 4(2) applies.",) * 2,
        ("The fee [1] is 2 euros [2].", "The fee is 2 euros."),
        ("The fee (for adults [1]) is 2 euros.", "The fee (for adults) is 2 euros."),
        ("The provided context states that the fee is 2 euros.", "the fee is 2 euros."),
        ("The fee is 2 euros, according to the documents.", "The fee is 2 euros."),
        ("Response times: two hours.",) * 2,
        ("It is written in the documents of the court.",) * 2,
        ("The context does not state that the fee is 2 euros.",) * 2,
    ],
)
def test_what_only_looks_like_presentation_is_said(answer, said):
    assert [each.text for each in prose_parts(answer).statements] == [said]


def test_a_sentence_of_the_source_is_a_statement_whatever_it_begins_with():
    source = "Please let me know if the door is open."
    assert prose_parts(source).statements == ()
    assert len(prose_parts(source, [f"The porter says: {source}"]).statements) == 1


def test_a_mark_ends_what_it_marks_where_there_is_no_stop():
    parts = prose_parts("Single room: 80 EUR [1] Double room: 120 EUR [2]")
    assert [each.text for each in parts.statements] == [
        "Single room: 80 EUR", "Double room: 120 EUR"
    ]  # fmt: skip


def test_rows_are_read_under_their_header_and_fragments_with_what_leads_into_them():
    table = "| Ticket | Price |\n|---|---|\n| Adult | 12 euros |\n| Child | 6 euros |"
    parts = prose_parts(f"{table}\n\nNot covered are:\n- theft\n- loss\n- Fire is covered.")
    assert [each.text for each in parts.statements] == [
        "Ticket: Adult; Price: 12 euros", "Ticket: Child; Price: 6 euros", "Not covered are: theft",
        "Not covered are: loss", "Fire is covered.",
    ]  # fmt: skip
    assert parts.apart == ("| Ticket | Price |", "|---|---|")


def test_our_own_answers_fed_back_are_faithful(file):
    draft = make_draft((FEE, "a", FEE), ("Two euros a month are due.", "a", FEE), (CARD, "b", CARD))
    with GroundedRAG(
        StaticRetriever({"a": FEE, "b": CARD}), generator=ScriptedGenerator(draft)
    ) as rag:
        answer = rag.query(QUESTION)
    quotes = [place.quote for claim in answer.claims for place in claim.located]
    report = report_of(file({"question": QUESTION, "answer": answer.text, "contexts": quotes}))
    assert report.metric("verbatim_claims").value == 1


def test_an_answer_nobody_has_said_the_fact_of_is_unlabelled(file):
    bare = {"question": QUESTION, "answer": FEE, "contexts": CONTEXTS, "answerable": "yes"}
    found = row(file(bare))
    assert (found.standing, found.diagnosis.kind) == (Standing.UNLABELLED, "none")
    shy = row(file({**bare, "answer": "", "refused": True}))
    assert (shy.standing, shy.diagnosis.kind) == (Standing.FALSE_REFUSAL, "wrong_refusal")


@pytest.mark.parametrize(
    ("contexts", "problem", "step"),
    [
        ([FEE, None], "contexts[1] holds no text", "leave out those that are empty"),
        ("['a', 'b']", "contexts are a list, and a text was found", "export JSON lines"),
    ],
)
def test_a_line_that_cannot_be_read_keeps_its_id_and_says_what_to_do(
    file, tmp_path, contexts, problem, step
):
    golden = tmp_path / "golden.jsonl"
    golden.write_text(json.dumps({"id": "q1", "question": QUESTION}) + "\n", encoding="utf-8")
    path = file({**OWN, "contexts": contexts})
    (line,) = read_answers(path)
    assert line.item.id == "q1"
    assert problem in line.error.message
    assert step in line.error.hint
    report = report_of(path, golden=golden)
    assert (report.errors, report.missing) == (1, 0)


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
