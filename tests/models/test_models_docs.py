"""The examples of docs/judging.md run as written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "judging.md"
PATTERN = re.compile(r"<!-- example: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
EXAMPLES = dict(PATTERN.findall(PAGE.read_text(encoding="utf-8")))


def test_the_page_has_its_examples():
    assert set(EXAMPLES) == {"entailment", "own_judge", "own_check"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_runs_as_written(name, tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "nli-model")
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    result = subprocess.run(
        [sys.executable, "-c", EXAMPLES[name]],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
