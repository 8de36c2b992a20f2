"""The command line as a user runs it: output, JSON, exit codes, one line an error."""

import json

import pytest
from typer.testing import CliRunner

from grounded_rag.cli.app import app
from grounded_rag.resources import default_refusal


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli")
    folder = root / "handbook"
    folder.mkdir()
    (folder / "leaving.md").write_text(
        "# Leaving\n\nThe notice period is six weeks. Return your badge on the last day.\n",
        encoding="utf-8",
    )
    (folder / "hostile.md").write_text(
        "# Doors \x1b[2J\n\nThe side door code changes every week [bold red]x[/].\n",
        encoding="utf-8",
    )
    result = run("ingest", str(folder), "--index", str(root / "index"), "--words-only", "--json")
    assert json.loads(result.stdout)["added"] == ["hostile.md", "leaving.md"]
    return root / "index"


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    assert result.exit_code == code, result.output
    return result


def test_ask_shows_the_quote_and_exits_zero(index):
    result = run("ask", "How long is the notice period?", "--index", str(index))
    assert "The notice period is six weeks. [1]" in result.stdout
    assert "leaving.md" in result.stdout


def test_ask_json_is_the_answer_without_its_trace(index):
    result = run("ask", "How long is the notice period?", "--index", str(index), "--json")
    answer = json.loads(result.stdout)
    located = answer["claims"][0]["citations"][0]["located"]
    assert located["quote"] == "The notice period is six weeks."
    assert "trace" not in answer
    traced = run(
        "ask", "How long is the notice period?", "--index", str(index), "--json", "--trace"
    )
    assert json.loads(traced.stdout)["trace"]["attempts"]


def test_a_refusal_exits_three(index):
    result = run("ask", "Who painted the opera's ceiling?", "--index", str(index), code=3)
    assert default_refusal() in result.stdout
    assert "why:" in result.stdout


def test_document_text_cannot_steer_the_terminal(index):
    result = run("ask", "How often does the side door code change?", "--index", str(index))
    assert "\x1b[2J" not in result.stdout
    assert "[bold red]x[/]" in result.stdout


def test_errors_are_one_line_with_the_next_step(tmp_path):
    result = run("ask", "Why?", "--index", str(tmp_path / "none"), code=1)
    assert result.stderr.count("error:") == 1
    assert "next:" in result.stderr
    assert "Traceback" not in result.output
    result = run("ask", "Why?", "--index", str(tmp_path / "none"), "--json", code=1)
    assert json.loads(result.stdout)["error"] == "IndexNotFoundError"


def test_an_empty_question_is_an_error(index):
    assert "empty" in run("ask", "  ", "--index", str(index), code=1).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask",),
        ("ask", "Why?"),
        ("ask", "Why?", "--index", "x", "--corpus", "demo"),
        ("ask", "Why?", "--index", "x", "--settings", "policy.support=weak"),
        ("ask", "Why?", "--index", "x", "--as-of", "03/04/2026"),
        ("ask", "Why?", "--index", "x", "--where", "novalue"),
        ("nothing",),
    ],
)
def test_wrong_usage_exits_two(arguments):
    run(*arguments, code=2)


def test_a_warning_is_one_line_without_code(monkeypatch, capsys, index):
    import warnings

    from grounded_rag.cli.app import main

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    judge = ["--settings", "rag.judge=openai/tiny:1.5b"]
    arguments = ["grounded-rag", "ask", "Who knows Zanzibar?", "--index", str(index), *judge]
    monkeypatch.setattr("sys.argv", arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        with pytest.raises(SystemExit):
            main()
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "1.5 billion" in line]
    assert line.startswith("warning: The judge 'openai/tiny:1.5b'")


def test_a_time_limit_beyond_the_policy_names_both_settings(index):
    long = ["--settings", "rag.timeout=300"]
    result = run("ask", "How long?", "--index", str(index), *long, code=1)
    assert "policy.max_seconds" in result.stderr
    fits = ["--settings", "policy.max_seconds=900"]
    run("ask", "How long is the notice period?", "--index", str(index), *long, *fits)


def test_a_missing_key_is_said_before_any_network(index, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    question = "How long is the notice period?"
    result = run("ask", question, "--index", str(index), "--generator", "anthropic", code=1)
    assert "ANTHROPIC_API_KEY" in result.stderr


def test_a_key_alone_switches_nothing(index, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    result = run("ask", "How long is the notice period?", "--index", str(index), "--json")
    assert json.loads(result.stdout)["generator"] == "extractive"


def test_filters_narrow_the_documents(index):
    question = "How long is the notice period?"
    run("ask", question, "--index", str(index), "--where", "doc_id=hostile.md", code=3)
    run("ask", question, "--index", str(index), "--where", "corpus=handbook")


def test_verify_reads_files_and_standard_input(tmp_path):
    quote = "The notice period is six weeks."
    body = {
        "draft": {"claims": [{"text": quote, "chunk_id": "c1", "quote": quote}]},
        "chunks": [{"id": "c1", "text": quote + " Return your badge on the last day."}],
    }
    path = tmp_path / "draft.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    assert "accepted" in run("verify", str(path)).stdout
    result = run("verify", "-", "--json", stdin=json.dumps(body))
    assert json.loads(result.stdout)["outcome"] == "accepted"
    body["draft"]["claims"][0]["quote"] = "The notice period is two weeks."
    path.write_text(json.dumps(body), encoding="utf-8")
    assert "near_miss" in run("verify", str(path), code=3).stdout


def verified(tmp_path, *claims, text="The notice period is six weeks.", code=3, options=()):
    body = {
        "draft": {"claims": [{"text": t, "chunk_id": "c1", "quote": q} for t, q in claims]},
        "chunks": [{"id": "c1", "text": text}],
    }
    path = tmp_path / "draft.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    return " ".join(run("verify", str(path), *options, code=code).stdout.split())


QUOTE = "The notice period is six weeks."
TORN = "The notice period is six weeks, unless the contract says otherwise."


def test_verify_names_tier_and_reason_of_a_claim_that_stands(tmp_path):
    shown = verified(tmp_path, (QUOTE, QUOTE), code=0)
    assert "outcome: accepted" in shown
    assert "supported, verbatim: The claim is a statement of its source, word for word." in shown
    assert "instead" not in shown


def test_verify_says_what_would_ship_in_the_place_of_an_open_claim(tmp_path):
    shown = verified(tmp_path, (QUOTE, QUOTE[:-1]), text=TORN)
    assert "? The notice period is six weeks. open (unproven):" in shown
    assert f"would ship instead: {TORN}" in shown


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("and the notice period is six weeks at", "the passage begins or ends inside"),
        ("Is it true that the notice period is six weeks?", "the source does not assert it"),
        (f"{TORN[:-1]} {'or so ' * 100}.", "its statement is too long to be an answer"),
    ],
)
def test_verify_says_why_nothing_may_ship_in_the_place_of_a_claim(tmp_path, text, why):
    shown = verified(tmp_path, (QUOTE, "notice period is six weeks"), text=text)
    assert f"nothing would ship instead: {why}" in shown


def test_one_open_claim_among_good_ones_is_not_accepted(tmp_path):
    shown = verified(tmp_path, (TORN, TORN), (QUOTE, QUOTE[:-1]), text=TORN)
    assert "outcome: partial" in shown


def test_verify_json_holds_tier_and_restatement(tmp_path):
    body = {
        "draft": {"claims": [{"text": QUOTE, "chunk_id": "c1", "quote": QUOTE[:-1]}]},
        "chunks": [{"id": "c1", "text": TORN}],
    }
    path = tmp_path / "draft.json"
    path.write_text(json.dumps(body), encoding="utf-8")
    claim = json.loads(run("verify", str(path), "--json", code=3).stdout)["claims"][0]
    assert (claim["status"], claim["tier"], claim["reason"]) == ("open", "none", "unproven")
    assert claim["restatements"][0]["text"] == TORN


def test_verify_help_says_which_claims_are_accepted():
    shown = " ".join(run("verify", "--help").stdout.split())
    assert "Exit code 0: every claim is supported" in shown


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_a_support_that_is_gone_is_an_error_with_the_next_step(index, command):
    arguments = ["Why?"] if command == "ask" else []
    balanced = ("--settings", "policy.support=balanced")
    result = run(command, *arguments, "-i", str(index), *balanced, code=1, stdin="")
    assert 'error: support="balanced" is gone: it shipped claims' in result.stderr
    assert "next: Leave it out" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("unproven", ["restate", "reask", "refuse"])
def test_what_becomes_of_unproven_claims_is_a_setting(index, unproven):
    question = "How long is the notice period?"
    given = ("-i", str(index), "--settings", f"policy.unproven={unproven}", "--json")
    answer = json.loads(run("ask", question, *given).stdout)
    assert answer["policy"]["unproven"] == unproven
    lines = run("chat", *given, stdin=question).stdout
    assert json.loads(lines)["answer"]["policy"]["unproven"] == unproven


@pytest.mark.parametrize("text", ["not json", "[1]", '{"draft": {}}'])
def test_verify_says_what_is_wrong_with_its_file(tmp_path, text):
    path = tmp_path / "draft.json"
    path.write_text(text, encoding="utf-8")
    assert "next:" in run("verify", str(path), code=1).stderr


def test_status_tells_what_the_index_holds(index):
    assert "search is by words alone" in run("status", "--index", str(index)).stdout
    report = json.loads(run("status", "--index", str(index), "--json").stdout)
    assert report["documents"] == 2


def test_help_names_every_command():
    text = run("--help").stdout
    for command in ("ingest", "ask", "verify", "settings", "status", "demo"):
        assert command in text


def test_a_file_format_of_the_users_own_is_named_on_the_command_line(tmp_path, monkeypatch):
    (tmp_path / "mine_readers.py").write_text(
        "from grounded_rag.protocols import ParsedDocument\n"
        "class Notes:\n"
        "    def read(self, data, *, source):\n"
        "        return ParsedDocument(text=data.decode(), title=source)\n"
        "notes = Notes()\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leaving.note").write_text("The notice period is six weeks.", "utf-8")
    given = ["ingest", str(folder), "--index", str(tmp_path / "index"), "--words-only"]
    read = CliRunner().invoke(app, [*given, "--reader", ".note=mine_readers:notes"])
    assert read.exit_code == 0, read.output
    assert "1 added" in read.output
    wrong = CliRunner().invoke(app, [*given, "--reader", ".note=mine_readers:Notes"])
    assert wrong.exit_code == 1
    assert "Make an object of it: Notes(…)" in wrong.output
