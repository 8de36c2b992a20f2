"""A running service and a real browser for it; each test skips clearly where one is missing."""

import contextlib
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

CHROMIUM = next(
    (
        path
        for path in (
            os.environ.get("CHATBOT_CHROMIUM"),
            shutil.which("chromium"),
            shutil.which("chromium-browser"),
            shutil.which("google-chrome"),
        )
        if path
    ),
    None,
)
AXE = next(
    (
        path
        for path in (
            Path(os.environ.get("CHATBOT_AXE", "node_modules/axe-core/axe.min.js")),
            Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js",
        )
        if path.is_file()
    ),
    None,
)


@contextlib.contextmanager
def serve(app):
    """Serve an app on a free port of this machine; yields its address."""
    import uvicorn

    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="warning", timeout_graceful_shutdown=5, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    ready = threading.Event()
    deadline = time.monotonic() + 30
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        ready.wait(0.02)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()


@contextlib.contextmanager
def browser():
    """Start Chromium; its pages run with the rights of any visitor's."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield launched
        finally:
            launched.close()
