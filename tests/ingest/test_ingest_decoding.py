import pytest
from hypothesis import given
from hypothesis import strategies as st

from grounded_rag.errors import NoTextError, ReadError, UndecodableError
from grounded_rag.ingest.decoding import decode
from grounded_rag.ingest.readers import TextReader

PRICE = "Café costs € 5 – “cheap”"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-16-le"]
)
def test_marked_and_unmarked_unicode_is_read_without_its_mark(encoding):
    data = PRICE.encode(encoding)
    if encoding == "utf-16-be":
        data = b"\xfe\xff" + data
    if encoding == "utf-16-le":
        data = b"\xff\xfe" + data
    decoded = decode(data, source="a.txt")
    assert decoded.text == PRICE
    assert decoded.warnings == ()


def test_windows_1252_keeps_the_euro_sign_and_warns():
    decoded = decode(PRICE.encode("cp1252"), source="a.txt")
    assert decoded.text == PRICE
    assert decoded.encoding == "windows-1252"
    assert "0xe9 at offset 3" in decoded.warnings[0]


def test_what_a_file_declares_is_believed_without_a_warning():
    assert decode(PRICE.encode("cp1252"), source="a", declared="ISO-8859-1").warnings == ()
    japanese = decode("円建て送金".encode("cp932"), source="a", declared="Shift_JIS")
    assert japanese.text == "円建て送金"


@pytest.mark.parametrize("declared", ["hex", "unicode_escape", "rot13", "utf-7", "no such thing"])
def test_a_declared_codec_that_is_no_encoding_is_ignored(declared):
    assert decode(b"4142 \\u0041", source="a", declared=declared).text == "4142 \\u0041"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"ab\x00cd", "byte 0x00 at offset 2"),
        (b"caf\xe9 \x81", "byte 0x81 at offset 5"),
        ("né €".encode() + b" \xff", "byte 0xff at offset 8"),
        ("Привет".encode("cp1251"), "byte 0xcf at offset 0"),
        (b"\xff\xfea\x00\x00\xd8", "byte 0x00 at offset 4"),
        (b"\x7fELF" + b"\x01\x02\x03" * 20, "control character"),
    ],
    ids=["nul", "undefined", "damaged utf-8", "not western", "lone surrogate", "binary"],
)
def test_what_is_no_text_is_an_error_that_names_the_byte(data, told):
    with pytest.raises(UndecodableError, match=told) as caught:
        decode(data, source="a.txt")
    assert "a.txt" in caught.value.message
    assert caught.value.hint


def test_damaged_characters_are_kept_and_told():
    decoded = decode("rate \ufffd \ue001".encode(), source="a.txt")
    assert decoded.text == "rate \ufffd \ue001"
    assert "2 of 8 characters are damaged" in decoded.warnings[0]


@given(st.binary(max_size=200))
def test_any_bytes_give_storable_text_or_a_read_error(data):
    try:
        text = decode(data, source="a.txt").text
    except UndecodableError:
        return
    assert text.encode("utf-8").decode("utf-8") == text
    assert "\x00" not in text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf_8_text_is_unchanged(text):
    assert decode(text.encode(), source="a.txt").text == text.removeprefix("\ufeff")


def test_text_reader_changes_nothing_and_finds_underlined_headings():
    raw = "MOVING YOUR ACCOUNT\r\n\r\nOur promise\r\n-----------\r\nWe  refund\tit.\u00a0\r\n"
    parsed = TextReader().read(raw.encode(), source="a.txt")
    assert parsed.text == raw
    assert parsed.title == "MOVING YOUR ACCOUNT"
    assert [section.title for section in parsed.sections] == ["Our promise"]
    assert parsed.headings[0].of(parsed.text) == "Our promise\r\n-----------"


def test_a_row_above_a_rule_is_no_heading():
    table = "Term    Rate\n1 year  2.40\n------------\n"
    assert TextReader().read(table.encode(), source="a.txt").headings == ()


def test_empty_and_oversized_files_are_refused():
    with pytest.raises(NoTextError):
        TextReader().read(b" \n", source="a.txt")
    with pytest.raises(ReadError, match="11 bytes are more than the limit of 10"):
        TextReader(max_bytes=10).read(b"a" * 11, source="a.txt")
