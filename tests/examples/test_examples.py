"""The examples run as they are, without a key, and print what they promise."""

import asyncio
import importlib
import json

import pytest

from grounded_rag import update_index
from grounded_rag.resources import default_refusal


@pytest.fixture
def printed(capsys):
    def run(name):
        importlib.import_module(name).main()
        return capsys.readouterr().out

    return run


def test_quickstart_answers_flags_refuses_and_checks_its_receipt(printed):
    shown = printed("quickstart")
    assert "The notice period is six weeks to the end of a month. [1]" in shown
    assert "leaving.md[11:64] == 'The notice period is six weeks to the end of a month.'" in shown
    assert "expired: The source was valid until 2024-12-31." in shown
    assert default_refusal() in shown
    assert "The receipt stands." in shown
    assert "six weeks became eight weeks" in shown


def test_an_existing_llama_index_gives_verified_answers(printed):
    shown = printed("with_llama_index")
    assert "A ticket costs 12 euros for adults. [1]" in shown
    assert "source: Visiting (visiting.html)" in shown
    assert "support: verbatim" in shown
    assert default_refusal() in shown


def test_the_output_of_a_langchain_chain_is_verified(printed):
    shown = printed("with_langchain")
    assert "✓ The account costs 4 euros a month." in shown
    assert "✗ Cash withdrawals abroad are free." in shown
    assert "in its place: Cash withdrawals abroad are not free." in shown
    assert "Cash withdrawals abroad are not free. [2] (in the source’s words)" in " ".join(
        shown.split()
    )
    assert shown.rstrip().endswith("sound")


def test_a_check_of_ones_own_vetoes(printed):
    shown = printed("custom_check")
    assert "✓ A ticket costs 12 euros." in shown
    assert "A price from A visitor's blog, which is no price list." in shown
    assert "✓ We had a lovely day." in shown


def test_a_client_of_ones_own_is_asked_again(printed):
    shown = printed("own_client")
    assert "asked again" in shown
    assert "A ticket costs 12 euros. [1]" in shown
    assert "8 euros" not in shown


@pytest.fixture
def service(tmp_path, monkeypatch):
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leaving.md").write_text(
        "# Leaving\n\nThe notice period is six weeks.\n", encoding="utf-8"
    )
    update_index([folder], index=tmp_path / "index", embedding=None)
    monkeypatch.setenv("GROUNDED_RAG_INDEX", str(tmp_path / "index"))
    return importlib.import_module("fastapi_service")


def test_the_service_prints_its_routes_and_an_answer(service, capsys):
    asyncio.run(service.main())
    shown = capsys.readouterr().out
    assert "POST  /answers " in shown
    assert '"status": "refused"' in shown


def call(service, method, path, body=None):
    """Make one request to the application itself, as a server would."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "scheme": "http",
    }

    async def run():
        async with service.lifespan(service.app):
            await service.app(scope, receive, send)

    asyncio.run(run())
    return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:]).decode()


def test_the_service_answers_streams_and_names_errors(service):
    asked = {"question": "How long is the notice period?", "as_of": "2026-11-29"}
    status, body = call(service, "POST", "/answers", asked)
    assert status == 200
    assert json.loads(body)["text"] == "The notice period is six weeks. [1]"
    assert "trace" not in json.loads(body)
    status, body = call(service, "POST", "/answers/stream", asked)
    kinds = [line.removeprefix("event: ") for line in body.splitlines() if "event: " in line]
    assert kinds == ["retrieved", "drafting", "claim_verified", "final"]
    status, body = call(service, "POST", "/answers", {"question": "  "})
    assert status == 422
    assert "empty" in json.loads(body)["error"]
    status, body = call(service, "GET", "/health")
    assert json.loads(body)["documents"] == 1


def test_the_service_is_described_by_openapi(service):
    described = service.app.openapi()
    answer = described["paths"]["/answers"]["post"]["responses"]["200"]["content"]
    assert answer["application/json"]["schema"]["$ref"].endswith("/Answer")
    assert {"Answer", "ClaimVerdict", "Located", "Failure"} <= set(
        described["components"]["schemas"]
    )
