"""What a model is sent, as whole texts: each way of citing, each wording, first and second try.

Change a prompt, its version line and these files together: a prompt is part of the product, and
answers recorded under one version are compared with answers of the same version only.
`UPDATE_SNAPSHOTS=1 pytest tests/generate/test_generate_prompt_snapshots.py` writes them anew.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path

import anyio
import pytest
import tiktoken

from grounded_rag import CitationsGenerator
from grounded_rag.generate import StructuredGenerator
from grounded_rag.generate.messages import estimate_tokens
from grounded_rag.protocols import FailedClaim, Reask
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Citation, Claim, Reason, Validity

FOLDER = Path(__file__).parent / "snapshots"
LEAST_TO_BE_CACHED = 2_048
FILES = {
    "copy": ("answer.md", "reask.md"),
    "label": ("labels.md", "labels_reask.md"),
    "citations": ("citations.md", "citations_reask.md"),
}
SETUPS = [(mode, own) for mode in FILES for own in (False, True)]


@pytest.fixture
def sent(script, ask, chunk):
    """The body of the request that a provider gets."""

    def send(mode, own_words, *, again=True):
        provider = script.provider(script.prose("", stop="refusal"))
        text = "Fees\n\nThe fee is 5 euros. It is re-\nturned within a week."
        passage = chunk(
            text,
            title="Fees",
            headings=("Fees",),
            validity=Validity(effective_from=dt.date(2025, 1, 1)),
        )
        cited = (Citation(chunk_id=passage.chunk.id, quote="The fee is 5 euros."),)
        reask = Reask(
            failed=(
                FailedClaim(
                    claim=Claim(text="The fee is about 5 euros.", citations=cited),
                    reason=Reason.CONTRADICTED,
                    detail="The claim is not the statement.",
                    nearest="The fee is 5 euros.",
                    chunk_id=passage.chunk.id,
                    apart=("about",),
                ),
            )
        )
        request = ask(
            "What is the fee?",
            passage,
            as_of=dt.date(2026, 1, 1),
            own_words=own_words,
            reask=reask if again else None,
        )
        generator = (
            CitationsGenerator(client=provider.client())
            if mode == "citations"
            else StructuredGenerator(client=provider.client(), quote_mode=mode)
        )
        anyio.run(generator.generate, request)
        return provider.bodies[0]

    return send


def versions(mode, own_words):
    wording = "wording_own.md" if own_words else "wording_source.md"
    names = (*FILES[mode], wording, "examples.toml")
    return [(prompts_dir() / name).read_text(encoding="utf-8").splitlines()[0] for name in names]


@pytest.mark.parametrize(("mode", "own_words"), SETUPS)
def test_a_model_is_sent_what_the_snapshot_shows(sent, mode, own_words):
    body = sent(mode, own_words)
    parts = [*versions(mode, own_words), "", body["system"][0]["text"]]
    parts += ["", "=== tools", json.dumps(body.get("tools", []), indent=1)]
    for block in body["messages"][0]["content"]:
        shown = block["text"] if block["type"] == "text" else json.dumps(block, indent=1)
        parts += ["", "=== block", shown]
    text = "\n".join(parts) + "\n"
    path = FOLDER / f"{mode}_{'own' if own_words else 'source'}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("mode", "own_words"), SETUPS)
def test_what_every_request_shares_is_long_enough_to_be_cached(sent, mode, own_words):
    estimate_tokens("sets the folder of the tokenizer's tables")
    encoding = tiktoken.get_encoding("cl100k_base")
    body = sent(mode, own_words, again=False)
    shared = body["system"][0]["text"] + json.dumps(body.get("tools", ""))
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert len(encoding.encode(shared, disallowed_special=())) >= LEAST_TO_BE_CACHED


@pytest.mark.parametrize("mode", FILES)
def test_the_wording_follows_what_can_confirm_a_claim(sent, mode):
    source, own = (sent(mode, words)["system"][0]["text"] for words in (False, True))
    assert "word for word" in source
    assert "word for word" not in own
    assert "language of the question" in own


@pytest.mark.parametrize("mode", ["copy", "label"])
def test_the_tool_says_the_same_about_words_as_the_prompt(sent, mode):
    tools = [json.dumps(sent(mode, words)["tools"]) for words in (False, True)]
    assert "as it stands" in tools[0]
    assert "plain" in tools[1]
