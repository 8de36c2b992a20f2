"""Writes document versions in a loop until it is killed, naming each step it begins.

Waits for one line `FOLDER TURN` on its standard input, so that the slow imports can be paid ahead.
"""

import sys

import chromadb.api.rust  # noqa: F401
from index_documents import DIMENSION, document, put, vector_of

from grounded_rag.index import store, vectors, writing

DOCUMENTS = 4
PARAGRAPHS = 16


def paragraphs(doc, turn):
    """Half of the paragraphs of a document change with every turn, and one is repeated."""
    half = range(PARAGRAPHS // 2)
    changing = [f"Clause d{doc}t{turn}n{number} of turn {turn}." for number in half]
    lasting = [f"Clause d{doc}n{number} always." for number in half]
    mixed = [part for pair in zip(changing, lasting, strict=True) for part in pair]
    return [f"All rights of d{doc} reserved.", *mixed, f"All rights of d{doc} reserved."]


class PlainEmbedding:
    """Just what the index asks of an embedding: LlamaIndex takes a second to import."""

    model_name = "text-embedding"
    dimension = DIMENSION

    def class_name(self):
        return "base_component"

    def get_text_embedding(self, text):
        return vector_of(text)


def version(doc, turn):
    return document(f"doc-{doc}", *paragraphs(doc, turn))


def say(*words):
    print(*words, flush=True)


def announced(function, name):
    def wrapper(*args, **kwargs):
        say("step", name)
        result = function(*args, **kwargs)
        say("step", name, "done")
        return result

    return wrapper


def work(folder, turn):
    embedding = PlainEmbedding()
    for place, name in (
        (writing, "stage"),
        (writing, "flip"),
        (writing, "settle"),
        (writing, "discard_pending"),
        (store, "settle"),
        (vectors.VectorIndex, "upsert"),
        (vectors.VectorIndex, "delete"),
    ):
        setattr(place, name, announced(getattr(place, name), name))
    say("step", "open")
    with store.Index.open(folder, embedding=embedding, write=True, create=True) as index:
        while True:
            turn += 1
            if turn % 3:
                for doc in range(DOCUMENTS):
                    put(index, embedding, version(doc, turn))
                    say("wrote", doc, turn)
            else:
                put(index, embedding, *(version(doc, turn) for doc in range(DOCUMENTS)))
                for doc in range(DOCUMENTS):
                    say("wrote", doc, turn)


def main():
    say("ready")
    folder, turn = sys.stdin.readline().split()
    work(folder, int(turn))


if __name__ == "__main__":
    main()
