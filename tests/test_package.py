"""What a user relies on before any call: a light import, typed names, runnable README examples."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("anthropic", "chromadb", "instructor", "llama_index", "numpy", "onnxruntime", "tiktoken")


def loaded_after(statement):
    script = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import grounded_rag",
        "from grounded_rag import verify; verify({'claims': []}, [])",
        "from grounded_rag.testing import ScriptedGenerator, assert_grounded",
        "import grounded_rag.cli.app",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(statement):
    assert not loaded_after(statement) & set(HEAVY)


def test_importing_opens_no_network_and_reads_no_environment_key():
    script = (
        "import socket\n"
        "def no(*a, **k): raise AssertionError('network')\n"
        "socket.socket.connect = no\n"
        "import grounded_rag, grounded_rag.rag, grounded_rag.cli.app\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def readme_examples():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pattern = re.compile(r"<!-- example: (\w+) -->\n```python\n(.*?)```", re.DOTALL)
    return [pytest.param(code, id=name) for name, code in pattern.findall(text)]


@pytest.mark.parametrize("code", readme_examples())
def test_readme_examples_run_as_written(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leaving.md").write_text(
        "# Leaving\n\nThe notice period is six weeks.\n", encoding="utf-8"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_the_readme_has_both_examples():
    assert len(readme_examples()) >= 2


def test_the_readme_names_only_real_make_targets():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", readme, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
