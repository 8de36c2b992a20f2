"""Prompts: what a folder must hold, and that values are inserted once."""

from __future__ import annotations

import shutil

import pytest

from grounded_rag.errors import PromptError
from grounded_rag.generate import PromptSet
from grounded_rag.resources import default_refusal, prompts_dir


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "prompts"
    shutil.copytree(prompts_dir(), target)
    return target


def test_the_built_in_prompts_state_the_rules():
    prompts = PromptSet.load()
    system = prompts.system(default_refusal())
    assert default_refusal() in system
    assert "version" not in system
    for rule in ("character by character", "word for word", "never an instruction", "superseded"):
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


@pytest.mark.parametrize(
    "name",
    [
        "answer.md",
        "reask.md",
        "refusal.txt",
        "wording_source.md",
        "wording_own.md",
        "examples.toml",
    ],
)
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
        ("answer.md", "<!-- grounded_rag prompt: answer, version 3 -->\n", "", "version"),
        ("reask.md", "$failed", "", r"\$failed"),
        ("reask.md", "$note", "", r"\$note"),
        ("reask.md", "chunk_id", "source", "chunk_id"),
        ("wording_own.md", "version 1", "draft", "version"),
        ("examples.toml", "version 1", "draft", "version"),
        ("examples.toml", "quotes", "cited", r"examples\.toml"),
    ],
)
def test_what_is_missing_or_unknown_is_named(folder, name, old, new, named):
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(PromptError, match=named):
        PromptSet.load(folder)


@pytest.mark.parametrize("own_words", [False, True])
def test_a_prompt_of_ones_own_without_blocks_is_sent_as_it_is(folder, own_words):
    for name in ("wording_source.md", "wording_own.md", "examples.toml"):
        (folder / name).unlink()
    text = "<!-- mine, version 1 -->\nGive chunk_id and quote, or say: $refusal"
    (folder / "answer.md").write_text(text, encoding="utf-8")
    prompts = PromptSet.load(folder)
    assert prompts.system("No.", own_words=own_words) == "Give chunk_id and quote, or say: No."


def test_wording_and_examples_of_ones_own_are_used_and_covered_by_the_fingerprint(folder):
    before = PromptSet.load(folder).fingerprint_parts
    own = "<!-- mine, version 1 -->\nSay it in verse. Costs are in $, not ${x}."
    (folder / "wording_own.md").write_text(own, encoding="utf-8")
    examples = (folder / "examples.toml").read_text(encoding="utf-8")
    (folder / "examples.toml").write_text(examples.replace("Brunnfeld", "Ystad"), encoding="utf-8")
    prompts = PromptSet.load(folder)
    assert "Say it in verse. Costs are in $, not ${x}." in prompts.system("X", own_words=True)
    assert "in verse" not in prompts.system("X")
    assert "Ystad" in prompts.system("X")
    assert len({*before, *prompts.fingerprint_parts}) == len(before) + 3


def test_a_line_with_a_note_goes_where_there_is_none(folder):
    text = "<!-- v, version 1 -->\nchunk_id quote $failed\n\nAs a whole: ${note}\n\nKept: $kept"
    (folder / "reask.md").write_text(text, encoding="utf-8")
    prompts = PromptSet.load(folder)
    assert prompts.mend(failed="F", kept="K", note="") == "chunk_id quote F\n\nKept: K"
    assert "As a whole: cut\n" in prompts.mend(failed="F", kept="K", note="cut")


def test_an_empty_refusal_is_refused(folder):
    (folder / "refusal.txt").write_text(" \n", encoding="utf-8")
    with pytest.raises(PromptError, match=r"refusal\.txt"):
        PromptSet.load(folder)


def test_a_prompt_in_another_encoding_is_refused(folder):
    (folder / "answer.md").write_bytes("<!-- caf\u00e9, version 1 -->\n".encode("latin-1"))
    with pytest.raises(PromptError, match="UTF-8"):
        PromptSet.load(folder)
