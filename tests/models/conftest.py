import pytest
from tiny_model import write_model


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A folder with the tiny model, labels in the usual order, a window of 32 tokens."""
    return write_model(tmp_path_factory.mktemp("model") / "tiny-nli")
