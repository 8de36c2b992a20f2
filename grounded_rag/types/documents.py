"""What is read, stored and retrieved: documents, chunks and their validity."""

from __future__ import annotations

import datetime as dt

from pydantic import AwareDatetime, Field, JsonValue, model_validator

from grounded_rag.types._base import Frozen

Instant = AwareDatetime | dt.date
"""A moment of a validity: an aware datetime, or a date that counts as the whole day in UTC."""


class Span(Frozen):
    """A half-open range of code points, `text[start:end]`."""

    start: int = Field(ge=0, description="First code point, counted from 0.")
    end: int = Field(ge=0, description="One past the last code point; never before `start`.")

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


def utf16_span(text: str, span: Span) -> Span:
    """Return a span of `text` in UTF-16 code units, as browsers and JavaScript count."""
    return _encoded(text, span, "utf-16-le", unit=2)


def utf8_span(text: str, span: Span) -> Span:
    """Return a span of `text` in bytes of UTF-8."""
    return _encoded(text, span, "utf-8", unit=1)


def _encoded(text: str, span: Span, encoding: str, *, unit: int) -> Span:
    start = len(text[: span.start].encode(encoding, "surrogatepass")) // unit
    return Span(
        start=start, end=start + len(span.of(text).encode(encoding, "surrogatepass")) // unit
    )


class Validity(Frozen):
    """When a document holds, as its metadata says; every field may be unknown."""

    effective_from: Instant | None = Field(
        default=None, description="First moment at which the document holds."
    )
    valid_until: Instant | None = Field(
        default=None,
        description="Last moment at which it holds; a date includes that whole day (UTC).",
    )
    superseded_by: str | None = Field(
        default=None, description="Id of the document that replaces this one."
    )
    superseded_on: Instant | None = Field(
        default=None,
        description="When it was replaced; without it, from the start of the successor or at once.",
    )
    reviewed_on: Instant | None = Field(
        default=None, description="When somebody last confirmed the content."
    )
    updated_at: Instant | None = Field(default=None, description="When the content last changed.")

    @property
    def undated(self) -> bool:
        """Whether the metadata says nothing at all about time."""
        return self == Validity()


class Section(Frozen):
    """A part of a document under one heading, or one page of a paged document."""

    title: str = Field(description='Heading, or "" where the part has none.')
    path: tuple[str, ...] = Field(
        default=(), description="Headings from the outermost to this one."
    )
    span: Span = Field(
        description="Code points of the document that the part covers, heading included."
    )
    page: int | None = Field(
        default=None,
        description="1-based page on which the part starts, where the format has pages.",
    )


class PageSpan(Frozen):
    """One page of a document: its 1-based number and its code points."""

    number: int = Field(ge=1, description="1-based number of the page.")
    span: Span = Field(description="Its code points of the document.")


class Document(Frozen):
    """One source, with the canonical text that every offset refers to."""

    id: str = Field(description="Stable name, usually the path relative to the corpus folder.")
    source: str = Field(description="Where it came from (path or address), for people.")
    title: str = Field(description="Title for people.")
    text: str = Field(description="Canonical text; offsets are code points of it.")
    media_type: str = Field(
        default="text/plain", description="Media type of the bytes it was read from."
    )
    content_hash: str = Field(description="SHA-256 of `text` in UTF-8, hexadecimal.")
    validity: Validity = Field(default=Validity(), description="When it holds.")
    sections: tuple[Section, ...] = Field(default=(), description="Headings in reading order.")
    pages: tuple[Span, ...] = Field(
        default=(), description="Span of each page, in order; empty where the format has none."
    )
    headings: tuple[Span, ...] = Field(
        default=(), description="Spans of heading lines; they are navigation, never evidence."
    )
    metadata: dict[str, JsonValue] = Field(
        default_factory=dict, description="Further values, usable in filters."
    )

    def page_of(self, offset: int) -> int | None:
        """Return the 1-based page that holds the code point at `offset`, or None."""
        for number, page in enumerate(self.pages, start=1):
            if page.start <= offset < page.end:
                return number
        return None


class Chunk(Frozen):
    """A slice of one document version, the unit of retrieval and citation."""

    id: str = Field(
        description=(
            "Hash of the document id, the embedded text and its n-th occurrence in the document."
        )
    )
    doc_id: str = Field(description="Id of the document.")
    span: Span = Field(description="Where it lies in the document's canonical text.")
    text: str = Field(description="`document.text[span.start:span.end]`, unchanged.")
    content_hash: str = Field(description="SHA-256 of `text` in UTF-8, hexadecimal.")
    headings: tuple[str, ...] = Field(
        default=(), description="Heading path above the chunk: context, never evidence."
    )
    heading_spans: tuple[Span, ...] = Field(
        default=(), description="Parts of `text` that are headings, in code points of `text`."
    )
    page: int | None = Field(default=None, description="1-based page on which the chunk starts.")


class RetrievedChunk(Frozen):
    """A chunk as a retriever hands it over for one question."""

    chunk: Chunk = Field(description="The chunk.")
    score: float = Field(
        default=0.0, description="Retriever's own score; only its order means something."
    )
    rank: int = Field(default=1, ge=1, description="1-based position in the result.")
    source: str = Field(default="", description="Where its document came from, for people.")
    title: str = Field(default="", description="Title of its document.")
    validity: Validity = Field(
        default=Validity(), description="Validity of its document as the ledger has it now."
    )
    trust: str = Field(
        default="official",
        description='"official", "internal" or "untrusted", as the manifest says.',
    )
    document_hash: str | None = Field(
        default=None, description="`content_hash` of the document version, where known."
    )
    page_spans: tuple[PageSpan, ...] = Field(
        default=(), description="Pages that the chunk touches, in code points of the document."
    )
    sources: tuple[str, ...] = Field(
        default=(), description='Signals that found it, such as "dense", "lexical" or "successor".'
    )
    metadata: dict[str, JsonValue] = Field(
        default_factory=dict, description="Further values of the document."
    )

    def page_of(self, offset: int) -> int | None:
        """Return the page of the document's code point `offset`, or None where unknown."""
        for page in self.page_spans:
            if page.span.start <= offset < page.span.end:
                return page.number
        return self.chunk.page
