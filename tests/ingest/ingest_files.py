"""Files made in the tests: PDF, DOCX and archives, by name of what is special about them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from reportlab.lib import pdfencrypt
from reportlab.pdfgen.canvas import Canvas

Page = Callable[[Canvas], None]


def make_pdf(pages: Sequence[Page], *, password: str | None = None, title: str = "") -> bytes:
    """Return a PDF whose pages are drawn by the given functions, 600 by 800 points."""
    buffer = io.BytesIO()
    lock = pdfencrypt.StandardEncryption(password, strength=128) if password else None
    canvas = Canvas(buffer, pagesize=(600, 800), encrypt=lock, invariant=1)
    if title:
        canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def text_page(lines: Sequence[str], *, head: str = "", foot: str = "", size: int = 11) -> Page:
    """Return a page of lines set close to each other."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 8)
        if head:
            canvas.drawString(50, 770, head)
        if foot:
            canvas.drawString(280, 20, foot)
        canvas.setFont("Helvetica", size)
        for number, line in enumerate(lines):
            canvas.drawString(50, 700 - number * 1.4 * size, line)

    return draw


def make_docx(write: Callable[[docx.document.Document], None], *, title: str = "") -> bytes:
    """Return a DOCX whose body is written by the given function."""
    document = docx.Document()
    document.core_properties.title = title
    write(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def repack(data: bytes, parts: Mapping[str, bytes]) -> bytes:
    """Return an archive in which some parts are replaced or added."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            new.writestr(name, content)
    return buffer.getvalue()


def add_change(paragraph: docx.text.paragraph.Paragraph, tag: str, text: str) -> None:
    """Append a tracked change (w:ins, w:del, w:moveTo or w:moveFrom) to a paragraph."""
    change = OxmlElement(tag)
    change.set(qn("w:id"), "7")
    change.set(qn("w:author"), "Editor")
    run = OxmlElement("w:r")
    body = OxmlElement("w:delText" if tag == "w:del" else "w:t")
    body.set(qn("xml:space"), "preserve")
    body.text = text
    run.append(body)
    change.append(run)
    paragraph._p.append(change)
