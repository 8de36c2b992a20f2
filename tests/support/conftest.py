"""Claims with their evidence, built by hand as the verifier builds them."""

import pytest

from grounded_rag.protocols import ClaimCase, EvidencePiece
from grounded_rag.text.sentences import enclosing_sentences
from grounded_rag.types import (
    Chunk,
    Citation,
    Claim,
    Located,
    RetrievedChunk,
    Span,
    Validity,
)


def retrieved(text, *, chunk_id="c1", doc_id="d1", title="", headings=(), validity=None):
    return RetrievedChunk(
        chunk=Chunk(
            id=chunk_id,
            doc_id=doc_id,
            span=Span(start=0, end=len(text)),
            text=text,
            content_hash="",
            headings=headings,
        ),
        title=title,
        validity=validity or Validity(),
    )


def piece(chunk, quote):
    text = chunk.chunk.text
    start = text.index(quote)
    span = Span(start=start, end=start + len(quote))
    around = enclosing_sentences(text, span)
    sentence = around.of(text)
    if text.startswith("|"):
        row_start = text.rfind("\n", 0, start) + 1
        row_end = text.find("\n", span.end)
        row = text[row_start : row_end if row_end >= 0 else len(text)]
        sentence = text.splitlines()[0] + "\n" + row
    return EvidencePiece(
        citation=Citation(chunk_id=chunk.chunk.id, quote=quote),
        located=Located(
            chunk_id=chunk.chunk.id,
            doc_id=chunk.chunk.doc_id,
            chunk_span=span,
            document_span=span,
            quote=quote,
        ),
        sentence=sentence,
        sentence_span=around,
        chunk=chunk,
    )


def make_case(claim, text, quote=None, *, question=None, title="", headings=()):
    chunk = retrieved(text, title=title, headings=headings)
    found = piece(chunk, quote or text)
    return ClaimCase(
        claim=Claim(text=claim, citations=(found.citation,)), evidence=(found,), question=question
    )


@pytest.fixture
def case():
    return make_case


@pytest.fixture
def chunk():
    return retrieved


@pytest.fixture
def evidence():
    return piece
