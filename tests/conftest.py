import pytest
from hypothesis import settings

# A deadline would time the machine, not the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture
def anyio_backend():
    return "asyncio"
