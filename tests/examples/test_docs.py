"""README and docs: examples print what they say, links lead somewhere, commands exist."""

import re
import shutil
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer

from grounded_rag import GroundedRAG, Validity, update_index
from grounded_rag.cli.app import app
from grounded_rag.evaluation import evaluate

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [
    README,
    *DOCS,
    *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    ROOT / "benchmarks" / "NOTES.md",
    ROOT / "examples" / "chatbot" / "README.md",
]
EXAMPLE = re.compile(
    r"<!-- example: (\w+) -->\n```python\n(.*?)```(?:\n\nprints[^\n]*\n\n```\n(.*?)```)?", re.DOTALL
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# They need a model on disk and have a test beside the tests of models.
ELSEWHERE = {"entailment", "own_judge", "own_check"}


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def examples():
    return [
        pytest.param(code, printed, id=f"{name_of(page)}:{name}")
        for page in PAGES
        for name, code, printed in EXAMPLE.findall(page.read_text(encoding="utf-8"))
        if name not in ELSEWHERE and page.name != "extending.md"  # has a test of its own
    ]


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with what the pages speak of: a handbook, its index, and a run."""
    folder = tmp_path_factory.mktemp("docs")
    rule = "The notice period is six weeks. It does not apply in the first three months."
    (folder / "handbook").mkdir()
    (folder / "handbook" / "leaving.md").write_text(f"# Leaving\n\n{rule}\n", encoding="utf-8")
    update_index([folder / "handbook"], index=folder / "my-index")
    golden = folder / "golden.jsonl"
    golden.write_text(
        '{"question": "How long is the notice period?", "gold": [{"any_of": [{"file": "leaving.md",'
        ' "quote": "The notice period is six weeks."}]}]}\n'
        '{"question": "Who won the football cup?", "answerable": "no"}\n',
        encoding="utf-8",
    )
    with GroundedRAG.open(folder / "my-index") as rag:
        evaluate(rag, golden, run=folder / "certified" / "runs" / "today")
    return folder


@pytest.mark.parametrize(("code", "printed"), examples())
def test_the_example_prints_what_the_page_says(code, printed, place, tmp_path, monkeypatch, capsys):
    shutil.copytree(place / "handbook", tmp_path / "handbook")
    if "my-index" in code and "from_corpus" not in code:
        shutil.copytree(place / "my-index", tmp_path / "my-index")
    if "Run.open" in code:
        shutil.copytree(place / "certified", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})  # noqa: S102
    assert capsys.readouterr().out == printed


def test_most_pages_have_an_example_that_runs():
    assert len(examples()) >= 20


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_on_a_page_can_be_compiled(page):
    for language, code in FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            compile(code, str(page), "exec")


def anchor(heading):
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    return {anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, fragment = unquote(target).partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if fragment and found.suffix == ".md":
            assert fragment in anchors(found), target


def test_the_index_lists_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in DOCS:
        assert page.name == "README.md" or f"({page.name})" in index, page.name


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 160


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_names_only_real_make_targets_and_benchmarks(page):
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^ *|`)make (\w+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for script in re.findall(r"python (benchmarks/\w+\.py)", text):
        assert (ROOT / script).exists(), script


COMMANDS = typer.main.get_command(app)


def options_of(words):
    """Return the options of the command that a line begins with, and how many words name it."""
    command, count = COMMANDS, 0
    for word in words:
        inner = getattr(command, "commands", {}).get(word)
        if inner is None:
            break
        command, count = inner, count + 1
    named = {name for parameter in command.params for name in parameter.opts}
    return {*named, "--help"}, count


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_names_only_real_commands_and_options(page):
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    commands = [
        *re.findall(r"`grounded-rag ([^`]+)`", text),
        *re.findall(r"^ *(?:[A-Z_]+=\S+ )*grounded-rag (.+)$", text, re.MULTILINE),
    ]
    for command in commands:
        words = command.partition("  #")[0].split()
        options, count = options_of(words)
        assert count or words[0].startswith(("--", "COMMAND")), command
        for word in words[count:]:
            if word.startswith("--"):
                assert word.rstrip(",.;") in options, command


def test_dates_lists_every_key():
    page = (ROOT / "docs" / "dates.md").read_text(encoding="utf-8")
    keys = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert {"path", "title", "trust", *Validity.model_fields} <= set(keys)


def test_pages_do_not_skip_a_level_of_headings():
    for page in PAGES:
        text = FENCE.sub("", page.read_text(encoding="utf-8"))
        levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
        assert levels[0] == 1, page
        assert all(after <= before + 1 for before, after in pairwise(levels)), page
