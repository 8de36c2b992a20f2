"""An existing LlamaIndex index, with verified answers in the place of CitationQueryEngine.

    python examples/with_llama_index.py

    - engine = CitationQueryEngine.from_args(index, similarity_top_k=3)
    + rag = GroundedRAG(LlamaIndexRetriever(index.as_retriever(similarity_top_k=3)))
    + engine = rag.as_query_engine()

What stays: `engine.query(...)`, `response.response`, `response.source_nodes`. What is new: numbers
like [1] point at quotes that were checked, and nothing else is in the response.
"""

from llama_index.core import VectorStoreIndex
from llama_index.core.schema import Document

from grounded_rag import Answer, GroundedRAG, LlamaIndexRetriever, MiniLMEmbedding

DOCUMENTS = [
    Document(
        text="The museum opens at 10:00 every day. A ticket costs 12 euros for adults.",
        metadata={"title": "Visiting", "source": "visiting.html", "updated_at": "2026-03-01"},
    ),
    Document(
        text="Dogs are not allowed in the museum. Guide dogs are welcome everywhere.",
        metadata={"title": "House rules", "source": "rules.html", "updated_at": "2026-01-15"},
    ),
]


def main() -> None:
    """Build an index as you have one already, and ask it."""
    index = VectorStoreIndex.from_documents(DOCUMENTS, embed_model=MiniLMEmbedding())
    retriever = LlamaIndexRetriever(index.as_retriever(similarity_top_k=3))

    with GroundedRAG(retriever) as rag:
        engine = rag.as_query_engine()
        for question in ("How much is a ticket for adults?", "Who painted the ceiling?"):
            response = engine.query(question)
            print(f"{question}\n  {response}")
            for node in response.source_nodes:
                print(f"  source: {node.metadata['title']} ({node.metadata['source']})")

            # The whole answer travels along, with every quote and its place.
            metadata = response.metadata or {}
            for claim in metadata["grounded_claims"]:
                print(f"  support: {claim['tier']}{', restated' if claim['restated'] else ''}")
            answer = Answer.model_validate(metadata["grounded_answer"])
            for reference in answer.references:
                print(f"  [{reference.number}] “{reference.located.quote}”")
            if answer.refusal is not None:
                print(f"  why: {answer.refusal.detail}")


if __name__ == "__main__":
    main()
