"""Tables of figures in the documentation have the columns and rows that their command prints.

A table is held to a command by a comment above it:

    <!-- figures: python benchmarks/golden.py --split test -->

The script names what it prints in `COLUMNS` and `ROWS`. The header of the table and the first cell
of each row must be among them; what stands in the corner is free. Several such lines above one
table add up. The figures themselves are not checked: most take minutes, and some take other data.
"""

import importlib
import json
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"<!--\s*figures:\s*(.*?)\s*-->")
PROBE = """
import importlib, json, sys
sys.path.insert(0, "benchmarks")
script = importlib.import_module(sys.argv[1])
print(json.dumps([getattr(script, "COLUMNS", None), getattr(script, "ROWS", None)]))
sys.argv = [sys.argv[1], *sys.argv[2:], "--help"]
script.main()
"""


class Table(NamedTuple):
    """A table of the documentation, and the commands that it is held to."""

    place: str
    commands: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[str, ...]


class Output(NamedTuple):
    """What a command prints of itself."""

    columns: tuple[str, ...]
    rows: tuple[str, ...]
    options: str


def tables(text, place):
    """Return the marked tables of a Markdown text; a mark without a table has no rows."""
    found, commands, lines = [], [], text.splitlines()
    for number, line in enumerate(lines):
        if mark := MARK.fullmatch(line.strip()):
            commands.append(mark[1])
        elif commands and line.strip():
            body = []
            while number < len(lines) and lines[number].startswith("|"):
                body.append(_cells(lines[number]))
                number += 1
            header = body[0] if body else [""]
            rows = tuple(row[0] for row in body[2:])
            found.append(Table(place, tuple(commands), tuple(header[1:]), rows))
            commands = []
    if commands:
        found.append(Table(place, tuple(commands), (), ()))
    return found


def _cells(line):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().strip("*`").strip() for cell in cells]


@cache
def output(command):
    """Return what a command prints, by its own names and its help."""
    python, script, *options = shlex.split(command)
    path = ROOT / script
    if python != "python" or path.parent != ROOT / "benchmarks" or not path.is_file():
        raise ValueError(f"{command}: no script of benchmarks/")
    run = [sys.executable, "-c", PROBE, path.stem, *options]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise ValueError(f"{command}: {done.stderr.strip()[-500:]}")
    labels, _, text = done.stdout.partition("\n")
    columns, rows = json.loads(labels)
    if not columns or not rows:
        raise ValueError(f"{command}: the script has no COLUMNS and ROWS")
    return Output(tuple(columns), tuple(rows), text)


def faults(table):
    """Return what a table has that its commands do not print."""
    try:
        outputs = [output(command) for command in table.commands]
    except ValueError as error:
        return [str(error)]
    found = [] if table.columns and table.rows else ["no table with rows follows"]
    for command, each in zip(table.commands, outputs, strict=True):
        known = set(re.findall(r"--[a-z][a-z0-9-]*", each.options))
        used = {word.partition("=")[0] for word in shlex.split(command) if word.startswith("--")}
        found += [f"{command}: no option {name}" for name in sorted(used - known)]
    columns = {name for each in outputs for name in each.columns}
    rows = {name for each in outputs for name in each.rows}
    found += [f"no column {name!r}" for name in table.columns if name not in columns]
    return found + [f"no row {name!r}" for name in table.rows if name not in rows]


FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "benchmarks/NOTES.md"]
TABLES = [
    table
    for path in FILES
    for table in tables(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
]


def test_the_tables_of_readme_and_figures_are_held_to_their_commands():
    places = [table.place for table in TABLES]
    assert places.count("README.md") == 1
    assert places.count("docs/figures.md") >= 5


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.place}: {'; '.join(t.commands)}")
def test_a_table_has_what_its_command_prints(table):
    assert faults(table) == []


GOOD = """
<!-- figures: python benchmarks/way.py --max-depth 30 -->

| work | files | `depth` |
|---|--:|--:|
| **question** | 90 | 25 |
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("", "", None),
        ("files", "modules", "no column 'modules'"),
        ("**question**", "answer", "no row 'answer'"),
        ("--max-depth", "--deepest", "no option --deepest"),
        ("30", "deep", "invalid int value"),
        ("way.py", "gone.py", "no script of benchmarks/"),
        ("way.py", "chunking.py", "the script has no COLUMNS and ROWS"),
        ("benchmarks/way.py", "examples/way.py", "no script of benchmarks/"),
        ("\n| work", "\nSomething else.\n\n| work", "no table with rows follows"),
        ("| **question** | 90 | 25 |", "", "no table with rows follows"),
    ],
)
def test_a_table_that_does_not_fit_is_told(old, new, fault):
    (table,) = tables(GOOD.replace(old, new) if old else GOOD, "sample")
    found = "; ".join(faults(table))
    assert fault in found if fault else not found


def test_marks_above_one_table_add_up_and_one_without_a_table_is_told():
    other = "<!-- figures: python benchmarks/quotes.py -->"
    (table,) = tables(other + GOOD, "sample")
    assert len(table.commands) == 2
    assert faults(table) == []
    (alone,) = tables(other, "sample")
    assert faults(alone) == ["no table with rows follows"]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))

    def load(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        module = importlib.import_module(name)
        monkeypatch.delitem(sys.modules, name)
        return module

    return load


def test_quotes_prints_the_labels_that_it_names(script, capsys):
    quotes = script("quotes")
    quotes.report({name: quotes.Tally() for name in quotes.ROWS}, [], classes=False)
    head, *lines = capsys.readouterr().out.strip().splitlines()
    assert tuple(re.split(r"\s{2,}", head)[1:]) == quotes.COLUMNS
    assert tuple(line.split()[0] for line in lines) == quotes.ROWS


def test_receipts_prints_the_labels_that_it_names(script):
    receipts = script("receipts")
    figures = dict.fromkeys(receipts.COLUMNS, receipts.score([]))
    head, *lines = receipts.summary(figures).splitlines()
    assert tuple(re.split(r"\s{2,}", head.strip())) == receipts.COLUMNS
    assert tuple(re.split(r"\s{2,}", line)[0] for line in lines) == receipts.ROWS
