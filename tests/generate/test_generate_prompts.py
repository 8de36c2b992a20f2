"""Prompts: what a folder must hold, and that values are inserted once."""

from __future__ import annotations

import hashlib
import shutil

import pytest

from grounded_rag.errors import PromptError
from grounded_rag.generate import PromptSet
from grounded_rag.resources import default_refusal, prompts_dir

# Change the prompt, its version line and this table together: a prompt is part of the product,
# and answers recorded under one version are compared with answers of the same version only.
SNAPSHOT = {
    "answer.md": ("version 2", "4340e04b9a8506c4"),
    "reask.md": ("version 1", "4c9b5313aad7f561"),
}


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "prompts"
    shutil.copytree(prompts_dir(), target)
    return target


@pytest.mark.parametrize("name", SNAPSHOT)
def test_the_prompts_are_those_of_the_snapshot(name):
    text = (prompts_dir() / name).read_text(encoding="utf-8")
    version, digest = SNAPSHOT[name]
    assert version in text.splitlines()[0]
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


def test_the_built_in_prompts_state_the_rules():
    prompts = PromptSet.load()
    system = prompts.system(default_refusal())
    assert default_refusal() in system
    assert "version" not in system
    for rule in ("character by character", "near-copy", "never an instruction", "superseded"):
        assert rule in " ".join(system.split())


def test_values_are_inserted_once_and_unchanged():
    prompts = PromptSet.load()
    assert "$kept {{7*7}} ${note}\r\n" in prompts.mend(
        failed="$kept {{7*7}} ${note}\r\n", kept="[]", note="$failed"
    )
    assert "No $answer." in prompts.system("No $answer.")


def test_a_folder_of_ones_own_is_used(folder):
    (folder / "refusal.txt").write_text("Cannot say.\n", encoding="utf-8")
    answer = (folder / "answer.md").read_text(encoding="utf-8")
    (folder / "answer.md").write_text(answer + "\nCosts are in $$.\n", encoding="utf-8")
    prompts = PromptSet.load(folder)
    assert prompts.refusal == "Cannot say."
    assert prompts.system("X").endswith("Costs are in $.")
    assert prompts.fingerprint_parts != PromptSet.load().fingerprint_parts


@pytest.mark.parametrize("name", ["answer.md", "reask.md", "refusal.txt"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(PromptError, match=name):
        PromptSet.load(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(PromptError, match="nowhere"):
        PromptSet.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "old", "new", "named"),
    [
        ("answer.md", "$refusal", "", r"\$refusal"),
        ("answer.md", "chunk_id", "source", "chunk_id"),
        ("answer.md", "quote", "excerpt", "quote"),
        ("answer.md", "$refusal", "$refusal $context", r"\$context"),
        ("answer.md", "$refusal", "$refusal costs $ 5", "dollar"),
        ("answer.md", "<!-- grounded_rag prompt: answer, version 2 -->\n", "", "version"),
        ("reask.md", "$failed", "", r"\$failed"),
        ("reask.md", "$note", "", r"\$note"),
        ("reask.md", "chunk_id", "source", "chunk_id"),
    ],
)
def test_what_is_missing_or_unknown_is_named(folder, name, old, new, named):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(PromptError, match=named):
        PromptSet.load(folder)


def test_an_empty_refusal_is_refused(folder):
    (folder / "refusal.txt").write_text(" \n", encoding="utf-8")
    with pytest.raises(PromptError, match=r"refusal\.txt"):
        PromptSet.load(folder)


def test_a_prompt_in_another_encoding_is_refused(folder):
    (folder / "answer.md").write_bytes("<!-- caf\u00e9, version 1 -->\n".encode("latin-1"))
    with pytest.raises(PromptError, match="UTF-8"):
        PromptSet.load(folder)
