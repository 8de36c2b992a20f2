"""Opening and deleting the Chroma collection of an index, in a folder or on a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_TENANT = "default_tenant"
_DATABASE = "default_database"


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


def open_in_folder(
    folder: Path, name: str, *, metadata: dict[str, str] | None, create: bool
) -> Handle:
    """Open a collection in a folder of its own.

    Chroma shares one engine among all clients of a folder in a process, and that engine goes on
    serving what it has in memory when another process has written. An engine of one's own can be
    closed and opened again without touching anybody else's.

    Args:
        folder: Folder of the vectors.
        name: Name of the collection.
        metadata: What a new collection is marked with.
        create: Whether to create it where there is none.
    """
    # Imported here: Chroma takes a second to import, and BM25 alone does without it.
    from chromadb.api import ServerAPI
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings, System

    if create:
        folder.mkdir(parents=True, exist_ok=True)
    elif not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} is not there")
    system = System(
        Settings(
            chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
            is_persistent=True,
            persist_directory=str(folder),
            anonymized_telemetry=False,
        )
    )
    server = system.instance(ServerAPI)  # type: ignore[type-abstract]  # looked up by it
    system.start()
    try:
        if create:
            model = server.get_or_create_collection(
                name=name,
                metadata=dict(metadata or {}),
                configuration={"hnsw": {"space": "cosine"}},
                tenant=_TENANT,
                database=_DATABASE,
            )
        else:
            model = server.get_collection(name=name, tenant=_TENANT, database=_DATABASE)
        collection: Any = Collection(
            client=server, model=model, embedding_function=None, data_loader=None
        )
        return Handle(collection, server.get_max_batch_size(), system.stop)
    except BaseException:
        system.stop()
        raise


def open_on_server(url: str, name: str, *, metadata: dict[str, str] | None, create: bool) -> Handle:
    """Open a collection on a Chroma server; the arguments are those of `open_in_folder`."""
    client = _client(url)
    try:
        collection: Any
        if create:
            collection = client.get_or_create_collection(
                name,
                metadata=dict(metadata or {}),
                embedding_function=None,
                configuration={"hnsw": {"space": "cosine"}},
            )
        else:
            collection = client.get_collection(name, embedding_function=None)
        return Handle(collection, client.get_max_batch_size(), client.close)
    except BaseException:
        client.close()
        raise


def delete_on_server(url: str, name: str) -> None:
    """Delete a collection on a Chroma server."""
    client = _client(url)
    try:
        client.delete_collection(name)
    finally:
        client.close()


def _client(url: str) -> Any:
    import chromadb
    from chromadb.config import Settings

    parts = urlsplit(url if "//" in url else f"http://{url}")
    secure = parts.scheme == "https"
    return chromadb.HttpClient(
        host=parts.hostname or "localhost",
        port=parts.port or (443 if secure else 8000),
        ssl=secure,
        settings=Settings(anonymized_telemetry=False),
    )
