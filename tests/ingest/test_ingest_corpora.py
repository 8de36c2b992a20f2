"""Real documents: the demo corpus, and a folder of public ones where `GROUNDED_RAG_DATA` has it."""

import os
from pathlib import Path

import pytest

from grounded_rag.ingest import chunk, read_document, scan
from grounded_rag.resources import demo_corpus_dir


def _folder():
    data = os.environ.get("GROUNDED_RAG_DATA", "")
    folder = Path(data) / "docs_corpus"
    if not data or not folder.is_dir():
        pytest.skip("GROUNDED_RAG_DATA does not name a folder with docs_corpus")
    return folder


def read_all(folder):
    return {file.doc_id: read_document(file) for file in scan(folder).files}


def assert_sound(built):
    document = built.document
    position = 0
    for one in chunk(document, count=lambda text: len(text) // 3):
        assert one.text == one.span.of(document.text)
        assert not document.text[position : one.span.start].strip()
        position = one.span.end
    assert not document.text[position:].strip()
    assert all(span.of(document.text).strip() for span in document.headings)


def test_every_demo_document_is_read_and_cut():
    built = read_all(demo_corpus_dir())
    assert len(built) > 20
    for one in built.values():
        assert_sound(one)
    guide = built["docs/mortgages/first-home-guide.pdf"].document
    assert len(guide.pages) == 4
    assert "edition May 2026" not in guide.text
    assert "| 10 years | 6 months | 5% of the loan | up to 3% |" in guide.text
    policy = built["docs/loans/lending-policy-summary.docx"]
    assert "is €12,000." in policy.document.text
    assert "€8,000" not in policy.document.text
    assert built["docs/mail/thread-hostile.eml"].trust == "untrusted"


def test_every_public_document_is_read_and_cut():
    folder = _folder()
    built = read_all(folder)
    assert len(built) == 28
    for one in built.values():
        assert_sound(one)
    damaged = built["ficam/playbook-digital-worker-v1.pdf"]
    assert "pages 1-29: letters look wrong" in damaged.warnings[0]
    sound = built["ficam/playbook-digital-worker.pdf"]
    assert sound.warnings == ()
    text = sound.document.text
    assert "autonomous decision-\nmaking capabilities.¹" in text
    assert "The Digital Worker Identity Playbook Page" not in text
    sqlite = built["sqlite_html/datatype3.html"].document
    assert "toggle_div" not in sqlite.text
    assert sqlite.title == "Datatypes In SQLite"
