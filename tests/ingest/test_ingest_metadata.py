import datetime as dt

import pytest

from grounded_rag.errors import ManifestError
from grounded_rag.ingest import build_document, load_manifest, read_metadata
from grounded_rag.protocols import ParsedDocument
from grounded_rag.types import Validity

MANIFEST = """
[corpus]
title = "Bank"
licence = "Apache-2.0"
today = 2026-11-29
region = "north"

[[document]]
path = "docs/old.md"
title = "Old sheet"
effective_from = 2025-02-01
valid_until = "2026-02-28"
superseded_by = "./docs/new.md"
superseded_on = 2026-03-01
trust = "internal"
audience = ["staff", 2025-01-01]

[[document]]
path = "docs/new.md"
"""


@pytest.fixture
def load(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "old.md").write_text("old", encoding="utf-8")

    def write(text):
        path = tmp_path / "manifest.toml"
        path.write_text(text, encoding="utf-8")
        return load_manifest(path)

    return write


def test_a_manifest_is_read_into_types(load):
    manifest = load(MANIFEST)
    assert manifest.corpus.title == "Bank"
    assert manifest.corpus.today == dt.date(2026, 11, 29)
    assert manifest.corpus.metadata == {"region": "north"}
    old = manifest.entry("docs/old.md")
    assert old.values.title == "Old sheet"
    assert old.values.trust == "internal"
    assert old.values.further == {"audience": ["staff", "2025-01-01"]}
    assert old.values.validity == Validity(
        effective_from=dt.date(2025, 2, 1),
        valid_until=dt.date(2026, 2, 28),
        superseded_by="docs/new.md",
        superseded_on=dt.date(2026, 3, 1),
    )
    assert manifest.entry("docs/new.md").values.validity.undated
    assert manifest.entry("docs/other.md") is None


def entry(*lines, path='"docs/old.md"'):
    return "\n".join(["[corpus]", "", "[[document]]", f"path = {path}", *lines])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (entry('valid_until = "03/04/2026"'), r"line 3, document 'docs/old.md', key valid_until"),
        (entry('valid_until = "soon"'), "key valid_until"),
        (entry("valid_until = 20260403"), "key valid_until"),
        (entry("valid_until = 2026-02-30"), "is no TOML.*line 5"),
        (entry("title = 7.5"), "key title: 7.5 is no text"),
        (entry('trust = "very"'), "key trust: 'very' is unknown"),
        (entry('superseded_by = "docs/gone.md"'), "superseded_by: there is no 'docs/gone.md'"),
        (entry('superseded_by = "docs/old.md"'), "in a circle"),
        (entry('superseded_by = "../x.md"'), "superseded_by: '../x.md' does not stay inside"),
        (entry(path='"/etc/passwd"'), "key path: '/etc/passwd' does not stay inside"),
        (entry(path='"docs/../../x.md"'), "does not stay inside"),
        (entry(path="'docs\\\\old.md'"), "does not stay inside"),
        (entry(path='"C:/x.md"'), "does not stay inside"),
        (entry(path='" "'), "a document without a path"),
        (entry("", "[[document]]", 'path = "./docs/old.md"'), "line 6.*twice .first on line 3"),
        ("[[documents]]\n", "unknown table 'documents'"),
        ("[document]\npath = 'x'\n", "'document' is no list"),
        ("corpus = 1\n", "'corpus' is no table"),
        ("[corpus]\ntoday = '2026'\n", "key today"),
        ("[corpus]\ntoday = 2026-11-29T10:00:00Z\n", "key today"),
        ("[corpus]\nx = [" + "1, " * 10_000 + "]", "too large"),
        ("[corpus]\ntitle = 1\n", "key title: 1 is no text"),
        ("a = " + "[" * 5000, "nested too deeply"),
        ("[corpus]\nx = " + "[" * 40 + "]" * 40, "nested too deeply"),
    ],
)
def test_a_manifest_that_cannot_be_meant_is_refused_with_its_place(load, text, told):
    with pytest.raises(ManifestError, match=told) as caught:
        load(text)
    assert caught.value.message.startswith("manifest.toml")


def test_an_ambiguous_date_is_asked_for_in_the_right_form(load):
    with pytest.raises(ManifestError) as caught:
        load(entry('effective_from = "03/04/2026"'))
    assert "2026-03-04" in caught.value.hint
    assert "2026-04-03" in caught.value.hint


def test_a_circle_of_three_names_its_members(load):
    names = ["a", "b", "c"]
    text = "".join(
        f'[[document]]\npath = "{name}.md"\nsuperseded_by = "{names[(n + 1) % 3]}.md"\n'
        for n, name in enumerate(names)
    )
    with pytest.raises(ManifestError, match=r"a\.md → b\.md → c\.md → a\.md"):
        load(text)


def test_no_line_is_named_where_a_text_looks_like_an_entry(load):
    described = '[corpus]\ndescription = """\n[[document]]\n"""\n'
    with pytest.raises(ManifestError) as caught:
        load(described + '[[document]]\npath = "docs/old.md"\ntrust = "very"\n')
    assert caught.value.message.startswith("manifest.toml, document 'docs/old.md', key trust")


def test_a_manifest_without_end_is_not_even_read(tmp_path):
    path = tmp_path / "manifest.toml"
    with path.open("wb") as file:
        file.truncate(5_000_001)
    with pytest.raises(ManifestError, match="larger than 5,000,000 bytes"):
        load_manifest(path)


def test_a_manifest_that_is_no_utf_8_names_the_byte(tmp_path):
    path = tmp_path / "manifest.toml"
    path.write_bytes(b'[corpus]\ntitle = "\xff"')
    with pytest.raises(ManifestError, match="byte 0xff at offset 18"):
        load_manifest(path)


def test_arguments_win_over_manifest_over_front_matter_over_file():
    parsed = ParsedDocument(
        text="x",
        title="File",
        metadata={
            "title": "Front",
            "valid_until": "2026-01-01",
            "reviewed_on": "2026-01-02",
            "updated_at": "2026-01-03",
            "color": "front",
            "shape": "front",
            "trust": "official",
        },
        warnings=("look",),
    )
    manifest = read_metadata(
        {
            "valid_until": "2026-02-01",
            "reviewed_on": "2026-02-02",
            "color": "manifest",
            "trust": "untrusted",
        },
        where="manifest",
    )
    built = build_document(
        parsed,
        doc_id="a/b-c.md",
        source="a/b-c.md",
        manifest=manifest,
        overrides={"valid_until": dt.date(2026, 3, 1)},
    )
    assert built.document.title == "Front"
    assert built.document.validity == Validity(
        valid_until=dt.date(2026, 3, 1),
        reviewed_on=dt.date(2026, 2, 2),
        updated_at=dt.date(2026, 1, 3),
    )
    assert built.document.metadata == {"color": "manifest", "shape": "front"}
    assert built.trust == "untrusted"
    assert built.warnings == ("look",)


def test_titles_come_from_the_file_and_at_last_from_its_name():
    def title(**values):
        parsed = ParsedDocument(text="x", **values)
        return build_document(parsed, doc_id="d", source="in/rate-sheet_2026.md").document.title

    assert title(title="Inside") == "Inside"
    assert title() == "rate sheet 2026"
    assert title(metadata={"title": 2026}) == "2026"


@pytest.mark.parametrize(
    ("front", "told"),
    [
        ({"valid_until": "03/04/2026"}, "a.md, front matter, key valid_until"),
        ({"title": ["x"]}, "key title"),
        ({"superseded_by": "a.md"}, "names itself as its successor"),
    ],
)
def test_front_matter_that_cannot_be_meant_names_the_file(front, told):
    parsed = ParsedDocument(text="x", metadata=front)
    with pytest.raises(ManifestError, match=told):
        build_document(parsed, doc_id="a.md", source="a.md")


def test_the_hash_is_of_the_text_alone():
    one, other = (
        build_document(ParsedDocument(text="x", title=title), doc_id=title, source="s").document
        for title in ("a", "b")
    )
    assert one.content_hash == other.content_hash
    assert len(one.content_hash) == 64
