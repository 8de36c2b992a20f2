import importlib.util
import json

import pytest

_MISSING = [name for name in ("fastapi", "uvicorn") if importlib.util.find_spec(name) is None]
collect_ignore_glob = ["test_*.py"] if _MISSING else []


def events(response):
    """Return the server-sent events of a response as (name, data) pairs."""
    found = []
    for part in response.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in part.splitlines())
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory):
    from chatbot_corpus import write_corpus

    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder)
    return folder


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory, corpus_folder):
    from grounded_rag import update_index

    folder = tmp_path_factory.mktemp("index") / "index"
    update_index([corpus_folder], index=folder, embedding=None)
    return folder


@pytest.fixture
def planned():
    from chatbot_corpus import PlannedGenerator

    return PlannedGenerator()


@pytest.fixture
def make_app(corpus_folder, index_folder, planned, tmp_path):
    """Return a function that makes the service over the test corpus, closed afterwards."""
    from chatbot.api import SERVICE
    from chatbot.app import create_app
    from chatbot.corpora import open_corpus
    from chatbot.settings import Settings

    made = []

    def make(**settings):
        corpus, _ = open_corpus(
            corpus_folder,
            corpus_id="test",
            index=index_folder,
            generator=planned,
            embedding=None,
        )
        app = create_app(Settings(data=tmp_path / "data", **settings), {"test": corpus})
        made.append(getattr(app.state, SERVICE))
        return app

    yield make
    for service in made:
        service.close()


@pytest.fixture
def visitors(make_app):
    """Return a function that makes a browser-like client, each with a session of its own."""
    import httpx

    apps = {}

    async def visit(*, start=True, **settings):
        key = json.dumps(settings, sort_keys=True)
        app = apps.setdefault(key, None) or make_app(**settings)
        apps[key] = app
        client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://127.0.0.1",
            headers={"x-chatbot": "1"},
        )
        if start:
            assert (await client.post("/api/session")).status_code == 200
        client.app = app
        return client

    return visit


@pytest.fixture
def ask():
    async def ask(client, question, **more):
        body = {"question": question, "corpus": "test", **more}
        response = await client.post("/api/ask", json=body)
        assert response.status_code == 200, response.text
        return events(response)

    return ask
