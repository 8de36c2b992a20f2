"""Settings: files and single ones, errors that name key and file, and the printed example."""

import json
import tomllib

import pytest
import typer
from typer.testing import CliRunner

from grounded_rag.cli.app import app
from grounded_rag.cli.settings import Settings, load_object, load_settings, settings_toml
from grounded_rag.errors import InputError


def wrong(*given):
    with pytest.raises(typer.BadParameter) as error:
        load_settings([str(each) for each in given])
    return str(error.value)


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "grounded.toml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_file_and_single_settings_make_one_value_and_the_last_one_counts(write):
    file = write('[policy]\nk = 3\nmax_age = "P365D"\n[eval.prices]\ninput = 3\noutput = 15\n')
    found = load_settings([file, "policy.k=12", "rag.judge=openai/gpt", "eval.prices.input=4"])
    assert (found.policy.k, found.policy.max_age.days) == (12, 365)
    assert found.rag.judge == "openai/gpt"
    assert (found.eval.prices.input, found.eval.prices.output) == (4, 15)
    assert found.changed() == {"policy.k", "policy.max_age", "rag.judge", "eval.prices"}
    assert load_settings([file, "eval={limit=2}"]).eval.limit == 2
    assert load_settings(None) == Settings()


def test_mistakes_name_the_key_the_file_and_what_may_be_meant(write):
    file = write("[policy]\nk = 300\n")
    assert wrong(file).startswith(f"{file}: policy.k: Input should be less than or equal to 100.")
    file = write("[eval]\nconcurency = 2\n")
    assert "no setting eval.concurency. Is eval.concurrency meant?" in wrong("policy.k=2", file)
    assert "there is no setting k. Is policy.k meant?" in wrong(write("k = 2"))
    assert "there is no setting polcy" in wrong("polcy.k=2")
    assert "policy.unproven: Input should be 'restate'" in wrong("policy.unproven=hide")
    assert "cannot be read" in wrong(write("[policy\n"))
    assert "cannot be read" in wrong("none.toml")
    assert "is no key" in wrong("=3")


def test_the_environment_gives_defaults_that_settings_replace(monkeypatch):
    monkeypatch.setenv("GROUNDED_RAG_JUDGE", "anthropic")
    monkeypatch.setenv("GROUNDED_RAG_ENTAILMENT", "")
    assert load_settings([]).rag.judge == "anthropic"
    assert load_settings([]).rag.entailment is None
    assert load_settings([]).changed() == set()
    assert load_settings(["rag.judge=a/b"]).rag.judge == "a/b"


def explained(text):
    """Return the keys that have a comment above them."""
    found, section, before = set(), "", ""
    for line in text.splitlines():
        section = line.strip("[]") if line.startswith("[") else section
        if " =" in line and before.startswith("# "):
            found.add(f"{section}.{line.removeprefix('# ').partition(' =')[0]}")
        before = line
    return found


def test_the_printed_file_has_every_key_explained_and_reads_back_as_it_was():
    chosen = load_settings(
        ['policy.max_age="P30D"', "rag.prompts=own", "eval.prices.input=3", "answers.refusal=Né"]
    )
    for settings in (Settings(), chosen):
        text = settings_toml(settings)
        assert Settings.model_validate(tomllib.loads(text)) == settings
        assert {
            f"{name}.{key}"
            for name, section in settings
            for key in type(section).model_fields.keys() - {"prices"}
        } <= explained(text)


def test_the_command_prints_and_checks():
    shown = CliRunner().invoke(app, ["settings", "policy.k=5"])
    assert "\nk = 5\n" in shown.stdout
    whole = CliRunner().invoke(app, ["settings", "--json"])
    assert json.loads(whole.stdout)["policy"]["k"] == 8
    assert CliRunner().invoke(app, ["settings", "policy.k=many"]).exit_code == 2


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        (("ask", "Why?", "--unproven", "refuse"), "policy.unproven"),
        (("ask", "Why?", "-k", "3"), "policy.k"),
        (("ask", "Why?", "--refusal=No."), "rag.refusal"),
        (("verify", "-", "--entailment", "m"), "rag.entailment"),
        (("chat", "--on-failed-claim", "drop"), "policy.on_failed_claim"),
        (("eval", "--prices", "input=3"), "eval.prices"),
        (("eval", "--no-relevance"), "eval.relevance"),
        (("eval", "--refusal", "No."), "answers.refusal"),
        (("eval", "--judge", "a/b"), "rag.judge"),
    ],
)
def test_an_option_that_is_a_setting_is_told_where_it_went(typed, key):
    result = CliRunner().invoke(app, list(typed), env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert f"--settings {key}=VALUE" in result.output


def test_what_follows_two_dashes_or_was_never_an_option_is_not_taken_for_a_setting():
    assert "No such option" in CliRunner().invoke(app, ["ask", "Why?", "--colour"]).output
    shown = CliRunner().invoke(app, ["fuzz", "--unproven", "refuse"])
    assert "No such option" in shown.output
    quoted = CliRunner().invoke(app, ["ask", "--index", "none", "--", "--unproven"])
    assert quoted.exit_code == 1
    assert "is a setting" not in quoted.output


def test_an_object_is_loaded_by_its_name():
    assert load_object("json:dumps") is json.dumps
    for name in ("json:nothing", "no_such_module:x", "json", ":x"):
        with pytest.raises(InputError, match="cannot be loaded"):
            load_object(name)
