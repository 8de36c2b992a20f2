import os
from pathlib import Path

import pytest

from grounded_rag.errors import (
    InputError,
    ManifestError,
    NoTextError,
    ReadError,
    UnsupportedFormatError,
)
from grounded_rag.ingest import MANIFEST_NAME, read_document, scan


def write(root, **files):
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_md", ".md").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def ids(found):
    return [file.doc_id for file in found.files]


def test_readable_files_of_all_depths_are_found_in_order(tmp_path):
    write(tmp_path, b_md="# B", a__x_txt="x", a__deep__Y_md="y")
    (tmp_path / "Z.HTM").write_text("z", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"x")
    (tmp_path / "Makefile").write_text("all:", encoding="utf-8")
    (tmp_path / ".hidden.md").write_text("x", encoding="utf-8")
    write(tmp_path / ".git", x_md="x")
    found = scan(tmp_path)
    assert ids(found) == ["Z.HTM", "a/deep/Y.md", "a/x.txt", "b.md"]
    assert [(file.path, file.reason) for file in found.skipped] == [
        ("Makefile", "no reader for files without a suffix"),
        ("picture.png", "no reader for .png"),
    ]
    assert found.files[0].size == 1


def test_without_a_manifest_a_readme_is_a_document(tmp_path):
    write(tmp_path, README_md="# Hello")
    assert ids(scan(tmp_path)) == ["README.md"]


def test_with_a_manifest_what_stands_beside_it_is_no_document(tmp_path):
    write(tmp_path, README_md="r", a_md="a", sub__README_md="s")
    (tmp_path / "golden.jsonl").write_text("{}", encoding="utf-8")
    (tmp_path / MANIFEST_NAME).write_text('[[document]]\npath = "a.md"\n', encoding="utf-8")
    found = scan(tmp_path, strict=True)
    assert ids(found) == ["a.md", "sub/README.md"]
    assert found.files[0].entry is not None
    assert found.files[1].entry is None


def test_with_a_manifest_and_docs_only_these_are_documents(tmp_path):
    write(tmp_path, docs__a_md="a", notes_md="n", listed_md="l")
    (tmp_path / "build.py").write_text("x", encoding="utf-8")
    (tmp_path / MANIFEST_NAME).write_text('[[document]]\npath = "listed.md"\n', encoding="utf-8")
    assert ids(scan(tmp_path, strict=True)) == ["docs/a.md", "listed.md"]


def test_a_listed_file_that_is_missing_is_an_error(tmp_path):
    write(tmp_path, a_md="a")
    (tmp_path / MANIFEST_NAME).write_text('[[document]]\npath = "b.md"\n', encoding="utf-8")
    with pytest.raises(ManifestError, match=r"lists 'b\.md', which is not there"):
        scan(tmp_path)


def test_strict_names_what_cannot_be_read(tmp_path):
    write(tmp_path, a_md="a")
    (tmp_path / "x.xlsx").write_bytes(b"x")
    (tmp_path / "y.xlsx").write_bytes(b"x")
    with pytest.raises(UnsupportedFormatError, match=r"2 files: no reader for .xlsx \(x.xlsx"):
        scan(tmp_path, strict=True)


@pytest.mark.parametrize("names", [[], ["x.xlsx"]])
def test_a_folder_without_anything_to_read_is_an_error_that_helps(tmp_path, names):
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError, match="nothing to read") as caught:
        scan(tmp_path)
    assert ".pdf" in caught.value.hint
    assert all(name in caught.value.message for name in names)


def test_a_missing_folder_is_an_error_that_names_it(tmp_path):
    with pytest.raises(InputError, match=r"There is no .*gone"):
        scan(tmp_path / "gone")


def test_a_single_file_is_taken_with_its_line_of_the_manifest(tmp_path):
    write(tmp_path, a_md="a", b_md="b")
    (tmp_path / MANIFEST_NAME).write_text(
        '[[document]]\npath = "a.md"\ntitle = "Named"\ntrust = "internal"\n', encoding="utf-8"
    )
    file = scan(str(tmp_path / "a.md")).files[0]
    built = read_document(file)
    assert (built.document.id, built.document.title, built.trust) == ("a.md", "Named", "internal")
    assert scan(tmp_path / "b.md").files[0].entry is None
    (tmp_path / "c.xyz").write_bytes(b"")
    with pytest.raises(InputError, match=r"no reader for \.xyz"):
        scan(tmp_path / "c.xyz")


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    write(outside, secret_md="secret")
    write(inside, a_md="a")
    (inside / "link.md").symlink_to(outside / "secret.md")
    (inside / "near.md").symlink_to(inside / "a.md")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside)
    (inside / "broken.md").symlink_to(inside / "nothing.md")
    found = scan(inside)
    assert ids(found) == ["a.md", "near.md"]
    assert {file.path: file.reason.split(",")[0] for file in found.skipped} == {
        "link.md": "a link that leads out of the folder",
        "folder": "links to folders are not followed",
        "loop": "links to folders are not followed",
        "broken.md": "no regular file",
    }


def test_names_that_are_no_unicode_are_skipped(tmp_path):
    write(tmp_path, a_md="a")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("x", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    found = scan(tmp_path)
    assert ids(found) == ["a.md"]
    assert found.skipped[0].path == "?.md"
    assert found.model_dump_json()


def test_reading_names_the_document_in_errors_and_takes_overrides(tmp_path):
    write(tmp_path, a_md="---\ntitle: Front\n---\n# A\n\ntext", b_md=" ")
    first, second = scan(tmp_path).files
    built = read_document(first, overrides={"title": "Mine", "valid_until": "2026-04-30"})
    assert built.document.title == "Mine"
    assert built.document.text == "# A\n\ntext"
    assert str(built.document.validity.valid_until) == "2026-04-30"
    with pytest.raises(NoTextError, match=r"^b\.md"):
        read_document(second)
    with pytest.raises(ReadError, match=r"a\.md: 30 bytes are more than the limit of 5"):
        read_document(first, max_bytes=5)


def test_a_file_that_is_too_large_is_not_even_opened(tmp_path):
    write(tmp_path, a_md="A long text.")
    (file,) = scan(tmp_path).files
    file.path.unlink()
    with pytest.raises(ReadError, match="12 bytes are more than the limit of 11"):
        read_document(file, max_bytes=11)


def test_a_file_that_vanishes_is_a_read_error(tmp_path):
    write(tmp_path, a_md="a")
    file = scan(tmp_path).files[0]
    file.path.unlink()
    with pytest.raises(ReadError, match=r"a\.md cannot be read"):
        read_document(file)
