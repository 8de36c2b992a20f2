"""Receipts for other programs: links that open a page at a quote, and W3C Web Annotations."""

from __future__ import annotations

from typing import Literal, NamedTuple
from urllib.parse import quote as percent_encode
from urllib.parse import urlsplit

from pydantic import Field

from grounded_rag.types import Frozen, Receipt, ReceiptCitation, ReceiptSource

_MARK = ":~:text="
_LONG = 300
_END_WORDS = 6
_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_AROUND = 32


def is_web(address: str) -> bool:
    """Whether an address is one that a browser opens from the web."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def text_fragment_link(address: str, quote: str) -> str | None:
    """Return a link that opens a web page at a quote; None for what is no web address.

    A fragment that the address has already stays.
    """
    if not is_web(address) or not quote.strip():
        return None
    page = address.partition(_MARK)[0]
    return f"{page}{'' if '#' in page else '#'}{_MARK}{_fragment(quote)}"


def _fragment(quote: str) -> str:
    """Return what a browser is to find: white space is one space, a long quote has two ends."""
    words = quote.split()
    parts = [" ".join(words)]
    if len(parts[0]) > _LONG and len(words) > 2 * _END_WORDS:
        parts = [" ".join(words[:_END_WORDS]), " ".join(words[-_END_WORDS:])]
    # A hyphen would mark words before or after the quote; commas and ampersands are encoded too.
    return ",".join(percent_encode(part, safe="").replace("-", "%2D") for part in parts)


class QuoteLink(NamedTuple):
    """The link of one quote of a receipt."""

    quote: str
    link: str


def text_fragment_links(receipt: Receipt) -> tuple[QuoteLink, ...]:
    """Return a link for each quote of a receipt whose source is a web address, in order."""
    sources = {source.chunk_id: source.source for source in receipt.sources}
    links = [
        QuoteLink(citation.quote, link)
        for claim in receipt.claims
        for citation in claim.citations
        if (link := text_fragment_link(sources[citation.chunk_id], citation.quote)) is not None
    ]
    return tuple(dict.fromkeys(links))


class TextQuoteSelector(Frozen):
    """The quote with some characters before and after it."""

    type: Literal["TextQuoteSelector"] = "TextQuoteSelector"
    exact: str
    prefix: str = ""
    suffix: str = ""


class TextPositionSelector(Frozen):
    """The quote's place: half-open, in code points of the document's canonical text."""

    type: Literal["TextPositionSelector"] = "TextPositionSelector"
    start: int
    end: int


class Target(Frozen):
    """The document that is annotated, and where; the selectors name the same place."""

    source: str
    selector: tuple[TextQuoteSelector, TextPositionSelector]


class TextualBody(Frozen):
    """The claim."""

    type: Literal["TextualBody"] = "TextualBody"
    value: str
    format: Literal["text/plain"] = "text/plain"
    purpose: Literal["describing"] = "describing"


class WebAnnotation(Frozen):
    """One claim on one place."""

    id: str
    type: Literal["Annotation"] = "Annotation"
    motivation: Literal["describing"] = "describing"
    created: str
    body: TextualBody
    target: Target


class AnnotationPage(Frozen):
    """All annotations of one receipt; `to_json` gives JSON-LD."""

    context: str = Field(default=_CONTEXT, serialization_alias="@context")
    id: str
    type: Literal["AnnotationPage"] = "AnnotationPage"
    items: tuple[WebAnnotation, ...] = ()

    def to_json(self) -> str:
        """Return the page as JSON-LD."""
        return self.model_dump_json(by_alias=True, indent=2)


def to_web_annotation(receipt: Receipt) -> AnnotationPage:
    """Return a receipt's claims as W3C Web Annotations, one for each quote.

    Sources that are no web address are named by their percent-encoded path.
    """
    sources = {source.chunk_id: source for source in receipt.sources}
    name = f"urn:grounded-rag:receipt:{receipt.content_hash}"
    items = [
        WebAnnotation(
            id=f"{name}:{index}:{number}",
            created=receipt.created_at.isoformat(),
            body=TextualBody(value=claim.text),
            target=_target(citation, sources[citation.chunk_id]),
        )
        for index, claim in enumerate(receipt.claims)
        for number, citation in enumerate(claim.citations)
    ]
    return AnnotationPage(id=name, items=tuple(items))


def _target(citation: ReceiptCitation, source: ReceiptSource) -> Target:
    span, text = citation.chunk_span, source.text or ""
    return Target(
        source=source.source if is_web(source.source) else percent_encode(source.doc_id),
        selector=(
            TextQuoteSelector(
                exact=citation.quote,
                prefix=text[max(0, span.start - _AROUND) : span.start],
                suffix=text[span.end : span.end + _AROUND],
            ),
            TextPositionSelector(
                start=citation.document_span.start, end=citation.document_span.end
            ),
        ),
    )
