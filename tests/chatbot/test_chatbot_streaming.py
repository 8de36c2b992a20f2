"""The service with the real Anthropic SDK, whose provider is a server of this machine."""

import json
import sys
from pathlib import Path

import anthropic
import httpx
import pytest
from browser_tools import browser, serve

from grounded_rag import StructuredGenerator

sys.path.append(str(Path(__file__).parents[1] / "streaming"))
from sse_server import Gate, SseServer, claim, end, overload, piece, start

OPENS = "The museum opens at 10:00 every day."
TICKET = "A ticket costs 12 euros."
QUESTION = "When does the museum open, and what is a ticket?"


@pytest.fixture
def museum(tmp_path):
    """Return a function that serves the chatbot over a provider that plays one script."""
    from chatbot.app import create_app
    from chatbot.corpora import open_corpus
    from chatbot.settings import Settings

    folder = tmp_path / "museum"
    folder.mkdir()
    (folder / "a.md").write_text(f"# Museum\n\n{OPENS} {TICKET}\n", encoding="utf-8")
    providers = []

    def museum(script):
        provider = SseServer(script)
        providers.append(provider)
        client = anthropic.AsyncAnthropic(api_key="x", base_url=provider.url, max_retries=0)
        settings = Settings(data=tmp_path / "data", on_failed_claim="drop")
        corpus, _ = open_corpus(
            folder,
            corpus_id="museum",
            index=tmp_path / "index",
            generator=StructuredGenerator(client=client),
            embedding=None,
            policy=settings.policy,
        )
        return serve(create_app(settings, {"museum": corpus}))

    yield museum
    for provider in providers:
        provider.close()


def events_of(lines):
    """Yield (name, data) as they come."""
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


def test_a_verified_sentence_leaves_while_the_next_is_still_being_written(museum):
    gate = Gate()

    def script(labels):
        return [
            *start(),
            piece('{"claims": [' + claim(OPENS, labels[0]) + ","),
            gate,
            piece(claim(TICKET, labels[0]) + '], "unanswered": []}'),
            *end(),
        ]

    told = []
    with (
        museum(script) as address,
        httpx.Client(base_url=address, headers={"x-chatbot": "1"}, timeout=30) as client,
    ):
        client.post("/api/session")
        body = {"question": QUESTION, "corpus": "museum"}
        with client.stream("POST", "/api/ask", json=body) as response:
            for name, data in events_of(response.iter_lines()):
                told.append((name, data))
                if name == "claim":
                    gate.open()
    # The gate was opened by the first claim: the second had not been written by then.
    assert [data["text"] for name, data in told if name == "claim"] == [OPENS, TICKET]
    assert told[-1][0] == "answer"
    assert [one["text"] for one in told[-1][1]["claims"]] == [OPENS, TICKET]


def test_when_the_provider_breaks_off_the_page_says_so_and_keeps_what_was_verified(museum):
    def script(labels):
        return [*start(), piece('{"claims": [' + claim(OPENS, labels[0]) + ","), *overload()]

    with browser() as chromium, museum(script) as address:
        page = chromium.new_page()
        page.goto(address)
        page.locator("body[data-ready]").wait_for()
        page.get_by_label("Your question").fill(QUESTION)
        page.keyboard.press("Enter")
        failure = page.locator(".answer.failure")
        failure.wait_for()
        said = failure.inner_text()
        assert OPENS in said
        assert "the answer is not complete" in said
        assert "This is not an answer." in said
        assert failure.get_by_role("button", name="Ask again").is_visible()
        page.close()
