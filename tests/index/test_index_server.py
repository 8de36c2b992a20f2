import contextlib
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from index_documents import document, put
from index_helpers import assert_whole

from grounded_rag.errors import StoreError
from grounded_rag.index.store import Index


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture
def server(tmp_path):
    """A real Chroma server on the loopback interface."""
    port = free_port()
    command = shutil.which("chroma", path=str(Path(sys.executable).parent))
    process = subprocess.Popen(
        [command, "run", "--path", str(tmp_path / "server"), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(f"the server ended with {process.wait(timeout=0.1)}")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(timeout=60)


@pytest.mark.slow
def test_vectors_may_lie_on_a_server(folder, embedding, server):
    with Index.open(folder, embedding=embedding, write=True, create=True, server=server) as index:
        put(index, embedding, document("a", "One.", "Two."), document("b", "Three."))
        assert index.status().server == server
        with Index.open(folder, embedding=embedding) as reader:
            assert_whole(reader, embedding)
            put(index, embedding, document("a", "One.", "Four."))
            assert_whole(reader, embedding)
        index._vectors.destroy()
        assert len(index.audit().missing_vectors) == 3
        index.audit(mend=True)
        assert_whole(index, embedding)
    assert not (folder / "vectors").exists()


def test_a_server_that_is_not_there_is_named(folder, embedding):
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(StoreError, match=r"127\.0\.0\.1") as caught:
        Index.open(folder, embedding=embedding, write=True, create=True, server=address)
    assert "Start the server" in caught.value.hint
