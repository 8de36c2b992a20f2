import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from ingest_files import add_change, make_docx, repack

from grounded_rag.errors import (
    EncryptedError,
    NoTextError,
    ReadError,
    UnsupportedFormatError,
)
from grounded_rag.ingest.readers import DocxReader

WP = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NOTES = f"""<w:footnotes xmlns:w="{WP}">
<w:footnote w:id="0" w:type="separator"><w:p/></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:t>Only on working days.</w:t></w:r></w:p></w:footnote>
</w:footnotes>"""


def read(write, **options):
    return DocxReader().read(make_docx(write, **options), source="a.docx")


def read_xml(*elements):
    """Read a document whose body holds raw elements, each with the usual namespaces."""

    def write(document):
        for element in elements:
            document.element.body.insert(-1, parse_xml(element))

    return read(write)


NAMESPACES = (
    f"{nsdecls('w', 'm')} xmlns:v='urn:schemas-microsoft-com:vml' "
    "xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'"
)
FORMULA = (
    "<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
    "</m:sSup><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>3</m:t></m:r></m:den>"
    "</m:f></m:oMath>"
)


def p(inner):
    return f"<w:p {NAMESPACES}>{inner}</w:p>"


def run(text, properties=""):
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>"


def test_insertions_are_taken_and_deletions_left_out_with_a_warning():
    def write(document):
        paragraph = document.add_paragraph("The fee is ")
        add_change(paragraph, "w:del", "10")
        add_change(paragraph, "w:ins", "25")
        add_change(paragraph, "w:moveFrom", " old")
        add_change(paragraph, "w:moveTo", " new")
        paragraph.add_run(" euros.")

    parsed = read(write)
    assert parsed.text == "The fee is 25 new euros."
    assert parsed.warnings == (
        "a.docx: tracked changes: 2 insertions were taken, 2 deletions were left out.",
    )


def test_a_deleted_paragraph_mark_joins_two_paragraphs():
    deleted = "<w:pPr><w:rPr><w:del w:id='1' w:author='x'/></w:rPr></w:pPr>"
    assert read_xml(p(deleted + run("one ")), p(run("two"))).text == "one two"


def test_body_order_tables_and_lists():
    def write(document):
        document.add_paragraph("before")
        table = document.add_table(rows=2, cols=3)
        table.rows[0].cells[0].merge(table.rows[0].cells[1]).text = "Loan | amount"
        for cell, text in zip(table.rows[1].cells, ("up to 5", "adviser", "x"), strict=True):
            cell.text = text
        table.rows[0].cells[2].text = "Signs"
        document.add_paragraph("after")
        document.add_paragraph("one", style="List Number")
        document.add_paragraph("two", style="List Number")
        document.add_paragraph("dot", style="List Bullet")

    assert read(write).text == (
        "before\n\n| Loan \\| amount | Loan \\| amount | Signs |\n| --- | --- | --- |\n"
        "| up to 5 | adviser | x |\n\nafter\n\n1. one\n2. two\n- dot"
    )


def test_cells_merged_downward_are_told_in_each_row():
    def write(document):
        table = document.add_table(rows=3, cols=2)
        table.cell(1, 0).merge(table.cell(2, 0)).text = "Both"
        for place, text in (((0, 0), "A"), ((0, 1), "B"), ((1, 1), "x"), ((2, 1), "y")):
            table.cell(*place).text = text

    assert read(write).text.splitlines()[2:] == ["| Both | x |", "| Both | y |"]


def test_a_table_of_one_column_is_layout():
    def write(document):
        document.add_table(rows=1, cols=1).cell(0, 0).text = "boxed"

    assert read(write).text == "boxed"


def test_headings_title_and_sections():
    def write(document):
        document.add_heading("Policy", 0)
        document.add_heading("Who may sign", 1)
        document.add_paragraph("Two people.")
        document.add_heading("Limits", 2)
        document.add_paragraph("None.")

    parsed = read(write)
    assert parsed.title == "Policy"
    assert [section.path for section in parsed.sections] == [
        ("Policy",),
        ("Who may sign",),
        ("Who may sign", "Limits"),
    ]
    assert read(write, title="From the properties").title == "From the properties"


def test_a_text_box_is_read_once_after_its_paragraph():
    box = f"<w:txbxContent>{p(run('boxed'))}</w:txbxContent>"
    both = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>{box}</w:drawing>"
        f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    assert read_xml(p(run("anchor") + both), p(run("next"))).text == "anchor\n\nboxed\n\nnext"


def test_footnotes_stand_at_the_end_under_their_mark():
    reference = "<w:r><w:footnoteReference w:id='2'/></w:r>"
    data = make_docx(
        lambda document: document.element.body.insert(-1, parse_xml(p(run("Open") + reference)))
    )
    parsed = DocxReader().read(
        repack(data, {"word/footnotes.xml": NOTES.encode()}), source="a.docx"
    )
    assert parsed.text == "Open¹\n\n¹ Only on working days."


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (run("a") + run("b", "<w:vanish/>") + run("c", "<w:vanish w:val='0'/>"), "ac"),
        (run("a") + run("b", "<w:strike/>") + run("c", "<w:dstrike/>"), "a"),
        (run("10") + run("5", "<w:vertAlign w:val='superscript'/>"), "10⁵"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>", "a\tb\nc"),
        ("<w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/></w:r>", "a\u2011b\u00ad"),
        (f"<w:hyperlink>{run('link')}</w:hyperlink>", "link"),
        (f"<w:sdt><w:sdtContent>{run('control')}</w:sdtContent></w:sdt>", "control"),
        (f"<w:fldSimple w:instr='PAGE'>{run('7')}</w:fldSimple>", "7"),
        ("<w:r><w:instrText>DATE</w:instrText></w:r>" + run("today"), "today"),
        (FORMULA, "x²1/3"),
    ],
    ids="hidden struck raised breaks hyphens link control field instruction formula".split(),
)
def test_what_a_reader_sees_of_a_paragraph(inner, text):
    assert read_xml(p(inner)).text == text


def bomb(_document=None):
    entities = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha">' for n in range(10)
    )
    return (
        f'<!DOCTYPE d [{entities}]><w:document xmlns:w="{WP}"><w:body><w:p><w:r><w:t>&l9;</w:t>'
        "</w:r></w:p></w:body></w:document>"
    ).encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (bomb(), "declares a document type or entities"),
        (b'<!DOCTYPE d SYSTEM "file:///etc/passwd"><d/>', "declares a document type"),
        (b"<w:document", "is damaged"),
    ],
    ids=["billion laughs", "external", "broken"],
)
def test_hostile_xml_is_refused(content, told):
    data = repack(make_docx(lambda document: None), {"word/document.xml": content})
    with pytest.raises(ReadError, match=told):
        DocxReader().read(data, source="a.docx")


def test_an_archive_that_unpacks_to_too_much_is_refused():
    filler = f'<w:document xmlns:w="{WP}">{" " * 3_000_000}</w:document>'.encode()
    data = repack(make_docx(lambda document: None), {"word/document.xml": filler})
    assert len(data) < 100_000
    with pytest.raises(ReadError, match="unpacks to more than 1,000,000 bytes"):
        DocxReader(max_unpacked=1_000_000).read(data, source="a.docx")


def test_deep_nesting_is_an_error_and_no_crash():
    inner = "<w:sdt><w:sdtContent>" * 3000 + "</w:sdtContent></w:sdt>" * 3000
    content = f'<w:document xmlns:w="{WP}"><w:body>{inner}</w:body></w:document>'.encode()
    data = repack(make_docx(lambda document: None), {"word/document.xml": content})
    with pytest.raises(ReadError, match="nested too deeply"):
        DocxReader().read(data, source="a.docx")


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 100


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (OLE + "EncryptedPackage".encode("utf-16-le"), EncryptedError),
        (OLE, UnsupportedFormatError),
        (b"PK\x03\x04 no", ReadError),
        (b"", ReadError),
    ],
)
def test_what_is_no_open_docx_is_told_apart(data, kind):
    with pytest.raises(kind) as caught:
        DocxReader().read(data, source="a.docx")
    assert type(caught.value) is kind
    assert caught.value.hint


def test_an_empty_document_is_refused():
    with pytest.raises(NoTextError):
        read(lambda document: None)
