"""The comparison of candidates by their word pieces, alone and inside an index."""

import numpy as np
from index_documents import DIMENSION, cut, document
from index_helpers import TextEmbedding, retrieve, texts

from grounded_rag.index.embedding import MiniLMEmbedding
from grounded_rag.index.pieces import by_pieces, packed
from grounded_rag.index.records import IndexItem
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import update_index
from grounded_rag.text.words import TokenVectors


def vectors(*rows, ranks=None):
    values = np.array(rows, dtype=np.float32)
    return TokenVectors(
        rows=values / np.linalg.norm(values, axis=1, keepdims=True),
        mean=values.mean(axis=0),
        places=tuple((n, n + 1) for n in range(len(rows))),
        ranks=ranks or (30_000,) * len(rows),
    )


UP, DOWN, MIXED = [1.0] * 10, [-1.0] * 10, [1.0, -1.0] * 5


def signs(*rows):
    return packed(np.array(rows))


def test_the_nearest_piece_of_a_chunk_counts_whatever_else_it_holds():
    chunks = {"far": signs(DOWN, MIXED), "near": signs(DOWN, DOWN, UP), "half": signs(MIXED)}
    assert by_pieces(vectors(UP), chunks) == ["near", "far", "half"]


def test_a_rare_piece_of_the_question_counts_more():
    chunks = {"common": signs(DOWN), "rare": signs(UP)}
    asked = vectors(UP, DOWN, ranks=(29_000, 1_000))
    assert by_pieces(asked, chunks) == ["rare", "common"]
    assert by_pieces(vectors(UP, DOWN, ranks=(1_000, 29_000)), chunks) == ["common", "rare"]


def test_what_has_no_pieces_is_left_out():
    assert by_pieces(vectors(UP), {"none": b"", "one": signs(UP)}) == ["one"]
    assert by_pieces(vectors(UP), {}) == []


class PieceEmbedding(TextEmbedding):
    """Vectors that say nothing, and word pieces that do."""

    def token_vectors(self, texts):
        return [vectors([1.0] * DIMENSION) for _ in texts]


def test_candidates_are_put_into_order_by_their_pieces(folder):
    embedding = PieceEmbedding()
    doc = document("a", "The rate is low.", "The rate is fair.", "The rate is high.")
    worst, wanted, _ = cut(doc)
    with Index.open(folder, embedding=embedding, write=True, create=True) as index:
        row = {chunk.id: [1.0] * DIMENSION for chunk in cut(doc)}
        pieces = {chunk.id: signs([1.0, -1.0] * (DIMENSION // 2)) for chunk in cut(doc)}
        pieces[wanted.id] = signs([1.0] * DIMENSION)
        pieces[worst.id] = signs([-1.0] * DIMENSION)
        index.replace_many([IndexItem(doc, cut(doc), row, pieces)])
        found = retrieve(index, embedding, "rate")
        assert texts(found)[0] == wanted.text
        # It finds nothing that the others have not found.
        assert found[0].sources == ("dense", "lexical")
        dense = retrieve(index, embedding, "rate", signals="dense")
        assert texts(dense)[0] != wanted.text


def test_ingestion_keeps_the_pieces_of_the_built_in_embedding(tmp_path, folder):
    (tmp_path / "a.txt").write_text("The savings rate is 3%.", encoding="utf-8")
    embedding = MiniLMEmbedding()
    update_index([tmp_path / "a.txt"], index=folder, embedding=embedding)
    with Index.open(folder, embedding=embedding) as index, index.view() as view:
        ((chunk_id, _),) = view.ledger.retrievable().items()
        kept = view.ledger.pieces([chunk_id])[chunk_id]
    length = embedding.count_tokens("a\n\nThe savings rate is 3%.") - 2
    assert len(kept) == length * embedding.dimension // 8
