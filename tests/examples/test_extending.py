"""The examples of docs/extending.md run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "extending.md"
EXAMPLE = re.compile(r"<!-- example: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
EXAMPLES = dict(EXAMPLE.findall(DOCS.read_text(encoding="utf-8")))

PRINTED = {
    "reader": "article: helmet; price: 30 euros [1]",
    "retriever": "The account costs 4 euros a month. [1]",
    "generator": "A copy costs 2 euros. [1]",
    "judge": "supported",
    "entailment": "supported",
    "check": "unsupported",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs_and_prints_what_it_promises(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "prices.csv").write_text(
        "article,price\nlock,12 euros\nhelmet,30 euros\n", encoding="utf-8"
    )
    code = compile(EXAMPLES[name], f"docs/extending.md, {name}", "exec")
    exec(code, {"__name__": name})  # noqa: S102  # our own page
    assert capsys.readouterr().out.startswith(PRINTED.get(name, ""))


def test_no_example_has_gone():
    assert set(PRINTED) <= set(EXAMPLES)
