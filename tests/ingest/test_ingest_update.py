"""Ingestion over real files, SQLite and Chroma: what is reported, kept and refused."""

import pytest

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import IndexLockedError, IndexMismatchError, InputError, ReadError
from grounded_rag.index.store import Index
from grounded_rag.ingest.update import update_index
from grounded_rag.testing import HashEmbedding


class Counting(HashEmbedding):
    def _get_text_embedding(self, text):
        SEEN.append(text)
        return super()._get_text_embedding(text)


SEEN: list[str] = []


@pytest.fixture
def folder(tmp_path):
    SEEN.clear()
    root = tmp_path / "handbook"
    root.mkdir()
    (root / "hours.md").write_text("# Hours\n\nThe desk opens at 09:00.\n", encoding="utf-8")
    (root / "fees.txt").write_text("A copy costs 2 euros.\n", encoding="utf-8")
    return root


def run(folder, tmp_path, **options):
    return update_index([folder], index=tmp_path / "index", embedding=Counting(), **options)


def live(tmp_path):
    with Index.open(tmp_path / "index", embedding=HashEmbedding()) as index:
        return set(index.states())


def test_a_second_run_embeds_nothing(folder, tmp_path):
    first = run(folder, tmp_path)
    assert (first.added, first.embedded) == (("fees.txt", "hours.md"), 2)
    SEEN.clear()
    second = run(folder, tmp_path)
    assert (second.unchanged, second.embedded, SEEN) == (("fees.txt", "hours.md"), 0, [])


def test_added_changed_and_removed_files_are_reported(folder, tmp_path):
    run(folder, tmp_path)
    (folder / "hours.md").write_text("# Hours\n\nThe desk opens at 10:00.\n", encoding="utf-8")
    (folder / "fees.txt").unlink()
    (folder / "new.txt").write_text("Dogs are welcome.\n", encoding="utf-8")
    report = run(folder, tmp_path)
    assert report.added == ("new.txt",)
    assert report.changed == ("hours.md",)
    assert report.removed == ("fees.txt",)
    assert live(tmp_path) == {"hours.md", "new.txt"}


def test_new_dates_alone_embed_nothing(folder, tmp_path):
    run(folder, tmp_path)
    (folder / "manifest.toml").write_text(
        '[[document]]\npath = "fees.txt"\nvalid_until = 2025-01-31\n', encoding="utf-8"
    )
    report = run(folder, tmp_path)
    assert report.metadata_changed == ("fees.txt",)
    assert report.embedded == 0
    with Index.open(tmp_path / "index", embedding=HashEmbedding()) as index:
        assert str(index.entry("fees.txt").validity.valid_until) == "2025-01-31"


def test_an_undecodable_file_is_named_with_its_byte_and_the_others_are_kept(folder, tmp_path):
    (folder / "bad.txt").write_bytes(b"ok \x00 binary")
    report = run(folder, tmp_path)
    (failure,) = report.failed
    assert failure.path == "bad.txt"
    assert failure.error == "UndecodableError"
    assert "0x00" in failure.message
    assert "3" in failure.message
    assert live(tmp_path) == {"fees.txt", "hours.md"}


def test_where_no_file_can_be_read_nothing_is_written(tmp_path):
    root = tmp_path / "broken"
    root.mkdir()
    for name in ("a.txt", "b.txt"):
        (root / name).write_bytes(b"\x00\x01")
    with pytest.raises(ReadError, match=r"a\.txt"):
        run(root, tmp_path)
    assert not (tmp_path / "index").exists()


def test_a_new_way_of_cutting_writes_unchanged_files_again(folder, tmp_path, monkeypatch):
    from grounded_rag.ingest import update

    run(folder, tmp_path)
    monkeypatch.setattr(update, "RECIPE", "a later one")
    assert run(folder, tmp_path).changed == ("fees.txt", "hours.md")
    assert run(folder, tmp_path).unchanged == ("fees.txt", "hours.md")


def test_what_does_not_hold_takes_no_place_where_it_is_excluded(folder, tmp_path):
    (folder / "manifest.toml").write_text(
        '[[document]]\npath = "fees.txt"\nvalid_until = 2025-01-31\n', encoding="utf-8"
    )
    (folder / "prices.txt").write_text("For a copy we ask 3 euros.\n", encoding="utf-8")
    update_index([folder], index=tmp_path / "index", embedding=None)
    found = {}
    for stale in ("flag", "exclude"):
        with GroundedRAG.open(
            tmp_path / "index", embedding=None, policy=Policy(stale=stale, k=1)
        ) as rag:
            answer = rag.query("What does a copy cost in euros?", as_of="2026-01-01")
        found[stale] = [chunk.chunk.doc_id for chunk in answer.trace.retrieved]
    assert found == {"flag": ["fees.txt"], "exclude": ["prices.txt"]}


def test_a_file_that_breaks_keeps_its_earlier_version(folder, tmp_path):
    run(folder, tmp_path)
    (folder / "fees.txt").write_bytes(b"\x00\x01")
    report = run(folder, tmp_path)
    assert [failure.path for failure in report.failed] == ["fees.txt"]
    assert report.removed == ()
    assert live(tmp_path) == {"fees.txt", "hours.md"}


def test_strict_raises_before_anything_is_written(folder, tmp_path):
    (folder / "bad.txt").write_bytes(b"\x00")
    with pytest.raises(ReadError, match=r"bad\.txt"):
        run(folder, tmp_path, strict=True)
    assert not (tmp_path / "index").exists()


def test_unknown_suffixes_are_listed_and_skipped_or_an_error(folder, tmp_path):
    (folder / "table.xlsx").write_bytes(b"PK")
    report = run(folder, tmp_path)
    assert [item.path for item in report.skipped] == ["table.xlsx"]
    with pytest.raises(ReadError, match=r"table\.xlsx"):
        run(folder, tmp_path, strict=True)


@pytest.mark.parametrize("make", [False, True])
def test_a_missing_or_empty_folder_says_what_to_do(tmp_path, make):
    folder = tmp_path / "nothing"
    if make:
        folder.mkdir()
    with pytest.raises(InputError) as error:
        update_index([folder], index=tmp_path / "index", embedding=None)
    assert error.value.hint
    assert not (tmp_path / "index").exists()


def test_two_folders_with_the_same_file_name_do_not_replace_each_other(folder, tmp_path):
    run(folder, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "fees.txt").write_text("A copy costs 3 euros.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"fees\.txt is in the index already"):
        update_index([other], index=tmp_path / "index", embedding=HashEmbedding())
    assert live(tmp_path) == {"fees.txt", "hours.md"}


def test_a_single_file_is_added_without_removing_the_rest(folder, tmp_path):
    run(folder, tmp_path)
    note = tmp_path / "note.txt"
    note.write_text("The lift is out of order.\n", encoding="utf-8")
    report = update_index([note], index=tmp_path / "index", embedding=HashEmbedding())
    assert report.added == ("note.txt",)
    assert live(tmp_path) == {"fees.txt", "hours.md", "note.txt"}


def test_an_index_of_another_embedding_is_refused_with_the_mend(folder, tmp_path):
    run(folder, tmp_path)
    for other in (HashEmbedding(dimension=32), HashEmbedding(model_name="other"), None):
        with pytest.raises(IndexMismatchError) as error:
            update_index([folder], index=tmp_path / "index", embedding=other)
        assert error.value.hint


def test_a_second_writer_is_refused_by_name(folder, tmp_path):
    run(folder, tmp_path)
    with (
        Index.open(tmp_path / "index", embedding=HashEmbedding(), write=True),
        pytest.raises(IndexLockedError, match=r"\d+"),
    ):
        run(folder, tmp_path)


def test_progress_is_told_for_each_stage(folder, tmp_path):
    steps = []
    run(folder, tmp_path, progress=steps.append)
    assert [step.stage for step in steps if step.done == step.total] == ["read", "embed"]


def test_words_only_is_announced(folder, tmp_path):
    report = update_index([folder], index=tmp_path / "index", embedding=None)
    assert report.words_only
    assert report.embedded == 0


def test_a_second_folder_of_the_same_name_takes_nothing_away(folder, tmp_path):
    run(folder, tmp_path)
    twin = tmp_path / "elsewhere" / "handbook"
    twin.mkdir(parents=True)
    (twin / "lift.txt").write_text("The lift is out of order.\n", encoding="utf-8")
    report = update_index([twin], index=tmp_path / "index", embedding=HashEmbedding())
    assert report.removed == ()
    assert live(tmp_path) == {"fees.txt", "hours.md", "lift.txt"}


def test_one_name_in_two_folders_of_one_call_is_refused_before_anything_is_written(
    folder, tmp_path
):
    other = tmp_path / "other"
    other.mkdir()
    (other / "fees.txt").write_text("A copy costs 3 euros.\n", encoding="utf-8")
    with pytest.raises(InputError, match="there twice"):
        update_index([folder, other], index=tmp_path / "index", embedding=HashEmbedding())
    assert not (tmp_path / "index").exists()
