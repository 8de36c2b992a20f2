import shutil
import sqlite3

import pytest
from index_documents import cut, document, put, vector_of
from index_helpers import assert_whole, retrieve, texts

from grounded_rag.errors import StoreError
from grounded_rag.index import writing
from grounded_rag.index.records import IndexItem
from grounded_rag.index.store import Index
from grounded_rag.index.vectors import VectorIndex


class Killed(BaseException):
    """Stands for the end of the process: nothing after it runs."""


def die(*args, **kwargs):
    raise Killed


def item(doc):
    return IndexItem(doc, cut(doc), {chunk.id: vector_of(chunk.text) for chunk in cut(doc)})


@pytest.fixture
def filled(index, embedding):
    put(
        index,
        embedding,
        document("a", "One.", "Two.", "Shared."),
        document("b", "Three.", "Three."),
    )
    return index


def test_an_audit_of_a_whole_index_finds_nothing(filled):
    report = filled.audit()
    assert report.clean
    assert not report.mended


def test_missing_and_orphan_vectors_are_found_and_mended_without_embedding(filled, embedding):
    gone = cut(document("a", "One."))[0].id
    filled._vectors.delete([gone])
    filled._vectors.upsert(["orphan"], ["x"], writing.as_rows([vector_of("y")], dimension=16))
    embedding.embedded.clear()
    report = filled.audit()
    assert (report.missing_vectors, report.orphan_vectors) == ((gone,), ("orphan",))
    assert not report.clean
    assert filled.audit(mend=True).mended
    assert filled.audit().clean
    assert_whole(filled, embedding)
    assert embedding.embedded == []


def test_lost_lexical_rows_and_leftovers_are_found_and_mended(filled, embedding):
    filled._connection.execute("DELETE FROM lexical WHERE rowid = 1")
    filled._connection.execute("INSERT INTO lexical (rowid, body) VALUES (999, 'ghost')")
    assert len(filled.audit().lexical_mismatch) == 2
    filled.audit(mend=True)
    assert filled.audit().clean
    assert_whole(filled, embedding)
    assert retrieve(filled, embedding, "ghost", signals="lexical") == []


def test_vectors_that_the_graph_no_longer_reaches_are_found_and_mended(
    filled, embedding, monkeypatch
):
    real = VectorIndex.query

    def blind(self, vectors, *, limit):
        return [hits[:0] for hits in real(self, vectors, limit=limit)]

    with monkeypatch.context() as patch:
        patch.setattr(VectorIndex, "query", blind)
        assert len(filled.audit().unreachable_vectors) == 5
        filled.audit(mend=True)
    assert filled.audit().clean
    assert_whole(filled, embedding)


def test_the_vectors_folder_can_be_deleted(folder, filled, embedding):
    filled.close()
    shutil.rmtree(folder / "vectors")
    embedding.embedded.clear()
    with pytest.raises(StoreError) as caught:
        Index.open(folder, embedding=embedding)
    assert "audit(mend=True)" in caught.value.hint
    with Index.open(folder, embedding=embedding, write=True) as index:
        assert index.audit().clean
        assert_whole(index, embedding)
    assert embedding.embedded == []


def test_a_broken_vectors_folder_is_rebuilt(folder, filled, embedding):
    filled.close()
    (folder / "vectors" / "chroma.sqlite3").write_bytes(b"broken beyond repair" * 500)
    with pytest.raises(StoreError, match="Chroma failed"):
        Index.open(folder, embedding=embedding)
    with Index.open(folder, embedding=embedding, write=True) as index:
        assert index.audit().clean
        assert_whole(index, embedding)


@pytest.mark.parametrize(
    ("owner", "name", "visible"),
    [
        (VectorIndex, "upsert", False),
        (writing, "flip", False),
        (VectorIndex, "delete", True),
        (writing, "settle", True),
    ],
)
def test_an_interrupted_batch_is_undone_or_finished(
    folder, filled, embedding, monkeypatch, owner, name, visible
):
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, die)
        # The process has no time to clean up either.
        patch.setattr(writing, "discard_pending", die)
        with pytest.raises(Killed):
            filled.replace_many([item(document("a", "New.", "Shared."))])
    with Index.open(folder, embedding=embedding) as reader:
        assert_whole(reader, embedding)
        assert len(cut(reader.document("a"))) == (2 if visible else 3)
    filled.close()
    with Index.open(folder, embedding=embedding, write=True) as index:
        assert index.audit().clean
        assert_whole(index, embedding)
        assert index.status().versions == (3 if visible else 2)


def test_an_error_while_writing_leaves_the_old_version_and_a_usable_index(
    filled, embedding, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(writing, "flip", lambda *_: (_ for _ in ()).throw(sqlite3.OperationalError))
        with pytest.raises(sqlite3.OperationalError):
            filled.replace_many([item(document("a", "New.", "Shared."))])
    assert_whole(filled, embedding)
    assert filled.audit().unfinished_versions == 0
    put(filled, embedding, document("a", "New.", "Shared."))
    assert_whole(filled, embedding)
    assert filled.audit(mend=True).mended
    assert filled.audit().clean


def test_vectors_that_chroma_did_not_take_are_noticed(filled, embedding, monkeypatch):
    collection = type(filled._vectors._opened().collection)
    monkeypatch.setattr(collection, "upsert", lambda *args, **kwargs: None)
    with pytest.raises(StoreError, match="1 of 1 vectors are not there"):
        put(filled, embedding, document("c", "Four."))
    assert set(filled.states()) == {"a", "b"}


def test_vectors_of_another_index_are_refused(folder, tmp_path, filled, embedding):
    filled.close()
    other = tmp_path / "other"
    with Index.open(other, embedding=embedding, write=True, create=True) as index:
        put(index, embedding, document("z", "Else."))
    shutil.rmtree(folder / "vectors")
    shutil.copytree(other / "vectors", folder / "vectors")
    with pytest.raises(StoreError):
        Index.open(folder, embedding=embedding)
    with Index.open(folder, embedding=embedding, write=True) as index:
        assert texts(retrieve(index, embedding, "Else.", k=9)).count("Else.") == 0
        assert_whole(index, embedding)
