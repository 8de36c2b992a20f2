"""Readers of a user's own: what they are given, what they may break, and what is refused."""

import pytest
from langchain_core.document_loaders import BaseLoader
from llama_index.core.readers import SimpleDirectoryReader
from llama_index.core.readers.base import BaseReader

from grounded_rag import GroundedRAG, audit_receipts, update_index, verify_receipt
from grounded_rag.errors import ConfigError, ReadError, UnsupportedFormatError
from grounded_rag.index.store import Index
from grounded_rag.ingest import read_document, scan
from grounded_rag.ingest.readers import TextReader
from grounded_rag.protocols import ParsedDocument
from grounded_rag.testing import HashEmbedding
from grounded_rag.types import Section, Span


class NoteReader:
    """One fact a line; the file's first line is its title."""

    def __init__(self):
        self.read_files = []

    def read(self, data, *, source):
        self.read_files.append(source)
        title, _, text = data.decode().partition("\n")
        return ParsedDocument(text=text, title=title, media_type="text/x-note")


class Returning:
    def __init__(self, value):
        self.value = value

    def read(self, data, *, source):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "fees.NOTE").write_text("Fees\nA copy costs 2 euros.\n", encoding="utf-8")
    (root / "hours.md").write_text("# Hours\n\nThe desk opens at 09:00.\n", encoding="utf-8")
    return root


def update(folder, tmp_path, **options):
    return update_index([folder], index=tmp_path / "index", embedding=HashEmbedding(), **options)


def stored(tmp_path, doc_id):
    with Index.open(tmp_path / "index", embedding=HashEmbedding()) as index:
        return index.document(doc_id)


def test_a_suffix_of_its_own_is_read_whatever_its_case(folder, tmp_path):
    reader = NoteReader()
    report = update(folder, tmp_path, readers={".Note": reader})
    assert (report.added, report.skipped) == (("fees.NOTE", "hours.md"), ())
    assert reader.read_files == ["fees.NOTE"]
    document = stored(tmp_path, "fees.NOTE")
    assert (document.text, document.title) == ("A copy costs 2 euros.\n", "Fees")
    assert document.media_type == "text/x-note"
    assert update(folder, tmp_path, readers={".note": reader}).unchanged == report.added


def test_it_comes_before_a_built_in_one(folder, tmp_path):
    update(folder, tmp_path, readers={".md": NoteReader()})
    assert stored(tmp_path, "hours.md").title == "# Hours"


def test_a_built_in_reader_may_take_another_suffix(folder, tmp_path):
    update(folder, tmp_path, readers={".note": TextReader()})
    assert stored(tmp_path, "fees.NOTE").text.startswith("Fees\n")


def test_what_is_readable_is_said_with_its_suffix(tmp_path):
    (tmp_path / "a.xyz").write_bytes(b"x")
    with pytest.raises(UnsupportedFormatError) as caught:
        scan(tmp_path, strict=True, readers={".note": NoteReader()})
    assert ".note" in caught.value.hint
    assert scan(tmp_path / "a.xyz", readers={".xyz": NoteReader()}).files[0].doc_id == "a.xyz"


def test_a_document_whose_reader_is_missing_the_next_time_stays(folder, tmp_path):
    update(folder, tmp_path, readers={".note": NoteReader()})
    report = update(folder, tmp_path)
    assert [file.path for file in report.skipped] == ["fees.NOTE"]
    assert report.removed == ()
    assert stored(tmp_path, "fees.NOTE") is not None
    (folder / "fees.NOTE").unlink()
    assert update(folder, tmp_path).removed == ("fees.NOTE",)


SPANS = ParsedDocument(text="Short.", sections=(Section(title="A", span=Span(start=0, end=99)),))
BROKEN = [
    (KeyError("column"), "failed: KeyError: 'column'"),
    (ReadError("row 3 is cut off.", hint="Save it again."), "refused it: row 3 is cut off"),
    (RecursionError("deep"), "failed: RecursionError"),
    ("text", "returned str and no ParsedDocument"),
    (None, "returned NoneType"),
    (ParsedDocument, "returned the class ParsedDocument"),
    (ParsedDocument(text=" \n"), "returned no text"),
    (ParsedDocument(text="a\ud800b"), "a lone surrogate at code point 1"),
    (SPANS, "sections that overlap"),
    (
        ParsedDocument(text="Short.", headings=(Span(start=3, end=4), Span(start=0, end=2))),
        "headings that overlap",
    ),
    (ParsedDocument(text="Fine.", metadata={"valid_until": "03/04/2026"}), "can be read"),
    (ParsedDocument(text="Fine.", metadata={"superseded_by": "fees.NOTE"}), "its successor"),
]


@pytest.mark.parametrize(("value", "message"), BROKEN, ids=range(len(BROKEN)))
def test_whatever_it_breaks_is_one_failed_file(folder, tmp_path, value, message):
    readers = {".note": Returning(value)}
    report = update(folder, tmp_path, readers=readers)
    (failure,) = report.failed
    assert (failure.path, report.added) == ("fees.NOTE", ("hours.md",))
    assert failure.error == "ReadError"
    assert message in failure.message
    assert "the reader Returning" in failure.message
    assert "\n" not in failure.message
    assert failure.hint
    with pytest.raises(ReadError, match="Returning"):
        update(folder, tmp_path, strict=True, readers=readers)


def test_a_file_that_its_reader_breaks_on_keeps_its_earlier_version(folder, tmp_path):
    update(folder, tmp_path, readers={".note": NoteReader()})
    report = update(folder, tmp_path, readers={".note": Returning(ValueError("no"))})
    assert (len(report.failed), report.removed) == (1, ())
    assert "2 euros" in stored(tmp_path, "fees.NOTE").text


def test_ending_the_program_is_no_failed_file(folder, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        update(folder, tmp_path, readers={".note": Returning(KeyboardInterrupt())})


def test_the_limit_of_size_holds_for_it_too(folder):
    reader = NoteReader()
    file = scan(folder, readers={".note": reader}).files[0]
    with pytest.raises(ReadError, match="more than the limit of 5"):
        read_document(file, max_bytes=5, readers={".note": reader})
    assert reader.read_files == []


class Loader(BaseLoader):
    def lazy_load(self):
        yield from ()


class Mine(BaseReader):
    def load_data(self, file):
        return []


class Both(BaseReader):
    def read(self, data, *, source):
        return ParsedDocument(text=data.decode())


WRONG = [
    ([NoteReader()], "must name a suffix", '{".rst": reader}'),
    ({"note": NoteReader()}, "'note' is no suffix", "with its dot"),
    ({".tar.gz": NoteReader()}, "'.tar.gz' is no suffix", "dot"),
    ({7: NoteReader()}, "7 is no suffix", "dot"),
    ({".a": NoteReader(), ".A": NoteReader()}, "two readers for .a", "one for each"),
    ({".note": NoteReader}, "The class NoteReader", "NoteReader(…)"),
    ({".note": lambda data, source: None}, "The function <lambda> is no Reader", "read(data, *,"),
    ({".note": None}, "NoneType is no Reader", "docs/extending.md"),
    ({".note": Mine()}, "an object of LlamaIndex", "load_data(path)"),
    ({".note": SimpleDirectoryReader}, "LlamaIndex", "load_data(path)"),
    ({".note": Loader()}, "an object of LangChain", "document.page_content"),
]


@pytest.mark.parametrize(("readers", "message", "hint"), WRONG, ids=range(len(WRONG)))
def test_what_is_no_reader_is_refused_before_anything_is_read(
    folder, tmp_path, readers, message, hint
):
    for call in (
        lambda: update(folder, tmp_path, readers=readers),
        lambda: GroundedRAG.open(tmp_path / "index", readers=readers),
        lambda: GroundedRAG.from_corpus(folder, embedding=None, readers=readers),
    ):
        with pytest.raises(ConfigError) as caught:
            call()
        assert message in caught.value.message
        assert hint in caught.value.hint
    assert not (tmp_path / "index").exists()


def test_a_class_of_ones_own_may_be_a_llama_index_reader_too(folder, tmp_path):
    assert len(update(folder, tmp_path, readers={".note": Both()}).added) == 2


def test_an_object_remembers_its_readers_and_takes_further_ones(folder, tmp_path):
    index = tmp_path / "index"
    with GroundedRAG.from_corpus(
        folder, index=index, embedding=None, readers={".note": NoteReader()}
    ) as rag:
        assert "2 euros" in rag.query("What does a copy cost?").text
        (folder / "lift.note").write_text("Lift\nThe lift is out of order.\n", encoding="utf-8")
        (folder / "dogs.memo").write_text("Dogs\nDogs are welcome.\n", encoding="utf-8")
        assert rag.ingest(folder).added == ("lift.note",)
        assert rag.ingest(folder, readers={".memo": NoteReader()}).added == ("dogs.memo",)
    with GroundedRAG.open(index, embedding=None, readers={".NOTE": NoteReader()}) as rag:
        report = rag.ingest(folder)
        assert (len(report.unchanged), report.removed) == (3, ())


def test_receipts_are_compared_with_a_folder_by_the_same_readers(folder, tmp_path):
    readers = {".note": NoteReader()}
    with GroundedRAG.from_corpus(
        folder, embedding=None, readers=readers, receipts=tmp_path / "receipts"
    ) as rag:
        receipt = rag.query("What does a copy cost?").receipt()
    assert verify_receipt(receipt, folder=folder, readers=readers).stands
    assert not verify_receipt(receipt, folder=folder).stands
    assert audit_receipts(tmp_path / "receipts", folder=folder, readers=readers).clean
    assert not audit_receipts(tmp_path / "receipts", folder=folder).clean
