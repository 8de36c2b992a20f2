import anthropic
import pytest
from sse_server import SseServer

from grounded_rag import GroundedRAG, Policy, StructuredGenerator
from grounded_rag.testing import StaticRetriever

CHUNKS = {
    "hours": "The museum opens at 10:00 every day. A ticket costs 12 euros.",
    "dogs": "Dogs are not allowed in the museum.",
}


@pytest.fixture
def serve():
    """Starts a provider with scripts; returns it with a `GroundedRAG` that asks it."""
    opened = []

    def start(*scripts, policy="drop", **options):
        server = SseServer(*scripts)
        opened.append(server)
        client = anthropic.AsyncAnthropic(api_key="x", base_url=server.url, max_retries=0)
        rag = GroundedRAG(
            StaticRetriever(CHUNKS),
            generator=StructuredGenerator(client=client),
            policy=Policy(on_failed_claim=policy, **options),
        )
        opened.append(rag)
        return server, rag

    yield start
    for each in reversed(opened):
        each.close()
