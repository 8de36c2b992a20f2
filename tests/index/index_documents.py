"""Documents and chunks for tests of the index, light enough for processes that are killed."""

import hashlib

import numpy as np

from grounded_rag.index.records import IndexItem
from grounded_rag.types import Chunk, Document, Span, Validity

DIMENSION = 16


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def vector_of(text):
    """Return a random unit vector for a text, the same in every process."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (vector / np.linalg.norm(vector)).tolist()


UNDATED = Validity()


def document(doc_id, *paragraphs, validity=UNDATED, title="", **fields):
    text = "\n\n".join(paragraphs)
    return Document(
        id=doc_id,
        source=f"{doc_id}.md",
        title=title or doc_id,
        text=text,
        content_hash=sha(text),
        validity=validity,
        **fields,
    )


def cut(doc):
    """Return one chunk a paragraph, with ids as the design defines them."""
    chunks, start, seen = [], 0, {}
    for paragraph in doc.text.split("\n\n"):
        seen[paragraph] = seen.get(paragraph, 0) + 1
        chunks.append(
            Chunk(
                id=sha(f"{doc.id}\0{paragraph}\0{seen[paragraph]}")[:32],
                doc_id=doc.id,
                span=Span(start=start, end=start + len(paragraph)),
                text=paragraph,
                content_hash=sha(paragraph),
                headings=("Section",),
            )
        )
        start += len(paragraph) + 2
    return chunks


def put(index, embedding, *documents, trust="official", recipe=""):
    """Ingest as the orchestration does: embed only what is missing, write one batch."""
    items = []
    for doc in documents:
        chunks = cut(doc)
        missing = index.missing_vectors([chunk.id for chunk in chunks])
        vectors = {
            chunk.id: embedding.get_text_embedding(chunk.text)
            for chunk in chunks
            if chunk.id in missing
        }
        items.append(
            IndexItem(document=doc, chunks=chunks, vectors=vectors, trust=trust, recipe=recipe)
        )
    index.replace_many(items)
