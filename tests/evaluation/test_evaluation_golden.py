"""Golden sets: reading, checking, templates that invent nothing."""

import json

import pytest

from grounded_rag.errors import InputError
from grounded_rag.evaluation.datasets import (
    Answerable,
    GoldenItem,
    check_golden,
    golden_hash,
    golden_stats,
    load_golden,
    new_golden,
)
from grounded_rag.evaluation.gold import completeness
from grounded_rag.types import Document, Span

TEXT = "# Fees\n\nThe monthly fee of the basic account is two euros. Short one.\n"


def document(text=TEXT, name="fees.md"):
    return Document(
        id=name,
        source=name,
        title="",
        text=text,
        content_hash="x",
        headings=(Span(start=0, end=6),),
    )


@pytest.fixture
def golden(tmp_path):
    def write(*rows):
        path = tmp_path / "golden.jsonl"
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def rules(path, **options):
    return {finding.rule for finding in check_golden(path, **options).findings}


YES = {"id": "a", "question": "What is the fee?", "expected": "two euros"}
NO = {"id": "b", "question": "Who set it?", "answerable": "no"}


def test_a_minimal_set_needs_a_question_alone(golden):
    plain, yes = load_golden(golden({"question": "Why?"}, {"question": "x", "expected": "y"}))
    assert plain.answerable is None
    assert plain.id.startswith("q")
    assert yes.answerable is Answerable.YES


def test_the_id_of_an_item_without_one_hangs_on_question_and_day():
    one = GoldenItem.model_validate({"question": "x"})
    other = GoldenItem.model_validate({"question": "x", "as_of": "2026-01-01"})
    assert one.id != other.id
    assert one.id == GoldenItem.model_validate({"question": "x"}).id


def test_dates_are_read_as_everywhere_else():
    item = GoldenItem.model_validate({"question": "x", "as_of": "30 June 2026"})
    assert item.as_of.isoformat() == "2026-06-30"


@pytest.mark.parametrize("line", ["{", "[]", '{"question": 3}', '{"question": "x", "colour": 1}'])
def test_a_broken_line_is_named(golden, line):
    with pytest.raises(InputError, match="line 2"):
        load_golden(golden(YES, line))
    assert "schema" in rules(golden(YES, line))


def test_an_id_twice_cannot_be_loaded(golden):
    with pytest.raises(InputError, match="twice"):
        load_golden(golden(YES, YES))


def test_line_separators_inside_a_quote_end_no_line(golden):
    row = {**YES, "question": "a\u2028b"}
    assert load_golden(golden(json.dumps(row, ensure_ascii=False)))[0].question == "a\u2028b"


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        ([YES, {**NO, "expected": "x"}], "labels"),
        ([YES, {"id": "c", "question": "x", "answerable": "yes"}], "labels"),
        ([{**YES, "answerable": "part"}], "labels"),
        ([{**YES, "answerable": "part", "unanswered": "elsewhere"}], "labels"),
        ([YES, {**YES, "id": "c", "question": "what is the FEE"}], "duplicate"),
        ([YES, YES], "duplicate"),
        ([{**YES, "split": "dev"}, {**YES, "id": "c", "split": "test"}], "leakage"),
        ([{"question": "", "answerable": "no"}], "unfilled"),
        ([{"question": "x"}], "unfilled"),
        ([YES], "size"),
        ([YES], "balance"),
    ],
)
def test_what_can_be_wrong_with_a_set(golden, rows, rule):
    assert rule in rules(golden(*rows))


def test_a_sound_set_has_no_error(golden):
    result = check_golden(golden(YES, NO))
    assert result.usable
    assert {finding.rule for finding in result.findings} == {"size"}


def test_quotes_are_compared_verbatim(golden):
    gold = [{"any_of": [{"file": "fees.md", "quote": "fee of the basic account"}]}]
    texts = {"fees.md": TEXT}
    assert "quote" not in rules(golden({**YES, "gold": gold}), documents=texts)
    for option in (
        {"file": "fees.md", "quote": "fee of the  basic account"},
        {"file": "other.md", "quote": "fee"},
        {"file": "fees.md", "quote": " "},
    ):
        row = {**YES, "gold": [{"any_of": [option]}]}
        result = check_golden(golden(row), documents=texts)
        assert "quote" in {finding.rule for finding in result.findings}
        assert not result.usable


def test_stats_say_how_many_are_missing_and_how_coarse_the_ruler_is():
    stats = golden_stats([GoldenItem.model_validate({**YES, "id": str(n)}) for n in range(40)])
    assert (stats.items, stats.missing, stats.answerable) == (40, 60, {"yes": 40})
    assert 0.15 < stats.widest < 0.18


def test_the_hash_follows_the_content():
    one = GoldenItem.model_validate(YES)
    assert golden_hash([one]) == golden_hash([one])
    assert golden_hash([one]) != golden_hash([one.model_copy(update={"expected": "z"})])


def test_templates_name_passages_and_leave_every_judgement_blank(tmp_path):
    path = tmp_path / "new.jsonl"
    made = new_golden(path, [document()], size=6)
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert (made.answerable, made.unanswerable, len(rows)) == (1, 2, 3)
    for row in rows:
        assert not any(row[field] for field in ("question", "expected", "answerable", "split"))
    (quote,) = [row["gold"][0]["any_of"][0]["quote"] for row in rows if row["gold"]]
    assert quote == "The monthly fee of the basic account is two euros."
    result = check_golden(path, documents={"fees.md": TEXT})
    assert not result.usable
    assert "quote" not in {finding.rule for finding in result.findings}


def test_templates_are_drawn_from_all_documents_in_turn(tmp_path):
    long = " ".join(f"Sentence number {n} has words enough to be asked about." for n in range(50))
    made = new_golden(tmp_path / "n.jsonl", [document(long, "a"), document(long, "b")], size=30)
    assert (made.answerable, made.documents) == (20, 2)


def test_templates_overwrite_nothing(tmp_path):
    path = tmp_path / "there.jsonl"
    path.write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="exists"):
        new_golden(path, [document()])
    with pytest.raises(InputError):
        new_golden(tmp_path / "new.jsonl", [document("# x")])
    with pytest.raises(InputError):
        new_golden(tmp_path / "new.jsonl", [document()], size=2)


@pytest.mark.parametrize(
    ("expected", "answer", "missing"),
    [
        ("2.15% gross a year", "The account pays 2.15% a year.", ()),
        ("2.15% gross a year", "The account pays 2.60% a year.", ("2.15%",)),
        ("2,000 euros", "It costs 2000 euros.", ()),
        ("2 euros", "It costs 2 percent.", ("2 euros",)),
        ("six weeks", "The period is 6 weeks.", ()),
        ("call Anna Berg", "Please call Anna Berg.", ()),
        ("call Anna Berg", "Please call Tom.", ("Anna", "Berg")),
        ("a red door with a brass handle", "The door is red, its handle of brass.", ()),
        ("a red door with a brass handle", "The gate is green.", ("red door brass handle",)),
    ],
)
def test_completeness_compares_by_value(expected, answer, missing):
    assert completeness(expected, answer).missing == missing


def test_completeness_says_nothing_where_there_is_nothing_to_compare():
    assert completeness("yes", "Yes, it is.").wanted == ()
    assert completeness("none", "No charge is made.").wanted == ()
    assert completeness("the fee is charged", "手数料がかかります。").wanted == ()
    assert completeness("the door", "It is.", question="Which door?").wanted == ()
