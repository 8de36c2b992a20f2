import datetime as dt
import sqlite3

import pytest
from index_documents import cut, document, put, sha, vector_of
from index_helpers import TextEmbedding, assert_whole, retrieve, texts

from grounded_rag.errors import (
    IndexLockedError,
    IndexMismatchError,
    IndexNotFoundError,
    StoreError,
)
from grounded_rag.index.ledger import metadata_hash
from grounded_rag.index.records import IndexItem
from grounded_rag.index.store import Index
from grounded_rag.types import Section, Span, Validity


def test_what_was_written_is_read_back_unchanged(folder, index, embedding):
    text = "A\r\ncafe\u0301 \u00a0\u00ad𝒳 {{7*7}} \x00 end."
    doc = document(
        "notes",
        text,
        "Second page.",
        validity=Validity(
            effective_from=dt.date(2025, 1, 1),
            updated_at=dt.datetime(2025, 3, 1, 12, tzinfo=dt.UTC),
        ),
        title="Notes",
        sections=(Section(title="A", path=("A",), span=Span(start=0, end=3), page=1),),
        pages=(Span(start=0, end=len(text) + 2), Span(start=len(text) + 2, end=len(text) + 14)),
        headings=(Span(start=0, end=1),),
        metadata={"year": 2025, "tags": ["a", "b"], "none": None},
    )
    put(index, embedding, doc, trust="internal", recipe="paragraphs-1")
    assert index.document("notes") == doc
    chunk = cut(doc)[1]
    stored = index.chunk(chunk.id)
    assert stored.chunk == chunk
    assert stored.live
    assert [page.number for page in stored.page_spans] == [2]
    state = index.states()["notes"]
    assert state.content_hash == doc.content_hash
    assert state.metadata_hash == metadata_hash(doc, trust="internal")
    assert (state.recipe, state.chunks) == ("paragraphs-1", 2)
    assert index.entry("notes").trust == "internal"
    with Index.open(folder, embedding=embedding) as reader:
        assert reader.document("notes") == doc
    assert index.document("other") is None
    assert index.chunk("other") is None
    assert index.entry("other") is None


def test_a_new_version_replaces_the_old_one_and_embeds_only_what_changed(index, embedding):
    old = document("a", "Shared paragraph.", "The rate is 3%.")
    new = document("a", "New start.", "Shared paragraph.", "The rate is 4%.")
    put(index, embedding, old)
    put(index, embedding, new)
    assert embedding.embedded == [
        "Shared paragraph.",
        "The rate is 3%.",
        "New start.",
        "The rate is 4%.",
    ]
    assert_whole(index, embedding)
    assert index.status().vectors == index.status().chunks == 3
    assert "The rate is 3%." not in texts(retrieve(index, embedding, "The rate is 3%.", k=9))
    # The shared chunk is cited where it stands today, and where it stood for old receipts.
    shared = cut(old)[0]
    assert index.chunk(shared.id).chunk.span == cut(new)[1].span
    past = index.chunk(shared.id, document_hash=old.content_hash)
    assert past.chunk.span == shared.span
    assert not past.live
    assert index.document("a", content_hash=old.content_hash).text == old.text
    assert index.chunk(cut(old)[1].id).chunk.text == "The rate is 3%."


def test_going_back_to_an_earlier_text_embeds_nothing(index, embedding):
    first = document("a", "One.", "Two.")
    put(index, embedding, first)
    put(index, embedding, document("a", "Two.", "Three."))
    embedding.embedded.clear()
    put(index, embedding, first)
    assert embedding.embedded == []
    assert_whole(index, embedding)
    assert index.audit().clean


def test_a_second_run_over_unchanged_documents_adds_no_version(index, embedding):
    docs = [document("a", "One.", "Two."), document("b", "Three.")]
    put(index, embedding, *docs)
    before = index.status()
    embedding.embedded.clear()
    put(index, embedding, *docs)
    after = index.status()
    assert embedding.embedded == []
    assert (after.versions, after.chunks, after.vectors) == (2, 3, 3)
    assert after.versions == before.versions


def test_repeated_paragraphs_are_all_retrievable(index, embedding):
    doc = document("a", *["This is important."] * 4, "Something else.")
    put(index, embedding, doc)
    found = retrieve(index, embedding, "This is important.", k=4)
    assert [hit.chunk.text for hit in found] == ["This is important."] * 4
    assert {hit.chunk.span.start for hit in found} == {0, 20, 40, 60}


def test_equal_texts_of_different_documents_stay_apart(index, embedding):
    put(index, embedding, document("a", "Same text."), document("b", "Same text."))
    found = retrieve(index, embedding, "Same text.")
    assert {hit.chunk.doc_id for hit in found} == {"a", "b"}


def test_removed_documents_leave_retrieval_and_stay_for_receipts(index, embedding):
    doc = document("a", "Gone tomorrow.")
    put(index, embedding, doc, document("b", "Stays."))
    index.remove("a")
    assert set(index.states()) == {"b"}
    assert index.document("a") is None
    assert "Gone tomorrow." not in texts(retrieve(index, embedding, "Gone tomorrow."))
    assert index.document("a", content_hash=doc.content_hash).text == doc.text
    assert not index.chunk(cut(doc)[0].id).live
    assert index.status().vectors == 1
    assert index.audit().clean
    with pytest.raises(StoreError, match="no document 'a'"):
        index.remove("a")
    put(index, embedding, doc)
    assert_whole(index, embedding)


def test_metadata_is_corrected_without_embedding_and_what_is_left_out_is_cleared(index, embedding):
    doc = document(
        "a", "Text.", validity=Validity(superseded_by="b", valid_until=dt.date(2025, 1, 1))
    )
    put(index, embedding, doc, document("b", "Other."))
    embedding.embedded.clear()
    reviewed = Validity(reviewed_on=dt.date(2026, 1, 1))
    put(index, embedding, doc.model_copy(update={"validity": reviewed}))
    assert index.entry("a").validity == Validity(reviewed_on=dt.date(2026, 1, 1))
    renamed = doc.model_copy(update={"validity": Validity(), "title": "Zebra"})
    put(index, embedding, renamed, trust="untrusted")
    entry = index.entry("a")
    assert (entry.validity, entry.title, entry.trust) == (Validity(), "Zebra", "untrusted")
    hit = retrieve(index, embedding, "zebra", signals="lexical")[0]
    assert (hit.validity, hit.title, hit.trust) == (Validity(), "Zebra", "untrusted")
    assert index.states()["a"].metadata_hash == metadata_hash(renamed, trust="untrusted")
    assert embedding.embedded == []
    assert index.status().versions == 2


def test_ingesting_the_same_text_with_other_metadata_clears_the_old(index, embedding):
    put(index, embedding, document("a", "Text.", validity=Validity(superseded_by="b")))
    put(index, embedding, document("a", "Text.", title="New"), recipe="other")
    entry = index.entry("a")
    assert (entry.validity.superseded_by, entry.title) == (None, "New")
    assert index.states()["a"].recipe == "other"
    assert embedding.embedded == ["Text."]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc_id": "b"}, "not what stands at its place"),
        ({"span": Span(start=1, end=6)}, "not what stands at its place"),
    ],
)
def test_chunks_that_are_no_slices_are_refused(index, change, message):
    doc = document("a", "Text.")
    chunk = cut(doc)[0].model_copy(update=change)
    with pytest.raises(StoreError, match=message):
        index.replace_many([IndexItem(doc, [chunk], {chunk.id: [1.0] * 16})])
    assert index.states() == {}


def test_broken_batches_write_nothing(index, embedding):
    good = document("good", "Fine.")
    bad = document("bad", "One.", "Two.")
    one, two = cut(bad)
    vector = vector_of("x")
    batches = {
        "twice in bad": [one, one.model_copy()],
        "no vector": [one, two],
    }
    for message, chunks in batches.items():
        with pytest.raises(StoreError, match=message):
            index.replace_many(
                [
                    IndexItem(good, cut(good), {cut(good)[0].id: vector}),
                    IndexItem(bad, chunks, {one.id: vector}),
                ]
            )
    with pytest.raises(StoreError, match="twice in one batch"):
        index.replace_many([IndexItem(good, [], {}), IndexItem(good, [], {})])
    for wrong in ([float("nan")] * 16, [0.0] * 16, [1.0] * 3):
        with pytest.raises(StoreError):
            index.replace_many([IndexItem(good, cut(good), {cut(good)[0].id: wrong})])
    surrogate = good.model_copy(update={"text": "a\ud800b"})
    with pytest.raises(StoreError, match="lone surrogate at code point 1"):
        index.replace_many([IndexItem(surrogate, [], {})])
    assert index.states() == {}
    assert index.status().versions == 0
    assert index.audit().clean


def test_a_batch_that_fails_halfway_leaves_no_unfinished_version(index, embedding):
    put(index, embedding, document("a", "First."))
    index._connection.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON documents BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(sqlite3.Error, match="full"):
        put(index, embedding, document("a", "Second."))
    assert index.audit().unfinished_versions == 0
    assert index.document("a").text == "First."
    index._connection.execute("DROP TRIGGER full")
    put(index, embedding, document("a", "Second."))
    assert_whole(index, embedding)


def test_a_chunk_id_never_gets_another_text(index, embedding):
    put(index, embedding, document("a", "First."))
    doc = document("a", "Second.")
    reused = cut(doc)[0].model_copy(update={"id": cut(document("a", "First."))[0].id})
    with pytest.raises(StoreError, match="already names another text"):
        index.replace_many([IndexItem(doc, [reused], {reused.id: vector_of("Second.")})])
    assert_whole(index, embedding)


def test_one_writer_is_named_to_the_second(folder, index, embedding):
    with pytest.raises(IndexLockedError, match=r"process \d+ on "):
        Index.open(folder, embedding=embedding, write=True)
    index.close()
    Index.open(folder, embedding=embedding, write=True).close()


def test_readers_follow_the_writer(folder, index, embedding):
    put(index, embedding, document("a", "The rate is 3%."))
    with Index.open(folder, embedding=embedding) as reader:
        assert texts(retrieve(reader, embedding, "The rate is 3%.")) == ["The rate is 3%."]
        put(index, embedding, document("a", "The rate is 4%."), document("b", "More."))
        assert_whole(reader, embedding)
        assert reader.status().generation == index.status().generation
        index.remove("b")
        assert set(reader.states()) == {"a"}
        assert_whole(reader, embedding)


def test_a_reader_serves_the_older_generation_while_vectors_are_written(folder, index, embedding):
    put(index, embedding, document("a", "The rate is 3%."))
    with Index.open(folder, embedding=embedding) as reader, index._writing():
        index._write_versions(
            [
                IndexItem(
                    doc := document("a", "The rate is 4%."),
                    cut(doc),
                    {cut(doc)[0].id: vector_of("The rate is 4%.")},
                )
            ]
        )
        for signals in ("dense", "lexical"):
            found = retrieve(reader, embedding, "The rate is 4%.", signals=signals)
            assert texts(found) == ["The rate is 3%."]
        assert reader.document("a").text == "The rate is 3%."


def test_readers_cannot_write(folder, index, embedding):
    put(index, embedding, document("a", "Text."))
    with Index.open(folder, embedding=embedding) as reader:
        for action in (
            lambda: put(reader, embedding, document("b", "Text.")),
            lambda: reader.remove("a"),
            lambda: reader.audit(mend=True),
        ):
            with pytest.raises(StoreError, match="reading only"):
                action()
        # Also where the code forgets to ask: the ledger itself refuses.
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._connection.execute("UPDATE documents SET trust = 'official'")


def test_another_model_is_refused_with_the_mend(folder, index, embedding):
    put(index, embedding, document("a", "Text."))
    index.close()
    other = TextEmbedding(model_name="other")
    larger = TextEmbedding(dimension=8)
    for wrong in (other, larger):
        with pytest.raises(IndexMismatchError, match="made by text-embedding") as caught:
            Index.open(folder, embedding=wrong)
        assert "ingest into a new folder" in caught.value.hint
    with Index.open(folder) as reader:
        assert reader.status().embedding.dimension == 16


def test_an_index_without_embedding_searches_words_and_says_so(folder, embedding):
    with Index.open(folder, write=True, create=True) as index:
        doc = document("a", "The rate is 3%.", "Fees apply.")
        assert index.missing_vectors([chunk.id for chunk in cut(doc)]) == set()
        put(index, embedding, doc)
        assert texts(retrieve(index, None, "what is the rate?")) == ["The rate is 3%."]
        assert index.status().lexical_only
        assert index.audit().clean
    assert embedding.embedded == []
    assert not (folder / "vectors").exists()
    with pytest.raises(IndexMismatchError, match="without an embedding"):
        Index.open(folder, embedding=embedding)


def test_missing_and_foreign_folders(tmp_path, folder, embedding):
    with pytest.raises(IndexNotFoundError, match="no index") as caught:
        Index.open(folder, embedding=embedding)
    assert "ingest" in caught.value.hint
    with pytest.raises(IndexNotFoundError):
        Index.open(folder, embedding=embedding, write=True)
    assert not folder.exists()
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be made a folder"):
        Index.open(tmp_path / "file", write=True, create=True)


def test_another_schema_version_is_refused(folder, index):
    index.close()
    connection = sqlite3.connect(folder / "ledger.sqlite3", isolation_level=None)
    connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    connection.close()
    for write in (False, True):
        with pytest.raises(IndexMismatchError, match="schema version 99"):
            Index.open(folder, write=write)


def test_a_file_that_is_no_database_is_an_error_with_the_next_step(folder):
    folder.mkdir()
    (folder / "ledger.sqlite3").write_bytes(b"this is no database, and long enough to tell" * 9)
    for write in (False, True):
        with pytest.raises(StoreError) as caught:
            Index.open(folder, write=write, create=write)
        assert caught.value.hint


def test_a_closed_index_says_so(index):
    index.close()
    index.close()
    with pytest.raises(StoreError, match="is closed"):
        index.states()
    with pytest.raises(StoreError, match="is closed"):
        index.remove("a")


def test_status_counts(index, embedding):
    put(
        index,
        embedding,
        document("a", "One.", "Two."),
        document("b", "Three.", validity=Validity(reviewed_on=dt.date(2026, 1, 1))),
    )
    put(index, embedding, document("a", "One."))
    status = index.status()
    assert (status.documents, status.chunks, status.versions, status.vectors) == (2, 2, 3, 2)
    assert (status.dated, status.undated) == (1, 1)
    assert status.embedding.name == "text-embedding"
    assert status.bytes_on_disk > 10_000
    assert sha("One.") == index.states()["a"].content_hash


@pytest.mark.parametrize(
    ("field", "old", "new"), [("title", "Aardvark", "Zebra"), ("headings", "Aardvark", "Zebra")]
)
def test_a_chunk_that_stays_is_found_by_its_new_context_and_not_by_the_old(
    index, embedding, field, old, new
):
    """Both chunks stay, and the text around them changes: their rows must follow."""
    for word, last in ((old, "Gone."), (new, "Come.")):
        doc = document("a", "Stays.", last, title=word if field == "title" else "Same")
        chunks = [
            chunk.model_copy(update={"headings": (word if field == "headings" else "Same",)})
            for chunk in cut(doc)
        ]
        vectors = {chunk.id: vector_of(chunk.text) for chunk in chunks}
        index.replace_many([IndexItem(doc, chunks, vectors)])
    assert "Stays." in texts(retrieve(index, embedding, new, signals="lexical"))
    assert retrieve(index, embedding, old, signals="lexical") == []
    assert index.audit().clean
