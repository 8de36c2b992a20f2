"""What is read, stored and retrieved: documents, chunks and their validity."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from pydantic import AwareDatetime, Field, JsonValue, model_validator

from grounded_rag.types._base import Frozen

Instant = AwareDatetime | dt.date
"""A moment of a validity: an aware datetime, or a date that counts as the whole day in UTC."""


class Span(Frozen):
    """A half-open range of code points, `text[start:end]`.

    Attributes:
        start: First code point, counted from 0.
        end: One past the last code point; never before `start`.
    """

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.end < self.start:
            raise ValueError(f"a span cannot end before it starts: {self.start}..{self.end}")
        return self

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the characters of `text` that this span covers."""
        return text[self.start : self.end]

    def shift(self, offset: int) -> Span:
        """Return this span moved by `offset` code points."""
        return Span(start=self.start + offset, end=self.end + offset)

    def contains(self, other: Span) -> bool:
        """Whether `other` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Whether the two spans share at least one code point."""
        return self.start < other.end and other.start < self.end


class Validity(Frozen):
    """When a document holds, as its metadata says; every field may be unknown.

    Attributes:
        effective_from: First moment at which the document holds.
        valid_until: Last moment at which it holds; a date includes that whole day (UTC).
        superseded_by: Id of the document that replaces this one.
        superseded_on: When it was replaced; without it, from the start of the successor or at once.
        reviewed_on: When somebody last confirmed the content.
        updated_at: When the content last changed.
    """

    effective_from: Instant | None = None
    valid_until: Instant | None = None
    superseded_by: str | None = None
    superseded_on: Instant | None = None
    reviewed_on: Instant | None = None
    updated_at: Instant | None = None

    @property
    def undated(self) -> bool:
        """Whether the metadata says nothing at all about time."""
        return self == Validity()


class Section(Frozen):
    """A part of a document under one heading, or one page of a paged document.

    Attributes:
        title: Heading, or "" where the part has none.
        path: Headings from the outermost to this one.
        span: Code points of the document that the part covers, heading included.
        page: 1-based page on which the part starts, where the format has pages.
    """

    title: str
    path: tuple[str, ...] = ()
    span: Span
    page: int | None = None


class PageSpan(Frozen):
    """One page of a document: its 1-based number and its code points."""

    number: Annotated[int, Field(ge=1)]
    span: Span


class Document(Frozen):
    """One source, with the canonical text that every offset refers to.

    Attributes:
        id: Stable name, usually the path relative to the corpus folder.
        source: Where it came from (path or address), for people.
        title: Title for people.
        text: Canonical text; offsets are code points of it.
        media_type: Media type of the bytes it was read from.
        content_hash: SHA-256 of `text` in UTF-8, hexadecimal.
        validity: When it holds.
        sections: Headings in reading order.
        pages: Span of each page, in order; empty where the format has none.
        headings: Spans of heading lines; they are navigation, never evidence.
        metadata: Further values, usable in filters.
    """

    id: str
    source: str
    title: str
    text: str
    media_type: str = "text/plain"
    content_hash: str
    validity: Validity = Validity()
    sections: tuple[Section, ...] = ()
    pages: tuple[Span, ...] = ()
    headings: tuple[Span, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    def page_of(self, offset: int) -> int | None:
        """Return the 1-based page that holds the code point at `offset`, or None."""
        for number, page in enumerate(self.pages, start=1):
            if page.start <= offset < page.end:
                return number
        return None


class Chunk(Frozen):
    """A slice of one document version, the unit of retrieval and citation.

    Attributes:
        id: Hash of the document id, the embedded text and its n-th occurrence in the document.
        doc_id: Id of the document.
        span: Where it lies in the document's canonical text.
        text: `document.text[span.start:span.end]`, unchanged.
        content_hash: SHA-256 of `text` in UTF-8, hexadecimal.
        headings: Heading path above the chunk: context, never evidence.
        heading_spans: Parts of `text` that are headings, in code points of `text`.
        page: 1-based page on which the chunk starts.
    """

    id: str
    doc_id: str
    span: Span
    text: str
    content_hash: str
    headings: tuple[str, ...] = ()
    heading_spans: tuple[Span, ...] = ()
    page: int | None = None


class RetrievedChunk(Frozen):
    """A chunk as a retriever hands it over for one question.

    Attributes:
        chunk: The chunk.
        score: Retriever's own score; only its order means something.
        rank: 1-based position in the result.
        source: Where its document came from, for people.
        title: Title of its document.
        validity: Validity of its document as the ledger has it now.
        trust: "official", "internal" or "untrusted", as the manifest says.
        document_hash: `content_hash` of the document version, where known.
        page_spans: Pages that the chunk touches, in code points of the document.
        sources: Signals that found it, such as "dense", "lexical" or "successor".
        metadata: Further values of the document.
    """

    chunk: Chunk
    score: float = 0.0
    rank: Annotated[int, Field(ge=1)] = 1
    source: str = ""
    title: str = ""
    validity: Validity = Validity()
    trust: str = "official"
    document_hash: str | None = None
    page_spans: tuple[PageSpan, ...] = ()
    sources: tuple[str, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    def page_of(self, offset: int) -> int | None:
        """Return the page of the document's code point `offset`, or None where unknown."""
        for page in self.page_spans:
            if page.span.start <= offset < page.span.end:
                return page.number
        return self.chunk.page
