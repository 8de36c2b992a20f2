"""A LangChain chain keeps its retriever and its model; its output is verified, and has a receipt.

    python examples/with_langchain.py

The chain here ends in a stand-in for a model, so that nothing is called; put your own there.
"""

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from grounded_rag import Draft, GroundedRAG, RetrievedChunk, verify, verify_receipt
from grounded_rag.protocols import Generation, GenerationRequest, Query
from grounded_rag.testing import make_chunk, make_draft

DOCUMENTS = [
    Document(id="fees-1", page_content="The account costs 4 euros a month.", metadata={"page": 1}),
    Document(id="fees-2", page_content="Cash withdrawals abroad are not free.", metadata={}),
]


def stand_in(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer like a model that was told to cite: one true claim, and one cut before its "not"."""
    first, second = asked["documents"]
    return {
        "claims": [
            {"text": first.page_content, "chunk_id": first.id, "quote": first.page_content},
            {
                "text": "Cash withdrawals abroad are free.",
                "chunk_id": second.id,
                "quote": "Cash withdrawals abroad are",
            },
        ]
    }


CHAIN = RunnableLambda(stand_in)


class ChainRetriever:
    """The retriever of a chain, as a `Retriever`."""

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        """Return the documents; a real one would ask a vector store with `query.text`."""
        found = DOCUMENTS[: query.k]
        return [
            make_chunk(doc.page_content, id=str(doc.id), rank=rank)
            for rank, doc in enumerate(found, start=1)
        ]


class ChainGenerator:
    """The chain as a `Generator`: asked again, it leaves out what failed."""

    async def generate(self, request: GenerationRequest) -> Generation:
        """Return the chain's claims as a draft."""
        if request.reask is not None:
            return Generation(draft=Draft())
        output = await CHAIN.ainvoke({"question": request.question, "documents": DOCUMENTS})
        claims = [(item["text"], item["chunk_id"], item["quote"]) for item in output["claims"]]
        return Generation(draft=make_draft(*claims), model="my chain")


def main() -> None:
    """Verify what a chain returns; then let the chain answer with receipts."""
    question = "What does the account cost, and is cash abroad free?"
    output = CHAIN.invoke({"question": question, "documents": DOCUMENTS})

    # One call, on what you have: the output and the documents it was given.
    passages = [{"id": doc.id, "text": doc.page_content} for doc in DOCUMENTS]
    for verdict in verify(output, passages, question=question).claims:
        mark = "✓" if verdict.supported else "✗"
        print(f"{mark} {verdict.text}\n    {verdict.why}")
        if verdict.restatement:
            print(f"    in its place: {verdict.restatement}")

    # The same chain behind the whole pipeline. What nothing has shown is said in the words of the
    # source instead, and marked so; the answer has a receipt.
    with GroundedRAG(ChainRetriever(), generator=ChainGenerator()) as rag:
        answer = rag.query(question)
    print(f"\n{answer.to_terminal()}\n")
    receipt = answer.receipt()
    print(f"receipt {receipt.id[:12]}: {'sound' if verify_receipt(receipt).stands else 'wrong'}")


if __name__ == "__main__":
    main()
