"""Acceptance: the whole loop, over the built-in generator and over the provider's real SDK.

A run is recorded, its gate passes; then a worse generator or prompt makes the gate fail, and the
report names what flipped.
"""

import json
import re

import anthropic
import httpx2
import pytest
from typer.testing import CliRunner

from grounded_rag import GroundedRAG, StructuredGenerator
from grounded_rag.cli.app import app
from grounded_rag.evaluation.gate import GateRules, check_gate, compare
from grounded_rag.evaluation.html_report import write_html
from grounded_rag.evaluation.runner import evaluate
from grounded_rag.evaluation.runs import Run
from grounded_rag.resources import prompts_dir
from grounded_rag.testing import HashEmbedding

FACTS = {
    "leave": ("How long is the notice period?", "The notice period is six weeks."),
    "badge": ("When is the badge returned?", "The badge is returned on the last day."),
    "lunch": ("When is lunch served?", "Lunch is served from 12:00 to 14:00."),
    "permit": ("What does a parking permit cost?", "A parking permit costs 15 euros a month."),
    "bicycle": ("Where are bicycles kept?", "Bicycles are kept in the cellar."),
    "printer": ("Where does the printer stand?", "The printer stands on the second floor."),
    "window": ("Who closes the windows?", "The windows are closed by the caretaker."),
    "sick": ("How is sickness reported?", "Sickness is reported by telephone before 9:00."),
    "holiday": ("How many holidays are there?", "There are 28 days of holiday a year."),
    "salary": ("When is the salary paid?", "The salary is paid on the 25th of each month."),
}
UNKNOWN = ("Who painted the opera?", "What does the chairman earn?", "Is there a sauna?")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handbook")
    rows = []
    for name, (question, fact) in FACTS.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{fact}\n", encoding="utf-8")
        gold = [{"any_of": [{"file": f"{name}.md", "quote": fact}]}]
        rows.append({"id": name, "question": question, "expected": fact, "gold": gold})
    rows += [
        {"id": f"u{number}", "question": question, "answerable": "no"}
        for number, question in enumerate(UNKNOWN)
    ]
    lines = "\n".join(json.dumps({**row, "as_of": "2026-11-29"}) for row in rows)
    (folder / "golden.jsonl").write_text(lines + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "i"
    with GroundedRAG.from_corpus(corpus, index=path, embedding=HashEmbedding()):
        pass
    return path


class Claude:
    """Answers like the provider's API: the fact for a known question, nothing for another.

    A prompt without the line that asks for the words of the passages makes it careless: it quotes
    in words of its own, as a model does that is not told better.
    """

    def __init__(self, marker):
        self.marker = marker
        self.calls = 0

    async def __call__(self, request):
        self.calls += 1
        body = json.loads(request.content)
        sent = json.dumps([body.get("system"), body["messages"]], ensure_ascii=False)
        careful = self.marker in sent
        labels = re.findall(r'\\"?([A-Z]+\d+)', sent)
        schema = body["tools"][0]["input_schema"]
        labels = schema["$defs"]["CitationItem"]["properties"]["chunk_id"]["enum"]
        claims = []
        for question, fact in FACTS.values():
            if question in sent:
                text = fact if careful else f"Surely everybody knows: {fact[:-1]}, and more."
                claims = [
                    {"text": text, "citations": [{"chunk_id": label, "quote": text}]}
                    for label in labels
                    if self.holds(sent, label, fact)
                ][:1]
        block = {
            "type": "tool_use",
            "id": "tu",
            "name": "GroundedAnswer",
            "input": {"claims": claims, "unanswered": []},
        }
        reply = {
            "id": "msg",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [block],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 500, "output_tokens": 50},
        }
        return httpx2.Response(200, json=reply)

    @staticmethod
    def holds(sent, label, fact):
        """Whether the passage of a label, up to the next label, holds the fact."""
        start = sent.find(label)
        while start >= 0:
            end = min(
                (p for p in (sent.find("passage", start + len(label) + 12),) if p > 0),
                default=len(sent),
            )
            if fact in sent[start:end]:
                return True
            start = sent.find(label, start + 1)
        return False


def run_claude(index, corpus, folder, *, prompts=None, marker):
    claude = Claude(marker)
    client = anthropic.AsyncAnthropic(
        api_key="x",
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(claude)),
    )
    options = {} if prompts is None else {"prompts": prompts}
    from grounded_rag.generate.prompts import PromptSet

    generator = StructuredGenerator(client=client, prompts=PromptSet.load(prompts))
    with GroundedRAG.open(index, embedding=HashEmbedding(), generator=generator, **options) as rag:
        return evaluate(rag, corpus / "golden.jsonl", run=folder), claude


GATE = GateRules.model_validate(
    {
        "bounds": {
            "faithful_answers": {"min": 0.6},
            "correct_answers": {"min": 0.6},
            "right_refusals": {"min": 0.2},
        }
    }
)


def test_over_a_scripted_claude_a_worse_prompt_fails_the_gate_and_what_flipped_is_named(
    index, corpus, tmp_path
):
    text = (prompts_dir() / "answer.md").read_text(encoding="utf-8")
    marker = next(line for line in text.splitlines() if "words of" in line).strip()[:60]
    good, claude = run_claude(index, corpus, tmp_path / "good", marker=marker)
    assert claude.calls == good.costs.usage.calls == len(FACTS) + len(UNKNOWN)
    assert good.metric("correct_answers").hits == len(FACTS)
    assert check_gate(good, GATE, comparison=compare(good, good)).passed

    worse = tmp_path / "prompts"
    worse.mkdir()
    for path in prompts_dir().iterdir():
        content = path.read_text(encoding="utf-8").replace(marker, "Be entertaining.")
        (worse / path.name).write_text(content, encoding="utf-8")
    bad, _ = run_claude(index, corpus, tmp_path / "bad", prompts=worse, marker=marker)
    comparison = compare(bad, good)
    gate = check_gate(bad, GATE, comparison=comparison)
    assert not gate.passed
    flipped = comparison.metric("correct_answers").flips
    assert {flip.item for flip in flipped} == set(FACTS)
    assert any("policy and prompts" in line for line in comparison.differences)
    assert bad.metric("drafted_hallucinations").hits == len(FACTS)
    write_html(
        tmp_path / "r.html",
        Run.open(tmp_path / "bad"),
        bad,
        gate=gate,
        comparison=comparison,
        baseline=good,
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Gate failed" in page
    assert all(f"<td>{name}</td>" in page for name in FACTS)


def command(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def words_index(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "i"
    command("ingest", corpus, "--index", path, "--words-only", "--json")
    return path


@pytest.fixture
def gate_file(tmp_path):
    path = tmp_path / "gate.toml"
    path.write_text(
        "[bounds.faithful_answers]\nmin = 0.5\n[bounds.false_refusals]\nmax = 0.6\n",
        encoding="utf-8",
    )
    return path


def test_the_whole_loop_in_one_command(corpus, words_index, gate_file, tmp_path):
    run = tmp_path / "run"
    files = [tmp_path / name for name in ("r.html", "r.xml", "r.md")]
    result = command(
        "eval", corpus / "golden.jsonl", "--index", words_index, "--run", run,
        "--gate", gate_file, "--html", files[0],
        "--settings", f"eval.junit={files[1]}", "--settings", f"eval.markdown={files[2]}",
    )  # fmt: skip
    assert "gate passed" in result.stdout
    assert all(file.stat().st_size > 500 for file in files)

    again = command("eval", "--replay", run, "--run", tmp_path / "again", "--baseline", run)
    assert "0 worse, 0 better" in again.stdout

    found = json.loads(command("diagnose", run, "--json").stdout)
    assert all(one["why"] for one in found)


def test_a_worse_retrieval_fails_the_gate_with_exit_code_three(
    corpus, words_index, gate_file, tmp_path
):
    command(
        "eval",
        corpus / "golden.jsonl",
        "--index",
        words_index,
        "--run",
        tmp_path / "good",
        "--json",
    )
    poor = tmp_path / "poor"
    empty = tmp_path / "other"
    empty.mkdir()
    (empty / "a.md").write_text("# Other\n\nNothing of use is said here.\n", encoding="utf-8")
    command("ingest", empty, "--index", poor, "--words-only", "--json")
    result = command(
        "eval", corpus / "golden.jsonl", "--index", poor, "--run", tmp_path / "bad",
        "--gate", gate_file, "--baseline", tmp_path / "good", "--json", code=3,
    )  # fmt: skip
    whole = json.loads(result.stdout)
    assert whole["gate"]["passed"] is False
    paired = {one["metric"]: one for one in whole["comparison"]["metrics"]}
    worse = {flip["item"] for flip in paired["correct_answers"]["flips"]}
    assert len(worse) >= 6
    assert worse <= set(FACTS)
    assert any("index" in line for line in whole["comparison"]["differences"])


def test_items_that_ended_in_an_error_are_told_by_the_exit_code(words_index, tmp_path):
    golden = tmp_path / "golden.jsonl"
    golden.write_text('{"id": "x", "question": " ", "answerable": "no"}\n', encoding="utf-8")
    result = command("eval", golden, "--index", words_index, "--run", tmp_path / "run", code=1)
    assert "error" in result.stdout


def test_other_systems_are_measured_by_the_same_command(tmp_path):
    answers = tmp_path / "answers.jsonl"
    question, fact = FACTS["lunch"]
    answers.write_text(
        json.dumps({"user_input": question, "response": fact, "retrieved_contexts": [fact]}),
        encoding="utf-8",
    )
    result = command(
        "eval", "--answers", answers, "--settings", "answers.format=ragas",
        "--run", tmp_path / "run", "--json",
    )  # fmt: skip
    metrics = {one["name"]: one for one in json.loads(result.stdout)["metrics"]}
    assert metrics["faithful_answers"]["hits"] == 1


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("eval", "--replay", "none", "--answers", "x.jsonl"), "together"),
        (("eval", "--replay", "none", "--corpus", "demo"), "ask none"),
        (("eval", "--replay", "none"), "no run"),
        (("diagnose", "none"), "no run"),
        (("golden", "check", "none.jsonl"), "cannot be read"),
    ],
)
def test_mistakes_are_told_in_one_line(arguments, hint):
    result = command(*arguments, code=1)
    assert hint in " ".join(result.output.split())


def test_golden_commands(corpus, tmp_path):
    out = tmp_path / "new.jsonl"
    made = json.loads(command("golden", "new", corpus, "--out", out, "--size", 6, "--json").stdout)
    assert (made["answerable"], made["unanswerable"]) == (1, 2)
    assert "unfilled" in command("golden", "check", out, "--corpus", corpus, code=3).stdout
    good = command("golden", "check", corpus / "golden.jsonl", "--corpus", corpus)
    assert "usable" in good.stdout
    stats = json.loads(command("golden", "stats", corpus / "golden.jsonl", "--json").stdout)
    assert stats["items"] == len(FACTS) + len(UNKNOWN)
    assert stats["missing"] == 100 - stats["items"]


def test_who_interrupts_a_run_is_told_how_to_go_on(corpus, words_index, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("grounded_rag.cli.evaluation.evaluate", interrupted)
    result = command(
        "eval", corpus / "golden.jsonl", "--index", words_index, "--run", tmp_path / "r", code=130
    )
    assert f"--run {tmp_path / 'r'}" in result.output


def test_the_views_for_people_name_items_fixes_and_next_steps(corpus, words_index, tmp_path):
    poor, empty = tmp_path / "poor", tmp_path / "other"
    empty.mkdir()
    (empty / "a.md").write_text("# Other\n\nNothing of use is said here.\n", encoding="utf-8")
    command("ingest", empty, "--index", poor, "--words-only", "--json")
    for index, run in ((words_index, "good"), (poor, "bad")):
        command(
            "eval", corpus / "golden.jsonl", "--index", index, "--run", tmp_path / run, "--json"
        )
    shown = command("eval", "--replay", tmp_path / "bad", "--run", tmp_path / "again",
                    "--baseline", tmp_path / "good").stdout  # fmt: skip
    assert "worse: " in shown
    assert "retrieval miss" in shown
    assert "grounded-rag diagnose" in shown
    told = command("diagnose", tmp_path / "bad", "--kind", "retrieval_miss").stdout
    assert "try (retrieval)" in told
    assert "leave" in told
    one = command("diagnose", tmp_path / "good", "--item", "u0", "--json").stdout
    assert json.loads(one)[0]["item"] == "u0"


def test_golden_views_for_people(corpus, tmp_path):
    out = tmp_path / "new.jsonl"
    assert "golden check" in command("golden", "new", corpus, "--out", out, "--size", 6).stdout
    assert "quotes were not compared" in command("golden", "check", out, code=3).stdout
    assert "13 items" in command("golden", "stats", corpus / "golden.jsonl").stdout
    assert json.loads(command("golden", "check", out, "--json", code=3).stdout)["findings"]
    assert "no folder" in command("golden", "new", tmp_path / "none", code=1).output


def test_prices_are_read_and_mistakes_in_them_are_wrong_usage(corpus, words_index, tmp_path):
    base = (
        "eval", corpus / "golden.jsonl", "--index", words_index, "--settings", "eval.limit=2",
        "--settings",
    )  # fmt: skip
    prices = "eval.prices={input=3, output=15}"
    priced = command(*base, prices, "--run", tmp_path / "a", "--json")
    assert json.loads(priced.stdout)["costs"]["money"] == 0
    command(*base, "eval.prices.input=lots", "--run", tmp_path / "b", code=2)
    command("eval", "--index", words_index, code=2)
    assert "no golden.jsonl" in command("eval", "--corpus", words_index, code=1).output


def test_the_public_names_are_there():
    import grounded_rag.evaluation as evaluation

    assert sorted(evaluation.__all__) == evaluation.__all__
    for name in evaluation.__all__:
        assert callable(getattr(evaluation, name))
        assert not hasattr(getattr(evaluation, name), "__path__")
    with pytest.raises(AttributeError):
        _ = evaluation.nonsense
