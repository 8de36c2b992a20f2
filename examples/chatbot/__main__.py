"""Starts the service: `python -m chatbot`, with this folder's parent on the path."""

from __future__ import annotations

import signal
import socket
import sys

import uvicorn
from pydantic import ValidationError
from rich.console import Console

from chatbot.app import create_app
from chatbot.corpora import open_all
from chatbot.settings import Settings
from grounded_rag import GroundedRAGError
from grounded_rag.ingest.update import IngestProgress
from grounded_rag.options import resolve_embedding

_STOP_SECONDS = 10


def main() -> int:
    """Open the corpora, print the address, and serve until told to stop."""
    screen = Console(stderr=True, markup=False, highlight=False)
    try:
        settings = Settings()
    except ValidationError as error:
        screen.print(f"error: the settings cannot be used: {error}")
        return 1
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        # From here on a visitor waits instead of being turned away.
        listener.listen()
    except OSError as error:
        listener.close()
        screen.print(f"error: cannot listen on {settings.host}:{settings.port}: {error.strerror}")
        screen.print("  next: set CHATBOT_PORT to another port, or to 0 for a free one.")
        return 1
    embedding = resolve_embedding("default")
    try:
        with screen.status("Opening the documents ...") as status:

            def tell(step: IngestProgress) -> None:
                verb = "Reading" if step.stage == "read" else "Indexing"
                status.update(f"{verb} the documents: {step.done} of {step.total} ...")

            corpora = open_all(settings, embedding=embedding, progress=tell)
    except GroundedRAGError as error:
        listener.close()
        screen.print(f"error: {error.message}\n  next: {error.hint}")
        return 1
    port = listener.getsockname()[1]
    titles = ", ".join(corpus.title for corpus in corpora.values())
    print(f"Chatbot on http://{settings.host}:{port}", flush=True)
    screen.print(f"Documents: {titles}. Generator: {settings.generator}. Stop with Ctrl-C.")
    # The server puts these back when it has stopped, and raises its signal again: that is no error.
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.signal(signal.SIGINT, lambda *_: None)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings, corpora, embedding=embedding),
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
    )
    server.run(sockets=[listener])
    screen.print("Stopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
