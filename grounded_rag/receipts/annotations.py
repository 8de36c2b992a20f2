"""Receipts as W3C Web Annotations: each claim as a note on the place that carries it."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote as percent_encode

from pydantic import Field

from grounded_rag.receipts.fragments import is_web
from grounded_rag.types import Frozen, Receipt, ReceiptCitation, ReceiptSource, Span

_CONTEXT = "http://www.w3.org/ns/anno.jsonld"
_AROUND = 32


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


def find_target(target: Target, text: str) -> Span | None:
    """Return the place that an annotation means in a text; None where it is not to be told.

    The position counts where the quote stands there; otherwise the quote with its surroundings
    must stand exactly once.
    """
    quote, position = target.selector
    span = Span(start=position.start, end=position.end)
    if span.of(text) == quote.exact:
        return span
    whole = quote.prefix + quote.exact + quote.suffix
    at = text.find(whole)
    if at < 0 or text.find(whole, at + 1) >= 0:
        return None
    start = at + len(quote.prefix)
    return Span(start=start, end=start + len(quote.exact))
