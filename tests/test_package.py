"""What a user relies on before any call: a light import without network."""

import subprocess
import sys

import pytest

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
