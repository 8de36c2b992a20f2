"""What a new user gets from own documents without a key: one whole statement, or a refusal."""

import pytest

from grounded_rag import GroundedRAG
from grounded_rag.types import AnswerStatus

RULES = [
    "keep the door of the lab closed at all times.",
    "wear safety glasses near the laser.",
    "report a broken lamp to the workshop.",
    "leave food and drinks in the kitchen.",
    "switch off the pump before the weekend.",
    "write each sample into the log book.",
    "wash the glassware with warm water.",
    "lock the solvents away in the evening.",
    "read the fire plan once a year.",
    "show visitors the emergency exit.",
]


@pytest.fixture
def ask(tmp_path):
    def asked(question, **documents):
        folder = tmp_path / "docs"
        folder.mkdir()
        for name, text in documents.items():
            (folder / f"{name}.md").write_text(text, encoding="utf-8")
        with GroundedRAG.from_corpus(folder, index=tmp_path / "index") as rag:
            return rag.query(question)

    return asked


def said(answer):
    return [claim.text for claim in answer.claims]


@pytest.mark.parametrize("at", [0, 1, 2, 5, 9])
def test_an_item_of_a_list_is_said_with_its_lead_in(ask, at):
    listed = "\n".join(f"- {rule}" for rule in RULES)
    topic = RULES[at].split(" ", 1)[1].rstrip(".")
    answer = ask(f"What about this: {topic}?", lab=f"# Lab\n\nEvery user must:\n\n{listed}\n")
    assert said(answer) == [f"Every user must: {RULES[at]}"]
    assert answer.claims[0].located[-1].quote.endswith(RULES[at])


def test_code_answers_a_how_to_question(ask):
    text = (
        "# Cache\n\nTo clear the cache, run:\n\n```\nacme cache clear --all\n```\n\nIt is fast.\n"
    )
    answer = ask("How do I clear the cache?", cache=text)
    assert said(answer) == ["To clear the cache, run:\n\n    acme cache clear --all"]
    assert "acme cache clear --all\n\n[1]" in answer.text


def test_html_inside_markdown_is_read(ask):
    text = (
        "# Passes\n\nA pass is valid for:\n<ul><li>one day, if bought at the gate;</li>\n"
        "<li>one <b>week</b>, if ordered by post.</li></ul>\n"
    )
    answer = ask("How long is a pass valid that is ordered by post?", passes=text)
    assert said(answer) == ["A pass is valid for: one week, if ordered by post."]


def test_another_model_is_not_asked_about_and_what_there_is_is_named(ask):
    pages = {f"d{n}": f"# Drill KX{n}0\n\nThe drill KX{n}0 makes {n}0 dB.\n" for n in (6, 7, 8)}
    answer = ask("How many dB does the drill KX90 make?", **pages)
    assert answer.status is AnswerStatus.REFUSED
    assert answer.refusal is not None
    assert "“KX90”" in answer.refusal.detail
    assert "KX60" in answer.refusal.detail


def test_a_bare_yes_comes_with_its_question(ask):
    text = "# Pets\n\n## May guests bring a dog into the garden?\n\nYes. Dogs stay on a leash.\n"
    answer = ask("May guests bring a dog into the garden?", pets=text)
    assert "Yes." not in said(answer)
    assert all("leash" in each or "garden? Yes." in each for each in said(answer))


def test_one_statement_answers(ask):
    text = "# Leaving\n\nThe notice period is six weeks. Return your badge on the last day.\n"
    assert said(ask("How long is the notice period?", hr=text)) == [
        "The notice period is six weeks."
    ]


def test_a_default_is_what_is_asked_for(ask):
    text = (
        "# Limits\n\nGood designers say that a form never needs more than 20 fields. "
        "The default of MAX_FIELDS is 400. You can raise it to 9000.\n"
    )
    assert said(ask("How many fields can a form have by default?", limits=text)) == [
        "The default of MAX_FIELDS is 400."
    ]


TABLE = (
    "# Rules\n\n| Rule | Tier 1 | Tier 2 |\n|---|---|---|\n"
    "| Second signature | Not needed | Needed |\n"
    "| Audit | Yearly | Monthly |\n\n## Marks\n\n| Points | Mark |\n|---|---|\n| 0–19 | Fail |\n"
    "| 20–34 | Pass |\n| 35–50 | Good |\n"
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Is a second signature needed at tier 1?",
            "Rule: Second signature; Tier 1: Not needed",
        ),
        ("What mark do I get for 27 points?", "Points: 20-34; Mark: Pass"),
    ],
)
def test_a_row_is_said_with_the_names_of_its_columns(ask, question, expected):
    assert said(ask(question, rules=TABLE)) == [expected]


def test_two_machines_do_not_disagree(ask):
    answer = ask(
        "How much does the mill in hall north weigh?",
        north="# Mill north\n\nThe mill in hall north weighs 640 kg.\n",
        south="# Mill south\n\nThe mill in hall south weighs 9120 kg.\n",
    )
    assert said(answer) == ["The mill in hall north weighs 640 kg."]
    assert not answer.conflicts


def test_the_same_sentence_of_two_revisions_is_said_once_with_both(ask):
    text = "# Codes\n\nA code is valid for ten minutes.\n"
    answer = ask("How long is a code valid?", rev1=text, rev2=f"{text}\nA new chapter.\n")
    assert said(answer) == ["A code is valid for ten minutes."]
    assert len({place.doc_id for place in answer.claims[0].located}) == 2


def test_a_complete_answer_is_not_partial(ask):
    answer = ask("How long is a code valid?", codes="# Codes\n\nA code is valid for ten minutes.\n")
    assert answer.status is AnswerStatus.ANSWERED
