"""Opening and deleting the Chroma collection of an index, in a folder or on a server.

Chroma's own clients share one engine among all clients of a folder in a process, and that engine
goes on serving what it has in memory when another process has written; those for servers leave
connections open. Here each collection has an engine of its own, which can be closed and opened
again without touching anybody else's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_HOME = {"tenant": "default_tenant", "database": "default_database"}


@dataclass(frozen=True, slots=True)
class Handle:
    """An open collection.

    Attributes:
        collection: Chroma's collection.
        batch: Most rows that it takes in one call.
        close: Lets go of everything that was opened for it.
    """

    collection: Any
    batch: int
    close: Callable[[], None]


def open_collection(
    place: Path | str, name: str, *, metadata: dict[str, str], create: bool
) -> Handle:
    """Open a collection.

    Args:
        place: Folder of the vectors, or address of a server.
        name: Name of the collection.
        metadata: What a new collection is marked with.
        create: Whether to create it where there is none.
    """
    from chromadb.api.models.Collection import Collection

    if isinstance(place, Path):
        if create:
            place.mkdir(parents=True, exist_ok=True)
        elif not place.is_dir():
            raise FileNotFoundError(f"the folder {place} is not there")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(_engine(place))
        if create:
            model = server.get_or_create_collection(
                name=name,
                metadata=metadata,
                configuration={"hnsw": {"space": "cosine"}},
                **_HOME,
            )
        else:
            model = server.get_collection(name=name, **_HOME)
        collection: Any = Collection(
            client=server, model=model, embedding_function=None, data_loader=None
        )
        return Handle(collection, server.get_max_batch_size(), stack.pop_all().close)


def delete_collection(place: str, name: str) -> None:
    """Delete a collection on a server."""
    with _engine(place) as server:
        server.delete_collection(name=name, **_HOME)


@contextlib.contextmanager
def _engine(place: Path | str) -> Iterator[Any]:
    # Imported here: Chroma takes a second to import, and BM25 alone does without it.
    from chromadb.api import ServerAPI
    from chromadb.config import Settings, System

    where = _folder(place) if isinstance(place, Path) else _address(place)
    system = System(Settings(anonymized_telemetry=False, **where))
    server: Any = system.instance(ServerAPI)  # type: ignore[type-abstract]  # looked up by it
    system.start()
    try:
        yield server
    finally:
        system.stop()
        session = getattr(server, "_session", None)
        if session is not None:
            session.close()


def _folder(folder: Path) -> dict[str, Any]:
    return {
        "chroma_api_impl": "chromadb.api.rust.RustBindingsAPI",
        "is_persistent": True,
        "persist_directory": str(folder),
    }


def _address(url: str) -> dict[str, Any]:
    parts = urlsplit(url if "//" in url else f"http://{url}")
    secure = parts.scheme == "https"
    return {
        "chroma_api_impl": "chromadb.api.fastapi.FastAPI",
        "chroma_server_host": parts.hostname or "localhost",
        "chroma_server_http_port": parts.port or (443 if secure else 8000),
        "chroma_server_ssl_enabled": secure,
    }
