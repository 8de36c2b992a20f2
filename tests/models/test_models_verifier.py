"""`Verifier`: checks and deciders as one object; and what `verify` alone does not load."""

import subprocess
import sys

import anyio

from grounded_rag import OnnxEntailment, Tier, Verifier

CHUNKS = [{"id": "c1", "text": "Admission is priced at twelve euros."}]
DRAFT = [
    {
        "text": "Priced at twelve euros: admission.",
        "chunk_id": "c1",
        "quote": "Admission is priced at twelve euros.",
    }
]


def test_blocking_and_asynchronous_give_the_same(tiny):
    with Verifier(entailment=OnnxEntailment(tiny)) as verifier:
        first = verifier.verify(DRAFT, CHUNKS)
        again = verifier.verify(DRAFT, CHUNKS, as_of="2026-11-29")

        async def run():
            # A blocking call inside a running loop works too: it has a loop of its own.
            return await verifier.averify(DRAFT, CHUNKS), verifier.verify(DRAFT, CHUNKS)

        twin, inside = anyio.run(run)
    assert first.claims[0].tier is Tier.CONFIRMED
    assert first == twin == inside
    assert {flag.kind for flag in again.flags} == {"undated"}


def test_verify_alone_loads_nothing_of_the_stage():
    code = (
        "import sys\nfrom grounded_rag import verify\n"
        "verify([{'text': 'It is so.', 'chunk_id': 'c', 'quote': 'It is so.'}],"
        " [{'id': 'c', 'text': 'It is so.'}])\n"
        "print(*sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    loaded = set(result.stdout.split())
    assert not loaded & {"anyio", "numpy", "onnxruntime", "tokenizers", "instructor", "asyncio"}
