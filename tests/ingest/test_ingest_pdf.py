import pytest
from ingest_files import make_pdf, text_page
from reportlab.lib.utils import ImageReader

from grounded_rag.errors import EncryptedError, NoTextError, ReadError
from grounded_rag.ingest.readers import PdfReader

PARAGRAPH = (
    "The account holder may withdraw up to five hundred euros a day at any",
    "machine of the bank. The limit of a young account is fifty euros a day",
    "and cannot be raised.",
)


def read(data):
    return PdfReader().read(data, source="a.pdf")


def test_wrapped_lines_are_joined_and_paragraphs_kept_apart():
    def draw(canvas):
        canvas.setFont("Helvetica", 11)
        for number, line in enumerate(PARAGRAPH):
            canvas.drawString(50, 700 - 14 * number, line)
        canvas.drawString(50, 640, "Another paragraph.")

    assert read(make_pdf([draw])).text == f"{' '.join(PARAGRAPH)}\n\nAnother paragraph."


def test_a_hyphen_at_the_end_of_a_line_stays_with_its_line_end():
    lines = ["The rate is fixed for the whole period of the agreed con-", "tract and the next one."]
    assert "agreed con-\ntract and" in read(make_pdf([text_page(lines)])).text


def test_list_items_and_short_lines_stay_lines():
    lines = ["Bring along:", "- a passport", "- the contract", "12 Quay Street", "Quillhaven"]
    assert read(make_pdf([text_page(lines)])).text.splitlines() == lines


def test_running_heads_feet_and_page_numbers_are_taken_off():
    starts = [
        "It starts on the first page and goes",
        "on without an end on the second, and",
        "ends.",
    ]
    pages = [
        text_page([line], head="Bank – Terms 2026", foot=f"Page {number} of 3")
        for number, line in enumerate(starts, start=1)
    ]
    parsed = read(make_pdf(pages))
    assert "Terms 2026" not in parsed.text
    assert "Page" not in parsed.text
    assert " ".join(parsed.text.split()) == " ".join(starts)
    assert sorted(parsed.metadata["running_heads"]) == ["Bank – Terms 2026", "Page 1 of 3"]


def test_a_table_that_goes_on_over_pages_is_not_taken_for_a_running_head():
    pages = [text_page([f"Term {n} pays {n * n + 3} euros"]) for n in range(1, 6)]
    text = read(make_pdf(pages)).text
    assert all(f"Term {n} pays {n * n + 3} euros" in text for n in range(1, 6))


def test_pages_cover_the_text_and_count_from_one():
    pages = [text_page(["First."]), lambda canvas: None, text_page(["Third."])]
    parsed = read(make_pdf(pages))
    assert [span.of(parsed.text).strip() for span in parsed.pages] == ["First.", "", "Third."]
    assert "".join(span.of(parsed.text) for span in parsed.pages) == parsed.text
    assert parsed.warnings == ("a.pdf, page 2: no text: blank, or a picture.",)


def test_headings_are_found_by_their_font():
    def draw(canvas):
        canvas.setFont("Helvetica-Bold", 20)
        canvas.drawString(50, 750, "Savings")
        canvas.setFont("Helvetica-Bold", 14)
        canvas.drawString(50, 720, "Fixed deposits")
        canvas.setFont("Helvetica", 11)
        for number, line in enumerate(PARAGRAPH):
            canvas.drawString(50, 690 - 14 * number, line)
        canvas.setFont("Helvetica-Bold", 11)
        canvas.drawString(50, 600, "Who can open one")
        canvas.drawString(50, 550, "This whole sentence is bold and is evidence.")
        canvas.setFont("Helvetica", 11)
        canvas.drawString(50, 580, "Everybody who is of age and lives in the country.")

    parsed = read(make_pdf([draw], title="deposits.indd"))
    assert [(section.path, section.page) for section in parsed.sections] == [
        (("Savings",), 1),
        (("Savings", "Fixed deposits"), 1),
        (("Savings", "Fixed deposits", "Who can open one"), 1),
    ]
    assert parsed.title == "Savings"


def test_cells_below_each_other_become_a_table():
    def draw(canvas):
        rows = [
            ("Term", "Rate", "Least"),
            ("1 year", "2.40%", "500"),
            ("2 years", "2.60%", "1,000"),
        ]
        for number, row in enumerate(rows):
            canvas.setFont("Helvetica-Bold" if number == 0 else "Helvetica", 10)
            for column, cell in enumerate(row):
                canvas.drawString(50 + 120 * column, 700 - 14 * number, cell)

    assert read(make_pdf([draw])).text == (
        "| Term | Rate | Least |\n| --- | --- | --- |\n"
        "| 1 year | 2.40% | 500 |\n| 2 years | 2.60% | 1,000 |"
    )


def test_two_columns_set_across_are_put_one_after_the_other():
    left = [f"left column line {n} of the running text" for n in range(8)]
    right = [f"right column line {n} of the other text" for n in range(8)]

    def draw(canvas):
        canvas.setFont("Helvetica", 10)
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            canvas.drawString(50, 700 - 13 * number, one)
            canvas.drawString(320, 700 - 13 * number, other)

    parsed = read(make_pdf([draw]))
    assert " ".join(parsed.text.split()) == " ".join(left + right)
    assert "page 1: two columns" in parsed.warnings[0]


def test_raised_digits_do_not_join_the_number_before_them():
    def draw(canvas):
        text = canvas.beginText(50, 700)
        text.setFont("Helvetica", 12)
        text.textOut("The limit is 10")
        text.setRise(5)
        text.setFont("Helvetica", 7)
        text.textOut("5")
        text.setRise(0)
        text.setFont("Helvetica", 12)
        text.textOut(" units")
        canvas.drawText(text)

    assert read(make_pdf([draw])).text == "The limit is 10⁵ units"


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_pages_are_read_as_they_are_shown(turn):
    def draw(canvas):
        canvas.setPageRotation(turn)
        canvas.saveState()
        width, height = 600, 800
        if turn == 90:
            canvas.transform(0, 1, -1, 0, width, 0)
        elif turn == 180:
            canvas.transform(-1, 0, 0, -1, width, height)
        else:
            canvas.transform(0, -1, 1, 0, 0, height)
        canvas.setFont("Helvetica", 11)
        for number, line in enumerate(PARAGRAPH):
            canvas.drawString(50, 500 - 14 * number, line)
        canvas.restoreState()

    assert read(make_pdf([draw])).text == " ".join(PARAGRAPH)


def test_damaged_letters_are_told_with_their_pages():
    pages = [text_page(["oÿÿice oÿ the state"]), text_page(["A sound page of text."])]
    assert "page 1: letters look wrong" in read(make_pdf(pages)).warnings[0]


def test_an_encrypted_pdf_is_an_error_with_the_next_step():
    with pytest.raises(EncryptedError, match="needs a password") as caught:
        read(make_pdf([text_page(["secret"])], password="hush"))
    assert "password" in caught.value.hint


def test_a_scanned_pdf_is_an_error_with_the_next_step():
    from PIL import Image

    picture = ImageReader(Image.new("L", (60, 80), 200))
    with pytest.raises(NoTextError, match="scanned") as caught:
        read(make_pdf([lambda canvas: canvas.drawImage(picture, 0, 0, 600, 800)]))
    assert "OCR" in caught.value.hint


@pytest.mark.parametrize("data", [b"", b"hello", b"%PDF-1.4\ngarbage"])
def test_what_is_no_pdf_is_a_read_error(data):
    with pytest.raises(ReadError, match="cannot be read as PDF"):
        read(data)
