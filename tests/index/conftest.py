import pytest
from index_helpers import TextEmbedding

from grounded_rag.index.store import Index


@pytest.fixture
def embedding():
    return TextEmbedding(embedded=[])


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "index"


@pytest.fixture
def index(folder, embedding):
    with Index.open(folder, embedding=embedding, write=True, create=True) as opened:
        yield opened
