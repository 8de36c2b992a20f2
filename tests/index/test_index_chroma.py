"""What the vector index rests on in Chroma beyond its documented calls: these fail first."""

import gc
import socket
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from grounded_rag.index.vectors import _own_spelling, _server_client, open_collection

ROWS = np.eye(3, 4, dtype=np.float32)


@pytest.fixture
def handles(tmp_path):
    opened = []

    def opening(*, create=False):
        opened.append(
            open_collection(tmp_path / "vectors", "rows", metadata={"m": "1"}, create=create)
        )
        return opened[-1]

    yield opening
    for handle in opened:
        handle.close()


def found(handle):
    answer = handle.collection.query(query_embeddings=ROWS[1:2], n_results=3, include=[])
    return set(answer["ids"][0])


def test_two_clients_of_one_folder_share_no_engine(handles):
    writer = handles(create=True)
    writer.collection.upsert(ids=["a"], embeddings=ROWS[:1])
    reader = handles()
    assert found(reader) == {"a"}
    writer.collection.upsert(ids=["b"], embeddings=ROWS[1:2])
    # An engine that both had would already search the new row.
    assert found(reader) == {"a"}
    assert found(handles()) == {"a", "b"}


def test_one_folder_is_spelled_in_ways_that_all_lead_to_it(tmp_path):
    spellings = {_own_spelling(tmp_path) for _ in range(50)}
    assert len(spellings) == 50
    assert all(Path(spelling).samefile(tmp_path) for spelling in spellings)


def open_databases(folder):
    links = [link.resolve() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return [link for link in links if link.name == "chroma.sqlite3" and folder in link.parents]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs a list of open files")
def test_a_closed_collection_leaves_no_file_open(handles, tmp_path):
    handle = handles(create=True)
    handle.collection.upsert(ids=["a"], embeddings=ROWS[:1])
    assert open_databases(tmp_path.resolve())
    handle.close()
    del handle
    gc.collect()
    assert not open_databases(tmp_path.resolve())


def test_a_stored_collection_is_cosine_and_keeps_its_mark(handles):
    handle = handles(create=True)
    handle.collection.upsert(ids=["a", "b"], embeddings=[[1, 0], [9, 0]])
    near = handles().collection.query(query_embeddings=[[2, 0]], n_results=2)
    assert near["distances"][0] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert handles().collection.metadata == {"m": "1"}


def test_a_server_that_refuses_is_asked_again_and_no_connection_stays_open():
    """The address is answered by nothing, then by something that is no Chroma."""
    _server_client.cache_clear()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        answering = threading.Thread(target=refuse, args=(listener,))
        answering.start()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                with pytest.raises(Exception, match=r"500|refused"):
                    _server_client(address)
            gc.collect()
        answering.join(timeout=10)
        assert not answering.is_alive()


def refuse(listener):
    for _ in range(2):
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 500 refused\r\nContent-Length: 7\r\n\r\nrefused")
            # With connections kept alive the client would not hang up.
            assert connection.recv(1) == b""
