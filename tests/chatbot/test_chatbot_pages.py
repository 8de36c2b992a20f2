import io

import pytest
from chatbot.pdf_pages import find_characters, merge, page_picture, plan_page
from chatbot_corpus import AGAIN, IN_PDF, leaflet
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image


@pytest.fixture
def pdf(tmp_path):
    path = tmp_path / "leaflet.pdf"
    path.write_bytes(leaflet())
    return path


def test_a_quote_over_two_lines_is_marked_by_two_rectangles(pdf):
    plan = plan_page(pdf, 2, quote=IN_PDF)
    assert (plan.page, plan.pages) == (2, 2)
    first, second = plan.marks
    assert first.y < second.y
    scale = plan.width / 595.28
    assert first.x == pytest.approx(72 * scale, abs=3)
    # Baselines at 730 and 715 points from below, on a page of 841.89.
    for mark, baseline in ((first, 730), (second, 715)):
        place = (841.89 - baseline) * scale
        assert mark.y < place < mark.y + mark.height + 1
        assert mark.height < 15 * scale


def test_the_marks_lie_on_ink_of_the_picture(pdf):
    plan = plan_page(pdf, 2, quote=IN_PDF)
    picture = Image.open(io.BytesIO(page_picture(pdf, 2, pdf.stat().st_mtime_ns))).convert("L")
    assert picture.size == (plan.width, plan.height)
    for mark in plan.marks:
        box = (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
        darkest, lightest = picture.crop(tuple(map(round, box))).getextrema()
        assert darkest < 100 < lightest


def test_what_stands_before_tells_repeated_words_apart(pdf):
    first = plan_page(pdf, 2, quote=AGAIN, before="").marks
    second = plan_page(pdf, 2, quote=AGAIN, before=f"{IN_PDF}\n\n").marks
    assert first[0].y < second[0].y


def test_a_turned_page_has_its_marks_where_the_text_is_seen(pdf, tmp_path):
    import pypdfium2

    turned = tmp_path / "turned.pdf"
    document = pypdfium2.PdfDocument(pdf)
    document[1].set_rotation(90)
    document.save(turned)
    document.close()
    plan = plan_page(turned, 2, quote=IN_PDF)
    assert plan.width > plan.height
    assert len(plan.marks) >= 2
    picture = Image.open(io.BytesIO(page_picture(turned, 2, 0))).convert("L")
    assert picture.size == (plan.width, plan.height)
    mark = plan.marks[0]
    assert mark.height > mark.width


def test_words_that_are_not_on_the_page_are_not_marked(pdf):
    assert plan_page(pdf, 1, quote=IN_PDF).marks == ()


@pytest.mark.parametrize("page", [0, 3, -1])
def test_there_are_no_other_pages(pdf, page):
    with pytest.raises(OSError, match="no page"):
        plan_page(pdf, page, quote="x")


def test_a_file_that_is_no_pdf_any_more_is_an_error(tmp_path):
    path = tmp_path / "gone.pdf"
    path.write_bytes(b"changed")
    with pytest.raises(OSError, match="PDF"):
        page_picture(path, 1, 0)


def bare(text):
    return "".join(text.replace("ﬁ", "fi").replace("|", "").split())


@given(st.text(alphabet="ab \n-|ﬁ", max_size=40), st.text(alphabet="ab ﬁ", max_size=8))
def test_found_characters_spell_the_quote(page, quote):
    pieces = find_characters(page, quote)
    spelled = bare("".join(page[index] for piece in pieces for index in piece))
    # A ligature of the page may hold one letter more than the quote, at either end.
    assert bare(quote) in spelled or not spelled
    assert len(spelled) <= len(bare(quote)) + 2
    assert bool(pieces) == (bare(quote) != "" and bare(quote) in bare(page))


def test_a_quote_that_goes_on_over_the_page_is_marked_to_its_end():
    page = "Something else. The notice period is three"
    (found,) = find_characters(page, "The notice period is three months.")
    assert page[found.start : found.stop] == "The notice period is three"


def test_characters_far_apart_are_not_joined():
    assert merge([]) == ()


@pytest.mark.anyio
async def test_the_page_is_served_with_marks_and_nothing_outside_the_corpus(
    visitors, ask, corpus_folder
):
    client = await visitors()
    answer = (await ask(client, "How much deposit and when must it be paid?"))[-1][1]
    source = answer["sources"][0]
    assert (source["page"], source["picture"]) == (2, True)
    plan = (await client.get(f"/api/answers/{answer['id']}/pages/1")).json()
    assert (plan["page"], len(plan["marks"])) == (2, 2)
    picture = await client.get(f"/api/answers/{answer['id']}/pages/1/picture")
    assert picture.headers["content-type"] == "image/png"
    assert Image.open(io.BytesIO(picture.content)).size == (plan["width"], plan["height"])
    assert (await client.get(f"/api/answers/{answer['id']}/pages/2")).status_code == 404


def test_a_document_id_leads_nowhere_else(make_app, corpus_folder):
    from chatbot.api import SERVICE

    corpus = getattr(make_app().state, SERVICE).corpora["test"]
    assert corpus.file_of("leaflet.pdf") == (corpus_folder / "leaflet.pdf").resolve()
    for doc_id in ("../secret.pdf", "/etc/passwd", "none.pdf"):
        with pytest.raises(FileNotFoundError):
            corpus.file_of(doc_id)
